import HearthTime
import MatterDevice
import MatterModel

/// Reports of subscriptions get lost, as if they had been sent and acknowledged. With a path only these attributes are left out.
final class DropReportsFault: Fault {
    override class var kind: String { "drop-reports" }
    override class var parameters: [(name: String, summary: String)] {
        [("endpoint", "only of this endpoint"), ("cluster", "only of this cluster"), ("attribute", "only of this attribute")]
    }

    private let pattern: FaultPattern

    required init(_ reader: FaultParameters, plan: FaultPlan, random: RandomStream) throws(SimulatorError) {
        pattern = try reader.pattern()
        try super.init(reader, plan: plan, random: random)
    }

    override func lacking(_ node: DeviceNode) -> String? { pattern.lacking(node) }

    override func beforeReport(_ subscription: SubscriptionID, _ paths: inout [AttributePath]) -> Bool {
        let lost = paths.filter { pattern.matches($0) }
        guard !lost.isEmpty, fires("a report is lost") else { return true }
        paths.removeAll { pattern.matches($0) }
        return !paths.isEmpty
    }
}
