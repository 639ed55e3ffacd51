import MatterInteraction
import MatterModel
import MatterTLV

/// Electrical Power Measurement (Matter Application Clusters, 2.13) of an `ElectricalLoad`: power, voltage and current of alternating or
/// direct current.
///
/// ActivePower set at the device is what the appliance takes until it is switched; Voltage set there changes the current.
public final class ElectricalPowerMeasurementCluster: Cluster {
    typealias Spec = ElectricalPowerMeasurement
    private typealias Attributes = ElectricalPowerMeasurement.Attributes

    private let load: ElectricalLoad
    /// Power in mW and voltage in mV as a tester set them.
    private var setPower: Int64?
    private var voltage: Int64

    public init(endpoint: EndpointID, node: DeviceNode, configuration: ClusterConfiguration = .init()) {
        var configuration = configuration
        var features = Spec.Feature(rawValue: configuration.features)
        if features.isDisjoint(with: [.directCurrent, .alternatingCurrent]) { features.insert(.alternatingCurrent) }
        configuration.features = features.rawValue
        load = ElectricalLoad(configuration.parameters, endpoint: endpoint)
        voltage = load.voltage
        let alternates = features.contains(.alternatingCurrent)
        let mode: Spec.PowerModeEnum = alternates ? .ac : .dc
        let measured = alternates ? [.activePower, .rmsVoltage, .rmsCurrent, .frequency, .powerFactor] : Self.ofDirectCurrent
        configuration.attributes.merge(
            [
                Attributes.powerMode: mode.tlv, Attributes.numberOfMeasurementTypes: .unsigned(UInt64(measured.count)),
                Attributes.accuracy: measured.map(Self.accuracy).tlv,
            ]
        ) { said, _ in said }
        let shown: Set<AttributeID> =
            alternates
            ? [Attributes.rmsVoltage, Attributes.rmsCurrent, Attributes.frequency, Attributes.powerFactor, Attributes.apparentPower]
            : [Attributes.voltage, Attributes.activeCurrent]
        super.init(Spec.definition, endpoint: endpoint, node: node, configuration: configuration, alsoSupported: (shown, []))
    }

    private static let ofDirectCurrent: [GlobalTypes.MeasurementTypeEnum] = [.activePower, .voltage, .activeCurrent]

    /// One per cent, as good household meters have it.
    private static func accuracy(_ type: GlobalTypes.MeasurementTypeEnum) -> GlobalTypes.MeasurementAccuracyStruct {
        let range: (Int64, Int64) =
            switch type {
            case .activePower: (-10_000_000, 10_000_000)
            case .rmsVoltage, .voltage: (0, 1_000_000)
            case .frequency: (0, 1_000_000)
            case .powerFactor: (-10_000, 10_000)
            default: (-100_000, 100_000)
            }
        return .init(
            measurementType: type, measured: true, minMeasuredValue: range.0, maxMeasuredValue: range.1,
            accuracyRanges: [.init(rangeMin: range.0, rangeMax: range.1, percentMax: 100)])
    }

    /// mW that are measured now.
    var milliwatts: Int64 { setPower ?? load.present(node) }

    public override func start() {
        (setPower, voltage) = (nil, load.voltage)
        measure()
        node.observe(load.source, OnOff.id, OnOff.Attributes.onOff) { [weak self] in
            self?.setPower = nil
            self?.measure()
        }
    }

    public override func setLocally(_ attribute: AttributeDefinition, _ value: TLVValue) throws(Status) {
        switch attribute.id {
        case Attributes.activePower: setPower = value.signed.map { min(max($0, -1_000_000_000_000), 1_000_000_000_000) }
        case Attributes.voltage, Attributes.rmsVoltage: voltage = min(max(value.signed ?? load.voltage, 0), 1_000_000_000)
        default: return set(attribute.id, value)
        }
        measure()
    }

    private func measure() {
        let power = milliwatts
        set(Attributes.activePower, .signed(power))
        let factor = hasFeature(Spec.Feature.alternatingCurrent.rawValue) ? load.powerFactor : 1
        let apparent = Int64((Double(power) / factor).rounded())
        // mW / mV is A.
        let current: TLVValue = voltage > 0 ? .signed(Int64((Double(apparent) * 1000 / Double(voltage)).rounded())) : .signed(0)
        for attribute in [Attributes.voltage, Attributes.rmsVoltage] { set(attribute, .signed(voltage)) }
        for attribute in [Attributes.activeCurrent, Attributes.rmsCurrent] { set(attribute, current) }
        set(Attributes.apparentPower, .signed(apparent))
        set(Attributes.frequency, .signed(load.frequency))
        set(Attributes.powerFactor, .signed(Int64((factor * 10_000).rounded())))
        node.cluster(ElectricalEnergyMeasurementCluster.self, at: endpoint)?.powerChanged(to: power)
    }
}
