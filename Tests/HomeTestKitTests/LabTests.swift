import Glibc
import HearthIO
import HearthTime
import HomeTestKit
import MatterModel
import MatterSimulator
import Testing

/// Both sides behind one stream of requests.
@Suite struct LabTests {
    private static let light = DeviceProfile(name: "lamp", endpoints: [.init(1, deviceTypes: [0x0101])])

    /// The answers and reports of a session.
    private final class Lines: Sendable {
        let all = Locked<[JSONValue]>([])
        func answer(_ id: Int64) -> JSONValue? { all.withLock { $0.first { $0["id"] == .integer(id) } } }
        var reports: [JSONValue] { all.withLock { $0.filter { $0["report"] != nil } } }
    }

    private func run(_ body: @escaping @Sendable @concurrent (Lab, LabSession, Lines) async throws -> Void) async throws {
        let lab = try await Lab.open()
        do {
            _ = try await lab.simulator.add(Self.light)
            let lines = Lines()
            let session = lab.session { line, _ in lines.all.withLock { $0.append(line) } }
            let timeline = lab.runtime.timeline
            // As the control socket does it: in a task of the timeline.
            try await timeline.spawn("test") { try await body(lab, session, lines) }.value
        } catch {
            await lab.close()
            throw error
        }
        await lab.close()
    }

    @Test func theVerbsOfBothSidesAreToldApart() async throws {
        try await run { lab, session, lines in
            let code = try await lab.simulator.allDevices()[0].qrCode
            await session.receive(["id": 1, "do": "pair", "code": .string(code), "name": "my lamp"])
            await session.finish()
            #expect(lines.answer(1)?["ok"] == true)
            await session.receive(["id": 2, "do": "devices"])
            await session.receive(["id": 3, "do": "devices", "side": "controller"])
            await session.receive(["id": 4, "do": "devices", "side": "moon"])
            await session.receive(["id": 5, "do": "dance"])
            await session.receive(["id": 6, "do": "open-window", "device": "lamp"])
            await session.receive(["id": 7, "do": "open-window", "side": "controller", "device": "my lamp", "timeoutS": 180])
            await session.finish()
            #expect(lines.answer(2)?["devices"]?.array?.first?["device"] == "lamp")
            #expect(lines.answer(2)?["devices"]?.array?.first?["paired"] == true)
            #expect(lines.answer(3)?["devices"]?.array?.first?["device"] == "my lamp")
            #expect(lines.answer(4)?["error"]?["status"] == "BAD_REQUEST")
            #expect(lines.answer(5)?["error"]?["status"] == "BAD_REQUEST")
            #expect(lines.answer(6)?["ok"] == true)
            // A window is open already.
            #expect(lines.answer(7)?["ok"] == false)
        }
    }

    @Test func theClockMovesBothSides() async throws {
        try await run { lab, session, lines in
            let code = try await lab.simulator.allDevices()[0].qrCode
            await session.receive(["id": 1, "do": "pair", "code": .string(code), "name": "lamp"])
            await session.finish()
            await session.receive(
                [
                    "id": 2, "do": "subscribe", "device": "lamp", "minIntervalS": 0, "maxIntervalS": 600,
                    "paths": [["endpoint": 1, "cluster": "OnOff", "attribute": "OnOff"]],
                ])
            await session.finish()
            #expect(lines.answer(2)?["ok"] == true)
            await session.receive(["id": 3, "do": "fault", "device": "lamp", "kind": "slow-answer", "delayMs": 2000, "count": 1])
            // Its answer needs time that only the next request brings.
            await session.receive(["id": 4, "do": "invoke", "device": "lamp", "endpoint": 1, "cluster": "OnOff", "command": "On"])
            await session.receive(["id": 5, "do": "clock"])
            #expect(lines.answer(4) == nil)
            let before = lines.answer(5)?["nowMs"]?.integer ?? -1
            await session.receive(["id": 6, "do": "clock", "advanceMs": 3000])
            await session.finish()
            #expect(lines.answer(6)?["nowMs"]?.integer == before + 3000)
            #expect(lines.answer(6)?["mode"] == "virtual")
            #expect(lines.answer(4)?["ok"] == true)
            #expect(lines.reports.count == 1)
            // The connection ends, and its subscriptions with it.
            await session.close()
            await session.receive([
                "id": 7, "do": "set", "device": "lamp", "endpoint": 1, "cluster": "OnOff", "attribute": "OnOff", "value": false,
            ])
            await session.receive(["id": 8, "do": "clock", "advanceMs": 3000])
            await session.finish()
            #expect(lines.reports.count == 1)
        }
    }

