import Glibc
import MatterModel
import Testing

/// What goes on until it is stopped, when nobody reads what it says.
@Suite struct UnreadOutputTests {
    @Test func aShellWhoseAnswersAreNotReadTakesNoMoreRequests() throws {
        let bench = try Bench("on-off-light")
        let shell = try bench.shell()
        // Ten times as many answers as may be unread.
        let most = 70_000
        let sent = shell.sendUntilStuck("{\"id\": 1, \"do\": \"something\"}", most: most)
        #expect(sent < most)
        // When they are read they are all there, and it goes on.
        for _ in 0..<sent { #expect(try shell.json()["id"] == 1) }
        #expect(try shell.answer(2, ["do": "whoami"])["ok"] == true)
        shell.closeInput()
        #expect(try shell.finish().code == 0)
    }

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

    /// A process that may open no more files leaves its control socket alone for a while, and says so once.
    @Test func aControlSocketThatCanTakeNobodyInSaysSoOnce() throws {
        let scratch = Scratch()
        let path = scratch.folder + "/run/control"
        let simulator = try Program(
            ["-c", "ulimit -n 64 && exec \(Program.hearth) simulate on-off-light --json --mdns off --control '\(path)'"], path: "/bin/sh")
        _ = try simulator.json { $0["ready"] != nil }
        // More than it can take and fewer than may wait at the socket.
        var clients = (0..<100).map { _ in Self.connect(path) }
        #expect(clients.allSatisfy { $0 >= 0 })
        // Those who were taken in have been greeted, and the last has not.
        #expect(Self.isReadable(clients[0], within: 30_000))
        #expect(!Self.isReadable(clients[99], within: 500))
        // When some have gone the others get in.
        for client in clients[..<90] { close(client) }
        #expect(Self.isReadable(clients[99], within: 30_000))
        for client in clients[90...] { close(client) }
        clients = []
        simulator.signal(SIGTERM)
        let result = try simulator.finish()
        #expect(result.code == 0)
        #expect(result.errors.split(separator: "\n").count { $0.contains("takes nobody in for now") } == 1, "\(result.errors)")
    }

    private static func isReadable(_ descriptor: Int32, within milliseconds: Int32) -> Bool {
        var wanted = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
        return poll(&wanted, 1, milliseconds) == 1
    }

    private static func connect(_ path: String) -> Int32 {
        let descriptor = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: Array(path.utf8)) }
        let status = withUnsafePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                Glibc.connect(descriptor, $0, socklen_t(MemoryLayout<sockaddr_un>.size))
            }
        }
        return status == 0 ? descriptor : -1
    }
}
