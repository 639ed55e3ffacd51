import HearthTime
import HomeTestKit
import MatterController
import MatterInteraction
import MatterModel
import MatterSimulator
import MatterTLV
import Testing

/// The conveniences of a virtual home.
@Suite struct HomeTests {
    private static let light = DeviceProfile(name: "lamp", endpoints: [.init(1, deviceTypes: [0x0101])])
    private static let lock = DeviceProfile(name: "lock", endpoints: [.init(1, deviceTypes: [0x000A])])

    @Test func typedAttributesAreReadWrittenSetAndExpected() async throws {
        try await VirtualHome.run(Self.light, Self.lock) { home in
            try await home.pairAll()
            try await home.device("lamp").set(.onOff.onOff, to: true)
            try await home.expect("lamp", .onOff.onOff, equals: true)
            #expect(try await home.read("lamp", .onOff.onOff))
            try await home.write("lamp", .onOff.onTime, 30)
            #expect(try await home.device("lamp").value(.onOff.onTime) == 30)
            try await home.expect("lock", .doorLock.lockState, equals: home.device("lock").value(.doorLock.lockState))
            let label = AttributeKey<String>(BasicInformation.id, BasicInformation.Attributes.nodeLabel)
            try await home.write("lamp", label, "desk", endpoint: 0)
            try await home.expect("lamp", .basicInformation.nodeLabel, endpoint: 0, equals: "desk")
            try await home.device("lock").trigger(DoorLock.DoorLockAlarm(alarmCode: .lockJammed))
            try await home.expect("lock", .doorLock.lockState, equals: .value(.notFullyLocked))
        }
    }

    @Test func theClockMeasures() async throws {
        try await VirtualHome.run(Self.light) { home in
            let begin = home.clock.now
            try await home.clock.advance(by: .seconds(90))
            try await home.clock.advance(to: begin + .seconds(100))
            #expect(home.clock.now - begin == .seconds(100))
            try await home.pair("lamp")
            try await home.device("lamp").faults.add(.delay(.milliseconds(250), .outgoing))
            let span = try await home.clock.measure { try await home.invoke("lamp", OnOff.On()) }
            #expect(span == .milliseconds(250))
        }
    }

    @Test func faultsAreListedAndCleared() async throws {
        try await VirtualHome.run(Self.light) { home in
            try await home.pair("lamp")
            let faults = home.device("lamp").faults
            try await faults.add(.wrongStatus(.busy, for: OnOff.On.self).skipping(1).times(2))
            try await faults.add(.offline.with(probability: 0))
            #expect(try await faults.all().map(\.kind) == ["wrong-status", "offline"])
            var statuses: [StatusCode] = []
            for _ in 0..<4 {
                do {
                    try await home.invoke("lamp", OnOff.On())
                    statuses.append(.success)
                } catch let status as Status {
                    statuses.append(status.code)
                }
            }
            #expect(statuses == [.success, .busy, .busy, .success])
            try await faults.clear()
            #expect(try await faults.all().isEmpty)
        }
    }

    @Test func everyControllerHasItsFabric() async throws {
        try await VirtualHome.run(Self.light) { home in
            try await home.pair("lamp")
            let guest = try await home.addController("guest")
            await #expect(throws: ControllerError.self) { _ = try await home.addController("guest") }
            #expect(home.controllers.map(\.name) == ["controller", "guest"])
            let (one, other) = (try await home.controller.whoAmI(), try await home.controller("guest").whoAmI())
            #expect(one.fabricID != other.fabricID)
            // The guest's lamp is none yet. It is closed with the home.
            #expect(try await guest.devices().isEmpty)
        }
    }

    @Test func aKilledDeviceKeepsWhatItAcknowledged() async throws {
        try await VirtualHome.run(Self.light) { home in
            try await home.pair("lamp")
            try await home.invoke("lamp", OnOff.On())
            try await home.device("lamp").kill()
            await #expect(throws: ControllerError.self) { _ = try await home.read("lamp", .onOff.onOff) }
            try await home.device("lamp").start()
            try await home.expect("lamp", .onOff.onOff, equals: true)
        }
    }

    @Test func aHomeIsRestoredToWhatItWas() async throws {
        try await VirtualHome.run(Self.light, Self.lock) { home in
            try await home.pair("lamp")
            try await home.device("lamp").set(.onOff.onOff, to: true)
            let before = try await home.snapshot()
            try await home.pair("lock")
            try await home.device("lamp").set(.onOff.onOff, to: false)
            try await home.controller.unpair("lamp")
            try await home.restore(before)
            #expect(try await home.controller.devices().map(\.name) == ["lamp"])
            #expect(try await home.simulator.allDevices().map(\.isPaired) == [true, false])
            try await home.expect("lamp", .onOff.onOff, equals: true)
            try await home.pair("lock")
        }
    }

