import HomeTestKit
import MatterInteraction
import MatterModel
import MatterSimulator
import MatterTLV
import Testing

/// A node with 200 bridged endpoints works from end to end.
@Suite struct AggregatorTests {
    private static let bridge: DeviceProfile = {
        var endpoints = [DeviceProfile.Endpoint(1, deviceTypes: [DeviceTypeDefinition.aggregator.id])]
        for number in UInt16(2)...201 {
            let types = [DeviceTypeDefinition.bridgedNode.id, DeviceTypeDefinition.onOffLight.id]
            endpoints.append(DeviceProfile.Endpoint(EndpointID(number), deviceTypes: types, parent: 1))
        }
        return DeviceProfile(name: "bridge", endpoints: endpoints)
    }()

    @Test func twoHundredEndpointsAreReadAndSwitched() async throws {
        try await VirtualHome.run(Self.bridge) { home in
            let device = try await home.pair("bridge")
            #expect(device.endpoints.count == 202)
            let parts = try await home.read("bridge", AttributePath(1, Descriptor.id, Descriptor.Attributes.partsList))
            #expect(parts.array?.count == 200)
            let ids = try await home.controller.read(
                "bridge",
                ReadSelection(attributes: [
                    AttributePathPattern(nil, BridgedDeviceBasicInformation.id, BridgedDeviceBasicInformation.Attributes.uniqueID)
                ]))
            #expect(Set(ids.attributes.map(\.outcome)).count == 200)
            // Everything at once needs many messages.
            let report = try await home.controller.read("bridge", ReadSelection(attributes: [AttributePathPattern()]))
            #expect(report.attributes.count > 200 * 30)
            #expect(report.attributes.allSatisfy { if case .value = $0.outcome { true } else { false } })
            try await home.invoke("bridge", OnOff.On(), endpoint: 201)
            try await home.expect("bridge", OnOff.id, OnOff.Attributes.onOff, endpoint: 201, equals: .boolean(true))
            try await home.expect("bridge", OnOff.id, OnOff.Attributes.onOff, endpoint: 200, equals: .boolean(false))
        }
    }
}
