import HearthTime
import MatterInteraction
import MatterModel
import MatterTLV

/// Occupancy Sensing (Matter Application Clusters, 2.7). Somebody moving is set at the device (`setLocally` of Occupancy to 1), and that
/// nobody moves any more (0): then the room counts as occupied for HoldTime, where that attribute exists.
public final class OccupancySensingCluster: Cluster {
    typealias Spec = OccupancySensing
    private typealias Attributes = OccupancySensing.Attributes

    private var release: Token?

    public init(endpoint: EndpointID, node: DeviceNode, configuration: ClusterConfiguration = .init()) {
        super.init(
            Spec.definition, endpoint: endpoint, node: node, configuration: Self.completed(configuration),
            alsoSupported: ([Attributes.occupancySensorType, Attributes.occupancySensorTypeBitmap], []))
    }

    /// The types follow from the features (2.7.6.3); without features it is a passive infrared sensor.
    private static func completed(_ configuration: ClusterConfiguration) -> ClusterConfiguration {
        var result = configuration
        if result.features == 0 { result.features = Spec.Feature.passiveInfrared.rawValue }
        let features = Spec.Feature(rawValue: result.features)
        var types: Spec.OccupancySensorTypeBitmap = []
        if features.contains(.passiveInfrared) { types.insert(.pir) }
        if features.contains(.ultrasonic) { types.insert(.ultrasonic) }
        if features.contains(.physicalContact) { types.insert(.physicalContact) }
        if types.isEmpty { types = .pir }
        let type: Spec.OccupancySensorTypeEnum =
            types.isSuperset(of: [.pir, .ultrasonic])
            ? .pirAndUltrasonic : types.contains(.pir) ? .pir : types.contains(.ultrasonic) ? .ultrasonic : .physicalContact
        result.attributes.merge([Attributes.occupancySensorType: type.tlv, Attributes.occupancySensorTypeBitmap: types.tlv]) { said, _ in
            said
        }
        guard result.optionalAttributes.contains(Attributes.holdTime) || result.attributes[Attributes.holdTime] != nil else {
            return result
        }
        let limits = Spec.HoldTimeLimitsStruct(holdTimeMin: 1, holdTimeMax: 3600, holdTimeDefault: 10)
        result.attributes.merge([Attributes.holdTimeLimits: limits.tlv, Attributes.holdTime: .unsigned(10)]) { said, _ in said }
        return result
    }

    public var isOccupied: Bool { (value(Attributes.occupancy).unsigned ?? 0) & 1 != 0 }

    public override func start() { release = nil }

    // MARK: Sensing

    public override func setLocally(_ attribute: AttributeDefinition, _ value: TLVValue) throws(Status) {
        guard attribute.id == Attributes.occupancy else {
            set(attribute.id, try willWrite(attribute, value, .local()))
            return
        }
        cancel(release)
        release = nil
        if (value.unsigned ?? 0) & 1 != 0 { return show(true) }
        let hold = has(Attributes.holdTime) ? self.value(Attributes.holdTime).unsigned ?? 0 : 0
        guard hold > 0, isOccupied else { return show(false) }
        release = after(.seconds(Int64(min(hold, 65_535)))) { [weak self] in
            self?.release = nil
            self?.show(false)
        }
    }

    private func show(_ occupied: Bool) {
        guard occupied != isOccupied else { return }
        let value = TLVValue.unsigned(occupied ? 1 : 0)
        set(Attributes.occupancy, value)
        emit(Spec.Events.occupancyChanged, .structure([.init(.context(0), value)]))
    }

    // MARK: Hold time and its older names

    private static let olderNames: Set<AttributeID> = [
        Attributes.pirOccupiedToUnoccupiedDelay, Attributes.ultrasonicOccupiedToUnoccupiedDelay,
        Attributes.physicalContactOccupiedToUnoccupiedDelay,
    ]

    public override func willWrite(
        _ attribute: AttributeDefinition, _ value: TLVValue, _ context: InteractionContext
    ) throws(Status) -> TLVValue {
        guard attribute.id == Attributes.holdTime || Self.olderNames.contains(attribute.id) else { return value }
        let limits = try Spec.HoldTimeLimitsStruct(tlv: self.value(Attributes.holdTimeLimits))
        guard let time = value.unsigned, time >= UInt64(limits.holdTimeMin), time <= UInt64(limits.holdTimeMax) else {
            throw Status(.constraintError, "the hold time is outside its limits")
        }
        return value
    }

    public override func didWrite(
        _ attribute: AttributeDefinition, from old: TLVValue, to new: TLVValue, _ context: InteractionContext
    ) {
        guard attribute.id == Attributes.holdTime || Self.olderNames.contains(attribute.id) else { return }
        for name in Self.olderNames.union([Attributes.holdTime]) { set(name, new) }
    }
}
