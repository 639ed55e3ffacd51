import MatterInteraction
import MatterModel
import MatterTLV

/// Power Source (Matter Core, 11.7). What a battery or the mains do is set at the device; faults become events, and the charge level follows
/// the percentage.
///
/// Parameters of the profile: `warningBelow` and `criticalBelow`, half percents under which BatChargeLevel is Warning or Critical (40 and 20).
public final class PowerSourceCluster: Cluster {
    typealias Spec = PowerSource

    private let (warning, critical): (UInt64, UInt64)

    public init(endpoint: EndpointID, node: DeviceNode, configuration: ClusterConfiguration = .init()) {
        var configuration = configuration
        if configuration.attributes[Spec.Attributes.status] == nil {
            configuration.attributes[Spec.Attributes.status] = Spec.PowerSourceStatusEnum.active.tlv
        }
        warning = configuration.parameters["warningBelow"]?.unsigned ?? 40
        critical = configuration.parameters["criticalBelow"]?.unsigned ?? 20
        super.init(Spec.definition, endpoint: endpoint, node: node, configuration: configuration)
        updateChargeLevel()
    }

    public override func setLocally(_ attribute: AttributeDefinition, _ value: TLVValue) throws(Status) {
        let old = self.value(attribute.id)
        set(attribute.id, value)
        guard old != value else { return }
        let event: EventID? =
            switch attribute.id {
            case Spec.Attributes.activeWiredFaults: Spec.Events.wiredFaultChange
            case Spec.Attributes.activeBatFaults: Spec.Events.batFaultChange
            case Spec.Attributes.activeBatChargeFaults: Spec.Events.batChargeFaultChange
            default: nil
            }
        if let event { emit(event, .structure([.init(.context(0), value), .init(.context(1), old)])) }
        if attribute.id == Spec.Attributes.batPercentRemaining { updateChargeLevel() }
    }

    private func updateChargeLevel() {
        guard has(Spec.Attributes.batPercentRemaining), let left = value(Spec.Attributes.batPercentRemaining).unsigned else {
            return
        }
        let level: Spec.BatChargeLevelEnum = left < critical ? .critical : left < warning ? .warning : .ok
        set(Spec.Attributes.batChargeLevel, level.tlv)
    }
}
