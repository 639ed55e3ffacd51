import HearthTime
import MatterDevice
import MatterInteraction
import MatterModel
import MatterTLV

/// An attribute keeps showing the value that it had when the fault was set, or when the device started. Behind it the device goes on.
final class StuckAttributeFault: Fault {
    override class var kind: String { "stuck-attribute" }
    override class var parameters: [(name: String, summary: String)] {
        [("cluster", "the cluster"), ("attribute", "the attribute"), ("endpoint", "only on this endpoint")]
    }

    private let pattern: FaultPattern
    private var values: [AttributePath: TLVValue] = [:]

    required init(_ reader: FaultParameters, plan: FaultPlan, random: RandomStream) throws(SimulatorError) {
        pattern = try reader.pattern()
        guard pattern.cluster != nil, pattern.attribute != nil else {
            throw SimulatorError(.badRequest, "the fault 'stuck-attribute' needs a 'cluster' and an 'attribute'")
        }
        try super.init(reader, plan: plan, random: random)
    }

    override func lacking(_ node: DeviceNode) -> String? { pattern.lacking(node) }

    override func started(_ device: any FaultTarget) {
        values = [:]
        guard let node = device.node, let clusterID = pattern.cluster, let attributeID = pattern.attribute else { return }
        for endpoint in node.endpoints {
            let path = AttributePath(endpoint.id, clusterID, attributeID)
            guard pattern.matches(path), let cluster = endpoint.cluster(clusterID), let attribute = cluster.attribute(attributeID)
            else { continue }
            values[path] = try? cluster.read(attribute, .local())
        }
    }

    override func replaceValue(_ path: AttributePath, _ subscription: SubscriptionID?) -> TLVValue? {
        guard let value = values[path], fires("an attribute is stuck") else { return nil }
        return value
    }

    /// What does not change is not reported.
    override func beforeReport(_ subscription: SubscriptionID, _ paths: inout [AttributePath]) -> Bool {
        guard paths.contains(where: { values[$0] != nil }), fires("a change is not seen") else { return true }
        paths.removeAll { values[$0] != nil }
        return !paths.isEmpty
    }
}
