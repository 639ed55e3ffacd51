import Glibc
import HearthTime

/// Calls a closure on SIGINT and SIGTERM, on a thread that waits for them: the closure may do what a signal handler may not.
///
/// Make it before the process starts other threads: they inherit that the signals are blocked. A second signal ends the process
/// at once, for a user who does not want to wait.
public final class Interrupts: Sendable {
    private struct State {
        var isCancelled = false
        var count = 0
    }

    private let state = Locked(State())
    private let signals: [Int32]
    private let handler: @Sendable (Int32) -> Void
    private let secondSignal: @Sendable (Int32) -> Void
    /// Written once in `start`, before the object is shared.
    private let thread = Locked<SystemThread?>(nil)

    /// - Parameter handler: called once, with the number of the signal.
    public convenience init(handler: @escaping @Sendable (Int32) -> Void) {
        self.init(signals: [SIGINT, SIGTERM], handler: handler, secondSignal: { number in _exit(128 + number) })
    }

    init(
        signals: [Int32], handler: @escaping @Sendable (Int32) -> Void, secondSignal: @escaping @Sendable (Int32) -> Void
    ) {
        self.signals = signals
        self.handler = handler
        self.secondSignal = secondSignal
        var set = signalSet()
        pthread_sigmask(SIG_BLOCK, &set, nil)
        do throws(SystemThread.Failure) {
            let started = try SystemThread { self.wait() }
            thread.withLock { $0 = started }
        } catch {
            // Without a thread the signals do what they always did.
            pthread_sigmask(SIG_UNBLOCK, &set, nil)
        }
    }

    /// Ends the thread. The signals stay blocked in the threads that inherited it.
    public func cancel() {
        state.withLock { $0.isCancelled = true }
        let started = thread.withLock { thread in
            defer { thread = nil }
            return thread
        }
        guard let started, let first = signals.first else { return }
        started.send(signal: first)
        started.join()
    }

    /// Sends a signal to the waiting thread alone; for tests.
    func simulate(_ number: Int32) { thread.withLock { $0 }?.send(signal: number) }

    private func signalSet() -> sigset_t {
        var set = sigset_t()
        sigemptyset(&set)
        for number in signals { sigaddset(&set, number) }
        return set
    }

    private func wait() {
        var set = signalSet()
        while true {
            var number: Int32 = 0
            guard sigwait(&set, &number) == 0 else { return }
            let (isCancelled, count) = state.withLock { state in
                state.count += 1
                return (state.isCancelled, state.count)
            }
            if isCancelled { return }
            if count == 1 { handler(number) } else { secondSignal(number) }
        }
    }
}
