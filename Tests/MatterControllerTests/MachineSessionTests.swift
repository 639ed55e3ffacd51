import HearthTime
import MachineInterface
import MatterModel
import MatterSimulator
import Testing

@testable import HomeTestKit
@testable import MatterController

/// The machine interface as a library, in virtual time.
@Suite struct MachineSessionTests {
    private static func light(_ name: String) -> DeviceProfile {
        DeviceProfile(name: name, endpoints: [.init(1, deviceTypes: [0x0100])])
    }

    /// A session and the lines that it wrote.
    private final class Client: Sendable {
        let session: MachineSession
        private let timeline: Timeline
        private let stored: Locked<[JSONValue]>
        var lines: [JSONValue] { stored.withLock { $0 } }

        init(_ home: VirtualHome) {
            let stored = Locked<[JSONValue]>([])
            (self.stored, timeline) = (stored, home.timeline)
            session = MachineSession(ControllerVerbs(home.controller, discovery: home.discovery)) { line, _ in
                stored.withLock { $0.append(line) }
            }
        }

        /// Waits for all answers. A call from outside, so that time goes on meanwhile.
        func finish() async throws {
            let session = session
            try await timeline.call("answers") { await session.finish() }
        }

        /// Sends a request and returns its answer.
        func ask(_ members: [String: JSONValue]) async throws -> JSONValue {
            var request = members
            let id = JSONValue.integer(Int64(lines.count) + 1000)
            request["id"] = id
            await session.receive(JSONValue(request))
            try await finish()
            return lines.last { $0["id"] == id } ?? .null
        }
    }

    private static func toggle(_ device: JSONValue, _ id: Int64) -> JSONValue {
        ["id": .integer(id), "do": "invoke", "device": device, "endpoint": 1, "cluster": "OnOff", "command": "Toggle"]
    }

    @Test func aSlowDeviceHoldsUpItsOwnRequestsOnly() async throws {
        try await VirtualHome.run(Self.light("slow"), Self.light("quick")) { home in
            try await home.pairAll()
            _ = try await home.simulator.addFault("slow", ["kind": "slow-answer", "delayMs": 2000])
            let client = Client(home)
            let node = try await home.controller.device("slow").nodeID.rawValue
            await client.session.receive(Self.toggle("slow", 1))
            await client.session.receive(Self.toggle(JSONValue(node), 2))
            await client.session.receive(Self.toggle("quick", 3))
            await client.session.receive(Self.toggle("SLOW", 4))
            try await client.finish()
            #expect(client.lines.compactMap { $0["id"]?.integer } == [3, 1, 2, 4])
            #expect(client.lines.allSatisfy { $0["ok"] == true })
        }
    }

    /// Time stands, so that the device answers never: neither who sends nor who waits for the end is held.
    @Test(.timeLimit(.minutes(2))) func aStopLetsNobodyWait() async throws {
        try await VirtualHome.run(Self.light("slow")) { home in
            try await home.pairAll()
            _ = try await home.simulator.addFault("slow", ["kind": "slow-answer", "delayMs": 2000])
            let client = Client(home)
            // More than the 256 that may wait.
            async let sent: Void = {
                for number: Int64 in 1...300 { await client.session.receive(Self.toggle("slow", number)) }
            }()
            async let ended: Void = client.session.finish()
            await client.session.stop()
            _ = await (sent, ended)
            #expect(client.lines.isEmpty)
        }
    }

    @Test func requestsThatFollowAPairingWaitForIt() async throws {
        try await VirtualHome.run(Self.light("lamp")) { home in
            let code = try #require(await home.simulator.allDevices().first?.qrCode)
            let client = Client(home)
            await client.session.receive(["id": 1, "do": "pair", "code": .string(code), "name": "Lamp"])
            await client.session.receive(Self.toggle("lamp", 2))
            try await client.finish()
            #expect(client.lines.map { $0["ok"] } == [true, true])
            #expect(client.lines.map { $0["id"] } == [1, 2])
        }
    }

    @Test func aLongOutageIsToldOnceAndItsEnd() async throws {
        try await VirtualHome.run(Self.light("lamp")) { home in
            try await home.pair("lamp")
            let client = Client(home)
            let answer = try await client.ask([
                "do": "subscribe", "device": "lamp", "paths": [["endpoint": 1, "cluster": "OnOff", "attribute": "OnOff"]],
                "minIntervalS": 0, "maxIntervalS": 30,
            ])
            let number = try #require(answer["subscription"])
            try await home.simulator.stop("lamp")
            try await home.advance(by: .seconds(20))
            try await home.simulator.start("lamp")
            try await home.advance(by: .seconds(120))
            let unasked = client.lines.filter { $0["id"] == nil }
            #expect(unasked.map { $0["state"]?.string ?? "report" } == ["lost", "report", "restored"])
            #expect(unasked.allSatisfy { $0["subscription"] == number || $0["report"] == number })
            _ = try await client.ask(["do": "unpair", "device": "lamp"])
            #expect(client.lines.contains { $0["state"] == "ended" && $0["subscription"] == number })
            #expect(try await client.ask(["do": "unsubscribe", "subscription": number])["error"]?["status"] == "BAD_REQUEST")
        }
    }

    @Test func eventsAreReadFromANumberOn() async throws {
        try await VirtualHome.run(Self.light("lamp")) { home in
            try await home.pair("lamp")
            let client = Client(home)
            let request: [String: JSONValue] = [
                "do": "events", "device": "lamp", "paths": [["endpoint": 0, "cluster": "BasicInformation"]],
            ]
            let first = try await client.ask(request)
            let start = try #require(first["events"]?.array?.first { $0["event"] == "StartUp" })
            #expect(start["clusterId"] == 0x28)
            #expect(start["priority"] == 2)
            #expect(start["fields"]?["SoftwareVersion"] == 1)
            #expect(start["timestamp"]?["epochMs"] != nil || start["timestamp"]?["systemMs"] != nil)
            var later = request
            later["fromNumber"] = JSONValue(try #require(start["number"]?.unsigned) + 1)
            let rest = try await client.ask(later)
            #expect(rest["events"]?.array?.contains { $0["event"] == "StartUp" } == false)
            let wrong = try await client.ask([
                "do": "events", "device": "lamp", "paths": [["endpoint": 0, "cluster": "BasicInformation", "event": 99]],
            ])
            #expect(wrong["events"]?[0]?["error"]?["status"] == "UNSUPPORTED_EVENT")
        }
    }

    @Test func aTimedRequestIsSentExactlyWhereItIsAskedFor() async throws {
        try await VirtualHome.run(Self.light("lamp")) { home in
            try await home.pair("lamp")
            let client = Client(home)
            var request: [String: JSONValue] = [
                "do": "invoke", "device": "lamp", "endpoint": 0, "cluster": "AdministratorCommissioning", "command": "RevokeCommissioning",
            ]
            #expect(try await client.ask(request)["error"]?["status"] == "NEEDS_TIMED_INTERACTION")
            request["timedMs"] = 500
            request["invokeDelayMs"] = 1000
            #expect(try await client.ask(request)["error"]?["status"] == "TIMEOUT")
            request["invokeDelayMs"] = 100
            // No window is open: the cluster's own status.
            let refused = try await client.ask(request)
            #expect(refused["error"]?["status"] == "FAILURE")
            #expect(refused["error"]?["clusterStatus"] == 4)
        }
    }
}