    /// What the control socket of a lab answers to these requests, by the time that it has answered all; nothing when one is not answered
    /// within 20 s of real time.
    private func talk(
        _ options: Lab.Options = Lab.Options(), _ requests: (Lab) async throws -> [String]
    ) async throws -> [JSONValue] {
        var template = Array("/tmp/hearth-lab-XXXXXX".utf8CString)
        let folder = try #require(mkdtemp(&template).map { String(cString: $0) })
        defer { rmdir(folder) }
        let lab = try await Lab.open(options)
        var output: [UInt8] = []
        do {
            _ = try await lab.simulator.add(Self.light)
            let requests = try await requests(lab)
            try await lab.openControl(path: folder + "/control")
            let descriptor = try UnixSocket.connect(path: folder + "/control")
            defer { close(descriptor) }
            let text = Array((requests.joined(separator: "\n") + "\n").utf8)
            #expect(write(descriptor, text, text.count) == text.count)
            shutdown(descriptor, Int32(SHUT_WR))
            var chunk = [UInt8](repeating: 0, count: 4096)
            var wanted = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
            while true {
                // Not for ever when an answer never comes.
                if poll(&wanted, 1, 20_000) == 0 {
                    Issue.record("no answer")
                    break
                }
                let count = read(descriptor, &chunk, chunk.count)
                if count < 0, errno == EAGAIN || errno == EINTR { continue }
                guard count > 0 else { break }
                output += chunk[..<count]
            }
        } catch {
            await lab.close()
            throw error
        }
        await lab.close()
        let lines = try output.split(separator: 0x0A).map { try JSONValue(parsing: Array($0)) }
        #expect(lines.first?["role"] == "lab")
        return Array(lines.dropFirst())
    }

    /// Over the socket: answers come as they are ready, and all have come when the connection ends.
    @Test func theSocketAnswersWhatTheClockLetsGo() async throws {
        let lines = try await talk { lab in
            try await lab.controller.pair(lab.simulator.allDevices()[0].qrCode, name: "lamp")
            return [
                #"{"id": 1, "do": "fault", "device": "lamp", "kind": "slow-answer", "delayMs": 2000}"#,
                #"{"id": 2, "do": "invoke", "device": "lamp", "endpoint": 1, "cluster": "OnOff", "command": "On"}"#,
                #"{"id": 3, "do": "faults"}"#, #"{"id": 4, "do": "clock", "advanceMs": 5000}"#,
            ]
        }
        #expect(lines.compactMap { $0["id"]?.integer } == [1, 3, 2, 4])
        #expect(lines.allSatisfy { $0["ok"] == true })
    }

    /// Nobody has to move a clock that goes on whenever an answer waits for it.
    @Test func anAutomaticClockGoesOnForWhoWaits() async throws {
        var options = Lab.Options()
        options.mode = .automatic
        let lines = try await talk(options) { lab in
            try await lab.controller.pair(lab.simulator.allDevices()[0].qrCode, name: "lamp")
            return [
                #"{"id": 1, "do": "fault", "device": "lamp", "kind": "slow-answer", "delayMs": 3000}"#, #"{"id": 2, "do": "clock"}"#,
                #"{"id": 3, "do": "invoke", "device": "lamp", "endpoint": 1, "cluster": "OnOff", "command": "On"}"#,
            ]
        }
        #expect(lines.compactMap { $0["id"]?.integer } == [1, 2, 3])
        #expect(lines.allSatisfy { $0["ok"] == true }, "\(lines)")
    }

    @Test(arguments: ["connection", "parameters", "share", "confirmation"])
    func anAutomaticClockLetsAPairingFail(_ step: String) async throws {
        var options = Lab.Options()
        options.mode = .automatic
        let lines = try await talk(options) { lab in
            [
                #"{"id": 1, "do": "fault", "device": "lamp", "kind": "pairing", "step": "\#(step)"}"#,
                #"{"id": 2, "do": "pair", "code": "\#(try await lab.simulator.allDevices()[0].qrCode)"}"#,
            ]
        }
        #expect(lines.compactMap { $0["id"]?.integer } == [1, 2])
        #expect(lines.last?["error"]?["status"] == "PAIRING_FAILED", "\(lines)")
    }
}
