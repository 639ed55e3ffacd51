import MatterMessage
import MatterModel
import MatterTLV

/// Why an interaction had no result.
public enum InteractionError: Error, Sendable, CustomStringConvertible {
    /// The peer refused the request as a whole.
    case refused(Status)
    /// No answer within the limit, in model time.
    case noResponse(after: Duration)
    /// The session ended first.
    case sessionEnded(LinkError?)
    /// The peer's answer is not what the specification prescribes.
    case malformed(String)

    public var description: String {
        switch self {
        case .refused(let status): "the device refused: \(status)"
        case .noResponse(let limit): "no answer within \(limit.components.seconds) s"
        case .sessionEnded(let error): "the connection ended" + (error.map { ": \($0)" } ?? "")
        case .malformed(let what): "the device's answer is malformed: \(what)"
        }
    }
}

/// Puts the chunks of a report together: the entries of long lists into one value, in order.
public struct ReportAccumulator: Sendable {
    public private(set) var attributes: [AttributeReport] = []
    public private(set) var events: [EventReport] = []
    public private(set) var subscription: SubscriptionID?

    public init() {}

    public mutating func add(_ chunk: ReportData) {
        if let id = chunk.subscription { subscription = id }
        events += chunk.events
        for report in chunk.attributes {
            guard report.path.listIndex == .append, case .value(_, let entry) = report.outcome,
                let place = openList(report.path.pattern),
                case .value(let version, .array(var entries)) = attributes[place].outcome
            else {
                attributes.append(report)
                continue
            }
            // Taken out first, so that the array grows in place.
            attributes[place].outcome = .value(version, .null)
            entries.append(entry)
            attributes[place].outcome = .value(version, .array(entries))
        }
    }

    /// Where the list is that an entry belongs to: the last report of its path, entries that could not be reported aside.
    private func openList(_ pattern: AttributePathPattern) -> Int? {
        for place in attributes.indices.reversed() {
            guard attributes[place].path.pattern == pattern else { return nil }
            if attributes[place].path.listIndex == .whole { return place }
        }
        return nil
    }
}
