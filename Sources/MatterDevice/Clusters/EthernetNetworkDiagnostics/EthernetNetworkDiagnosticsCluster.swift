import HearthTime
import MatterInteraction
import MatterModel
import MatterTLV

/// Ethernet Network Diagnostics (Matter Core, 11.16). A virtual interface counts no packets by itself: testers set the counters.
public final class EthernetNetworkDiagnosticsCluster: Cluster {
    typealias Spec = EthernetNetworkDiagnostics

    private static let counters = [
        Spec.Attributes.packetRxCount, Spec.Attributes.packetTxCount, Spec.Attributes.txErrCount, Spec.Attributes.collisionCount,
        Spec.Attributes.overrunCount,
    ]
    private var reset: ModelInstant?

    public init(endpoint: EndpointID, node: DeviceNode, configuration: ClusterConfiguration = .init()) {
        super.init(
            Spec.definition, endpoint: endpoint, node: node, configuration: configuration,
            alsoSupported: ([Spec.Attributes.timeSinceReset], []))
    }

    public override func start() { clear() }

    private func clear() {
        reset = node.environment.now
        for counter in Self.counters { set(counter, .unsigned(0)) }
    }

    /// Milliseconds since the counters were cleared.
    public override func computedValue(of attribute: AttributeID, _ context: InteractionContext) -> TLVValue? {
        guard attribute == Spec.Attributes.timeSinceReset else { return nil }
        let elapsed = reset.map { (node.environment.now - $0).wholeNanoseconds / 1_000_000 } ?? 0
        return .unsigned(UInt64(max(0, elapsed)))
    }

    public override func handle(
        _ command: CommandDefinition, _ fields: TLVValue, _ context: InteractionContext
    ) throws(Status) -> CommandOutcome {
        guard command.id == Spec.Commands.resetCounts else { throw Status(.unsupportedCommand) }
        clear()
        return .success
    }
}
