import HearthTime
import MatterInteraction
import MatterMessage
import MatterModel
import MatterNode
import MatterTransport

/// A pairing fails at a named step: one of proving the passcode, or a stage of the commissioning as the controller calls it. What follows
/// CommissioningComplete is none: the device is in the home then, and what it consists of is asked again.
final class PairingFault: Fault {
    override class var kind: String { "pairing" }
    override class var parameters: [(name: String, summary: String)] { [("step", Step.allCases.map(\.rawValue).joined(separator: ", "))] }

    enum Step: String, CaseIterable {
        /// The device takes no pairing connection.
        case connection
        /// Proving the passcode, message by message (Matter Core, 4.14.1).
        case parameters, share, confirmation
        /// The first read.
        case information
        case failSafe, regulatory, attestation, certificateRequest, trustedRoot, operationalCertificate
        /// The device takes no connection of the new fabric.
        case operationalConnection
        /// CommissioningComplete.
        case completion

        /// The command with which the stage begins.
        var command: (ClusterID, CommandID)? {
            switch self {
            case .failSafe: (GeneralCommissioning.id, GeneralCommissioning.Commands.armFailSafe)
            case .regulatory: (GeneralCommissioning.id, GeneralCommissioning.Commands.setRegulatoryConfig)
            case .attestation: (OperationalCredentials.id, OperationalCredentials.Commands.attestationRequest)
            case .certificateRequest: (OperationalCredentials.id, OperationalCredentials.Commands.csrRequest)
            case .trustedRoot: (OperationalCredentials.id, OperationalCredentials.Commands.addTrustedRootCertificate)
            case .operationalCertificate: (OperationalCredentials.id, OperationalCredentials.Commands.addNOC)
            case .completion: (GeneralCommissioning.id, GeneralCommissioning.Commands.commissioningComplete)
            default: nil
            }
        }
    }

    private let step: Step
    private weak var target: (any FaultTarget)?

    required init(_ reader: FaultParameters, plan: FaultPlan, random: RandomStream) throws(SimulatorError) {
        let text = try reader.text("step") ?? ""
        guard let step = Step(rawValue: text) else {
            let known = Step.allCases.map(\.rawValue)
            throw SimulatorError(
                .badRequest,
                "the fault 'pairing' needs a 'step'\(DataModel.didYouMean(text, among: known)): one of \(known.joined(separator: ", "))")
        }
        self.step = step
        try super.init(reader, plan: plan, random: random)
    }

    override func begin(_ device: any FaultTarget) { target = device }

    private func fails() -> Bool { fires("the pairing fails at \(step.rawValue)") }

    override func pairing(_ step: PairingStep) -> StatusReport? {
        guard step.rawValue == self.step.rawValue, fails() else { return nil }
        return StatusReport(.failure, code: StatusReport.SecureChannelCode.invalidParameter)
    }

    override func refusesConnection(isPairing: Bool) -> TLSAlert? {
        switch step {
        case .connection where isPairing: fails() ? .accessDenied : nil
        // Members of older fabrics have nothing to do with it.
        case .operationalConnection where !isPairing && target?.node?.commissioning.failSafe.hasAddedFabric == true:
            fails() ? .accessDenied : nil
        default: nil
        }
    }

    override func frame(_ message: FaultMessage) -> NodeInterceptions.FrameVerdict {
        guard step == .information, message.isRequest(.readRequest), message.peer.isPairing else { return .pass }
        return fails() ? .reset : .pass
    }

    override func beforeCommand(_ path: CommandPath) -> Status? {
        guard let (cluster, command) = step.command, path.cluster == cluster, path.command == command, fails() else { return nil }
        return Status(.failure)
    }
}
