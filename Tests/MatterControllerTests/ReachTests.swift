import HearthIO
import HearthTime
import MatterController
import MatterInteraction
import MatterModel
import MatterSimulator
import Testing

@testable import HomeTestKit
@testable import MatterTransport

/// How a controller finds a device, and what it says when it does not.
@Suite struct ReachTests {
    private static let light = DeviceProfile(name: "lamp", endpoints: [.init(1, deviceTypes: [0x0100])])
    private static let onOff = ReadSelection(attributes: [AttributePathPattern(1, OnOff.id, OnOff.Attributes.onOff)])

    @Test(arguments: VirtualHome.Link.allCases) func aDeviceThatIsOffIsSaidToBeAfterFiveSeconds(_ link: VirtualHome.Link) async throws {
        var options = VirtualHome.Options()
        options.link = link
        try await VirtualHome.run(Self.light, options: options) { home in
            try await home.pair("lamp")
            try await home.device("lamp").stop()
            let before = home.timeline.now
            let failure = await #expect(throws: ControllerError.self) { try await home.controller.read("lamp", Self.onOff) }
            #expect(home.timeline.now - before == .seconds(5))
            #expect(failure?.code == .unreachable)
            let message = failure?.message ?? ""
            #expect(message.hasPrefix("lamp cannot be reached. Tried: its last address ("), "\(message)")
            #expect(message.contains("; discovery (nothing found within 5.0 seconds). Is it running"), "\(message)")
        }
    }

    /// It answers, and yet there is nobody at home: another advice than for a device that is off.
    @Test(arguments: VirtualHome.Link.allCases) func aDeviceThatWasResetIsToldFromOneThatIsOff(_ link: VirtualHome.Link) async throws {
        var options = VirtualHome.Options()
        options.link = link
        try await VirtualHome.run(Self.light, options: options) { home in
            try await home.pair("lamp")
            try await home.device("lamp").factoryReset()
            let failure = await #expect(throws: ControllerError.self) { try await home.controller.read("lamp", Self.onOff) }
            #expect(failure?.code == .unreachable)
            let message = failure?.message ?? ""
            #expect(message.contains("does not know this home (any more): was it reset? Then unpair it and pair it again"), "\(message)")
            #expect(!message.contains("Is it running"), "\(message)")
            // The advice helps, without --force.
            try await home.controller.unpair("lamp")
            try await home.pair("lamp")
            _ = try await home.controller.read("lamp", Self.onOff)

            // One that is off may still know the home.
            try await home.device("lamp").stop()
            let off = await #expect(throws: ControllerError.self) { try await home.controller.unpair("lamp") }
            #expect(off?.message.hasSuffix("use --force; then it has to be reset, too") == true, "\(off?.message ?? "")")
            #expect(off?.message.contains("was it reset") == false)
            #expect(try await home.controller.devices().count == 1)
            try await home.controller.unpair("lamp", force: true)
            #expect(try await home.controller.devices().isEmpty)
        }
    }

    /// Somebody else has the device's old address and says nothing: discovery is asked meanwhile.
    @Test func aDeviceThatHasMovedIsFoundWhileItsOldAddressIsSilent() async throws {
        try await VirtualHome.run(Self.light) { home in
            try await home.pair("lamp")
            let old = try #require(try await home.simulator.allDevices().first?.port)
            try await home.device("lamp").stop()
            _ = try home.transport.memory.listen(on: MemoryAddress("home", port: old)) { _, _ in }
            try await home.device("lamp").start()
            let new = try await home.simulator.allDevices().first?.port
            #expect(new != old)
            let before = home.timeline.now
            _ = try await home.controller.read("lamp", Self.onOff)
            #expect(home.timeline.now - before < .seconds(1))
            #expect(try await home.controller.devices().first?.addresses.first?.hasSuffix(":\(new ?? 0)") == true)
        }
    }
}
