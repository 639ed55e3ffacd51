import Glibc
import HearthIO
import HearthTime
import MachineInterface
import MatterDiscovery
import MatterModel
import MatterTransport
import Testing

@testable import MatterSimulator

/// A simulator with two devices, in virtual time and without a network.
private struct ControlBench {
    let runtime: Runtime
    let simulator: Simulator
    let stopDiscovery: @Sendable () async -> Void

    static func run(
        _ mode: Timeline.Mode = .manual, journalCapacity: Int = 1000, _ body: (ControlBench) async throws -> Void
    ) async throws {
        let runtime = try Runtime(mode: mode, seed: 1)
        let timeline = runtime.timeline
        let discovery = SharedDiscovery(timeline: timeline) { Discovery.memory(MemoryRegistry(timeline: timeline)) }
        var configuration = Simulator.Configuration()
        configuration.journalCapacity = journalCapacity
        configuration.listenAddress = { .memory(MemoryAddress("home", port: $0)) }
        let simulator = try await Simulator.open(configuration, transport: TLSTransport(runtime), discovery: discovery)
        _ = try await simulator.add(DeviceProfile(name: "lamp", endpoints: [.init(1, deviceTypes: [0x0100])]))
        _ = try await simulator.add(DeviceProfile(name: "lock", endpoints: [.init(1, deviceTypes: [0x000A])]))
        let bench = ControlBench(runtime: runtime, simulator: simulator) {
            try? await timeline.call("close discovery") { discovery.shutdown() }
        }
        let result: Result<Void, any Error>
        do { result = .success(try await body(bench)) } catch { result = .failure(error) }
        await simulator.close()
        await bench.stopDiscovery()
        runtime.shutdown()
        await runtime.ended()
        try result.get()
    }

    func perform(_ request: JSONValue) async throws -> JSONValue { .object(try await SimulatorVerbs(simulator).perform(request)) }

    /// The status with which a request is refused.
    func refusal(_ request: JSONValue) async -> MachineError? {
        do throws(MachineError) {
            _ = try await SimulatorVerbs(simulator).perform(request)
            return nil
        } catch {
            return error
        }
    }
}

@Suite struct SimulatorVerbsTests {
    @Test func devicesAreToldWithTheirCodes() async throws {
        try await ControlBench.run { bench in
            let devices = try await bench.perform(["do": "devices"])["devices"]
            #expect(devices?.array?.count == 2)
            #expect(devices?[0]?["device"] == "lamp")
            #expect(devices?[0]?["paired"] == false)
            #expect(devices?[0]?["endpoints"] == [0, 1])
            #expect(devices?[0]?["qr"]?.string?.hasPrefix("MT:") == true)
            #expect(devices?[0]?["setupCode"]?.string?.count == 11)
            #expect(devices?[0]?["qr"] != devices?[1]?["qr"])
        }
    }

    @Test func theVirtualClockMovesWhenItIsTold() async throws {
        try await ControlBench.run { bench in
            let before = try await bench.perform(["do": "clock"])
            #expect(before["mode"] == "virtual")
            let after = try await bench.perform(["do": "clock", "advanceMs": 90_000])
            #expect(try #require(after["nowMs"]?.integer) - #require(before["nowMs"]?.integer) == 90_000)
            for wrong: JSONValue in [-1, "soon", 1.5, 1_000_000_000_001] {
                let refusal = await bench.refusal(["do": "clock", "advanceMs": wrong])
                #expect(refusal?.status == MachineError.badRequestStatus, "\(wrong.text())")
                #expect(refusal?.message == "advanceMs: an integer from 0 to 1000000000000 is wanted")
            }
            #expect(try await bench.perform(["do": "clock", "advanceMs": .null]) == after)
        }
    }

    /// What the device makes of other things each time it is read would be as before.
    @Test(arguments: ["PartsList", "ServerList", "ClusterRevision", "FeatureMap", "AttributeList"])
    func whatTheDeviceDerivesCannotBeSet(_ attribute: String) async throws {
        try await ControlBench.run { bench in
            let isList = attribute.hasSuffix("List")
            let failure = await bench.refusal([
                "do": "set", "device": "lamp", "endpoint": 0, "cluster": "Descriptor", "attribute": .string(attribute),
                "value": isList ? [] : 7,
            ])
            #expect(failure?.status == "UNSUPPORTED_WRITE")
            #expect(failure?.message.contains("derives") == true)
        }
    }

