import HearthTime
import MatterMessage
import MatterNode

/// Every message takes longer, by a fixed time and a random one. The order of a session's messages stays.
final class DelayFault: Fault {
    override class var kind: String { "delay" }
    override class var parameters: [(name: String, summary: String)] {
        [
            ("delayMs", "how much longer each message takes"), ("jitterMs", "up to how much more, at random (0)"),
            ("direction", "'in', 'out' or 'both' (both)"),
        ]
    }

    private let delay: Duration
    private let jitter: Duration
    private let directions: (incoming: Bool, outgoing: Bool)

    required init(_ reader: FaultParameters, plan: FaultPlan, random: RandomStream) throws(SimulatorError) {
        delay = try reader.duration("delayMs")
        jitter = try reader.duration("jitterMs", default: .zero)
        switch try reader.text("direction") ?? "both" {
        case "in": directions = (true, false)
        case "out": directions = (false, true)
        case "both": directions = (true, true)
        case let other: throw SimulatorError(.badRequest, "'direction' is 'in', 'out' or 'both', not '\(other)'")
        }
        try super.init(reader, plan: plan, random: random)
    }

    override func frame(_ message: FaultMessage) -> NodeInterceptions.FrameVerdict {
        guard message.isOutgoing ? directions.outgoing : directions.incoming, fires("a message is delayed") else { return .pass }
        return .delay(jitter > .zero ? delay + random.duration(in: .zero...jitter) : delay)
    }
}
