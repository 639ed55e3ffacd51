import HearthTime
import HomeTestKit
import MatterController
import MatterCredentials
import MatterModel
import MatterSimulator
import Testing

/// A controller that ends for good while a device completes its pairing: the home's next use finds out what became of it.
@Suite struct InterruptedPairingTests {
    private static let light = DeviceProfile(
        name: "lamp", passcode: try? Passcode(20_202_021), discriminator: 3840, endpoints: [.init(1, deviceTypes: [0x0100])])

    /// An address in memory is none that a home could keep, and a device is known for a stranger by what it answers at its address.
    private static let overSockets: VirtualHome.Options = {
        var options = VirtualHome.Options()
        options.link = .loopback
        return options
    }()

    /// What the home's file holds while the device has not answered CommissioningComplete; the pairing then goes on.
    private static func homeInMidCompletion(_ home: VirtualHome) async throws -> ControllerSnapshot {
        let lamp = home.device("lamp")
        try await lamp.fault("slow-answer", ["delayMs": .integer(1000)])
        let code = try await home.simulator.allDevices()[0].qrCode
        let stage = Locked(PairingStage.discovery)
        async let pairing: Void = { _ = try? await home.controller.pair(code) { reached in stage.withLock { $0 = reached } } }()
        while stage.withLock({ $0 }) != .completion { try await home.advance(by: .milliseconds(100)) }
        try await home.advance(by: .milliseconds(100))
        let snapshot = try await home.controller.snapshot()
        try await home.advance(by: .seconds(10))
        await pairing
        try await lamp.faults.clear()
        return snapshot
    }

    @Test func whatTheDeviceHasCompletedIsInTheHome() async throws {
        try await VirtualHome.run(Self.light) { home in
            let killed = try await Self.homeInMidCompletion(home)
            try await home.controller.restore(killed)
            #expect(try await home.controller.devices().map(\.isIncomplete) == [true])
            try await home.invoke("lamp", OnOff.On())
            let devices = try await home.controller.devices()
            #expect(devices.map(\.isIncomplete) == [false])
            #expect(try await home.controller.device("lamp").endpoints.count == 2)
        }
    }

    @Test func whatTheDeviceStillWaitsForIsCompleted() async throws {
        try await VirtualHome.run(Self.light) { home in
            try await home.device("lamp").fault(
                "wrong-status",
                [
                    "status": "FAILURE", "cluster": JSONValue(GeneralCommissioning.id.rawValue),
                    "command": JSONValue(GeneralCommissioning.Commands.commissioningComplete.rawValue), "count": .integer(1),
                ])
            let killed = try await Self.homeInMidCompletion(home)
            #expect(try await home.controller.devices().isEmpty)
            try await home.controller.restore(killed)
            try await home.invoke("lamp", OnOff.On())
            try await home.advance(by: .seconds(120))
            try await home.invoke("lamp", OnOff.Off())
            #expect(try await home.simulator.allDevices()[0].isPaired)
            #expect(try await home.controller.devices().map(\.isIncomplete) == [false])
        }
    }

    @Test func whatTheDeviceHasForgottenLeavesTheHomeAndItsNameIsFree() async throws {
        try await VirtualHome.run(Self.light, options: Self.overSockets) { home in
            let killed = try await Self.homeInMidCompletion(home)
            try await home.controller.restore(killed)
            try await home.device("lamp").factoryReset()
            let code = try await home.simulator.allDevices()[0].qrCode
            let paired = try await home.controller.pair(code, name: "lamp")
            #expect(try await home.controller.devices().map(\.nodeID) == [paired.nodeID])
            try await home.invoke("lamp", OnOff.On())
        }
    }

    @Test func itsUseSaysThatItWasForgotten() async throws {
        try await VirtualHome.run(Self.light, options: Self.overSockets) { home in
            let killed = try await Self.homeInMidCompletion(home)
            try await home.controller.restore(killed)
            try await home.device("lamp").factoryReset()
            let failure = await #expect(throws: ControllerError.self) { try await home.invoke("lamp", OnOff.On()) }
            #expect(failure?.code == .unknownDevice)
            #expect(failure?.message.contains("cut short") == true)
            #expect(try await home.controller.devices().isEmpty)
        }
    }

    /// The device completes and loses its power before it has said so.
    @Test func whoseOutcomeIsNotKnownStaysInTheHome() async throws {
        try await VirtualHome.run(Self.light, options: Self.overSockets) { home in
            let lamp = home.device("lamp")
            try await lamp.fault("slow-answer", ["delayMs": .integer(1000)])
            let code = try await home.simulator.allDevices()[0].qrCode
            let stage = Locked(PairingStage.discovery)
            async let failure = Self.failure(home, code) { reached in stage.withLock { $0 = reached } }
            while stage.withLock({ $0 }) != .completion { try await home.advance(by: .milliseconds(100)) }
            try await home.advance(by: .milliseconds(100))
            try await lamp.kill()
            try await home.advance(by: .seconds(60))
            let told = await failure
            #expect(told?.stage == .completion)
            #expect(told?.message.contains("may have completed") == true, "\(told?.message ?? "")")
            #expect(try await home.controller.devices().map(\.isIncomplete) == [true])
            try await lamp.faults.clear()
            try await lamp.start()
            try await home.invoke("lamp", OnOff.On())
            #expect(try await home.controller.devices().map(\.isIncomplete) == [false])
            try await home.controller.unpair("lamp")
        }
    }

    private static func failure(
        _ home: VirtualHome, _ code: String, _ progress: @escaping @Sendable (PairingStage) -> Void
    ) async -> ControllerError? {
        do {
            _ = try await home.controller.pair(code, progress: progress)
            return nil
        } catch {
            return error as? ControllerError
        }
    }

    @Test func aNameIsKeptForADeviceThatCannotBeAsked() async throws {
        try await VirtualHome.run(Self.light, options: Self.overSockets) { home in
            let killed = try await Self.homeInMidCompletion(home)
            try await home.controller.restore(killed)
            let code = try await home.simulator.allDevices()[0].qrCode
            try await home.device("lamp").stop()
            let failure = await #expect(throws: ControllerError.self) { try await home.controller.pair(code, name: "lamp") }
            #expect(failure?.code == .badRequest)
            #expect(failure?.message.contains("--force") == true)
            try await home.controller.unpair("lamp", force: true)
            #expect(try await home.controller.devices().isEmpty)
        }
    }
}
