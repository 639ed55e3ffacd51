import HearthTime
import HomeTestKit
import MatterController
import MatterInteraction
import MatterModel
import MatterSimulator
import MatterTLV
import Testing

/// Each kind of fault does what its name says, and stops when it is cleared.
@Suite struct FaultKindTests {
    private static let light = DeviceProfile(name: "lamp", endpoints: [.init(1, deviceTypes: [0x0101])])
    private static let onOff = AttributePath(1, OnOff.id, OnOff.Attributes.onOff)

    /// What a subscription to an attribute brings from now on.
    private static func watch(_ home: VirtualHome, _ device: String, _ path: AttributePath) async throws -> Locked<[TLVValue]> {
        let heard = Locked<[TLVValue]>([])
        let request = SubscribeRequest(
            ReadSelection(attributes: [AttributePathPattern(path)]), minimumInterval: 0, maximumInterval: 600)
        _ = try await home.controller.subscribe(device, request) { update in
            guard case .report(let attributes, _) = update, case .value(_, let value)? = attributes.first?.outcome else { return }
            heard.withLock { $0.append(value) }
        }
        return heard
    }

    private static func fires(_ home: VirtualHome, _ device: String = "lamp") async throws -> [String] {
        try await home.simulator.journal(device: device, kinds: [.fault]).compactMap(\.note)
    }

    @Test(arguments: VirtualHome.Link.allCases) func aHalfOpenSessionIsSilentAndANewOneWorks(_ link: VirtualHome.Link) async throws {
        var options = VirtualHome.Options()
        options.link = link
        try await VirtualHome.run(Self.light, options: options) { home in
            try await home.pair("lamp")
            let other = try await home.addController("other")
            let window = try await home.controller.openWindow("lamp", timeout: 180)
            try await other.pair(window.qrCode, name: "lamp")
            try await home.device("lamp").fault("half-open", ["count": 1])
            let before = home.timeline.now
            await #expect { _ = try await home.read("lamp", Self.onOff) } throws: { ($0 as? ControllerError)?.code == .noResponse }
            #expect(home.timeline.now - before == .seconds(10))
            // Nobody was told, but the controller no longer trusts the session: the next call makes a new one.
            #expect(try await home.read("lamp", Self.onOff) == .boolean(false))
            // Another's session goes on.
            _ = try await other.read("lamp", ReadSelection(attributes: [AttributePathPattern(Self.onOff)]))
            #expect(try await Self.fires(home) == ["half-open: a session goes half-open"])
            await other.close()
        }
    }

    @Test func aResetBreaksTheConnectionOnce() async throws {
        try await VirtualHome.run(Self.light) { home in
            try await home.pair("lamp")
            try await home.device("lamp").fault("reset", ["count": 1])
            await #expect(throws: ControllerError.self) { _ = try await home.read("lamp", Self.onOff) }
            #expect(try await home.read("lamp", Self.onOff) == .boolean(false))
        }
    }

    @Test func anOfflineDeviceComesBack() async throws {
        try await VirtualHome.run(Self.light) { home in
            try await home.pair("lamp")
            let number = try await home.device("lamp").fault("offline")
            await #expect(throws: ControllerError.self) { _ = try await home.read("lamp", Self.onOff) }
            try await home.device("lamp").clearFault(number)
            #expect(try await home.read("lamp", Self.onOff) == .boolean(false))
        }
    }

    @Test func aSlowAnswerComesAfterTheDeed() async throws {
        try await VirtualHome.run(Self.light) { home in
            try await home.pair("lamp")
            try await home.device("lamp").fault("slow-answer", ["delayMs": 4000])
            let before = home.timeline.now
            async let answer = home.invoke("lamp", OnOff.On())
            try await home.advance(by: .seconds(1))
            let value = try await home.device("lamp").value(OnOff.id, OnOff.Attributes.onOff)
            #expect(value == .boolean(true))
            _ = try await answer
            #expect(home.timeline.now - before == .seconds(4))
        }
    }

