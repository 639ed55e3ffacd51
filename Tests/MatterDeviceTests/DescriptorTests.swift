import HearthTime
import MatterInteraction
import MatterMessage
import MatterModel
import MatterTLV
import Testing

@testable import MatterDevice

/// Descriptor (Matter Core, 9.5).
@Suite struct DescriptorTests {
    typealias Spec = Descriptor

    private static func endpoint(
        _ id: EndpointID, _ type: DeviceTypeID, _ node: DeviceNode, _ parameters: [String: TLVValue] = [:]
    ) {
        let descriptor = DescriptorCluster(endpoint: id, node: node, configuration: .init(parameters: parameters))
        let identify = IdentifyCluster(endpoint: id, node: node)
        node.add(EndpointServer(id: id, deviceTypes: [(type, 2)], clusters: [identify, descriptor]))
    }

    private static func parts(_ bench: Bench, _ endpoint: EndpointID) throws -> [EndpointID] {
        try [EndpointID](tlv: bench.read(Spec.id, Spec.Attributes.partsList, at: endpoint))
    }

    @Test func itSaysWhatIsThere() async throws {
        try await Bench.run { bench in
            _ = try bench.makeRoot()
            let tag = TLVValue.structure([
                .init(.context(0), .null), .init(.context(1), .unsigned(8)), .init(.context(2), .unsigned(1)),
                .init(.context(3), .null),
            ])
            Self.endpoint(1, 0x0100, bench.node, ["clients": .array([.unsigned(6)]), "tags": .array([tag])])
            let types = try [Spec.DeviceTypeStruct](tlv: bench.read(Spec.id, Spec.Attributes.deviceTypeList))
            #expect(types == [.init(deviceType: 0x0100, revision: 2)])
            #expect(try [ClusterID](tlv: bench.read(Spec.id, Spec.Attributes.serverList)) == [3, 0x1D])
            #expect(try [ClusterID](tlv: bench.read(Spec.id, Spec.Attributes.clientList)) == [6])
            #expect(try bench.read(Spec.id, Spec.Attributes.tagList) == .array([tag]))
            #expect(try bench.read(Spec.id, 0xFFFC) == .unsigned(1), "the feature comes with the tags")
            let required: [ClusterID] = [0x1D, 0x1F, 0x28, 0x30, 0x31, 0x33, 0x3C, 0x3E, 0x3F]
            #expect(try [ClusterID](tlv: bench.read(Spec.id, Spec.Attributes.serverList, at: 0)) == required)
            let rootTypes = try [Spec.DeviceTypeStruct](tlv: bench.read(Spec.id, Spec.Attributes.deviceTypeList, at: 0))
            #expect(rootTypes == [.init(deviceType: 0x16, revision: 3)])
        }
    }

    @Test func anAggregatorHasAllBelowItAndAComposedDeviceItsOwn() async throws {
        try await Bench.run { bench in
            _ = try bench.makeRoot()
            Self.endpoint(1, 0x000E, bench.node, ["parts": .array([.unsigned(2), .unsigned(3)])])
            Self.endpoint(2, 0x0013, bench.node, ["parts": .array([.unsigned(4)])])
            Self.endpoint(3, 0x0013, bench.node)
            Self.endpoint(4, 0x0100, bench.node)
            #expect(try Self.parts(bench, 0) == [1, 2, 3, 4])
            #expect(try Self.parts(bench, 1) == [2, 3, 4])
            #expect(try Self.parts(bench, 2) == [4])
            #expect(try Self.parts(bench, 3) == [])
            // An endpoint goes; one that points at itself or in a circle does not hang.
            bench.node.removeEndpoint(3)
            #expect(try Self.parts(bench, 0) == [1, 2, 4])
            #expect(try Self.parts(bench, 1) == [2, 4])
            bench.node.cluster(DescriptorCluster.self, at: 4)?.parts = [2, 1, 4]
            #expect(try Self.parts(bench, 1) == [2, 4])
        }
    }

    private final class Seen { var paths: [AttributePath] = [] }

    @Test func comingAndGoingIsReported() async throws {
        try await Bench.run { bench in
            _ = try bench.makeRoot()
            let seen = Seen()
            bench.node.onAttributeChanged = { seen.paths.append($0) }
            Self.endpoint(1, 0x0100, bench.node)
            #expect(seen.paths.contains(AttributePath(0, Spec.id, Spec.Attributes.partsList)))
            seen.paths = []
            bench.node.removeEndpoint(1)
            #expect(seen.paths.contains(AttributePath(0, Spec.id, Spec.Attributes.partsList)))
        }
    }
}
