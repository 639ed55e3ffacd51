import Glibc
import HearthTime
import Testing

@testable import CommandLineKit

@Suite struct ProgramTests {
    private struct Other: Error {}

    private func run(_ words: [String] = ["read", "hall", "A"], _ body: @escaping Command.Run) async -> (ExitCode, String, String) {
        let terminal = Terminal.captured()
        let code = await demoProgram(run: body).run(words, on: terminal)
        return (code, terminal.outputText, terminal.errorText)
    }

    @Test func whatACommandThrowsIsToldOnce() async {
        let refused = await run { _, terminal in
            terminal.line("partly done")
            throw Failure(.refused, "the lock refused: \u{1B}[31mFAILURE", hint: "say a PIN")
        }
        #expect(refused == (.refused, "partly done\n", "error: the lock refused: \\u{1b}[31mFAILURE\n  say a PIN\n"))
        let other = await run { _, _ in throw Other() }
        #expect(other == (.failure, "", "error: Other()\n"))
        let cancelled = await run { _, _ in throw CancellationError() }
        #expect(cancelled.0 == .interrupted)
    }

    @Test func errorsCanBeTranslatedAndReportedElsewhere() async {
        let root = demoProgram(run: { _, _ in throw Other() }).root
        let program = Program(root, version: "1", translate: { _ in Failure(.timedOut, "no answer") }) { error, words, terminal in
            guard words.contains("--json") else { return false }
            terminal.line("{\"ok\":false,\"message\":\"\(error.message)\"}")
            return true
        }
        let plain = Terminal.captured()
        #expect(await program.run(["read", "a", "b"], on: plain) == .timedOut)
        #expect(plain.errorText == "error: no answer\n")
        let json = Terminal.captured()
        #expect(await program.run(["read", "a", "b", "--json"], on: json) == .timedOut)
        #expect(json.outputText == "{\"ok\":false,\"message\":\"no answer\"}\n")
        #expect(json.errorText == "")
    }

    @Test func exitCodesAreDistinct() {
        #expect(Set(ExitCode.all.map(\.code)).count == ExitCode.all.count)
        #expect(ExitCode.all.map(\.code.rawValue) == [0, 1, 2, 3, 4, 5, 6, 7, 8, 130, 143])
    }

    @Test func aReaderThatHasGoneIsNoError() {
        signal(SIGPIPE, SIG_IGN)
        var pipes: [Int32] = [0, 0]
        pipe(&pipes)
        close(pipes[0])
        let terminal = Terminal.writing(output: pipes[1], errors: pipes[1])
        terminal.line("first")
        #expect(!terminal.isBroken)
        terminal.flush()
        #expect(terminal.isBroken)
        terminal.line("second")
        terminal.note("third")
        terminal.flush()
        close(pipes[1])
    }

    /// What was asked for is nowhere: that must not look like success.
    @Test func aFullDiskUnderTheOutputIsAFailure() async {
        let full = open("/dev/full", O_WRONLY | O_CLOEXEC)
        var errors: [Int32] = [0, 0]
        pipe(&errors)
        let root = Command("tool", summary: "A tool", run: { _, terminal in terminal.line("the answer") })
        let code = await Program(root, version: "1").run([], on: Terminal.writing(output: full, errors: errors[1]))
        #expect(code == .failure)
        var bytes = [UInt8](repeating: 0, count: 200)
        let count = read(errors[0], &bytes, bytes.count)
        #expect(String(decoding: bytes[..<max(0, count)], as: UTF8.self).contains("standard output cannot be written: No space left"))
        for descriptor in [full] + errors { close(descriptor) }
    }

    @Test func outputIsBufferedAndComplete() {
        var pipes: [Int32] = [0, 0]
        pipe(&pipes)
        let terminal = Terminal.writing(output: pipes[1], errors: pipes[1])
        terminal.line("one")
        // Nothing may have come yet: a read would wait.
        let flags = fcntl(pipes[0], F_GETFL)
        _ = fcntl(pipes[0], F_SETFL, flags | O_NONBLOCK)
        var bytes = [UInt8](repeating: 0, count: 100)
        #expect(read(pipes[0], &bytes, bytes.count) == -1)
        terminal.line("two")
        terminal.flush()
        let count = read(pipes[0], &bytes, bytes.count)
        #expect(String(decoding: bytes[..<max(0, count)], as: UTF8.self) == "one\ntwo\n")
        close(pipes[0])
        close(pipes[1])
    }

    @Test func theFirstSignalIsHandledAndTheSecondEnds() {
        let events = Locked<[String]>([])
        let semaphore = Semaphore()
        let interrupts = Interrupts(
            signals: [SIGUSR1, SIGUSR2],
            handler: { number in
                events.withLock { $0.append("first \(number == SIGUSR2)") }
                semaphore.signal()
            },
            secondSignal: { number in
                events.withLock { $0.append("second \(number == SIGUSR1)") }
                semaphore.signal()
            })
        interrupts.simulate(SIGUSR2)
        semaphore.wait()
        interrupts.simulate(SIGUSR1)
        semaphore.wait()
        interrupts.cancel()
        #expect(events.withLock { $0 } == ["first true", "second true"])
    }
}

/// A POSIX semaphore. Its functions may be called on any thread, hence `@unchecked Sendable`.
final class Semaphore: @unchecked Sendable {
    private let semaphore = UnsafeMutablePointer<sem_t>.allocate(capacity: 1)
    init() { sem_init(semaphore, 0, 0) }
    deinit {
        sem_destroy(semaphore)
        semaphore.deallocate()
    }
    func signal() { sem_post(semaphore) }
    func wait() { while sem_wait(semaphore) != 0 {} }
}
