import HearthTime
import HomeTestKit
import MatterController
import MatterCredentials
import MatterInteraction
import MatterModel
import MatterSimulator
import MatterTLV
import Testing

/// What can go wrong while a device is taken into a home, and what the user reads then.
@Suite struct PairingTests {
    private static let light = DeviceProfile(
        name: "lamp", passcode: try? Passcode(20_202_021), discriminator: 3840, endpoints: [.init(1, deviceTypes: [0x0100])])

    /// The code of the lamp with another passcode.
    private static let wrongCode: String = {
        guard let passcode = try? Passcode(20_202_022), let discriminator = try? Discriminator(long: 3840) else { return "" }
        return SetupPayload(discriminator: discriminator, passcode: passcode).qrCode
    }()

    private static func isUntouched(_ home: VirtualHome) async throws -> Bool {
        let device = home.device("lamp")
        let fabrics = try await device.value(
            OperationalCredentials.id, OperationalCredentials.Attributes.commissionedFabrics, endpoint: 0)
        let roots = try await device.value(
            OperationalCredentials.id, OperationalCredentials.Attributes.trustedRootCertificates, endpoint: 0)
        let breadcrumb = try await device.value(GeneralCommissioning.id, GeneralCommissioning.Attributes.breadcrumb, endpoint: 0)
        let info = try await home.simulator.allDevices().first
        return fabrics == .unsigned(0) && roots == .array([]) && breadcrumb == .unsigned(0) && info?.isPaired == false
    }

    private static func failure(_ body: () async throws -> Void) async -> ControllerError? {
        do {
            try await body()
            return nil
        } catch {
            return error as? ControllerError
        }
    }

    @Test(arguments: VirtualHome.Link.allCases) func aWrongPasscodeIsSaidAndChangesNothing(_ link: VirtualHome.Link) async throws {
        var options = VirtualHome.Options()
        options.link = link
        try await VirtualHome.run(Self.light, options: options) { home in
            let failure = await Self.failure { try await home.controller.pair(Self.wrongCode) }
            #expect(failure?.code == .pairingFailed)
            #expect(failure?.stage == .passcode)
            #expect(failure?.message.contains("passcode") == true)
            #expect(try await Self.isUntouched(home))
            // The right one still works.
            try await home.pair("lamp")
        }
    }

    @Test(arguments: VirtualHome.Link.allCases) func aDeviceThatWasResetCanBeForgottenAndPairedAgain(
        _ link: VirtualHome.Link
    ) async throws {
        var options = VirtualHome.Options()
        options.link = link
        try await VirtualHome.run(Self.light, options: options) { home in
            try await home.pair("lamp")
            try await home.device("lamp").factoryReset()
            // It says itself that it knows nothing of this home: that is answer enough.
            try await home.controller.unpair("lamp")
            #expect(try await home.controller.devices().isEmpty)
            try await home.pair("lamp")
            // One that is silent is not forgotten by mistake.
            try await home.device("lamp").stop()
            let failure = await Self.failure { try await home.controller.unpair("lamp") }
            #expect(failure?.code == .unreachable)
            #expect(try await home.controller.devices().count == 1)
            try await home.controller.unpair("lamp", force: true)
        }
    }

    @Test func afterTwentyWrongPasscodesTheWindowCloses() async throws {
        try await VirtualHome.run(Self.light) { home in
            for _ in 0..<20 {
                let failure = await Self.failure { try await home.controller.pair(Self.wrongCode) }
                #expect(failure?.stage == .passcode)
            }
            let failure = await Self.failure { try await home.pair("lamp") }
            #expect(failure?.code == .pairingFailed)
            _ = try await home.simulator.openWindow("lamp")
            try await home.pair("lamp")
        }
    }

