import HearthTime
import MatterMessage
import MatterNode

/// A pairing fails at a named step of proving the passcode.
final class PairingFault: Fault {
    override class var kind: String { "pairing" }
    override class var parameters: [(name: String, summary: String)] {
        [("step", "'parameters', 'share' or 'confirmation'")]
    }

    private let step: PairingStep

    required init(_ reader: FaultParameters, plan: FaultPlan, random: RandomStream) throws(SimulatorError) {
        let text = try reader.text("step") ?? ""
        guard let step = PairingStep(rawValue: text) else {
            let known = PairingStep.allCases.map(\.rawValue).joined(separator: ", ")
            throw SimulatorError(.badRequest, "the fault 'pairing' needs a 'step': one of \(known)")
        }
        self.step = step
        try super.init(reader, plan: plan, random: random)
    }

    override func pairing(_ step: PairingStep) -> StatusReport? {
        guard step == self.step, fires("the pairing fails") else { return nil }
        return StatusReport(.failure, code: StatusReport.SecureChannelCode.invalidParameter)
    }
}