    @Test func aWrongStatusIsAnsweredForItsPathOnly() async throws {
        try await VirtualHome.run(Self.light) { home in
            try await home.pair("lamp")
            try await home.device("lamp").fault(
                "wrong-status", ["status": "BUSY", "cluster": "OnOff", "command": "On", "count": 1])
            await #expect { try await home.invoke("lamp", OnOff.On()) } throws: { ($0 as? Status)?.code == .busy }
            try await home.invoke("lamp", OnOff.Toggle())
            #expect(try await home.device("lamp").value(OnOff.id, OnOff.Attributes.onOff) == .boolean(true))
        }
    }

    @Test func aStuckAttributeShowsWhatItWas() async throws {
        try await VirtualHome.run(Self.light) { home in
            try await home.pair("lamp")
            let heard = try await Self.watch(home, "lamp", Self.onOff)
            let number = try await home.device("lamp").fault("stuck-attribute", ["cluster": "OnOff", "attribute": "OnOff"])
            try await home.invoke("lamp", OnOff.On())
            try await home.advance(by: .seconds(2))
            #expect(try await home.read("lamp", Self.onOff) == .boolean(false))
            #expect(try await home.device("lamp").value(OnOff.id, OnOff.Attributes.onOff) == .boolean(true))
            #expect(heard.withLock { $0 } == [])
            try await home.device("lamp").clearFault(number)
            #expect(try await home.read("lamp", Self.onOff) == .boolean(true))
            try await home.invoke("lamp", OnOff.Off())
            try await home.advance(by: .seconds(2))
            #expect(heard.withLock { $0 } == [.boolean(false)])
        }
    }

    @Test func theLastReportOfASeriesIsMissed() async throws {
        let blind = DeviceProfile(
            name: "blind",
            endpoints: [
                .init(
                    1, deviceTypes: [0x0202],
                    clusters: [
                        WindowCovering.id: .init(
                            features: WindowCovering.Feature([.lift, .positionAwareLift]).rawValue,
                            parameters: ["travelTime": .unsigned(5000)])
                    ])
            ])
        try await VirtualHome.run(blind) { home in
            try await home.pair("blind")
            let path = AttributePath(1, WindowCovering.id, WindowCovering.Attributes.currentPositionLiftPercent100ths)
            let heard = try await Self.watch(home, "blind", path)
            try await home.device("blind").fault(
                "missed-last-report", ["cluster": "WindowCovering", "attribute": "CurrentPositionLiftPercent100ths", "count": 1])
            try await home.invoke("blind", WindowCovering.DownOrClose())
            try await home.advance(by: .seconds(30))
            let first = heard.withLock { $0 }
            #expect(first.count > 1 && first.allSatisfy { $0 != .unsigned(10_000) })
            #expect(try await home.read("blind", path) == .unsigned(10_000))
            #expect(try await Self.fires(home, "blind") == ["missed-last-report: the last report is lost"])
            // Once: the way back is reported to its end.
            try await home.invoke("blind", WindowCovering.UpOrOpen())
            try await home.advance(by: .seconds(30))
            #expect(heard.withLock { $0.last } == .unsigned(0))
        }
    }

    /// A keep-alive brings no value and loses none.
    @Test func keepAlivesAreNotMissed() async throws {
        try await VirtualHome.run(Self.light) { home in
            try await home.pair("lamp")
            let heard = Locked<[String]>([])
            let request = SubscribeRequest(
                ReadSelection(attributes: [AttributePathPattern(Self.onOff)]), minimumInterval: 0, maximumInterval: 60)
            _ = try await home.controller.subscribe("lamp", request) { update in
                if case .report(let attributes, _) = update, attributes.isEmpty { return }
                heard.withLock { $0.append("\(update)") }
            }
            try await home.device("lamp").fault("missed-last-report", ["count": 1])
            try await home.invoke("lamp", OnOff.On())
            heard.withLock { $0 = [] }
            try await home.advance(by: .seconds(600))
            // Nothing was lost but the one value: the subscription did not have to be made again.
            #expect(heard.withLock { $0 } == [])
            #expect(try await home.read("lamp", Self.onOff) == .boolean(true))
        }
    }