    @Test func theEndpointMayBeLeftOutWhereOnlyOneHasTheCluster() async throws {
        try await ControlBench.run { bench in
            _ = try await bench.perform([
                "do": "set", "device": "lamp", "cluster": "BasicInformation", "attribute": "NodeLabel", "value": "hall",
            ])
            _ = try await bench.perform(["do": "set", "device": "lamp", "cluster": "OnOff", "attribute": "OnOff", "value": true])
            let several = await bench.refusal([
                "do": "set", "device": "lamp", "cluster": "Descriptor", "attribute": "TagList", "value": [],
            ])
            #expect(several?.status == MachineError.badRequestStatus)
            #expect(several?.message.contains("lamp/1") == true)
            let none = await bench.refusal([
                "do": "trigger", "device": "lamp", "cluster": "DoorLock", "event": "DoorLockAlarm", "fields": ["AlarmCode": 0],
            ])
            #expect(none?.status == "UNSUPPORTED_CLUSTER")
        }
    }

    @Test func theRealClockIsNotMoved() async throws {
        try await ControlBench.run(.real(speed: 1000)) { bench in
            let clock = try await bench.perform(["do": "clock"])
            #expect(clock["mode"] == "real")
            #expect(clock["speed"]?.number == 1000)
            #expect(await bench.refusal(["do": "clock", "advanceMs": 1])?.status == MachineError.badRequestStatus)
        }
    }

    @Test func aHandOnTheDevice() async throws {
        try await ControlBench.run { bench in
            let path: [String: JSONValue] = ["device": "lamp", "endpoint": 1, "cluster": "on-off", "attribute": "OnOff"]
            _ = try await bench.perform(.object(path.merging(["do": "set", "value": true]) { $1 }))
            #expect(try await bench.simulator.value("lamp", AttributePath(1, OnOff.id, OnOff.Attributes.onOff)) == .boolean(true))
            #expect(await bench.refusal(.object(path.merging(["do": "set", "value": 7]) { $1 })) != nil)
            #expect(await bench.refusal(.object(path.merging(["do": "set"]) { $1 }))?.status == MachineError.badRequestStatus)
            let elsewhere = path.merging(["do": "set", "value": true, "endpoint": 9]) { $1 }
            #expect(await bench.refusal(.object(elsewhere))?.status == "UNSUPPORTED_ENDPOINT")
            let another = path.merging(["do": "set", "value": true, "cluster": "LevelControl", "attribute": "CurrentLevel"]) { $1 }
            #expect(await bench.refusal(.object(another))?.status == "UNSUPPORTED_CLUSTER")
        }
    }

    @Test func anEventAtTheDevice() async throws {
        try await ControlBench.run { bench in
            let request: [String: JSONValue] = [
                "do": "trigger", "device": "lock", "endpoint": 1, "cluster": "DoorLock", "event": "DoorLockAlarm",
                "fields": ["AlarmCode": 0],
            ]
            let first = try #require(try await bench.perform(.object(request))["number"]?.unsigned)
            #expect(first > 0)
            let unknown = request.merging(["event": "0x77", "fields": [:]]) { $1 }
            #expect(await bench.refusal(.object(unknown))?.status == "UNSUPPORTED_EVENT")
            let misspelt = await bench.refusal(.object(request.merging(["event": "DoorLockAlert"]) { $1 }))
            #expect(misspelt?.message.contains("DoorLockAlarm") == true)
        }
    }

