import CommandLineKit
import Glibc
import HearthTime

/// Why a command that goes on and on ends: a signal, or because it has what it wanted. Whoever is first counts.
final class StopSignal: Sendable {
    private struct State {
        var code: ExitCode?
        var waiting: CheckedContinuation<ExitCode, Never>?
    }
    private let state = Locked(State())
    /// Readable when it has been given, for a thread that sits in `poll`.
    var descriptor: Int32 { pipe.descriptor }
    private let pipe: WakePipe

    init() throws {
        guard let pipe = WakePipe() else { throw Failure(.failure, "no pipe can be made: \(String(cString: strerror(errno)))") }
        self.pipe = pipe
    }

    /// Gives it. Any thread; later calls do nothing.
    func give(_ code: ExitCode) {
        let waiting = state.withLock { state -> CheckedContinuation<ExitCode, Never>? in
            guard state.code == nil else { return nil }
            state.code = code
            defer { state.waiting = nil }
            return state.waiting
        }
        pipe.raise()
        waiting?.resume(returning: code)
    }

    var code: ExitCode? { state.withLock { $0.code } }

    /// Returns when it is given. One caller.
    func wait() async -> ExitCode {
        await withCheckedContinuation { continuation in
            let code = state.withLock { state -> ExitCode? in
                if state.code == nil { state.waiting = continuation }
                return state.code
            }
            if let code { continuation.resume(returning: code) }
        }
    }

    /// Runs `body` while SIGINT and SIGTERM give it. A command within a shell takes the signals from the shell for so long.
    func whileWatching<Result>(_ body: () async throws -> Result) async throws -> Result {
        InterruptWatch.push(self)
        defer { InterruptWatch.pop() }
        return try await body()
    }
}

/// Who hears of SIGINT and SIGTERM: the innermost command that wants to. Where nobody does, the process ends as it would by itself.
enum InterruptWatch {
    private static let listeners = Locked<[StopSignal]>([])

    /// To be called first of all, on the main thread.
    static func start() -> Interrupts {
        Interrupts { number in
            guard let listener = listeners.withLock({ $0.last }) else { _exit(128 + number) }
            // Who does not read what the command says must not hold it.
            OutputStop.shared.raise()
            listener.give(number == SIGTERM ? .terminated : .interrupted)
        }
    }

    static func push(_ listener: StopSignal) { listeners.withLock { $0.append(listener) } }
    static func pop() {
        let isNested = listeners.withLock { listeners in
            _ = listeners.popLast()
            return !listeners.isEmpty
        }
        // The shell goes on; at the end of the process what is left to say must not be held either.
        if isNested { OutputStop.shared.clear() }
    }
}