    /// A report of an event alone has nothing that the fault is about.
    @Test func anEventIsReportedBesideAMissedReport() async throws {
        let sensor = DeviceProfile(name: "sensor", endpoints: [.init(1, deviceTypes: [0x0015])])
        try await VirtualHome.run(sensor) { home in
            try await home.pair("sensor")
            let heard = Locked<[EventID]>([])
            let request = SubscribeRequest(
                ReadSelection(events: [EventPathPattern(1, BooleanState.id, BooleanState.Events.stateChange, isUrgent: true)]),
                minimumInterval: 0, maximumInterval: 600)
            _ = try await home.controller.subscribe("sensor", request) { update in
                guard case .report(_, let events) = update else { return }
                for case (.event, let event?) in events.map({ ($0.outcome, $0.path.event) }) { heard.withLock { $0.append(event) } }
            }
            try await home.device("sensor").fault("missed-last-report", ["cluster": "Identify"])
            let state = try await home.device("sensor").value(BooleanState.id, BooleanState.Attributes.stateValue)
            heard.withLock { $0 = [] }
            try await home.simulator.set(
                "sensor", AttributePath(1, BooleanState.id, BooleanState.Attributes.stateValue), .boolean(state == .boolean(false)))
            try await home.advance(by: .seconds(2))
            #expect(heard.withLock { $0 } == [BooleanState.Events.stateChange])
        }
    }

