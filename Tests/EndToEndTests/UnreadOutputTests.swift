import Glibc
import MatterModel
import Testing

/// What goes on until it is stopped, when nobody reads what it says.
@Suite struct UnreadOutputTests {
    /// Every command that goes on ends with its own exit code, although the pipe that it writes to is full.
    @Test func aStopIsNotHeldByAFullPipe() throws {
        let bench = try Bench("on-off-light", control: true)
        try bench.pair("on-off-light")
        let words: [(words: [String], code: Int32)] = [
            (["watch", "on-off-light", "BasicInformation", "--mdns", "off"], 143),
            (["watch", "on-off-light", "BasicInformation", "--json", "--mdns", "off"], 143),
            (["sim", "journal", "--follow"], 143),
            (["sim", "journal", "--follow", "--json"], 143),
        ]
        let programs = try words.map { entry in
            let program = try Program(entry.words, environment: bench.environment)
            program.narrowOutput()
            return program
        }
        let shell = try bench.shell()
        shell.narrowOutput()
        bench.simulator.narrowOutput()
        // Something to tell, until everybody is stuck.
        let writer = try bench.shell()
        var count: Int64 = 0
        while !programs.allSatisfy(\.outputIsFull) || !bench.simulator.outputIsFull || count < 300 {
            count += 1
            let label = JSONValue.string("a label of some length, number \(count % 10)")
            let answer = try writer.answer(
                count, ["do": "write", "device": "on-off-light", "endpoint": 0, "cluster": 40, "attribute": 5, "value": label])
            #expect(answer["ok"] == true)
            shell.send(["id": 1, "do": "no such verb"])
        }
        for (program, entry) in zip(programs, words) {
            program.signal(SIGTERM)
            #expect(try program.finishUnread() == entry.code, "\(entry.words)")
        }
        #expect(shell.outputIsFull)
        shell.signal(SIGINT)
        #expect(try shell.finishUnread() == 130)
        bench.simulator.signal(SIGTERM)
        #expect(try bench.simulator.finishUnread() == 0)
    }
}
