import HomeTestKit
import MatterController
import MatterInteraction
import MatterModel
import MatterSimulator
import MatterTLV
import Testing

/// A covering and a lock, paired and driven from end to end in virtual time.
@Suite struct ClosureTests {
    private static let shade = DeviceProfile(
        name: "shade",
        endpoints: [
            .init(
                1, deviceTypes: [0x0202],
                clusters: [
                    WindowCovering.id: .init(
                        features: WindowCovering.Feature([.lift, .tilt, .positionAwareLift, .positionAwareTilt]).rawValue,
                        parameters: ["travelTime": .unsigned(20_000)])
                ])
        ])

    private static let door = DeviceProfile(
        name: "door",
        endpoints: [
            .init(
                1, deviceTypes: [0x000A],
                clusters: [
                    DoorLock.id: .init(
                        features: DoorLock.Feature([.pinCredential, .user, .credentialOverTheAirAccess]).rawValue,
                        parameters: [
                            "users": .array([
                                .structure([.init(.context(0), .utf8("Home")), .init(.context(1), .array([.utf8("1234")]))])
                            ])
                        ])
                ])
        ])

    private typealias Shade = WindowCovering.Attributes

    @Test func aShadeGoesToThirtyPercentWithinItsTravelTime() async throws {
        try await VirtualHome.run(Self.shade) { home in
            try await home.pair("shade")
            try await home.invoke("shade", WindowCovering.GoToLiftPercentage(liftPercent100thsValue: 3000))
            try await home.expect("shade", WindowCovering.id, Shade.targetPositionLiftPercent100ths, equals: .unsigned(3000))
            try await home.expect("shade", WindowCovering.id, Shade.operationalStatus, equals: .unsigned(10))
            try await home.expect(
                "shade", WindowCovering.id, Shade.currentPositionLiftPercent100ths, equals: .unsigned(3000), within: .seconds(6))
            try await home.expect("shade", WindowCovering.id, Shade.operationalStatus, equals: .unsigned(0), within: .seconds(1))
            try await home.expect("shade", WindowCovering.id, Shade.currentPositionLiftPercentage, equals: .unsigned(30))
            await #expect(throws: Status(.constraintError)) {
                try await home.invoke("shade", WindowCovering.GoToLiftPercentage(liftPercent100thsValue: 10001))
            }
            try await home.device("shade").reboot()
            try await home.expect("shade", WindowCovering.id, Shade.currentPositionLiftPercent100ths, equals: .unsigned(3000))
        }
    }

    @Test func aSubscriberHearsTheMotionOnceASecond() async throws {
        try await VirtualHome.run(Self.shade) { home in
            try await home.pair("shade")
            let (reports, sink) = AsyncStream<[AttributeReport]>.makeStream()
            let selection = ReadSelection(attributes: [AttributePathPattern(1, WindowCovering.id, Shade.currentPositionLiftPercent100ths)])
            _ = try await home.controller.subscribe(
                "shade", SubscribeRequest(selection, minimumInterval: 0, maximumInterval: 60)
            ) { update in
                if case .report(let attributes, _) = update, !attributes.isEmpty { sink.yield(attributes) }
            }
            try await home.invoke("shade", WindowCovering.GoToLiftPercentage(liftPercent100thsValue: 1250))
            try await home.advance(by: .seconds(30))
            sink.finish()
            var positions: [TLVValue] = []
            for await report in reports {
                for attribute in report { if case .value(_, let value) = attribute.outcome { positions.append(value) } }
            }
            #expect(positions == [.unsigned(500), .unsigned(1000), .unsigned(1250)])
        }
    }

    @Test func aDoorIsLockedWithItsPIN() async throws {
        try await VirtualHome.run(Self.door) { home in
            try await home.pair("door")
            let device = home.device("door")
            try await device.set(DoorLock.id, DoorLock.Attributes.lockState, to: DoorLock.LockStateEnum.unlocked.tlv)
            await #expect(throws: Status(.failure)) { try await home.invoke("door", DoorLock.LockDoor(pinCode: nil)) }
            await #expect(throws: Status(.failure)) { try await home.invoke("door", DoorLock.LockDoor(pinCode: Array("9999".utf8))) }
            try await home.expect(
                "door", DoorLock.id, DoorLock.Attributes.lockState, equals: DoorLock.LockStateEnum.unlocked.tlv)
            try await home.invoke("door", DoorLock.LockDoor(pinCode: Array("1234".utf8)))
            try await home.expect("door", DoorLock.id, DoorLock.Attributes.lockState, equals: DoorLock.LockStateEnum.locked.tlv)
            // Locking is no simple command: it needs a timed request.
            let path = WireCommandPath(CommandPath(1, DoorLock.id, DoorLock.Commands.unlockDoor))
            let answer = try await home.controller.invoke(
                "door", [CommandData(path, .structure([.init(.context(0), .octets(Array("1234".utf8)))]))])
            #expect(answer.first?.outcome == .status(Status(.needsTimedInteraction)))
            // What one adds from afar is there after the power was cut.
            let added = try await home.invoke(
                "door",
                DoorLock.SetCredential(
                    operationType: .add, credential: .init(credentialType: .pin, credentialIndex: 2), credentialData: Array("5678".utf8),
                    userIndex: .null, userStatus: .null, userType: .null))
            #expect(try added.map { try DoorLock.SetCredentialResponse(tlv: $0) }?.userIndex == 2)
            try await device.kill()
            try await device.start()
            try await home.invoke("door", DoorLock.UnlockDoor(pinCode: Array("5678".utf8)))
            try await home.expect(
                "door", DoorLock.id, DoorLock.Attributes.lockState, equals: DoorLock.LockStateEnum.unlocked.tlv)
        }
    }
}
