import MatterModel
import MatterTLV

/// What a meter measures: an appliance that takes its power while the switch beside it is on, and little while it is off.
///
/// Parameters of the profile, for Electrical Power Measurement, or for Electrical Energy Measurement where it stands alone:
/// `power` (W, 60), `standbyPower` (W, 0.5), `voltage` (V, 230), `powerFactor` (1), `frequency` (Hz, 50) and `source`, the endpoint whose On/Off
/// counts (the meter's own). Without On/Off there the appliance is always on.
struct ElectricalLoad: Sendable {
    /// mW.
    var power: Int64
    /// mW.
    var standby: Int64
    /// mV.
    var voltage: Int64
    /// 0 to 1.
    var powerFactor: Double
    /// mHz.
    var frequency: Int64
    var source: EndpointID

    init(_ parameters: [String: TLVValue], endpoint: EndpointID) {
        func thousandths(_ name: String, _ fallback: Double) -> Int64 {
            Int64(((parameters[name]?.number ?? fallback).clamped(to: -1e9...1e9) * 1000).rounded())
        }
        (power, standby) = (thousandths("power", 60), thousandths("standbyPower", 0.5))
        (voltage, frequency) = (thousandths("voltage", 230), thousandths("frequency", 50))
        powerFactor = (parameters["powerFactor"]?.number ?? 1).clamped(to: 0.01...1)
        source = parameters["source"]?.unsigned.flatMap { UInt16(exactly: $0) }.map { EndpointID($0) } ?? endpoint
    }

    /// mW that the appliance takes now.
    func present(_ node: DeviceNode) -> Int64 {
        node.cluster(OnOffCluster.self, at: source)?.isOn ?? true ? power : standby
    }
}

extension Double {
    func clamped(to range: ClosedRange<Double>) -> Double { isNaN ? range.lowerBound : min(max(self, range.lowerBound), range.upperBound) }
}
