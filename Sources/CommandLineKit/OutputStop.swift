import Glibc
import HearthTime

/// Writes to descriptors whose reader may read slowly or not at all, so that a program that is told to stop is not held there.
///
/// Until `raise` a write waits for its reader as long as that takes. From then on a reader that takes nothing for a moment of real time is
/// given up; one that goes on reading gets everything. The descriptors stay as they are, blocking or not: they are shared with others.
public final class OutputStop: Sendable {
    /// The process's own; standard output and standard error are written with it.
    public static let shared = OutputStop()

    /// A pipe that takes this much (PIPE_BUF of pipe(7)) without blocking has said so in `poll`.
    private static let portion = 4096

    /// Without one nothing is ever given up, as `poll` ignores -1.
    private let pipe = WakePipe()
    /// In milliseconds.
    private let patience: Int32

    /// - Parameter patience: how long a reader may take nothing after `raise`, in milliseconds.
    init(patience: Int32 = 1000) {
        self.patience = patience
    }

    /// The program is to stop. Any thread.
    public func raise() { pipe?.raise() }

    /// Only a part of the program had to stop, and that has ended. Any thread.
    public func clear() { pipe?.clear() }

    /// Writes all of `bytes`. Blocks its thread.
    /// - Returns: nil when it is done; else the `errno`: EPIPE when nobody reads any more, ECANCELED when the reader was given up.
    public func write(_ bytes: UnsafeRawBufferPointer, to descriptor: Int32) -> Int32? {
        var rest = bytes
        while let start = rest.baseAddress, !rest.isEmpty {
            if let failure = awaitRoom(descriptor) { return failure }
            let count = Glibc.write(descriptor, start, min(rest.count, Self.portion))
            if count >= 0 {
                rest = UnsafeRawBufferPointer(rebasing: rest[count...])
            } else if errno != EINTR, errno != EAGAIN {
                return errno
            }
        }
        return nil
    }

    private func awaitRoom(_ descriptor: Int32) -> Int32? {
        var wanted = [
            pollfd(fd: descriptor, events: Int16(POLLOUT), revents: 0),
            pollfd(fd: pipe?.descriptor ?? -1, events: Int16(POLLIN), revents: 0),
        ]
        while poll(&wanted, 2, -1) < 0 { if errno != EINTR { return nil } }
        // What cannot be written to at all is for `write` to say.
        if wanted[0].revents != 0 { return nil }
        while true {
            let count = poll(&wanted, 1, patience)
            if count == 0 { return ECANCELED }
            if count > 0 || errno != EINTR { return nil }
        }
    }
}