    @Test func powerIsCutAndGivenBack() async throws {
        try await ControlBench.run { bench in
            func isRunning() async throws -> JSONValue? { try await bench.perform(["do": "devices"])["devices"]?[0]?["running"] }
            _ = try await bench.perform(["do": "stop", "device": "lamp"])
            #expect(try await isRunning() == false)
            let set: JSONValue = [
                "do": "set", "device": "lamp", "endpoint": 1, "cluster": "OnOff", "attribute": "OnOff", "value": true,
            ]
            #expect(await bench.refusal(set) != nil)
            _ = try await bench.perform(["do": "start", "device": "lamp"])
            #expect(try await isRunning() == true)
            for verb in ["reboot", "factory-reset"] { _ = try await bench.perform(["do": .string(verb), "device": "lamp"]) }
            #expect(try await isRunning() == true)
            #expect(await bench.refusal(["do": "reboot", "device": "nobody"])?.status == MachineError.unknownDeviceStatus)
            #expect(await bench.refusal(["do": "reboot"])?.status == MachineError.badRequestStatus)
            _ = try await bench.perform(["do": "reboot", "device": "lamp", "reason": "SoftwareUpdateCompleted"])
            let entries = try await bench.perform(["do": "journal", "device": "lamp", "kinds": ["control"]])["entries"]?.array
            #expect(entries?.last?["detail"]?["reason"] == 5, "a replay needs it")
            let bored = await bench.refusal(["do": "reboot", "device": "lamp", "reason": "boredom"])
            #expect(bored?.message.contains("BrownOutReset") == true)
        }
    }

    @Test func faultsHaveNumbers() async throws {
        try await ControlBench.run { bench in
            let one = try await bench.perform(["do": "fault", "device": "lamp", "kind": "wrong-status", "status": "BUSY"])["fault"]
            let other = try await bench.perform(["do": "fault", "kind": "delay", "delayMs": 5])["fault"]
            #expect(one == 1)
            #expect(other == 2)
            #expect(try await bench.perform(["do": "faults"])["faults"]?.array?.count == 2)
            _ = try await bench.perform(["do": "clear-fault", "fault": 1])
            #expect(try await bench.perform(["do": "faults"])["faults"]?[0]?["fault"] == 2)
            #expect(await bench.refusal(["do": "clear-fault", "fault": 1])?.status == MachineError.badRequestStatus)
            #expect(await bench.refusal(["do": "clear-fault"])?.status == MachineError.badRequestStatus)
            _ = try await bench.perform(["do": "clear-fault", "all": true])
            #expect(try await bench.perform(["do": "faults"])["faults"] == [])
            #expect(await bench.refusal(["do": "fault", "kind": "earthquake"])?.status == MachineError.badRequestStatus)
        }
    }

    @Test func theJournalIsFilteredAndItsBeginningGoes() async throws {
        try await ControlBench.run(journalCapacity: 8) { bench in
            _ = try await bench.perform(["do": "reboot", "device": "lock"])
            for _ in 0..<10 {
                let set: JSONValue = [
                    "do": "set", "device": "lamp", "endpoint": 1, "cluster": "OnOff", "attribute": "OnOff", "value": true,
                ]
                _ = try await bench.perform(set)
            }
            let kinds = try await bench.perform(["do": "journal", "device": "lamp", "kinds": ["set"], "limit": 3])["entries"]?.array
            #expect(kinds?.count == 3)
            #expect(kinds?.allSatisfy { $0["kind"] == "set" && $0["device"] == "lamp" } == true)
            #expect(await bench.refusal(["do": "journal", "fromNumber": 1])?.status == MachineError.goneStatus)
            #expect(await bench.refusal(["do": "journal", "kinds": ["weather"]])?.status == MachineError.badRequestStatus)
        }
    }

