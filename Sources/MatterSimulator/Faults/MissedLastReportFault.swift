import HearthTime
import MatterDevice
import MatterInteraction
import MatterModel
import MatterTLV

/// The last report of a series of changes gets lost: subscribers stay one change behind, and never hear of the value at which the
/// attribute came to rest. A read shows it.
final class MissedLastReportFault: Fault {
    override class var kind: String { "missed-last-report" }
    override class var parameters: [(name: String, summary: String)] {
        [
            ("endpoint", "only of this endpoint"), ("cluster", "only of this cluster"), ("attribute", "only of this attribute"),
            ("quietMs", "how long no change comes after the last one of a series (3000)"),
        ]
    }

    private struct Key: Hashable {
        let subscription: SubscriptionID
        let path: AttributePath
    }
    /// One attribute's changes for one subscription, while they go on.
    private struct Series {
        /// Whether this is one that loses its last report.
        var isSpoilt: Bool
        /// The value that is held back.
        var held: TLVValue?
        var end: Token
    }

    private let pattern: FaultPattern
    private let quiet: Duration
    private weak var target: (any FaultTarget)?
    private var series: [Key: Series] = [:]
    /// What the report that is being written shows in place of the present values.
    private var shown: [Key: TLVValue] = [:]

    required init(_ reader: FaultParameters, plan: FaultPlan, random: RandomStream) throws(SimulatorError) {
        pattern = try reader.pattern()
        quiet = try reader.duration("quietMs", default: .seconds(3))
        try super.init(reader, plan: plan, random: random)
    }

    override func lacking(_ node: DeviceNode) -> String? { pattern.lacking(node) }

    override func begin(_ device: any FaultTarget) { target = device }
    override func started(_ device: any FaultTarget) { forget() }
    override func end(_ device: any FaultTarget) { forget() }

    private func forget() {
        for key in series.keys.sorted(by: { ($0.subscription, $0.path) < ($1.subscription, $1.path) }) {
            if let token = series[key]?.end { target?.timeline.cancel(token) }
        }
        (series, shown) = ([:], [:])
    }

    override func beforeReport(_ subscription: SubscriptionID, _ paths: inout [AttributePath]) -> Bool {
        // A keep-alive, or a report of events alone, has none; and other subscriptions have others.
        guard let target, paths.contains(where: { pattern.matches($0) }) else { return true }
        var left: [AttributePath] = []
        for path in paths {
            guard pattern.matches(path) else {
                left.append(path)
                continue
            }
            let key = Key(subscription: subscription, path: path)
            let before = series[key]
            if let before { target.timeline.cancel(before.end) }
            let isSpoilt = before?.isSpoilt ?? fires("the last report is lost")
            let end = target.timeline.after(quiet, origin: target.origin) { [weak self] in self?.series[key] = nil }
            series[key] = Series(isSpoilt: isSpoilt, held: isSpoilt ? value(path) : nil, end: end)
            if !isSpoilt {
                left.append(path)
            } else if let held = before?.held {
                shown[key] = held
                left.append(path)
            }
        }
        paths = left
        return !paths.isEmpty
    }

    private func value(_ path: AttributePath) -> TLVValue? {
        guard let cluster = target?.node?.endpoint(path.endpoint)?.cluster(path.cluster), let attribute = cluster.attribute(path.attribute)
        else { return nil }
        return try? cluster.read(attribute, .local())
    }

    override func replaceValue(_ path: AttributePath, _ subscription: SubscriptionID?) -> TLVValue? {
        guard let subscription else { return nil }
        return shown.removeValue(forKey: Key(subscription: subscription, path: path))
    }
}
