import HearthTime
import MatterCredentials
import MatterMessage

/// Proves the passcode over an unauthenticated session: the prover's side of PASE (Matter Core, 4.14.1) as an exchange handler.
struct PairingClient {
    let session: Session
    let timeline: Timeline
    let origin: Timeline.Origin
    let limit: Duration

    enum Failure: Error, CustomStringConvertible {
        case wrongPasscode
        case busy
        case refused(StatusReport)
        case ended(LinkError?)
        case noAnswer
        case malformed(String)

        var description: String {
            switch self {
            case .wrongPasscode: "the passcode is wrong: check the setup code"
            case .busy: "the device is being paired by somebody else: try again in a minute"
            case .refused(let report): "the device refused (\(report.general), code \(report.code))"
            case .ended(let error): "the connection ended" + (error.map { ": \($0)" } ?? "")
            case .noAnswer: "the device did not answer"
            case .malformed(let what): "the device's answer makes no sense: \(what)"
            }
        }
    }

    /// - Parameter binding: what ties the proof to this very connection (`TLSConnection.pairingBinding`).
    func prove(_ passcode: Passcode, binding: [UInt8]) async throws {
        let initiator = PairingInitiator(passcode: passcode, exporter: binding)
        let exchange = session.begin(.secureChannel)
        try await withCheckedThrowingContinuation { (continuation: CheckedContinuation<Void, any Error>) in
            var isDone = false
            var timer: Token?
            let finish = { [timeline] (result: Result<Void, any Error>) in
                guard !isDone else { return }
                isDone = true
                if let timer { timeline.cancel(timer) }
                exchange.close()
                continuation.resume(with: result)
            }
            timer = timeline.after(limit, origin: origin) { finish(.failure(Failure.noAnswer)) }
            exchange.onSessionEnd = { finish(.failure(Failure.ended($0))) }
            exchange.onMessage = { opcode, payload in
                do {
                    switch opcode {
                    case SecureChannelOpcode.pbkdfParamResponse:
                        exchange.send(SecureChannelOpcode.pasePake1, try initiator.pake1(response: Array(payload)))
                        exchange.expectAnswer()
                    case SecureChannelOpcode.pasePake2:
                        exchange.send(SecureChannelOpcode.pasePake3, try initiator.pake3(pake2: Array(payload)))
                        exchange.expectAnswer()
                    case SecureChannelOpcode.statusReport:
                        guard let report = StatusReport(payload) else { throw Failure.malformed("a status report that is too short") }
                        if report.general == .success { return finish(.success(())) }
                        if report.general == .busy { throw Failure.busy }
                        // A verifier that cannot confirm the proof says "invalid parameter" (Matter Core, 4.14.1.5).
                        throw report.code == StatusReport.SecureChannelCode.invalidParameter
                            ? Failure.wrongPasscode : Failure.refused(report)
                    default: throw Failure.malformed("opcode \(opcode)")
                    }
                } catch let error as CredentialsError where error.code == .wrongConfirmation {
                    let report = StatusReport(.failure, code: StatusReport.SecureChannelCode.invalidParameter)
                    exchange.send(SecureChannelOpcode.statusReport, report.payload)
                    finish(.failure(Failure.wrongPasscode))
                } catch let error as CredentialsError {
                    finish(.failure(Failure.malformed(error.message)))
                } catch {
                    finish(.failure(error))
                }
            }
            exchange.send(SecureChannelOpcode.pbkdfParamRequest, initiator.request)
            exchange.expectAnswer()
        }
    }
}