    /// Twelve bits may be those of two devices. Both homes try both; whoever is there second finds the device busy.
    @Test(arguments: VirtualHome.Link.allCases) func twoDevicesWithOneDiscriminatorFindTheirHomes(
        _ link: VirtualHome.Link
    ) async throws {
        let twin = DeviceProfile(
            name: "twin", passcode: try Passcode(30_303_031), discriminator: 3840, endpoints: [.init(1, deviceTypes: [0x0100])])
        var options = VirtualHome.Options()
        options.link = link
        try await VirtualHome.run(Self.light, twin, options: options) { home in
            let beta = try await home.addController("beta")
            let codes = try await home.simulator.allDevices().map(\.qrCode)
            async let one = home.controller.pair(codes[0])
            async let other = beta.pair(codes[1])
            let paired = try await (one, other)
            #expect(paired.0.name == "lamp")
            #expect(paired.1.name == "twin")
        }
    }

    @Test func aDeviceThatIsNotThereIsNotFound() async throws {
        try await VirtualHome.run(Self.light) { home in
            try await home.device("lamp").stop()
            let failure = await Self.failure { try await home.pair("lamp") }
            #expect(failure?.stage == .discovery)
            #expect(failure?.message.contains("--address") == true)
        }
    }

    @Test func aCodeThatIsNoneIsRefusedBeforeAnythingIsSent() async throws {
        try await VirtualHome.run(Self.light) { home in
            for code in ["", "12345", "34970112331", "MT:", "hello"] {
                let failure = await Self.failure { try await home.controller.pair(code) }
                #expect(failure?.code == .badRequest, "\(code)")
            }
        }
    }

    /// Every step of the pairing is broken once; the device is as before, and the user reads where it happened.
    @Test(arguments: [
        (GeneralCommissioning.id, GeneralCommissioning.Commands.armFailSafe, PairingStage.failSafe),
        (GeneralCommissioning.id, GeneralCommissioning.Commands.setRegulatoryConfig, .regulatory),
        (OperationalCredentials.id, OperationalCredentials.Commands.attestationRequest, .attestation),
        (OperationalCredentials.id, OperationalCredentials.Commands.csrRequest, .certificateRequest),
        (OperationalCredentials.id, OperationalCredentials.Commands.addTrustedRootCertificate, .trustedRoot),
        (OperationalCredentials.id, OperationalCredentials.Commands.addNOC, .operationalCertificate),
        (GeneralCommissioning.id, GeneralCommissioning.Commands.commissioningComplete, .completion),
    ])
    func aStepThatIsRefusedIsNamed(_ cluster: ClusterID, _ command: CommandID, _ stage: PairingStage) async throws {
        try await VirtualHome.run(Self.light) { home in
            try await home.device("lamp").fault(
                "wrong-status",
                ["status": "BUSY", "cluster": JSONValue(cluster.rawValue), "command": JSONValue(command.rawValue), "count": .integer(1)])
            let failure = await Self.failure { try await home.pair("lamp") }
            #expect(failure?.code == .pairingFailed)
            #expect(failure?.stage == stage)
            #expect(failure?.message.contains(stage.title) == true)
            // Before AddNOC the lost connection ends it at once, after it the fail-safe's time does.
            try await home.advance(by: .seconds(61))
            #expect(try await Self.isUntouched(home))
            try await home.pair("lamp")
        }
    }

    @Test func aConnectionLostInMidPairingLeavesTheDeviceAsItWas() async throws {
        try await VirtualHome.run(Self.light) { home in
            // The third request of the pairing breaks the connection.
            try await home.device("lamp").fault("reset", ["skip": .integer(3), "count": .integer(1)])
            let failure = await Self.failure { try await home.pair("lamp") }
            #expect(failure?.code == .pairingFailed)
            #expect(try await Self.isUntouched(home))
            try await home.pair("lamp")
        }
    }

    /// Wherever the connection breaks, once: either both have the pairing, or both have forgotten it.
    @Test(arguments: 0..<12) func aLostConnectionNeverLeavesADeviceThatOnlyOneSideKnows(_ request: Int) async throws {
        try await VirtualHome.run(Self.light) { home in
            try await home.device("lamp").fault("reset", ["skip": .integer(Int64(request)), "count": .integer(1)])
            let failure = await Self.failure { try await home.pair("lamp") }
            if failure != nil {
                #expect(failure?.code == .pairingFailed)
                #expect(try await home.controller.devices().isEmpty)
                try await home.advance(by: .seconds(61))
                #expect(try await Self.isUntouched(home))
                try await home.pair("lamp")
            }
            let device = try await home.controller.device("lamp")
            #expect(device.endpoints.map(\.id) == [0, 1])
            // The last argument's fault comes after the pairing, with this request.
            _ = await Self.failure { try await home.invoke("lamp", OnOff.On()) }
            try await home.invoke("lamp", OnOff.On())
        }
    }

