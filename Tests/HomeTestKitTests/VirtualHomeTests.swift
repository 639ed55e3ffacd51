import HomeTestKit
import MatterController
import MatterInteraction
import MatterModel
import MatterSimulator
import MatterTLV
import Testing

@Suite struct VirtualHomeTests {
    static let light = DeviceProfile(name: "lamp", endpoints: [.init(1, deviceTypes: [0x0100])])

    @Test(arguments: VirtualHome.Link.allCases) func aLightIsPairedAndRead(_ link: VirtualHome.Link) async throws {
        var options = VirtualHome.Options()
        options.link = link
        try await VirtualHome.run(Self.light, options: options) { home in
            let device = try await home.pair("lamp")
            #expect(device.endpoints.map(\.id) == [0, 1])
            let report = try await home.controller.read(
                "lamp", ReadSelection(attributes: [AttributePathPattern(1, OnOff.id, OnOff.Attributes.onOff)]))
            guard case .value(_, let value)? = report.attributes.first?.outcome else {
                Issue.record("no value: \(report)")
                return
            }
            #expect(value == .boolean(false))
        }
    }
}
