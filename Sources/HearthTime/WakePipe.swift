import Glibc

/// Wakes a thread that sits in `poll`: a pipe of which one end becomes readable.
///
/// A pipe, because Swift's Glibc module has no `eventfd`; `HearthIO` gets that from a shim header.
public final class WakePipe: Sendable {
    /// Readable after `raise` until `clear`. Only for `poll`.
    public let descriptor: Int32
    private let writer: Int32

    /// Nil, with the reason in `errno`, when the process may have no more descriptors.
    public init?() {
        var ends: [Int32] = [-1, -1]
        guard pipe(&ends) == 0 else { return nil }
        for end in ends {
            _ = fcntl(end, F_SETFL, O_NONBLOCK)
            _ = fcntl(end, F_SETFD, FD_CLOEXEC)
        }
        (descriptor, writer) = (ends[0], ends[1])
    }

    deinit {
        close(descriptor)
        close(writer)
    }

    /// Any thread; once more changes nothing.
    public func raise() {
        var byte: UInt8 = 1
        _ = write(writer, &byte, 1)
    }

    /// Takes back what was raised.
    public func clear() {
        var bytes: (UInt64, UInt64) = (0, 0)
        while read(descriptor, &bytes, 16) > 0 {}
    }
}
