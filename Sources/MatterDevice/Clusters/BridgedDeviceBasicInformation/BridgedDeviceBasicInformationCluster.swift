import HearthTime
import MatterInteraction
import MatterModel
import MatterTLV

/// Bridged Device Basic Information (Matter Core, 9.13): a device that a bridge speaks for.
///
/// While Reachable is false, commands and writes to the endpoints of the device are FAILURE; see `Cluster`.
public final class BridgedDeviceBasicInformationCluster: Cluster {
    typealias Spec = BridgedDeviceBasicInformation

    /// What KeepActive asked for while the device slept: how long, and until when that is of interest.
    private var wanted: (milliseconds: UInt32, until: ModelInstant)?

    public init(endpoint: EndpointID, node: DeviceNode, configuration: ClusterConfiguration = .init()) {
        super.init(
            Spec.definition, endpoint: endpoint, node: node, configuration: configuration,
            alsoSupported: ([Spec.Attributes.nodeLabel], []))
    }

    public override func start() {
        wanted = nil
        node.setReachable(isReachable, endpoint)
    }

    public override func stop() { node.setReachable(true, endpoint) }

    private var isReachable: Bool { value(Spec.Attributes.reachable) != .boolean(false) }

    /// The bridge finds or loses the device.
    public override func setLocally(_ attribute: AttributeDefinition, _ value: TLVValue) throws(Status) {
        let old = self.value(attribute.id)
        set(attribute.id, value)
        if attribute.id == Spec.Attributes.reachable { node.setReachable(isReachable, endpoint) }
        guard attribute.id == Spec.Attributes.reachable, old != value, let isReachable = value.boolean else { return }
        emit(Spec.Events.reachableChanged, Spec.ReachableChanged(reachableNewValue: isReachable).tlv)
        if isReachable, let wanted {
            self.wanted = nil
            if node.environment.now <= wanted.until { promise(wanted.milliseconds) }
        }
    }

    public override func handle(
        _ command: CommandDefinition, _ fields: TLVValue, _ context: InteractionContext
    ) throws(Status) -> CommandOutcome {
        guard command.id == Spec.Commands.keepActive else { throw Status(.unsupportedCommand) }
        let request = try Spec.KeepActive(tlv: fields)
        if value(Spec.Attributes.reachable) == .boolean(true) {
            promise(request.stayActiveDuration)
        } else {
            wanted = (request.stayActiveDuration, node.environment.now + .milliseconds(Int64(request.timeoutMs)))
        }
        return .success
    }

    /// Half a minute at least (Matter Core, 9.13.7.3.1).
    private func promise(_ milliseconds: UInt32) {
        emit(Spec.Events.activeChanged, Spec.ActiveChanged(promisedActiveDuration: max(30_000, milliseconds)).tlv)
    }
}
