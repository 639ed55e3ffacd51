import MatterInteraction
import MatterModel
import MatterTLV

/// User Label (Matter Core, 9.9): names that people give an endpoint.
public final class UserLabelCluster: Cluster {
    /// Labels of one endpoint; four or more (Matter Core, 9.9.4.1).
    static let capacity = 16

    public init(endpoint: EndpointID, node: DeviceNode, configuration: ClusterConfiguration = .init()) {
        super.init(UserLabel.definition, endpoint: endpoint, node: node, configuration: configuration)
    }

    public override func willWrite(
        _ attribute: AttributeDefinition, _ value: TLVValue, _ context: InteractionContext
    ) throws(Status) -> TLVValue {
        guard (value.array ?? []).count <= Self.capacity else {
            throw Status(.resourceExhausted, "an endpoint has at most \(Self.capacity) labels")
        }
        return value
    }
}
