import HearthIO
import HearthTime
import HomeTestKit
import MatterCredentials
import MatterDiscovery
import MatterInteraction
import MatterModel
import MatterSimulator
import MatterTransport
import Testing

@testable import MatterController

/// A clock that is wrong somewhere does not make a home useless, and where it may be the reason it is named.
@Suite struct ClockTests {
    private static let light = DeviceProfile(name: "lamp", endpoints: [.init(1, deviceTypes: [0x0100])])

    /// Made when the machine's clock was ten days or years ahead: that is right again, and the devices' always was.
    @Test(arguments: [10, 3650]) func aHomeThatWasMadeAheadPairs(_ days: Int64) async throws {
        let runtime = try Runtime(mode: .automatic, seed: 1)
        let timeline = runtime.timeline
        let transport = TLSTransport(runtime)
        let discovery = SharedDiscovery(timeline: timeline) { Discovery.memory(MemoryRegistry(timeline: timeline)) }
        var configuration = Simulator.Configuration()
        configuration.listenAddress = { .memory(MemoryAddress("lamp", port: $0)) }
        var settings = ControllerSettings()
        settings.route = { .memory(MemoryAddress("lamp", port: $0.port)) }
        let result: Result<Void, any Error>
        do {
            let simulator = try await Simulator.open(configuration, transport: transport, discovery: discovery)
            let device = try await simulator.add(Self.light)
            let wall = try await timeline.call("now") { timeline.wall() }
            let snapshot = try ControllerHome(inMemoryAt: wall + .seconds(days * 86_400)).snapshot()
            let controller = try await Controller.open(
                store: .snapshot(snapshot), transport: transport, discovery: discovery, settings: settings)
            try await controller.pair(device.qrCode, name: "lamp", address: .memory(MemoryAddress("lamp", port: device.port)))
            let reports = try await controller.read("lamp", ReadSelection(attributes: [AttributePathPattern(1, OnOff.id)]))
            #expect(!reports.attributes.isEmpty)
            await controller.close()
            await simulator.close()
            result = .success(())
        } catch {
            result = .failure(error)
        }
        runtime.shutdown()
        await runtime.ended()
        try result.get()
    }

    @Test func aHomeThatWasMadeUnderAWrongClockIsAsGoodAsAnother() throws {
        for wall: Int64 in [0, 1_000_000_000, 1_800_000_000, 4_000_000_000] {
            let home = try ControllerHome(inMemoryAt: .seconds(wall))
            #expect(home.authority.root.notBefore == .epochStart)
            #expect(home.authority.root.isValid(at: MatterTime.unixOffset))
            let now = try #require(MatterTime(unix: max(wall, MatterTime.unixOffset)))
            let issued = try home.authority.issueNode(7, publicKey: PrivateKey.generate().publicKey, now: now)
            #expect(issued.isValid(at: MatterTime.unixOffset))
            home.close()
        }
    }

    @Test func clocksThatMayBeTheReasonAreNamed() {
        let now: Int64 = 1_800_000_000
        #expect(ClockDoubt.text(begin: MatterTime.unixOffset, wall: now) == nil)
        #expect(ClockDoubt.text(begin: now + 172_800, wall: now)?.contains("valid only in 2 days: set the clock right") == true)
        #expect(ClockDoubt.text(begin: now - 86_400, wall: now)?.hasSuffix("valid since 24 hours only") == true)
        #expect(ClockDoubt.span(30) == "1 minute")
        #expect(ClockDoubt.span(7200) == "2 hours")
        #expect(ClockDoubt.span(3 * 365 * 86_400) == "3 years")
    }

    /// Where the device is, and on which network, is not the question.
    @Test func anExpiredCertificateIsNoQuestionOfTheNetwork() async throws {
        try await VirtualHome.run(Self.light) { home in
            try await home.pair("lamp")
            try await home.device("lamp").fault("expired-certificate")
            try await home.device("lamp").reboot()
            await #expect {
                try await home.invoke("lamp", OnOff.On())
            } throws: { error in
                let text = "\(error)"
                return text.contains("is the device's clock right?") && !text.contains("on this network")
            }
        }
    }
}
