/// What both sides of a pairing must agree on besides the passcode: a hash in SPAKE2+'s transcript.
public enum PairingContext {
    /// Hearth's own pairing over TLS: with the exporter's value in the hash, a machine in the middle, which has two TLS connections with
    /// two values, can relay nothing. The prefix keeps the proof apart from Matter's own.
    /// - Parameters:
    ///   - request: the bytes of PBKDFParamRequest as they were sent.
    ///   - response: the bytes of PBKDFParamResponse as they were sent.
    ///   - exporter: 32 bytes of the connection's exporter.
    public static func hearth(request: [UInt8], response: [UInt8], exporter: [UInt8]) -> [UInt8] {
        Crypto.sha256(Array("Hearth PAKE v1 Pairing over TLS".utf8) + request + response + exporter)
    }

    /// Matter's own pairing over UDP (Matter Core, 3.10.3).
    public static func matter(request: [UInt8], response: [UInt8]) -> [UInt8] {
        Crypto.sha256(Array("CHIP PAKE V1 Commissioning".utf8) + request + response)
    }
}

/// The side that knows the passcode, message by message. Used once; the caller carries the messages.
public final class PairingInitiator {
    private enum Phase {
        case started
        case sentPake1(Spake2Plus.Prover, context: [UInt8])
        case done
    }

    /// The bytes of PBKDFParamRequest to send first.
    public let request: [UInt8]
    private let random: [UInt8]
    private let passcode: Passcode
    private let exporter: [UInt8]
    private var phase = Phase.started

    /// - Parameter exporter: 32 bytes of the connection's exporter.
    public init(passcode: Passcode, exporter: [UInt8]) {
        let request = PBKDFParamRequest()
        (self.passcode, self.exporter, self.request, random) = (passcode, exporter, request.tlv, request.initiatorRandom)
    }

    /// Takes PBKDFParamResponse, gives Pake1. Costs the PBKDF2 rounds: 0.9 ms per 1,000.
    public func pake1(response bytes: [UInt8]) throws(CredentialsError) -> [UInt8] {
        guard case .started = phase else { throw CredentialsError(.malformed, "a second PBKDFParamResponse in one pairing") }
        phase = .done
        let response = try PBKDFParamResponse(tlv: bytes)
        guard Crypto.equal(response.initiatorRandom, random) else {
            throw CredentialsError(.malformed, "PBKDFParamResponse answers another request")
        }
        guard let parameters = response.parameters else {
            throw CredentialsError(.malformed, "PBKDFParamResponse has no parameters")
        }
        let prover = try Spake2Plus.Prover(passcode: passcode.value, salt: parameters.salt, iterations: parameters.iterations)
        phase = .sentPake1(prover, context: PairingContext.hearth(request: request, response: bytes, exporter: exporter))
        return PakeMessage.pake1(pA: prover.pA)
    }

    /// Takes Pake2, gives Pake3.
    /// - Throws: `wrongConfirmation` when the other side does not know the passcode, or the connection is not the same for both.
    public func pake3(pake2 bytes: [UInt8]) throws(CredentialsError) -> [UInt8] {
        guard case .sentPake1(let prover, let context) = phase else {
            throw CredentialsError(.malformed, "Pake2 came out of turn")
        }
        phase = .done
        let (pB, cB) = try PakeMessage.pBcB(pake2: bytes)
        return PakeMessage.pake3(cA: try prover.finish(pB: pB, cB: cB, context: context).cA)
    }
}

/// The side that waits to be paired, message by message. Used once; the caller carries the messages and counts the attempts.
public final class PairingResponder {
    private enum Phase {
        case waiting
        case sentParameters(context: [UInt8])
        case sentPake2(cA: [UInt8])
        case done
    }

    private let verifier: Spake2Plus.Verifier
    private let parameters: PBKDFParameters
    private let exporter: [UInt8]
    private var phase = Phase.waiting

    /// - Parameter exporter: 32 bytes of the connection's exporter.
    public init(verifier: Spake2Plus.Verifier, parameters: PBKDFParameters, exporter: [UInt8]) {
        (self.verifier, self.parameters, self.exporter) = (verifier, parameters, exporter)
    }

    /// Takes PBKDFParamRequest, gives PBKDFParamResponse.
    public func response(request bytes: [UInt8]) throws(CredentialsError) -> [UInt8] {
        guard case .waiting = phase else { throw CredentialsError(.malformed, "a second PBKDFParamRequest in one pairing") }
        phase = .done
        let request = try PBKDFParamRequest(tlv: bytes)
        guard request.passcodeID == 0 else {
            throw CredentialsError(.unsupported, "PBKDFParamRequest asks for passcode \(request.passcodeID), and there is only 0")
        }
        let response = PBKDFParamResponse(
            initiatorRandom: request.initiatorRandom, parameters: request.hasParameters ? nil : parameters
        ).tlv
        phase = .sentParameters(context: PairingContext.hearth(request: bytes, response: response, exporter: exporter))
        return response
    }

    /// Takes Pake1, gives Pake2. From here on the attempt counts: the other side can check one guess of the passcode.
    public func pake2(pake1 bytes: [UInt8]) throws(CredentialsError) -> [UInt8] {
        guard case .sentParameters(let context) = phase else { throw CredentialsError(.malformed, "Pake1 came out of turn") }
        phase = .done
        let (pB, keys) = try verifier.respond(to: try PakeMessage.pA(pake1: bytes), context: context)
        phase = .sentPake2(cA: keys.cA)
        return PakeMessage.pake2(pB: pB, cB: keys.cB)
    }

    /// Takes Pake3. Returns when the other side has proven the passcode.
    /// - Throws: `wrongConfirmation` when it has not.
    public func finish(pake3 bytes: [UInt8]) throws(CredentialsError) {
        guard case .sentPake2(let expected) = phase else { throw CredentialsError(.malformed, "Pake3 came out of turn") }
        phase = .done
        guard Crypto.equal(try PakeMessage.cA(pake3: bytes), expected) else {
            throw CredentialsError(.wrongConfirmation, "the other side does not know the passcode, or somebody is in the middle")
        }
    }
}
