import MatterTLV
import Testing

@testable import MatterCredentials

@Suite struct PairingTests {
    let parameters: PBKDFParameters
    let passcode: Passcode
    let verifier: Spake2Plus.Verifier
    let exporter = [UInt8](repeating: 0xE5, count: 32)

    init() throws {
        parameters = try .random()
        passcode = .random()
        verifier = try Spake2Plus.Verifier(passcode: passcode, parameters: parameters)
    }

    @Test func bothSidesAgree() throws {
        let initiator = PairingInitiator(passcode: passcode, exporter: exporter)
        let stored = try Spake2Plus.Verifier(serialized: verifier.serialized)
        #expect(stored == verifier && stored.serialized.count == 97)
        let responder = PairingResponder(verifier: stored, parameters: parameters, exporter: exporter)
        let pake1 = try initiator.pake1(response: responder.response(request: initiator.request))
        let pake3 = try initiator.pake3(pake2: responder.pake2(pake1: pake1))
        try responder.finish(pake3: pake3)
        #expect(throws: CredentialsError.self) { try responder.finish(pake3: pake3) }
        #expect(throws: CredentialsError.self) { try responder.response(request: initiator.request) }
    }

    /// The wrong passcode, and the right one relayed between two connections: the initiator notices, and so does the responder.
    @Test(arguments: [false, true]) func aWrongPasscodeAndARelayAreNoticed(relayed: Bool) throws {
        let initiator = PairingInitiator(
            passcode: relayed ? passcode : .random(), exporter: relayed ? [UInt8](repeating: 1, count: 32) : exporter)
        let responder = PairingResponder(verifier: verifier, parameters: parameters, exporter: exporter)
        let pake2 = try responder.pake2(pake1: initiator.pake1(response: responder.response(request: initiator.request)))
        do {
            _ = try initiator.pake3(pake2: pake2)
            Issue.record("the initiator took a wrong confirmation")
        } catch { #expect(error.code == .wrongConfirmation) }
        do {
            try responder.finish(pake3: PakeMessage.pake3(cA: [UInt8](repeating: 0, count: 32)))
            Issue.record("the responder took a wrong confirmation")
        } catch { #expect(error.code == .wrongConfirmation) }
    }

    /// The initiator enforces the bounds too.
    @Test(arguments: [(999, 32), (100_001, 32), (1000, 15), (1000, 33), (Int.max, 32), (0, 0)])
    func parametersOutsideTheBoundsAreRefused(iterations: Int, salt: Int) throws {
        #expect(throws: CredentialsError.self) {
            try PBKDFParameters(iterations: iterations, salt: [UInt8](repeating: 1, count: salt))
        }
        let initiator = PairingInitiator(passcode: passcode, exporter: exporter)
        let request = try PBKDFParamRequest(tlv: initiator.request)
        let response = TLVValue.structure([
            .init(1, .octets(request.initiatorRandom)), .init(2, .octets(Crypto.random(32))), .init(3, .unsigned(0)),
            .init(
                4, .structure([.init(1, .unsigned(UInt64(iterations))), .init(2, .octets([UInt8](repeating: 1, count: salt)))])),
        ])
        do {
            _ = try initiator.pake1(response: response.encoded())
            Issue.record("the initiator took parameters outside the bounds")
        } catch { #expect(error.code == .outOfRange) }
    }

    @Test func onlyTheSetupCodesPasscodeCanBeAskedFor() throws {
        let responder = PairingResponder(verifier: verifier, parameters: parameters, exporter: exporter)
        #expect(throws: CredentialsError.self) { try responder.response(request: PBKDFParamRequest(passcodeID: 1).tlv) }
    }

    /// Matter's own parameters may be known beforehand; then the answer leaves them out.
    @Test func knownParametersAreLeftOut() throws {
        let responder = PairingResponder(verifier: verifier, parameters: parameters, exporter: exporter)
        let response = try PBKDFParamResponse(tlv: responder.response(request: PBKDFParamRequest(hasParameters: true).tlv))
        #expect(response.parameters == nil)
    }

    @Test func anAnswerToAnotherRequestIsRefused() throws {
        let initiator = PairingInitiator(passcode: passcode, exporter: exporter)
        let response = PBKDFParamResponse(initiatorRandom: Crypto.random(32), parameters: parameters)
        #expect(throws: CredentialsError.self) { try initiator.pake1(response: response.tlv) }
    }

    @Test func messagesRoundTripAndRefuseDamage() throws {
        let sessionParameters = TLVValue.structure([.init(1, .unsigned(500))])
        let request = PBKDFParamRequest(initiatorSessionID: 7, hasParameters: true, sessionParameters: sessionParameters)
        #expect(try PBKDFParamRequest(tlv: request.tlv) == request)
        let response = PBKDFParamResponse(
            initiatorRandom: request.initiatorRandom, responderSessionID: 9, parameters: parameters,
            sessionParameters: sessionParameters)
        #expect(try PBKDFParamResponse(tlv: response.tlv) == response)
        let bare = PBKDFParamResponse(initiatorRandom: request.initiatorRandom, parameters: nil)
        #expect(try PBKDFParamResponse(tlv: bare.tlv) == bare)
        for count in 0..<response.tlv.count {
            #expect(throws: CredentialsError.self) { try PBKDFParamResponse(tlv: Array(response.tlv[..<count])) }
        }
        let short = PakeMessage.pake2(pB: [4], cB: [1])
        #expect(throws: CredentialsError.self) { try PakeMessage.pBcB(pake2: short) }
        #expect(throws: CredentialsError.self) { try PakeMessage.cA(pake3: PakeMessage.pake3(cA: [])) }
        #expect(throws: CredentialsError.self) { try PakeMessage.pA(pake1: []) }
    }

    @Test func badVerifiersAreRefused() throws {
        var wrong = verifier.serialized
        wrong[96] ^= 1
        let zero = [UInt8](repeating: 0, count: 32) + verifier.l
        let high = [UInt8](repeating: 0xFF, count: 32) + verifier.l
        for bad in [[], Array(verifier.serialized.dropLast()), verifier.serialized + [0], wrong, zero, high] {
            #expect(throws: CredentialsError.self) { try Spake2Plus.Verifier(serialized: bad) }
        }
        #expect("\(verifier)" == "passcode verifier (hidden)")
    }

    @Test func theContextsDiffer() {
        let (a, b) = (
            PairingContext.hearth(request: [1], response: [2], exporter: exporter),
            PairingContext.matter(request: [1], response: [2])
        )
        #expect(a != b && a != PairingContext.hearth(request: [1], response: [2], exporter: [UInt8](repeating: 0, count: 32)))
    }
}
