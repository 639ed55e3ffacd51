import Glibc
import HearthTime
import Testing

@testable import CommandLineKit

/// What is written for a reader that may not read.
@Suite struct OutputStopTests {
    private static func pipes() -> (reader: Int32, writer: Int32) {
        var pipes: [Int32] = [0, 0]
        pipe(&pipes)
        return (pipes[0], pipes[1])
    }

    private static func write(_ bytes: [UInt8], to descriptor: Int32, _ stop: OutputStop) -> Int32? {
        bytes.withUnsafeBytes { stop.write($0, to: descriptor) }
    }

    @Test func aReaderThatTakesNothingIsGivenUpOnlyAfterTheStop() {
        let (reader, writer) = Self.pipes()
        let stop = OutputStop(patience: 1)
        // 65536 bytes are what a pipe holds: they go, whoever reads.
        #expect(Self.write([UInt8](repeating: 1, count: 65_536), to: writer, stop) == nil)
        stop.raise()
        #expect(Self.write([2], to: writer, stop) == ECANCELED)
        // And what there is room for goes still.
        var bytes = [UInt8](repeating: 0, count: 65_536)
        #expect(read(reader, &bytes, bytes.count) == 65_536)
        #expect(Self.write([3], to: writer, stop) == nil)
        close(reader)
        #expect(Self.write([4], to: writer, stop) == EPIPE)
        close(writer)
    }

    @Test func aReaderThatReadsGetsEverythingAfterTheStop() throws {
        let (reader, writer) = Self.pipes()
        let stop = OutputStop(patience: 60_000)
        stop.raise()
        let received = Locked<[UInt8]>([])
        let thread = try SystemThread {
            var chunk = [UInt8](repeating: 0, count: 3000)
            while true {
                let count = read(reader, &chunk, chunk.count)
                if count <= 0 { return }
                received.withLock { $0 += chunk[..<count] }
            }
        }
        let sent = (0..<1_000_000).map { UInt8(truncatingIfNeeded: $0 / 3) }
        #expect(Self.write(sent, to: writer, stop) == nil)
        close(writer)
        thread.join()
        #expect(received.withLock { $0 } == sent)
        close(reader)
    }

    @Test func whatIsClearedWaitsAgain() throws {
        let (reader, writer) = Self.pipes()
        let stop = OutputStop(patience: 1)
        stop.raise()
        stop.clear()
        #expect(Self.write([UInt8](repeating: 1, count: 65_536), to: writer, stop) == nil)
        let result = Locked<Int32??>(nil)
        let thread = try SystemThread {
            let code = Self.write([2], to: writer, stop)
            result.withLock { $0 = .some(code) }
        }
        var chunk = [UInt8](repeating: 0, count: 65_537)
        var count = 0
        while count < 65_537 { count += max(0, read(reader, &chunk, chunk.count)) }
        thread.join()
        #expect(result.withLock { $0 } == .some(nil))
        close(reader)
        close(writer)
    }

    @Test func aTerminalDropsWhatAGivenUpReaderDoesNotTake() {
        signal(SIGPIPE, SIG_IGN)
        let (reader, writer) = Self.pipes()
        let stop = OutputStop(patience: 1)
        let terminal = Terminal.writing(output: writer, errors: writer, stop: stop)
        stop.raise()
        terminal.write(String(repeating: "x", count: 100_000))
        terminal.flush()
        #expect(terminal.isBroken)
        // Nobody has lost what they wanted: that is no failure.
        #expect(terminal.outputFailure == nil)
        terminal.note("not held either")
        close(reader)
        close(writer)
    }
}
