import MatterModel
import MatterTLV
import Testing

@testable import MatterCredentials

/// Bytes that somebody hostile may send: nothing traps, and what is accepted means what it says.
@Suite struct HostileInputTests {
    /// SplitMix64: the same bytes in every run.
    struct Stream: RandomNumberGenerator {
        var state: UInt64
        mutating func next() -> UInt64 {
            state &+= 0x9E37_79B9_7F4A_7C15
            var z = state
            z = (z ^ (z >> 30)) &* 0xBF58_476D_1CE4_E5B9
            z = (z ^ (z >> 27)) &* 0x94D0_49BB_1331_11EB
            return z ^ (z >> 31)
        }
    }

    /// Gives `body` the input with each byte changed, each beginning of it, each byte left out or doubled
    /// (of every `step` bytes one, where reading is slow), and random bytes.
    static func attack(_ input: [UInt8], seed: UInt64 = 1, every step: Int = 1, _ body: ([UInt8]) -> Void) {
        var stream = Stream(state: seed)
        for i in stride(from: 0, to: input.count, by: step) {
            for mask in [0x01, 0x20, 0x80, 0xFF, UInt8.random(in: 1...255, using: &stream)] {
                var bytes = input
                bytes[i] ^= mask
                body(bytes)
            }
            body(Array(input[..<i]))
            body(Array(input[..<i] + input[(i + 1)...]))
            body(Array(input[...i] + input[i...]))
        }
        body(input + [0])
        for round in 0..<300 {
            var bytes = (0..<Int.random(in: 0..<200, using: &stream)).map { _ in UInt8.random(in: 0...255, using: &stream) }
            // Half of them begin as the real ones do, so as to get further.
            if round % 2 == 0 { bytes = input.prefix(Int.random(in: 0...input.count, using: &stream)) + bytes }
            body(bytes)
        }
    }

