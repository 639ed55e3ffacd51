import Glibc
import HearthIO

/// Hears that the event loop stops, on behalf of what has no descriptor of its own: links in memory, and connections that are over
/// but whose users have not been told. Without it they would keep each other for ever.
final class StopWatcher: LoopHandler {
    private var ends: [Int32] = [-1, -1]
    private var onStop: (() -> Void)?

    /// Watches a pipe in which nothing ever happens. - Throws: `IOError` without descriptors, or when the loop has stopped already.
    init(_ loop: EventLoop, _ onStop: @escaping () -> Void) throws {
        guard pipe(&ends) == 0 else { throw IOError("pipe") }
        for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
        self.onStop = onStop
        try loop.register(ends[0], [], self)
    }

    deinit { for end in ends where end >= 0 { close(end) } }

    func ready(_ events: ReadyEvents) {}

    func loopStops() {
        let told = onStop
        onStop = nil
        told?()
    }
}