    @Test func anExpiredFailSafeTakesEverythingBack() async throws {
        try await VirtualHome.run(Self.light) { home in
            // The answer to CommissioningComplete's connection never comes: the device has its certificate, but nobody completes.
            try await home.device("lamp").fault(
                "wrong-status",
                [
                    "status": "FAILURE", "cluster": JSONValue(GeneralCommissioning.id.rawValue),
                    "command": JSONValue(GeneralCommissioning.Commands.commissioningComplete.rawValue),
                ])
            _ = await Self.failure { try await home.pair("lamp") }
            let device = home.device("lamp")
            let during = try await device.value(
                OperationalCredentials.id, OperationalCredentials.Attributes.commissionedFabrics, endpoint: 0)
            #expect(during == .unsigned(1))
            try await home.advance(by: .seconds(61))
            #expect(try await Self.isUntouched(home))
        }
    }

    @Test func aDeviceWhosePowerFailsInMidPairingForgetsIt() async throws {
        try await VirtualHome.run(Self.light) { home in
            try await home.device("lamp").fault(
                "wrong-status",
                [
                    "status": "FAILURE", "cluster": JSONValue(GeneralCommissioning.id.rawValue),
                    "command": JSONValue(GeneralCommissioning.Commands.commissioningComplete.rawValue), "count": .integer(1),
                ])
            _ = await Self.failure { try await home.pair("lamp") }
            try await home.device("lamp").reboot()
            #expect(try await Self.isUntouched(home))
            try await home.pair("lamp")
        }
    }

    @Test func aSecondPairingWhileOneGoesOnIsTold() async throws {
        try await VirtualHome.run(Self.light) { home in
            let other = try await home.addController("other")
            try await home.device("lamp").fault("slow-answer", ["delayMs": .integer(2000), "count": .integer(1)])
            let info = try await home.simulator.allDevices()[0]
            async let first = home.controller.pair(info.qrCode, name: "lamp")
            try await home.advance(by: .seconds(1))
            let failure = await Self.failure { try await other.pair(info.qrCode) }
            #expect(failure?.code == .pairingFailed)
            #expect(failure?.message.contains("somebody else") == true, "\(failure?.message ?? "")")
            let paired = try await first
            #expect(paired.name == "lamp")
            await other.close()
        }
    }

    @Test func aNameThatIsTakenIsRefusedFirst() async throws {
        try await VirtualHome.run(Self.light) { home in
            try await home.pair("lamp")
            let info = try await home.simulator.openWindow("lamp")
            let failure = await Self.failure { try await home.controller.pair(info.qrCode, name: "LAMP") }
            #expect(failure?.code == .badRequest)
        }
    }

    @Test(arguments: ["", "  ", "a\u{1B}[31mb", "two\nlines", String(repeating: "n", count: 65)])
    func aNameThatNobodyCanTypeIsRefusedFirst(_ name: String) async throws {
        try await VirtualHome.run(Self.light) { home in
            let code = try await home.simulator.allDevices()[0].qrCode
            let failure = await Self.failure { try await home.controller.pair(code, name: name) }
            #expect(failure?.code == .badRequest)
            #expect(try await Self.isUntouched(home))
        }
    }

    @Test func aNameThatTheDeviceGivesItselfIsMadeHarmless() async throws {
        try await VirtualHome.run(Self.light) { home in
            try await home.simulator.set(
                "lamp", AttributePath(0, BasicInformation.id, BasicInformation.Attributes.nodeLabel), .utf8("la\u{1B}[2Jmp\u{7}"))
            let device = try await home.controller.pair(home.simulator.allDevices()[0].qrCode)
            #expect(device.name == "la[2Jmp")
        }
    }
}
