import HearthTime
import MatterInteraction

/// The device does at once what it is asked and takes its time to say so.
final class SlowAnswerFault: Fault {
    override class var kind: String { "slow-answer" }
    override class var parameters: [(name: String, summary: String)] { [("delayMs", "how much later the answer goes out")] }

    private let delay: Duration

    required init(_ reader: FaultParameters, plan: FaultPlan, random: RandomStream) throws(SimulatorError) {
        delay = try reader.duration("delayMs")
        try super.init(reader, plan: plan, random: random)
    }

    override func beforeAnswer(_ opcode: InteractionOpcode) -> InteractionHooks.AnswerVerdict {
        // Reports that nobody has asked for are no answers.
        fires("an answer is late") ? .after(delay) : .now
    }
}
