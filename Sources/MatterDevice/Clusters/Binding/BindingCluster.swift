import MatterInteraction
import MatterModel
import MatterTLV

/// Binding (Matter Core, 9.6): what an endpoint's clients talk to.
public final class BindingCluster: Cluster {
    typealias Spec = Binding

    /// Entries of one fabric; ten or more (Matter Core, 9.6.1).
    static let entriesPerFabric = 10

    public init(endpoint: EndpointID, node: DeviceNode, configuration: ClusterConfiguration = .init()) {
        super.init(Spec.definition, endpoint: endpoint, node: node, configuration: configuration)
    }

    public override func willWrite(
        _ attribute: AttributeDefinition, _ value: TLVValue, _ context: InteractionContext
    ) throws(Status) -> TLVValue {
        let own = (value.array ?? []).filter { $0[FabricScopedList.fabricIndexTag]?.unsigned == context.fabricIndex.unsigned }
        guard own.count <= Self.entriesPerFabric else {
            throw Status(.resourceExhausted, "a fabric has at most \(Self.entriesPerFabric) bindings here")
        }
        for entry in own {
            let target = try Spec.TargetStruct(tlv: entry)
            // A group, or an endpoint of a node, and nothing else.
            if let group = target.group {
                guard group != 0, target.node == nil, target.endpoint == nil else {
                    throw Status(.constraintError, "a binding to a group names no node")
                }
            } else {
                guard let node = target.node, target.endpoint != nil, Subject.isOperationalNode(node.rawValue) else {
                    throw Status(.constraintError, "a binding names a group, or a node and its endpoint")
                }
            }
        }
        return value
    }

    public override func fabricRemoved(_ fabric: FabricIndex) {
        set(Spec.Attributes.binding, FabricScopedList.without(fabric, value(Spec.Attributes.binding)))
    }
}
