import MatterInteraction
import MatterModel
import MatterTLV

/// Software Diagnostics (Matter Core, 11.13). A virtual device has no heap of its own: its figures are what the profile or a tester says,
/// and the high watermark follows what is used.
public final class SoftwareDiagnosticsCluster: Cluster {
    typealias Spec = SoftwareDiagnostics

    public init(endpoint: EndpointID, node: DeviceNode, configuration: ClusterConfiguration = .init()) {
        super.init(Spec.definition, endpoint: endpoint, node: node, configuration: configuration)
        followHeap()
    }

    public override func setLocally(_ attribute: AttributeDefinition, _ value: TLVValue) throws(Status) {
        set(attribute.id, value)
        if attribute.id == Spec.Attributes.currentHeapUsed { followHeap() }
    }

    private func followHeap() {
        let (used, mark) = (value(Spec.Attributes.currentHeapUsed), value(Spec.Attributes.currentHeapHighWatermark))
        if (used.unsigned ?? 0) > (mark.unsigned ?? 0) { set(Spec.Attributes.currentHeapHighWatermark, used) }
    }

    public override func handle(
        _ command: CommandDefinition, _ fields: TLVValue, _ context: InteractionContext
    ) throws(Status) -> CommandOutcome {
        guard command.id == Spec.Commands.resetWatermarks else { throw Status(.unsupportedCommand) }
        set(Spec.Attributes.currentHeapHighWatermark, value(Spec.Attributes.currentHeapUsed))
        // Every thread's smallest free stack is again what is free now (Matter Core, 11.13.7.1).
        let threads = try (value(Spec.Attributes.threadMetrics).array ?? []).map { (thread) throws(Status) -> TLVValue in
            var metrics = try Spec.ThreadMetricsStruct(tlv: thread)
            metrics.stackFreeMinimum = metrics.stackFreeCurrent ?? metrics.stackFreeMinimum
            return metrics.tlv
        }
        set(Spec.Attributes.threadMetrics, .array(threads))
        return .success
    }
}
