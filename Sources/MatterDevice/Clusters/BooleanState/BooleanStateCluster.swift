import MatterInteraction
import MatterModel
import MatterTLV

/// Boolean State (Matter Application Clusters, 1.7): a contact, a leak. What it senses is set at the device, and each change is an event.
public final class BooleanStateCluster: Cluster {
    typealias Spec = BooleanState

    public init(endpoint: EndpointID, node: DeviceNode, configuration: ClusterConfiguration = .init()) {
        super.init(Spec.definition, endpoint: endpoint, node: node, configuration: configuration)
    }

    public override func setLocally(_ attribute: AttributeDefinition, _ value: TLVValue) throws(Status) {
        guard attribute.id == Spec.Attributes.stateValue, value != self.value(attribute.id) else { return set(attribute.id, value) }
        set(attribute.id, value)
        emit(Spec.Events.stateChange, .structure([.init(.context(0), value)]))
    }

    /// The event comes with the state that it tells of.
    public override func triggerLocally(_ event: EventDefinition, _ fields: TLVValue) throws(Status) -> EventNumber {
        guard let state = fields[0]?.boolean else { throw Status(.invalidCommand, "StateValue is missing") }
        set(Spec.Attributes.stateValue, .boolean(state))
        return emit(event.id, fields)
    }
}