    @Test func theJournalIsFilteredByElement() async throws {
        try await ControlBench.run { bench in
            func set(_ attribute: String, _ value: JSONValue) async throws {
                _ = try await bench.perform([
                    "do": "set", "device": "lamp", "cluster": "OnOff", "attribute": .string(attribute), "value": value,
                ])
            }
            func kinds(_ more: [String: JSONValue]) async throws -> [String] {
                let entries = try await bench.perform(.object(more.merging(["do": "journal", "fromNumber": 3]) { $1 }))["entries"]
                return entries?.array?.compactMap { $0["kind"]?.string } ?? []
            }
            try await set("OnOff", true)
            try await set("OnTime", 30)
            let alarm: JSONValue = [
                "do": "trigger", "device": "lock", "cluster": "DoorLock", "event": "DoorLockAlarm", "fields": ["AlarmCode": 0],
            ]
            _ = try await bench.perform(alarm)
            #expect(try await kinds(["cluster": "OnOff", "attribute": "OnTime", "kinds": ["set"]]) == ["set"])
            #expect(try await kinds(["cluster": "OnOff", "attribute": "OnTime", "device": "lock"]) == [])
            #expect(try await kinds(["cluster": "DoorLock", "event": "DoorLockAlarm"]) == ["trigger", "event"])
            #expect(
                try await kinds(["cluster": "DoorLock", "attribute": "LockState", "event": "DoorLockAlarm", "kinds": ["trigger"]]) == [
                    "trigger"
                ])
            #expect(try await kinds(["cluster": "OnOff", "command": "Toggle"]) == [])
            for wrong: [String: JSONValue] in [["command": "Toggle"], ["cluster": "OnOff", "attribute": "OnTimes"], ["kinds": "set"]] {
                let request = JSONValue.object(wrong.merging(["do": "journal"]) { $1 })
                #expect(await bench.refusal(request)?.status == MachineError.badRequestStatus, "\(request.text())")
            }
            #expect(await bench.refusal(["do": "journal", "device": "tree"])?.status == MachineError.unknownDeviceStatus)
            #expect(try await bench.perform(["do": "journal", "device": "*"])["entries"] == [])
        }
    }

    /// Who follows a journal goes on behind what the filter left out.
    @Test func theJournalSaysWhereToGoOn() async throws {
        try await ControlBench.run { bench in
            func next(_ more: [String: JSONValue]) async throws -> UInt64? {
                try await bench.perform(.object(more.merging(["do": "journal"]) { $1 }))["next"]?.unsigned
            }
            let last = try await bench.simulator.lastJournalNumber()
            try #require(last > 3)
            #expect(try await next([:]) == last + 1)
            #expect(try await next(["last": 2]) == last + 1)
            #expect(try await next(["limit": 2]) == 3)
            #expect(try await next(["kinds": ["trigger"]]) == last + 1)
            #expect(try await next(["fromNumber": 2, "limit": 0]) == 2)
        }
    }

    @Test func theJournalTellsItsLastEntriesInTheirOrder() async throws {
        try await ControlBench.run(journalCapacity: 30) { bench in
            for number in 1...40 {
                _ = try await bench.perform([
                    "do": "set", "device": number % 4 == 0 ? "lock" : "lamp", "endpoint": 0, "cluster": "BasicInformation",
                    "attribute": "NodeLabel", "value": .string("\(number)"),
                ])
            }
            func labels(_ more: [String: JSONValue]) async throws -> [String] {
                let request: [String: JSONValue] = ["do": "journal", "kinds": ["set"]]
                let entries = try await bench.perform(.object(request.merging(more) { $1 }))["entries"]?.array ?? []
                return entries.compactMap { $0["value"]?.string }
            }
            #expect(try await labels(["last": 3]) == ["38", "39", "40"])
            #expect(try await labels(["last": 3, "device": "lamp"]) == ["37", "38", "39"])
            #expect(try await labels(["last": 2, "device": "lock"]) == ["36", "40"])
            #expect(try await labels(["last": 0]) == [])
            // `limit` counts from the beginning, and does not count beside `last`.
            #expect(try await labels(["last": 2, "limit": 1]) == ["39", "40"])
            // No more than are kept, nor than come from `fromNumber` on.
            let kept = try await labels(["last": 1000])
            #expect(kept == (try await labels(["limit": 1000])) && kept.count < 40 && kept.last == "40")
            func numbers(_ request: JSONValue) async throws -> [UInt64] {
                (try await bench.perform(request)["entries"]?.array ?? []).compactMap { $0["number"]?.unsigned }
            }
            let ends = try await numbers(["do": "journal", "last": 2])
            try #require(ends.count == 2)
            #expect(try await numbers(["do": "journal", "last": 1000, "fromNumber": JSONValue(ends[0])]) == ends)
            #expect(await bench.refusal(["do": "journal", "last": 1, "fromNumber": 1])?.status == MachineError.goneStatus)
            #expect(try await labels(["last": 5, "fromNumber": JSONValue(ends[1] + 1)]) == [])
        }
    }

    @Test func aWindowThatIsOpenIsNotOpenedAgain() async throws {
        try await ControlBench.run { bench in
            // A device in no fabric is open from the start.
            #expect(await bench.refusal(["do": "open-window", "device": "lamp"])?.status == "BUSY")
        }
    }

    @Test func whatIsNoRequestIsRefused() async throws {
        try await ControlBench.run { bench in
            for wrong: JSONValue in [[:], ["do": 5], ["do": ""], [1, 2], "devices"] {
                #expect(await bench.refusal(wrong)?.status == MachineError.badRequestStatus, "\(wrong.text())")
            }
            #expect(await bench.refusal(["do": "reboott"])?.message.contains("reboot") == true)
        }
    }
}