    @Test func manyTestsStartFromOneSnapshot() async throws {
        let snapshot = try await VirtualHome.run(Self.light, Self.lock) { home in
            try await home.pairAll()
            let guest = try await home.addController("guest")
            try await guest.pair(home.controller.openWindow("lamp", timeout: 180).qrCode, name: "their lamp")
            try await home.device("lamp").set(.onOff.onOff, to: true)
            try await home.clock.advance(by: .seconds(7200))
            return try await home.snapshot()
        }
        // Side by side: each has its own.
        try await withThrowingTaskGroup(of: Void.self) { group in
            for round in 0..<3 {
                group.addTask {
                    try await VirtualHome.run(from: snapshot) { home in
                        try await home.expect("lamp", .onOff.onOff, equals: true)
                        if round == 1 { try await home.invoke("lamp", OnOff.Off()) }
                        try await home.controller("guest").read("their lamp", .onOff.onOff, equals: round != 1)
                        #expect(try await home.controller.devices().count == 2)
                    }
                }
            }
            try await group.waitForAll()
        }
    }

    @Test func theJournalOfAHomeIsReplayed() async throws {
        var options = VirtualHome.Options()
        options.seed = 5
        try await VirtualHome.run(Self.light, Self.lock, options: options) { home in
            try await home.pairAll()
            try await home.device("lamp").faults.add(.wrongStatus(.busy, for: OnOff.Toggle.self).with(probability: 0.5))
            try await home.device("lock").faults.add(.jammedLock.with(probability: 0.5))
            for _ in 0..<10 {
                _ = try? await home.invoke("lamp", OnOff.Toggle())
                _ = try? await home.invoke("lock", DoorLock.LockDoor())
                try await home.clock.advance(by: .seconds(3))
            }
            try await home.invoke(
                "lamp",
                LevelControl.MoveToLevelWithOnOff(
                    level: 100, transitionTime: 30, optionsMask: LevelControl.OptionsBitmap(), optionsOverride: LevelControl.OptionsBitmap()
                ))
            try await home.clock.advance(by: .seconds(10))
            try await home.device("lamp").reboot()
            try await home.write("lamp", .onOff.onTime, 30)
            try await home.device("lamp").set(.onOff.onOff, to: false)
            let members = try await home.simulator.members()
            let outcome = try await home.journal.replay(members, seed: 5)
            #expect(outcome.difference == nil, "\(outcome.json)")
            #expect(outcome.inputs > 20 && outcome.compared > 30)

            // A journal that tells of something else.
            let text = try await home.journal.text()
            let lines = text.split(separator: "\n").map { line in
                line.contains("\"kind\":\"attribute\"") && line.contains("CurrentLevel")
                    ? String(line.replacing("\"value\":100", with: "\"value\":99")) : String(line)
            }
            let wrong = try Replay.read(Array(lines.joined(separator: "\n").utf8), file: "wrong")
            let difference = try await Replay.run(wrong, members: members, seed: 5).difference
            #expect(difference?.device == "lamp")
            #expect(difference?.expected?["value"] == 99)
            #expect(difference?.actual?["value"] == 100)
        }
    }

    /// The device judges it as anybody of its fabric, and faults and journal see it.
    @Test func aDirectPeerSpeaksWithoutTLS() async throws {
        try await VirtualHome.run(Self.light) { home in
            try await home.pair("lamp")
            let node = try await home.controller.whoAmI().nodeID
            let path = AttributePathPattern(1, OnOff.id, OnOff.Attributes.onOff)
            let toggle = CommandData(WireCommandPath(CommandPath(1, OnOff.id, OnOff.Commands.toggle)), .structure([]))
            let peer = home.simulator.peer(of: "lamp", fabric: 1, node: node)
            let heard = Locked<[TLVValue]>([])
            let request = SubscribeRequest(ReadSelection(attributes: [path]), minimumInterval: 0, maximumInterval: 60)
            try await peer.subscribe(request) { reports in
                for case .value(_, let value) in reports.map(\.outcome) { heard.withLock { $0.append(value) } }
            }
            _ = try await peer.invoke([toggle])
            try await home.advance(by: .seconds(1))
            #expect(heard.withLock { $0 } == [.boolean(false), .boolean(true)])
            let invoked = try await home.journal.entries(device: "lamp", kinds: [.invoke], cluster: OnOff.id)
            #expect(invoked.map(\.node) == [node.rawValue] && invoked.map(\.fabric) == [1])
            // A broken connection is made again.
            try await home.device("lamp").fault("reset", ["count": 1])
            await #expect(throws: (any Error).self) { _ = try await peer.read(ReadSelection(attributes: [path])) }
            guard case .value(_, .boolean(true))? = try await peer.read(ReadSelection(attributes: [path])).first?.outcome else {
                Issue.record("the lamp is not on")
                return
            }
            // Somebody whom the access control does not know.
            let stranger = home.simulator.peer(of: "lamp", fabric: 1, node: 4711)
            guard case .status(let status)? = try await stranger.read(ReadSelection(attributes: [path])).first?.outcome else {
                Issue.record("a stranger was answered")
                return
            }
            #expect(status.code == .unsupportedAccess)
            await peer.close()
            try await home.simulator.stop("lamp")
            await #expect(throws: SimulatorError.self) { _ = try await peer.read(ReadSelection(attributes: [path])) }
        }
    }

