import MatterInteraction
import MatterModel
import MatterTLV

/// Network Commissioning (Matter Core, 11.9) of an Ethernet interface, which is connected to the one network there is and has nothing to be
/// commissioned.
public final class NetworkCommissioningCluster: Cluster {
    typealias Spec = NetworkCommissioning

    public init(endpoint: EndpointID, node: DeviceNode, configuration: ClusterConfiguration = .init()) {
        var configuration = configuration
        configuration.features = Spec.Feature.ethernetNetworkInterface.rawValue
        super.init(Spec.definition, endpoint: endpoint, node: node, configuration: configuration)
    }

    public override func computedValue(of attribute: AttributeID, _ context: InteractionContext) -> TLVValue? {
        switch attribute {
        case Spec.Attributes.maxNetworks: .unsigned(1)
        case Spec.Attributes.networks:
            // The network's id is the interface's name (Matter Core, 11.9.5.5.1).
            [
                Spec.NetworkInfoStruct(
                    networkID: Array("eth0".utf8), connected: value(Spec.Attributes.interfaceEnabled) == .boolean(true))
            ]
            .tlv
        default: nil
        }
    }

    public override func willWrite(
        _ attribute: AttributeDefinition, _ value: TLVValue, _ context: InteractionContext
    ) throws(Status) -> TLVValue {
        if attribute.id == Spec.Attributes.interfaceEnabled, value != .boolean(true) {
            throw Status(.invalidAction, "the only interface cannot be turned off")
        }
        return value
    }
}
