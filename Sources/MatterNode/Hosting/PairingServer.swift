import HearthTime
import MatterCredentials
import MatterDevice
import MatterInteraction
import MatterMessage
import MatterTransport

/// Lets one peer prove the passcode over an unauthenticated session: the verifier's side of PASE (Matter Core, 4.14.1) as an exchange
/// handler. Ends with the session in auth mode PASE, or closed.
final class PairingServer {
    private let session: Session
    private let commissioning: Commissioning
    private let responder: PairingResponder
    private let intercept: ((PairingStep) -> StatusReport?)?
    private let onProven: () -> Void
    private var exchange: Exchange?
    private var hasAttempt = false

    /// - Parameter binding: what ties the proof to this very connection.
    init(
        session: Session, commissioning: Commissioning, parameters: PairingParameters, binding: [UInt8],
        intercept: ((PairingStep) -> StatusReport?)?, onProven: @escaping () -> Void
    ) {
        (self.session, self.commissioning, self.intercept, self.onProven) = (session, commissioning, intercept, onProven)
        responder = PairingResponder(verifier: parameters.verifier, parameters: parameters.key, exporter: binding)
    }

    /// The first message of an exchange of the secure channel.
    func accept(_ exchange: Exchange, _ opcode: UInt8, _ payload: UnsafeRawBufferPointer) {
        guard self.exchange == nil, opcode == SecureChannelOpcode.pbkdfParamRequest else { return refuse(exchange, .invalidParameter) }
        self.exchange = exchange
        exchange.onMessage = { [weak self] in self?.handle(exchange, $0, $1) }
        handle(exchange, opcode, payload)
    }

    /// The session ended before the passcode was proven.
    func sessionEnded() { failed() }

    private func handle(_ exchange: Exchange, _ opcode: UInt8, _ payload: UnsafeRawBufferPointer) {
        do {
            switch opcode {
            case SecureChannelOpcode.pbkdfParamRequest:
                if let report = intercept?(.parameters) { return refuse(exchange, report) }
                exchange.send(SecureChannelOpcode.pbkdfParamResponse, try responder.response(request: Array(payload)))
            case SecureChannelOpcode.pasePake1:
                if let report = intercept?(.share) { return refuse(exchange, report) }
                let pake2 = try responder.pake2(pake1: Array(payload))
                // From Pake2 the peer can check one guess, so that it counts from here.
                guard commissioning.window.attemptBegan() else { return refuse(exchange, .invalidParameter) }
                hasAttempt = true
                exchange.send(SecureChannelOpcode.pasePake2, pake2)
            case SecureChannelOpcode.pasePake3:
                if let report = intercept?(.confirmation) { return refuse(exchange, report) }
                try responder.finish(pake3: Array(payload))
                hasAttempt = false
                commissioning.window.attemptSucceeded()
                guard commissioning.failSafe.pairingEstablished() else {
                    return refuse(exchange, StatusReport(.busy, code: StatusReport.SecureChannelCode.busy))
                }
                session.context.authMode = .pase
                let report = StatusReport(.success, code: StatusReport.SecureChannelCode.sessionEstablished)
                exchange.send(SecureChannelOpcode.statusReport, report.payload)
                exchange.close()
                onProven()
            default: refuse(exchange, .invalidParameter)
            }
        } catch {
            Log.node.info("pairing: \(error)")
            refuse(exchange, .invalidParameter)
        }
    }

    private enum Refusal { case invalidParameter }
    private func refuse(_ exchange: Exchange, _: Refusal) {
        refuse(exchange, StatusReport(.failure, code: StatusReport.SecureChannelCode.invalidParameter))
    }

    private func refuse(_ exchange: Exchange, _ report: StatusReport) {
        exchange.send(SecureChannelOpcode.statusReport, report.payload)
        exchange.close()
        failed()
        session.close()
    }

    private func failed() {
        guard hasAttempt else { return }
        hasAttempt = false
        commissioning.window.attemptFailed()
    }
}