    static func chain() throws -> [MatterCertificate] {
        let authority = try FabricAuthority(fabricID: 0xFAB1, withIntermediate: true, notBefore: MatterTime(seconds: 800_000_000))
        let node = try authority.issueNode(
            0x1234, publicKey: PrivateKey.generate().publicKey, notBefore: MatterTime(seconds: 800_000_000), notAfter: .never,
            extra: [
                .init(.nocCAT, .identifier(0x0001_0002)), .init(.commonName, .printable("A lamp")),
                .init(.domainComponent, .ia5("x")),
            ])
        return [node, try #require(authority.intermediate), authority.root]
    }

    /// Whatever is read from X.509 is written back the same, bit for bit, and survives the compact form.
    @Test func certificatesInX509() throws {
        for certificate in try Self.chain() {
            var accepted = 0
            Self.attack(certificate.x509) { bytes in
                guard let read = try? MatterCertificate(x509: bytes) else { return }
                accepted += 1
                #expect(read.x509 == bytes)
                #expect((try? MatterCertificate(tlv: read.tlv)) == read)
                _ = try? CertificateChain.validateRoot(read, at: 0)
            }
            #expect(accepted > 100, "changed signatures and ids are still certificates")
        }
    }

    /// Whatever is read from the compact form can be sent as X.509 and is the same certificate when it comes back.
    @Test func certificatesInTLV() throws {
        for certificate in try Self.chain() {
            var accepted = 0
            Self.attack(certificate.tlv) { bytes in
                guard let read = try? MatterCertificate(tlv: bytes) else { return }
                accepted += 1
                #expect((try? MatterCertificate(tlv: read.tlv)) == read)
                #expect((try? MatterCertificate(x509: read.x509)) == read)
                _ = try? CertificateChain.validateRoot(read, at: 0)
            }
            #expect(accepted > 100)
        }
    }

    /// A request that was changed anywhere is refused: its own signature covers all of it.
    @Test func signingRequests() throws {
        let good = try CertificateSigningRequest(for: .generate()).der
        Self.attack(good) { bytes in
            if bytes != good { #expect((try? CertificateSigningRequest(der: bytes)) == nil) }
        }
        let elements = NOCSRElements(csr: good, csrNonce: Crypto.random(32), vendorReserved: [4: [1]])
        Self.attack(elements.tlv) { bytes in
            guard let read = try? NOCSRElements(tlv: bytes) else { return }
            #expect((try? NOCSRElements(tlv: read.tlv)) == read)
        }
    }

    /// A changed envelope is refused, or its signature is wrong, or it still says exactly what was signed.
    @Test func declarations() throws {
        let trust = try DevelopmentAttestation.trust()
        let good = try SignedDeclaration(der: DevelopmentCertificates.declaration)
        Self.attack(good.der) { bytes in
            guard let read = try? trust.verifyDeclaration(bytes) else { return }
            #expect(read == good.declaration)
        }
        Self.attack(good.content) { bytes in
            guard let read = try? CertificationDeclaration(tlv: bytes) else { return }
            #expect((try? CertificationDeclaration(tlv: read.tlv)) == read)
        }
        Self.attack(AttestationElements(certificationDeclaration: good.der, attestationNonce: Crypto.random(32)).tlv) {
            bytes in
            guard let read = try? AttestationElements(tlv: bytes) else { return }
            #expect((try? AttestationElements(tlv: read.tlv)) == read)
        }
    }

    /// A device certificate or intermediate that was changed anywhere attests nothing.
    @Test func attestationCertificates() throws {
        let trust = try DevelopmentAttestation.trust()
        let dac = try AttestationCertificate(der: DevelopmentCertificates.dac)
        let pai = try AttestationCertificate(der: DevelopmentCertificates.pai)
        #expect(throws: Never.self) { try trust.verifyChain(device: dac, intermediate: pai) }
        Self.attack(dac.der) { bytes in
            guard bytes != dac.der, let read = try? AttestationCertificate(der: bytes) else { return }
            #expect(throws: CredentialsError.self) { try trust.verifyChain(device: read, intermediate: pai) }
        }
        Self.attack(pai.der) { bytes in
            guard bytes != pai.der, let read = try? AttestationCertificate(der: bytes) else { return }
            #expect(throws: CredentialsError.self) { try trust.verifyChain(device: dac, intermediate: read) }
        }
    }

    @Test func pairingMessages() throws {
        let parameters = try PBKDFParameters.random()
        let request = PBKDFParamRequest(sessionParameters: .structure([.init(1, .unsigned(500))]))
        let response = PBKDFParamResponse(initiatorRandom: request.initiatorRandom, parameters: parameters)
        Self.attack(request.tlv) { bytes in
            guard let read = try? PBKDFParamRequest(tlv: bytes) else { return }
            #expect((try? PBKDFParamRequest(tlv: read.tlv)) == read)
        }
        Self.attack(response.tlv) { bytes in
            guard let read = try? PBKDFParamResponse(tlv: bytes), let parameters = read.parameters else { return }
            #expect(PBKDFParameters.iterationRange.contains(parameters.iterations))
            #expect(PBKDFParameters.saltLengthRange.contains(parameters.salt.count))
            #expect((try? PBKDFParamResponse(tlv: read.tlv)) == read)
        }
        let verifier = try Spake2Plus.Verifier(passcode: .random(), parameters: parameters)
        let prover = try Spake2Plus.Prover(passcode: 1, salt: parameters.salt, iterations: 1000)
        var answered = 0
        Self.attack(PakeMessage.pake1(pA: prover.pA)) { bytes in
            guard let pA = try? PakeMessage.pA(pake1: bytes), (try? verifier.respond(to: pA, context: [])) != nil else { return }
            answered += 1
        }
        // Only points of the curve are answered: none of the changed ones but what the codec takes for the same message.
        #expect(answered < 30)
    }

    @Test func storedKeys() throws {
        let authority = try FabricAuthority(fabricID: 1, withIntermediate: true, notBefore: MatterTime(seconds: 1))
        Self.attack(try authority.serialized, every: 11) { _ = try? FabricAuthority(serialized: $0) }
        let credentials = try DevelopmentAttestation.credentials(vendorID: 0xFFF1, productID: 0x8000)
        Self.attack(try credentials.serialized, every: 11) { _ = try? DeviceAttestation(serialized: $0) }
        Self.attack(try PrivateKey.generate().der) { _ = try? PrivateKey(der: $0) }
    }

    /// Each character of a code replaced by every other of its alphabet and some of none.
    @Test func setupCodes() throws {
        let payload = SetupPayload(
            vendorID: 0xFFF1, productID: 0x8001, flow: .custom, discriminator: .long(3840), passcode: try Passcode(20_202_021),
            additionalData: .structure([.init(0, .utf8("SN1"))]))
        let characters = Array("0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ-.*:$ aé٣😀\u{0}\n")
        for text in [payload.qrCode, payload.manualCode, "34970112332"] {
            for i in 0..<text.count {
                for character in characters {
                    var changed = Array(text)
                    changed[i] = character
                    Self.expectSound(String(changed))
                }
                Self.expectSound(String(text.prefix(i)))
                Self.expectSound(String(text.dropFirst(i)))
            }
        }
        var stream = Stream(state: 3)
        for round in 0..<2000 {
            let length = Int.random(in: 0..<40, using: &stream)
            let alphabet = round % 2 == 0 ? characters.prefix(38) : characters.prefix(10)
            let text = String((0..<length).compactMap { _ in alphabet.randomElement(using: &stream) })
            Self.expectSound("MT:" + text)
            Self.expectSound(text)
        }
    }

    /// Refused, or read as a payload with a legal passcode that is written back with the same meaning.
    static func expectSound(_ text: String) {
        guard let read = try? SetupPayload(text) else { return }
        #expect(Passcode.range.contains(read.passcode.value) && !Passcode.forbidden.contains(read.passcode.value))
        if text.uppercased().drop(while: \.isWhitespace).hasPrefix("MT:") {
            #expect((try? SetupPayload(read.qrCode)) == read)
        } else {
            #expect(read.manualCode == text.filter(\.isNumber), "\(text)")
        }
    }
}
