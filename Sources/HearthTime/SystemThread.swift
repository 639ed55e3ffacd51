import Glibc

/// A thread of the operating system that runs one closure, for what has to block.
///
/// Whoever starts one joins or detaches it, once.
public struct SystemThread: Sendable {
    /// There is no thread to be had.
    public struct Failure: Error, CustomStringConvertible {
        /// What pthread_create gave: an errno.
        public let code: Int32
        public var description: String { "no thread can be started: \(String(cString: strerror(code)))" }
    }

    private let handle: pthread_t

    /// Starts it.
    /// - Parameter blocksSignals: whether it leaves all signals of the process to other threads, which expect them; else it has its
    ///   maker's mask.
    /// - Throws: `Failure`; `body` is not run then.
    public init(blocksSignals: Bool = false, _ body: @escaping @Sendable () -> Void) throws(Failure) {
        // The box carries the closure through C; the thread takes over its reference.
        final class Box: Sendable {
            let body: @Sendable () -> Void
            init(_ body: @escaping @Sendable () -> Void) { self.body = body }
        }
        let box = Unmanaged.passRetained(Box(body))
        var before = sigset_t()
        if blocksSignals {
            // A new thread inherits the mask.
            var all = sigset_t()
            sigfillset(&all)
            pthread_sigmask(SIG_BLOCK, &all, &before)
        }
        var started = pthread_t()
        let code = pthread_create(
            &started, nil,
            { argument in
                guard let argument else { return nil }
                Unmanaged<Box>.fromOpaque(argument).takeRetainedValue().body()
                return nil
            }, box.toOpaque())
        if blocksSignals { pthread_sigmask(SIG_SETMASK, &before, nil) }
        guard code == 0 else {
            box.release()
            throw Failure(code: code)
        }
        handle = started
    }

    /// Waits for its end.
    public func join() { pthread_join(handle, nil) }

    /// Lets it go: nobody waits for its end.
    public func detach() { pthread_detach(handle) }

    /// Sends it a signal. Only before it is joined.
    public func send(signal: Int32) { pthread_kill(handle, signal) }
}
