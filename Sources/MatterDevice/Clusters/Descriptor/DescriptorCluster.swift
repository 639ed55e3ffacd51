import MatterInteraction
import MatterModel
import MatterTLV

/// Descriptor (Matter Core, 9.5): what is on an endpoint and which endpoints belong to it. Everything is read from the node, so that it is
/// right after any change.
///
/// Parameters of the profile: `parts` (an array of endpoint numbers that belong to this one; without it an endpoint other than the root
/// has none), `clients` (an array of the ids of client clusters), `tags` (an array of semantic tag structures; brings the feature).
public final class DescriptorCluster: Cluster {
    typealias Spec = Descriptor

    /// The endpoints that belong to this one, which a bridge changes while it runs; nil on a flat endpoint.
    public var parts: [EndpointID]? { didSet { if parts != oldValue { touch(Spec.Attributes.partsList) } } }
    private let clients: [ClusterID]
    private let tags: TLVValue

    public init(endpoint: EndpointID, node: DeviceNode, configuration: ClusterConfiguration = .init()) {
        func numbers(_ name: String) -> [UInt64]? { configuration.parameters[name]?.array?.compactMap(\.unsigned) }
        parts = numbers("parts").map { $0.compactMap { EndpointID(exactly: $0) } }
        clients = (numbers("clients") ?? []).compactMap { ClusterID(exactly: $0) }
        tags = configuration.parameters["tags"] ?? configuration.attributes[Spec.Attributes.tagList] ?? .array([])
        var configuration = configuration
        if tags.array?.isEmpty == false { configuration.features |= Spec.Feature.tagList.rawValue }
        super.init(Spec.definition, endpoint: endpoint, node: node, configuration: configuration)
    }

    public override func computedValue(of attribute: AttributeID, _ context: InteractionContext) -> TLVValue? {
        switch attribute {
        case Spec.Attributes.deviceTypeList:
            (node.endpoint(endpoint)?.deviceTypes ?? []).map {
                Spec.DeviceTypeStruct(deviceType: $0.type, revision: $0.revision)
            }.tlv
        case Spec.Attributes.serverList: (node.endpoint(endpoint)?.clusters ?? []).map(\.definition.id).tlv
        case Spec.Attributes.clientList: clients.tlv
        case Spec.Attributes.partsList: allParts.tlv
        case Spec.Attributes.tagList: tags
        default: nil
        }
    }

    /// The root has all endpoints, an aggregator all below it, any other endpoint those that were given (Matter Core, 9.2.3).
    private var allParts: [EndpointID] {
        if endpoint == 0 { return node.endpoints.map(\.id).filter { $0 != 0 } }
        let direct = (parts ?? []).filter { node.endpoint($0) != nil && $0 != endpoint }
        guard node.endpoint(endpoint)?.deviceTypes.contains(where: { $0.type == DataModel.aggregator }) == true else {
            return direct
        }
        var (all, open) = (Set<EndpointID>(), direct)
        while let next = open.popLast() {
            guard next != endpoint, all.insert(next).inserted else { continue }
            open += node.cluster(DescriptorCluster.self, at: next)?.parts ?? []
        }
        return all.filter { node.endpoint($0) != nil }.sorted()
    }
}

extension DataModel {
    static let aggregator: DeviceTypeID = 0x000E
}