    @Test func aLockJamsAndIsFreedWithTheFault() async throws {
        let lock = DeviceProfile(name: "lock", endpoints: [.init(1, deviceTypes: [0x000A])])
        try await VirtualHome.run(lock) { home in
            try await home.pair("lock")
            try await home.invoke("lock", DoorLock.LockDoor())
            let number = try await home.device("lock").fault("jammed-lock")
            await #expect(throws: Status.self) { try await home.invoke("lock", DoorLock.UnlockDoor()) }
            #expect(
                try await home.device("lock").value(DoorLock.id, DoorLock.Attributes.lockState) == DoorLock.LockStateEnum.notFullyLocked.tlv
            )
            let alarms = try await home.simulator.journal(device: "lock", kinds: [.event], cluster: DoorLock.id)
            #expect(alarms.contains { $0.event == DoorLock.Events.doorLockAlarm && $0.value?[0] == .unsigned(0) })
            // Still, and it is one jam.
            await #expect(throws: Status.self) { try await home.invoke("lock", DoorLock.UnlockDoor()) }
            #expect(try await Self.fires(home, "lock").count == 1)
            try await home.device("lock").clearFault(number)
            try await home.invoke("lock", DoorLock.UnlockDoor())
            try await home.expect(
                "lock", DoorLock.id, DoorLock.Attributes.lockState, equals: DoorLock.LockStateEnum.unlocked.tlv, within: .seconds(5))
        }
    }

    @Test func aCoveringStopsAtTheObstacle() async throws {
        let blind = DeviceProfile(name: "blind", endpoints: [.init(1, deviceTypes: [0x0202])])
        try await VirtualHome.run(blind) { home in
            try await home.pair("blind")
            let position = WindowCovering.Attributes.currentPositionLiftPercent100ths
            let number = try await home.device("blind").fault("obstructed-covering", ["positionPercent100ths": 4000])
            try await home.invoke("blind", WindowCovering.DownOrClose())
            try await home.advance(by: .seconds(60))
            #expect(try await home.device("blind").value(WindowCovering.id, position) == .unsigned(4000))
            let safety = try await home.device("blind").value(WindowCovering.id, WindowCovering.Attributes.safetyStatus)
            #expect(WindowCovering.SafetyStatusBitmap(rawValue: UInt16(safety.unsigned ?? 0)).contains(.obstacleDetected))
            try await home.device("blind").clearFault(number)
            try await home.invoke("blind", WindowCovering.DownOrClose())
            try await home.advance(by: .seconds(60))
            #expect(try await home.device("blind").value(WindowCovering.id, position) == .unsigned(10_000))
        }
    }

    @Test func thePowerFailsAtACommandAndComesBack() async throws {
        try await VirtualHome.run(Self.light) { home in
            try await home.pair("lamp")
            try await home.device("lamp").fault("reboot", ["downMs": 5000, "count": 1])
            // A device without power says nothing, not even that it failed: the connection breaks.
            await #expect {
                try await home.invoke("lamp", OnOff.On())
            } throws: { error in
                (error as? ControllerError)?.code == .unreachable
            }
            await #expect(throws: SimulatorError.self) { _ = try await home.device("lamp").value(OnOff.id, OnOff.Attributes.onOff) }
            try await home.advance(by: .seconds(6))
            #expect(try await home.read("lamp", Self.onOff) == .boolean(false))
        }
    }

    @Test func aWrongClockShowsInTheEvents() async throws {
        try await VirtualHome.run(Self.light) { home in
            try await home.pair("lamp")
            let right = home.timeline.wall()
            try await home.device("lamp").fault("wrong-clock", ["offsetMs": 3_600_000])
            try await home.device("lamp").reboot()
            let report = try await home.controller.read(
                "lamp", ReadSelection(events: [EventPathPattern(0, BasicInformation.id, BasicInformation.Events.startUp)]))
            guard case .event(_, _, .epoch(let milliseconds), _)? = report.events.last?.outcome else {
                Issue.record("no event: \(report.events)")
                return
            }
            #expect(Duration.milliseconds(Int64(milliseconds)) >= right + .seconds(3600))
        }
    }

    @Test(arguments: VirtualHome.Link.allCases) func anExpiredCertificateIsNamed(_ link: VirtualHome.Link) async throws {
        var options = VirtualHome.Options()
        options.link = link
        try await VirtualHome.run(Self.light, options: options) { home in
            try await home.pair("lamp")
            let number = try await home.device("lamp").fault("expired-certificate")
            // The session that is open goes on; the next one does not come about.
            _ = try await home.read("lamp", Self.onOff)
            try await home.device("lamp").reboot()
            await #expect {
                _ = try await home.read("lamp", Self.onOff)
            } throws: { error in
                "\(error)".contains("certificate expired")
            }
            try await home.device("lamp").clearFault(number)
            #expect(try await home.read("lamp", Self.onOff) == .boolean(false))
        }
    }

    @Test(arguments: [
        ("connection", PairingStage.connection), ("parameters", .passcode), ("share", .passcode), ("confirmation", .passcode),
        ("information", .information), ("failSafe", .failSafe), ("regulatory", .regulatory), ("attestation", .attestation),
        ("certificateRequest", .certificateRequest), ("trustedRoot", .trustedRoot),
        ("operationalCertificate", .operationalCertificate), ("operationalConnection", .operationalConnection),
        ("completion", .completion),
    ]) func aPairingFailsAtTheStageAndWorksAfterwards(_ step: String, _ stage: PairingStage) async throws {
        try await VirtualHome.run(Self.light) { home in
            try await home.device("lamp").fault("pairing", ["step": .string(step), "count": 1])
            await #expect {
                try await home.pair("lamp")
            } throws: { error in
                (error as? ControllerError)?.stage == stage
            }
            #expect(try await Self.fires(home) == ["pairing: the pairing fails at \(step)"])
            // The device takes everything back, at the latest when its fail-safe expires.
            try await home.advance(by: .seconds(70))
            #expect(try await home.simulator.allDevices().first?.isPaired == false)
            try await home.pair("lamp")
            #expect(try await home.read("lamp", Self.onOff) == .boolean(false))
        }
    }

    /// After CommissioningComplete the device is in the home, whatever comes: what it consists of is asked again.
    @Test func aPairingSurvivesAConnectionThatBreaksAtItsVeryEnd() async throws {
        var survived = 0
        // At the first request, the second, and so on, until there are no more.
        for skip in 0..<100 {
            let isOver = Locked(false)
            let isPaired = Locked(false)
            try await VirtualHome.run(Self.light) { home in
                try await home.device("lamp").fault("reset", ["skip": .integer(Int64(skip)), "count": 1])
                let device = try? await home.pair("lamp")
                if try await Self.fires(home).isEmpty { return isOver.withLock { $0 = true } }
                guard let device else { return }
                isPaired.withLock { $0 = true }
                #expect(device.endpoints.map(\.id) == [0, 1])
                #expect(try await home.read("lamp", Self.onOff) == .boolean(false))
            }
            if isOver.withLock({ $0 }) { break }
            if isPaired.withLock({ $0 }) { survived += 1 }
        }
        #expect((1...3).contains(survived))
    }

    /// A pairing does not fail at a stage that cannot fail.
    @Test func aStepThatCannotFailIsNone() async throws {
        try await VirtualHome.run(Self.light) { home in
            await #expect {
                try await home.device("lamp").fault("pairing", ["step": "description"])
            } throws: { error in
                (error as? SimulatorError)?.code == .badRequest && "\(error)".contains("completion")
            }
            try await home.pair("lamp")
        }
    }

    @Test(
        arguments: [
            ("jammed-lock", [:], "lamp has no DoorLock"), ("obstructed-covering", [:], "lamp has no WindowCovering"),
            ("jammed-lock", ["endpoint": 3], "lamp has no endpoint 3"),
            ("stuck-attribute", ["cluster": "DoorLock", "attribute": "LockState"], "lamp has no DoorLock"),
            ("stuck-attribute", ["cluster": "LevelControl", "attribute": "CurrentFrequency"], "lamp has no LevelControl.CurrentFrequency"),
            ("stuck-attribute", ["cluster": "OnOff", "attribute": "OnOff", "endpoint": 0], "lamp has no OnOff on endpoint 0"),
            ("wrong-status", ["status": "BUSY", "cluster": "DoorLock"], "lamp has no DoorLock"),
            (
                "wrong-status", ["status": "BUSY", "cluster": "LevelControl", "command": "MoveToClosestFrequency"],
                "lamp has no LevelControl."
            ),
            ("drop-reports", ["cluster": "DoorLock"], "lamp has no DoorLock"),
            ("missed-last-report", ["cluster": "DoorLock"], "lamp has no DoorLock"),
        ] as [(String, [String: JSONValue], String)])
    func aFaultOfWhatTheDeviceLacksIsRefused(_ kind: String, _ parameters: [String: JSONValue], _ message: String) async throws {
        try await VirtualHome.run(Self.light) { home in
            let refusal = await #expect(throws: SimulatorError.self) { _ = try await home.device("lamp").fault(kind, parameters) }
            #expect(refusal?.code == .badRequest && refusal?.message.hasPrefix(message) == true, "\(String(describing: refusal))")
            let faults = try await home.simulator.allFaults()
            #expect(faults.isEmpty)
        }
    }

    /// For all devices a fault is one that some of them can have.
    @Test func aFaultOfAllDevicesFitsSomewhere() async throws {
        let lock = DeviceProfile(name: "lock", endpoints: [.init(1, deviceTypes: [0x000A])])
        try await VirtualHome.run(Self.light, lock) { home in
            #expect(try await home.simulator.addFault(nil, ["kind": "jammed-lock"]) == 1)
            await #expect {
                _ = try await home.simulator.addFault(nil, ["kind": "obstructed-covering"])
            } throws: { error in
                "\(error)".hasPrefix("no device has WindowCovering")
            }
            let faults = try await home.simulator.allFaults()
            #expect(faults.map(\.number) == [1])
            try await home.pair("lock")
            await #expect(throws: Status.self) { try await home.invoke("lock", DoorLock.LockDoor()) }
        }
    }
}