/// A client of the control socket that reads line by line and waits at most ten seconds for one.
private final class ControlClient {
    private let fd: Int32
    private var input: [UInt8] = []

    init(_ path: String) throws {
        fd = try UnixSocket.connect(path: path)
        _ = fcntl(fd, F_SETFL, fcntl(fd, F_GETFL) & ~O_NONBLOCK)
        var limit = timeval(tv_sec: 10, tv_usec: 0)
        setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &limit, socklen_t(MemoryLayout<timeval>.size))
    }

    deinit { close(fd) }

    func send(_ text: String) {
        let bytes = Array(text.utf8)
        var sent = 0
        while sent < bytes.count {
            let count = bytes.withUnsafeBytes { Glibc.send(fd, $0.baseAddress.map { $0 + sent }, bytes.count - sent, Int32(MSG_NOSIGNAL)) }
            if count <= 0 { return }
            sent += count
        }
    }

    func endInput() { shutdown(fd, Int32(SHUT_WR)) }

    /// The next line; nil at the end, or when nothing comes.
    func line() -> JSONValue? {
        while true {
            if let end = input.firstIndex(of: 0x0A) {
                let line = Array(input[..<end])
                input.removeFirst(end + 1)
                return try? JSONValue(parsing: line)
            }
            var chunk = [UInt8](repeating: 0, count: 4096)
            let count = read(fd, &chunk, chunk.count)
            guard count > 0 else { return nil }
            input += chunk[..<count]
        }
    }
}

@Suite struct ControlServerTests {
    /// A path that is free and short enough for a socket.
    private func withSocket(
        _ mode: Timeline.Mode = .manual, _ body: (ControlBench, String) async throws -> Void
    ) async throws {
        var template = Array("/tmp/hearth-control-XXXXXX".utf8CString)
        let folder = template.withUnsafeMutableBufferPointer { buffer in
            buffer.baseAddress.flatMap { mkdtemp($0) }.map { String(cString: $0) }
        }
        let path = try #require(folder) + "/control"
        defer { if let folder { rmdir(folder) } }
        try await ControlBench.run(mode) { bench in
            try await bench.simulator.openControl(path: path, loop: bench.runtime.loop)
            try await body(bench, path)
        }
        #expect(access(path, F_OK) != 0, "the socket is gone with the simulator")
    }

    @Test func itSaysWhoItIsAndAnswersInOrder() async throws {
        try await withSocket { _, path in
            var status = stat()
            #expect(stat(path, &status) == 0 && status.st_mode & 0o777 == 0o600)
            let client = try ControlClient(path)
            #expect(client.line() == ["hello": "hearth", "interface": 1, "role": "simulator"])
            // In one write, and one of them cut in two.
            client.send("{\"id\": 1, \"do\": \"clock\", \"advanceMs\": 1000}\n{\"id\": \"two\", \"do\": \"clock\"}\n{\"id\": 3, ")
            client.send("\"do\": \"devices\"}\n")
            let first = client.line()
            #expect(first?["id"] == 1)
            #expect(first?["ok"] == true)
            let second = client.line()
            #expect(second?["id"] == "two")
            #expect(second?["nowMs"] == first?["nowMs"])
            #expect(client.line()?["devices"]?.array?.count == 2)
        }
    }