    /// As on the standard output of `simulate --json`. A replay needs them, and says so.
    @Test func theJournalShowsPINsOnlyToWhoAsksForThem() async throws {
        try await VirtualHome.run(Self.lock) { home in
            try await home.pair("lock")
            _ = try? await home.invoke("lock", DoorLock.LockDoor(pinCode: Array("24681357".utf8)))
            let verbs = SimulatorVerbs(home.simulator)
            let hidden = JSONValue.object(try await verbs.perform(["do": "journal"])).text()
            let shown = JSONValue.object(try await verbs.perform(["do": "journal", "secrets": true])).text()
            #expect(hidden.contains("LockDoor") && hidden.contains("(redacted)"))
            #expect(shown.contains("LockDoor") && !shown.contains("(redacted)"))
            let members = try await home.simulator.members()
            let refusal = #expect(throws: SimulatorError.self) { _ = try Replay.read(Array(hidden.utf8), file: "j") }
            #expect(refusal?.message.contains("--secrets") == true)
            let outcome = try await Replay.run(Replay.read(Array(shown.utf8), file: "j"), members: members, seed: 1)
            #expect(outcome.difference == nil, "\(outcome.json)")
        }
    }

    /// Who is told what, and where it is asked for, who asks.
    @Test(arguments: [false, true]) func theJournalTellsOfReportsAndReads(_ recordsReads: Bool) async throws {
        var options = VirtualHome.Options()
        options.recordsReads = recordsReads
        let light = DeviceProfile(name: "lamp", endpoints: [.init(1, deviceTypes: [0x0101])])
        try await VirtualHome.run(light, options: options) { home in
            try await home.pair("lamp")
            let paths = [AttributePathPattern(1, OnOff.id)]
            let request = SubscribeRequest(ReadSelection(attributes: paths), minimumInterval: 0, maximumInterval: 60)
            _ = try await home.controller.subscribe("lamp", request) { _ in }
            let before = try await home.simulator.lastJournalNumber()
            try await home.invoke("lamp", OnOff.On())
            try await home.advance(by: .seconds(200))
            _ = try await home.read("lamp", AttributePath(1, OnOff.id, OnOff.Attributes.onOff))
            let entries = try await home.journal.entries(device: "lamp").filter { $0.number > before }
            let node = try await home.controller.whoAmI().nodeID.rawValue
            // One for the change; the empty reports afterwards tell nothing.
            let reports = entries.filter { $0.kind == .report }
            #expect(reports.map(\.attribute) == [OnOff.Attributes.onOff])
            #expect(reports.first?.node == node && reports.first?.cluster == OnOff.id)
            let reads = entries.filter { $0.kind == .read }
            #expect(reads.count == (recordsReads ? 1 : 0))
            #expect(reads.allSatisfy { $0.attribute == OnOff.Attributes.onOff && $0.node == node })
            let subscribed = try await home.journal.entries(device: "lamp", kinds: [.subscribe])
            #expect(subscribed.map(\.node) == [node])
            let changes = try await home.journal.entries(
                device: "lamp", cluster: OnOff.id, attribute: OnOff.Attributes.onOff, command: OnOff.Commands.on)
            #expect(Set(changes.map(\.kind)).isSuperset(of: [.invoke, .attribute, .report]))
            // What is new in a journal does not make a replay go another way.
            let outcome = try await home.journal.replay(home.simulator.members(), seed: 1)
            #expect(outcome.difference == nil, "\(outcome.json)")
        }
    }

    @Test func whatCannotBeReplayedIsRefused() async throws {
        #expect(throws: SimulatorError.self) { _ = try Replay.read(Array("not JSON".utf8), file: "j") }
        #expect(throws: SimulatorError.self) { _ = try Replay.read([], file: "j") }
        let late = #"{"atNs":0,"device":"lamp","kind":"start","number":7}"#
        #expect(throws: SimulatorError.self) { _ = try Replay.read(Array(late.utf8), file: "j") }
        let first = #"{"atNs":0,"device":"lamp","kind":"start","number":1}"#
        let journal = try Replay.read(Array(first.utf8), file: "j")
        await #expect(throws: SimulatorError.self) { _ = try await Replay.run(journal, members: [], seed: 0) }
    }
}

extension Controller {
    fileprivate func read(_ device: String, _ key: AttributeKey<Bool>, equals wanted: Bool) async throws {
        let report = try await read(device, .init(attributes: [AttributePathPattern(key.path(1))]))
        guard case .value(_, let value)? = report.attributes.first?.outcome else {
            Issue.record("\(report)")
            return
        }
        #expect(value.boolean == wanted)
    }
}
