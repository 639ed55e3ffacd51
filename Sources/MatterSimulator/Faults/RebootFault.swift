import HearthTime
import MatterInteraction
import MatterModel

/// The power fails just before a command is carried out, and comes back after a while.
final class RebootFault: Fault {
    override class var kind: String { "reboot" }
    override class var parameters: [(name: String, summary: String)] { [("downMs", "how long the power is gone (1000)")] }

    private let down: Duration
    private weak var target: (any FaultTarget)?

    required init(_ reader: FaultParameters, plan: FaultPlan, random: RandomStream) throws(SimulatorError) {
        down = try reader.duration("downMs", default: .seconds(1))
        try super.init(reader, plan: plan, random: random)
    }

    override func begin(_ device: any FaultTarget) { target = device }

    override func beforeCommand(_ path: CommandPath) -> Status? {
        guard let target, fires("the power fails") else { return nil }
        // Not from within the node that is being stopped.
        target.timeline.after(.zero, origin: target.origin) { target.cutPower() }
        target.timeline.after(down, origin: target.origin) { target.restorePower() }
        return Status(.failure)
    }
}
