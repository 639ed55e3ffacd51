import HearthTime
import MatterInteraction
import MatterMessage
import MatterModel
import MatterNode

/// The power fails just before a command is carried out, and comes back after a while. Nobody is answered: the connections break.
final class RebootFault: Fault {
    override class var kind: String { "reboot" }
    override class var parameters: [(name: String, summary: String)] { [("downMs", "how long the power is gone (1000)")] }

    private let down: Duration
    private weak var target: (any FaultTarget)?
    /// The power has failed: nothing more is done, and nothing is said.
    private var isDown = false

    required init(_ reader: FaultParameters, plan: FaultPlan, random: RandomStream) throws(SimulatorError) {
        down = try reader.duration("downMs", default: .seconds(1))
        try super.init(reader, plan: plan, random: random)
    }

    override func begin(_ device: any FaultTarget) { target = device }

    override func started(_ device: any FaultTarget) { isDown = false }

    override func beforeCommand(_ path: CommandPath) -> Status? {
        // Further commands of the same message.
        if isDown { return Status(.failure) }
        guard let target, fires("the power fails") else { return nil }
        isDown = true
        // Not from within the node that is being stopped.
        target.timeline.after(.zero, origin: target.origin) { target.cutPower() }
        target.timeline.after(down, origin: target.origin) { target.restorePower() }
        return Status(.failure)
    }

    override func beforeAnswer(_ opcode: InteractionOpcode) -> InteractionHooks.AnswerVerdict { isDown ? .never : .now }
    override func frame(_ message: FaultMessage) -> NodeInterceptions.FrameVerdict { isDown ? .drop : .pass }
}
