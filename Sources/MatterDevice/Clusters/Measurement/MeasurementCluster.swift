import MatterInteraction
import MatterModel
import MatterTLV

/// A sensor that shows one measured value: Temperature, Relative Humidity, Pressure, Flow and Illuminance Measurement (Matter
/// Application Clusters, 2.2 to 2.6), which are alike but for their units.
///
/// What is measured is set at the device (`setLocally` of MeasuredValue); null is a sensor that does not know. A value beyond the range
/// of the sensor shows as the end of the range, as a real sensor's does.
public final class MeasurementCluster: Cluster {
    /// The three attributes that all of them have, under the same ids.
    private enum Attributes {
        static let measuredValue: AttributeID = 0x0000
        static let minMeasuredValue: AttributeID = 0x0001
        static let maxMeasuredValue: AttributeID = 0x0002
    }

    /// What a sensor shows and spans when its profile does not say it.
    struct Usual: Sendable {
        var measured: TLVValue
        var range: (TLVValue, TLVValue)
        var optional: [AttributeID: TLVValue] = [:]
    }

    init(
        _ definition: ClusterDefinition, usual: Usual, endpoint: EndpointID, node: DeviceNode, configuration: ClusterConfiguration
    ) {
        var configuration = configuration
        let said = configuration.attributes
        configuration.attributes.merge(usual.optional) { said, _ in said }
        configuration.attributes.merge(
            [
                Attributes.measuredValue: usual.measured, Attributes.minMeasuredValue: usual.range.0,
                Attributes.maxMeasuredValue: usual.range.1,
            ]
        ) { said, _ in said }
        typealias Scaled = PressureMeasurement.Attributes
        if said[Attributes.measuredValue] == nil {
            Self.settle(Attributes.measuredValue, Attributes.minMeasuredValue, Attributes.maxMeasuredValue, &configuration.attributes)
        }
        if definition.id == PressureMeasurement.id, said[Scaled.scaledValue] == nil {
            Self.settle(Scaled.scaledValue, Scaled.minScaledValue, Scaled.maxScaledValue, &configuration.attributes)
        }
        super.init(definition, endpoint: endpoint, node: node, configuration: configuration)
    }

    /// A usual value, within the range that the profile may have given.
    private static func settle(
        _ value: AttributeID, _ low: AttributeID, _ high: AttributeID, _ attributes: inout [AttributeID: TLVValue]
    ) {
        guard let usual = attributes[value]?.signed else { return }
        if let least = attributes[low], let number = least.signed, usual < number { attributes[value] = least }
        if let most = attributes[high], let number = most.signed, usual > number { attributes[value] = most }
    }

    public override func setLocally(_ attribute: AttributeDefinition, _ value: TLVValue) throws(Status) {
        guard attribute.id == Attributes.measuredValue else { return set(attribute.id, value) }
        set(attribute.id, withinRange(value))
        updateScaledValue()
    }

    private func withinRange(_ measured: TLVValue) -> TLVValue {
        guard let number = measured.signed else { return .null }
        // An illuminance of 0 is too dark to be measured, and no value of the range.
        if definition.id == IlluminanceMeasurement.id, number == 0 { return measured }
        let low = value(Attributes.minMeasuredValue).signed ?? .min
        let high = value(Attributes.maxMeasuredValue).signed ?? .max
        let inside = min(max(number, low), max(low, high))
        return inside < 0 || isSigned(measured) ? .signed(inside) : .unsigned(UInt64(inside))
    }

    private func isSigned(_ value: TLVValue) -> Bool { if case .signed = value { true } else { false } }

    /// Pressure with the feature EXT: the same in another scale, Pa × 10^Scale (2.4.5.5).
    private func updateScaledValue() {
        guard definition.id == PressureMeasurement.id, has(PressureMeasurement.Attributes.scaledValue) else { return }
        // MeasuredValue is in hPa, that is 100 Pa.
        guard let measured = value(Attributes.measuredValue).signed, let scale = value(PressureMeasurement.Attributes.scale).signed else {
            return set(PressureMeasurement.Attributes.scaledValue, .null)
        }
        var scaled = Double(measured) * 100
        for _ in 0..<abs(scale) { scaled = scale > 0 ? scaled * 10 : scaled / 10 }
        let low = Double(value(PressureMeasurement.Attributes.minScaledValue).signed ?? -32767)
        let high = Double(value(PressureMeasurement.Attributes.maxScaledValue).signed ?? 32767)
        set(PressureMeasurement.Attributes.scaledValue, .signed(Int64(min(max(scaled.rounded(), low), max(low, high)))))
    }

    // MARK: The sensors

    /// 0.01 °C.
    static let temperature = Usual(measured: .signed(2000), range: (.signed(-4000), .signed(12_500)))
    /// 0.01 %.
    static let humidity = Usual(measured: .unsigned(5000), range: (.unsigned(0), .unsigned(10_000)))
    /// 10 000 × log10(lx) + 1: 100 lx.
    static let illuminance = Usual(
        measured: .unsigned(20_001), range: (.unsigned(1), .unsigned(65_533)),
        optional: [IlluminanceMeasurement.Attributes.lightSensorType: IlluminanceMeasurement.LightSensorTypeEnum.photodiode.tlv])
    /// hPa.
    static let pressure = Usual(
        measured: .signed(1013), range: (.signed(300), .signed(1100)),
        optional: [
            PressureMeasurement.Attributes.scaledValue: .signed(10_130), PressureMeasurement.Attributes.minScaledValue: .signed(3000),
            PressureMeasurement.Attributes.maxScaledValue: .signed(11_000), PressureMeasurement.Attributes.scale: .signed(-1),
        ])
    /// 0.1 m³/h.
    static let flow = Usual(measured: .unsigned(0), range: (.unsigned(0), .unsigned(1000)))
}