    @Test func aBadLineIsAnsweredAndTheSessionGoesOn() async throws {
        try await withSocket { _, path in
            let client = try ControlClient(path)
            _ = client.line()
            client.send("this is not JSON\n\n{\"id\": 1, \"do\": \"dance\"}\n{\"id\": 2, \"do\": \"reboot\", \"device\": \"nobody\"}\n")
            let bad = client.line()
            #expect(bad?["id"] == .null)
            #expect(bad?["error"]?["status"] == "BAD_REQUEST")
            let unknown = client.line()
            #expect(unknown?["id"] == 1)
            #expect(unknown?["ok"] == false)
            #expect(client.line()?["error"]?["status"] == "UNKNOWN_DEVICE")
            client.send("{\"id\": 4, \"do\": \"clock\"}\n")
            #expect(client.line()?["ok"] == true)
        }
    }

    @Test func severalClientsAreServed() async throws {
        try await withSocket { _, path in
            let clients = [try ControlClient(path), try ControlClient(path), try ControlClient(path)]
            for (index, client) in clients.enumerated() { client.send("{\"id\": \(index), \"do\": \"devices\"}\n") }
            for (index, client) in clients.enumerated() {
                #expect(client.line()?["role"] == "simulator")
                #expect(client.line()?["id"] == JSONValue(index))
            }
        }
    }

    @Test func theEndOfInputIsAnsweredToTheLastAndThenClosed() async throws {
        try await withSocket { _, path in
            let client = try ControlClient(path)
            _ = client.line()
            client.send((1...50).map { "{\"id\": \($0), \"do\": \"devices\"}\n" }.joined())
            client.endInput()
            for number in 1...50 { #expect(client.line()?["id"] == JSONValue(number)) }
            #expect(client.line() == nil)
        }
    }

    @Test func aLineWithoutEndIsCutOff() async throws {
        try await withSocket { _, path in
            let client = try ControlClient(path)
            _ = client.line()
            client.send(String(repeating: "x", count: (1 << 20) + 100_000))
            #expect(client.line()?["error"]?["status"] == "BAD_REQUEST")
            #expect(client.line() == nil)
            // Others are not troubled.
            let other = try ControlClient(path)
            #expect(other.line()?["hello"] == "hearth")
        }
    }

    /// In real time, where it waits: the caller does not live to see the hour.
    @Test(.timeLimit(.minutes(10))) func aScenarioEndsWithItsCaller() async throws {
        try await withSocket(.real(speed: 1)) { bench, path in
            let file = path + ".yaml"
            defer { unlink(file) }
            let text = """
                name: long
                steps:
                  - fault: {device: lamp, kind: wrong-status, status: BUSY}
                  - at: 1h
                    set: {device: lamp, endpoint: 1, cluster: OnOff, attribute: OnOff, value: true}

                """
            let stream = try #require(fopen(file, "w"))
            fputs(text, stream)
            fclose(stream)
            let (entries, heard) = AsyncStream.makeStream(of: String.self)
            let listener = try await bench.simulator.listen { if $0.kind == .control, let note = $0.note { heard.yield(note) } }
            var control = entries.makeAsyncIterator()

            // Who has only said all waits for the answer, and the scenario goes on.
            let patient = try ControlClient(path)
            patient.send("{\"id\": 1, \"do\": \"play\", \"file\": \"\(file)\"}\n")
            patient.endInput()
            #expect(await control.next() == "fault")
            do {
                let hasty = try ControlClient(path)
                hasty.send("{\"id\": 1, \"do\": \"play\", \"file\": \"\(file)\"}\n")
                #expect(await control.next() == "fault")
            }
            // Its faults end with it, the other's do not.
            #expect(await control.next() == "clear-fault")
            #expect(try await bench.perform(["do": "faults"])["faults"]?.array?.compactMap { $0["fault"] } == [1])
            try await bench.simulator.stopListening(listener)
        }
    }

    @Test func aPathThatIsTooLongOrTakenIsRefused() async throws {
        try await withSocket { bench, path in
            let other = try Runtime(mode: .manual)
            let timeline = other.timeline
            let loop = other.loop
            for wrong in [path, "/tmp/" + String(repeating: "x", count: 200)] {
                await #expect(throws: SimulatorError.self) {
                    try await timeline.call("listen") {
                        _ = try ControlServer(path: wrong, role: .simulator, loop: loop, timeline: timeline) { $0 }
                    }
                }
            }
            other.shutdown()
            await other.ended()
            // The one that was there is still served.
            let client = try ControlClient(path)
            #expect(client.line()?["hello"] == "hearth")
            _ = bench
        }
    }
}
