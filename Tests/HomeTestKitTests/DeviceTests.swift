import HomeTestKit
import MatterModel
import MatterSimulator
import MatterTLV
import Testing

@Suite struct DeviceTests {
    private static let light = DeviceProfile(name: "lamp", endpoints: [.init(1, deviceTypes: [0x0101])])

    @Test func aLightIsDimmedInVirtualTime() async throws {
        try await VirtualHome.run(Self.light) { home in
            try await home.pair("lamp")
            try await home.invoke("lamp", OnOff.On())
            try await home.invoke(
                "lamp",
                LevelControl.MoveToLevelWithOnOff(
                    level: 100, transitionTime: 30, optionsMask: LevelControl.OptionsBitmap(), optionsOverride: LevelControl.OptionsBitmap()
                ))
            try await home.expect(
                "lamp", LevelControl.id, LevelControl.Attributes.currentLevel, equals: .unsigned(100), within: .seconds(4))
        }
    }

    @Test func stateSurvivesAReboot() async throws {
        try await VirtualHome.run(Self.light) { home in
            try await home.pair("lamp")
            try await home.invoke("lamp", OnOff.On())
            try await home.device("lamp").reboot()
            try await home.expect("lamp", OnOff.id, OnOff.Attributes.onOff, equals: .boolean(true))
        }
    }

    @Test func aSoftwareUpdateLeavesTheLightAsItWas() async throws {
        try await VirtualHome.run(Self.light) { home in
            try await home.pair("lamp")
            try await home.device("lamp").set(OnOff.id, OnOff.Attributes.startUpOnOff, to: .unsigned(1))
            try await home.device("lamp").reboot(reason: .softwareUpdateCompleted)
            try await home.expect("lamp", OnOff.id, OnOff.Attributes.onOff, equals: .boolean(false))
            try await home.expect(
                "lamp", GeneralDiagnostics.id, GeneralDiagnostics.Attributes.bootReason, endpoint: 0, equals: .unsigned(5))
            try await home.device("lamp").reboot()
            try await home.expect("lamp", OnOff.id, OnOff.Attributes.onOff, equals: .boolean(true))
        }
    }

    @Test func aFailureShowsTheJournal() async throws {
        try await VirtualHome.run(Self.light) { home in
            try await home.pair("lamp")
            try await home.invoke("lamp", OnOff.On())
            await #expect {
                try await home.expect("lamp", .onOff.onOff, equals: false, within: .seconds(1))
            } throws: { error in
                let failure = error as? ExpectationFailure
                return failure?.place.hasPrefix("HomeTestKitTests/DeviceTests.swift:") == true
                    && failure?.message.contains("OnOff.OnOff is true, not false") == true
                    && failure?.journal.contains { $0.contains("\"command\":\"On\"") } == true
            }
        }
    }

    @Test func everythingIsClosedWhenTheBodyThrows() async throws {
        struct Stop: Error {}
        await #expect(throws: Stop.self) { try await VirtualHome.run(Self.light) { _ in throw Stop() } }
    }

    @Test func twoControllersHaveFabricsOfTheirOwn() async throws {
        try await VirtualHome.run(Self.light) { home in
            try await home.pair("lamp")
            let other = try await home.addController("other")
            let window = try await home.controller.openWindow("lamp", timeout: 180)
            try await other.pair(window.qrCode, name: "their lamp")
            let fabrics = try await home.device("lamp").value(
                OperationalCredentials.id, OperationalCredentials.Attributes.commissionedFabrics, endpoint: 0)
            #expect(fabrics == .unsigned(2))
            try await other.unpair("their lamp")
            try await home.expect(
                "lamp", OperationalCredentials.id, OperationalCredentials.Attributes.commissionedFabrics, endpoint: 0,
                equals: .unsigned(1))
            await other.close()
        }
    }

    @Test func aFactoryResetForgetsTheHomeAndKeepsTheCode() async throws {
        try await VirtualHome.run(Self.light) { home in
            let before = try await home.simulator.allDevices()
            try await home.pair("lamp")
            #expect(try await home.simulator.allDevices().first?.isPaired == true)
            try await home.device("lamp").factoryReset()
            let after = try await home.simulator.allDevices()
            #expect(after.first?.isPaired == false)
            #expect(after.first?.qrCode == before.first?.qrCode)
        }
    }

    /// As in a new device: suites that begin with a reset count on it.
    @Test func aFactoryResetCountsEventsAnew() async throws {
        try await VirtualHome.run(Self.light) { home in
            let path = EventPath(0, BasicInformation.id, BasicInformation.Events.startUp)
            let fields = TLVValue.structure([TLVElement(0, .unsigned(1))])
            var last = try await home.simulator.trigger("lamp", path, fields)
            for _ in 0..<20 { last = try await home.simulator.trigger("lamp", path, fields) }
            try await home.device("lamp").reboot()
            let rebooted = try await home.simulator.trigger("lamp", path, fields)
            #expect(rebooted > last)
            try await home.device("lamp").factoryReset()
            #expect(try await home.simulator.trigger("lamp", path, fields).rawValue < 20)
        }
    }
}
