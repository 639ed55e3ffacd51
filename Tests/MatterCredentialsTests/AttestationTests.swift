import COpenSSL
import MatterModel
import MatterTLV
import Testing

@testable import MatterCredentials

@Suite struct AttestationTests {
    let trust: AttestationTrust
    let challenge = Crypto.random(16)
    let nonce = Crypto.random(32)

    init() throws { trust = try DevelopmentAttestation.trust() }

    private func verify(
        _ credentials: DeviceAttestation, vendor: VendorID = 0xFFF1, product: UInt16 = 0x8000, challenge: [UInt8]? = nil,
        nonce: [UInt8]? = nil, pai: [UInt8]? = nil, trust: AttestationTrust? = nil
    ) throws(CredentialsError) -> AttestationTrust.Verdict {
        let (elements, signature) = try credentials.attest(nonce: self.nonce, challenge: self.challenge)
        return try (trust ?? self.trust).verify(
            dac: credentials.dac, pai: pai ?? credentials.pai, elements: elements, signature: signature,
            challenge: challenge ?? self.challenge, nonce: nonce ?? self.nonce, vendorID: vendor, productID: product)
    }

    private func code(_ body: () throws(CredentialsError) -> Void) -> CredentialsError.Code? {
        do throws(CredentialsError) {
            try body()
            return nil
        } catch { return error.code }
    }

    @Test(arguments: [(0xFFF1, 0x8000), (0xFFF1, 0x8001), (0xFFF4, 0x1234)] as [(UInt16, UInt16)])
    func developmentDevicesAreAttested(vendor: UInt16, product: UInt16) throws {
        let made = try DevelopmentAttestation.credentials(vendorID: VendorID(vendor), productID: product)
        let credentials = try DeviceAttestation(serialized: made.serialized)
        let verdict = try verify(credentials, vendor: VendorID(vendor), product: product)
        #expect(verdict.vendorID == VendorID(vendor) && verdict.productID == product)
        #expect(verdict.declaration.kind == .developmentAndTest)

        let operational = try PrivateKey.generate()
        let (elements, signature) = try credentials.request(for: operational, nonce: nonce, challenge: challenge)
        let request = try NOCSRElements.verify(
            elements, signature: signature, challenge: challenge, nonce: nonce, key: verdict.deviceKey)
        #expect(request.publicKey == operational.publicKey)
        for (challenge, nonce) in [(Crypto.random(16), nonce), (challenge, Crypto.random(32))] {
            #expect(throws: CredentialsError.self) {
                try NOCSRElements.verify(
                    elements, signature: signature, challenge: challenge, nonce: nonce, key: verdict.deviceKey)
            }
        }
        #expect(throws: CredentialsError.self) {
            try NOCSRElements.verify(
                elements, signature: signature, challenge: challenge, nonce: nonce, key: PublicKey(point: operational.publicKey))
        }
    }

    @Test func whatDoesNotHoldIsNamed() throws {
        let ready = try DevelopmentAttestation.credentials(vendorID: 0xFFF1, productID: 0x8000)
        let other = try DevelopmentAttestation.credentials(vendorID: 0xFFF1, productID: 0x8001)
        let foreign = try DevelopmentAttestation.credentials(vendorID: 0xFFF2, productID: 0x8001)
        #expect(code { () throws(CredentialsError) in _ = try verify(ready) } == nil)
        #expect(code { () throws(CredentialsError) in _ = try verify(ready, challenge: Crypto.random(16)) } == .invalidSignature)
        #expect(code { () throws(CredentialsError) in _ = try verify(ready, nonce: Crypto.random(32)) } == .invalidAttestation)
        #expect(code { () throws(CredentialsError) in _ = try verify(ready, product: 0x8001) } == .invalidAttestation)
        #expect(code { () throws(CredentialsError) in _ = try verify(ready, vendor: 0xFFF2) } == .invalidAttestation)
        #expect(code { () throws(CredentialsError) in _ = try verify(ready, pai: other.pai) } == .invalidChain)
        #expect(code { () throws(CredentialsError) in _ = try verify(ready, pai: foreign.pai) } == .invalidChain)
        let noAuthority = AttestationTrust(authorities: [], declarationKeys: trust.declarationKeys)
        #expect(code { () throws(CredentialsError) in _ = try verify(ready, trust: noAuthority) } == .invalidAttestation)
        let noKey = AttestationTrust(authorities: trust.authorities, declarationKeys: [])
        #expect(code { () throws(CredentialsError) in _ = try verify(ready, trust: noKey) } == .invalidAttestation)
        // Another product's declaration in this device's answer.
        let key = try PrivateKey(scalar: DevelopmentCertificates.dacKey)
        let swapped = try DeviceAttestation(
            dac: ready.dac, pai: ready.pai, certificationDeclaration: other.certificationDeclaration, key: key)
        #expect(code { () throws(CredentialsError) in _ = try verify(swapped, product: 0x8001) } == .invalidAttestation)
        // A declaration that names other authorities, or an origin that is not the certificate's.
        let signer = try PrivateKey(scalar: DevelopmentCertificates.declarationKey)
        for change: (inout CertificationDeclaration) -> Void in [
            { $0.authorizedPAAs = [[UInt8](repeating: 1, count: 20)] },
            { $0.dacOrigin = .init(vendorID: 0xFFF1, productID: 0x8005) },
        ] {
            var declaration = CertificationDeclaration(vendorID: 0xFFF1, productIDs: [0x8000], deviceTypeID: 0x16)
            change(&declaration)
            let odd = try DeviceAttestation(
                dac: ready.dac, pai: ready.pai, certificationDeclaration: SignedDeclaration(declaration, by: signer).der, key: key
            )
            #expect(code { () throws(CredentialsError) in _ = try verify(odd) } == .invalidAttestation)
        }
        #expect(throws: CredentialsError.self) { try DevelopmentAttestation.credentials(vendorID: 0x1234, productID: 1) }
        #expect(throws: CredentialsError.self) {
            try DeviceAttestation(dac: ready.dac, pai: ready.pai, certificationDeclaration: [], key: .generate())
        }
    }

    /// Matter Core, appendix F.1: both example declarations with their envelopes, and the test key's name.
    @Test func declarationsMatchTheSpecification() throws {
        let first = try SignedDeclaration(der: hex(Self.firstDeclaration))
        #expect(
            first.declaration
                == CertificationDeclaration(
                    vendorID: 0xFFF1, productIDs: [0x8000], deviceTypeID: 0x1234, certificateID: "ZIG20141ZB330001-24",
                    versionNumber: 0x2694))
        let second = try SignedDeclaration(der: hex(Self.secondDeclaration))
        #expect(
            second.declaration
                == CertificationDeclaration(
                    vendorID: 0xFFF2, productIDs: [0x8001, 0x8002], deviceTypeID: 0x1234, certificateID: "ZIG20142ZB330002-24",
                    versionNumber: 0x2694, dacOrigin: .init(vendorID: 0xFFF1, productID: 0x8000),
                    authorizedPAAs: [hex("785ce705b86b8f4e6fc793aa60cb43ea696882d5")]))
        for (signed, bytes) in [(first, Self.firstDeclaration), (second, Self.secondDeclaration)] {
            #expect(signed.der == hex(bytes) && signed.declaration.tlv == signed.content)
            #expect(signed.signerKeyID == hex("62fa823359acfaa9963e1cfa140addf504f37160"))
            #expect(try trust.verifyDeclaration(signed.der) == signed.declaration)
        }
    }

    /// Matter Core, appendix F.2: the elements with a maker's own tags, the signature over them and the challenge.
    @Test func attestationElementsMatchTheSpecification() throws {
        let elements =
            hex("1531011101") + hex(Self.secondDeclaration)
            + hex(
                "300220e0421b91c6fdcdb40e2a4d2cf31db2b4e18b411b1d3ad4d12a9d90aa8e52fae22603fdc65b28"
                    + "d0f1ff3e0001001773616d706c655f76656e646f725f726573657276656431"
                    + "d0f1ff3e0003001876656e646f725f7265736572766564335f6578616d706c6518")
        let read = try AttestationElements(tlv: elements)
        #expect(read.timestamp == 677_103_357 && read.firmwareInformation == nil)
        #expect(read.certificationDeclaration == hex(Self.secondDeclaration))
        #expect(read.attestationNonce == hex("e0421b91c6fdcdb40e2a4d2cf31db2b4e18b411b1d3ad4d12a9d90aa8e52fae2"))
        let challenge = hex("7a495305d07779a494dd39a0851b660d")
        #expect(Crypto.sha256(elements + challenge) == hex("1df105b13084c3cc13199edf07b8769ebe2e260d848f27a6cab66dd9a58ceab1"))
        let key = try PrivateKey(scalar: hex("38f3e0a1f145ba1bf3e44b552def65273d1d8e276aa314ac742eb128933ba64b"))
        let signature = hex(
            "7982535d24cfe14a71ab0424cf0bacf1e345487ed50f1ac0bc259eccfb39081ed7a752188d9f76f9063703eb240f9cd14b0a43e741fe60ef2a81635aea5b484d"
        )
        #expect(try PublicKey(point: key.publicKey).isValid(signature: signature, of: elements + challenge))
        let own = AttestationElements(
            certificationDeclaration: [1], attestationNonce: nonce, timestamp: 5, firmwareInformation: [2])
        #expect(try AttestationElements(tlv: own.tlv) == own)
    }

    /// Matter Core, appendix F.3: the request is read, and ours is the same up to the signature.
    @Test func signingRequestMatchesTheSpecification() throws {
        let elements = try NOCSRElements(tlv: hex(Self.signingElements))
        #expect(elements.tlv == hex(Self.signingElements))
        #expect(elements.csrNonce == hex("814a4d4c1c4a8ebbeadb0ae282f991eb13ac5f9fce94309319aa94096c8cd4b8"))
        #expect(elements.vendorReserved[3] == Array("sample_vendor_reserved1".utf8) && elements.vendorReserved[4] == nil)
        let request = try CertificateSigningRequest(der: elements.csr)
        let key = try PrivateKey(scalar: hex("1c1882e87f80d81a259a62b6ea02db0817e2106846842beb3aabc25386a91e89"))
        #expect(request.publicKey == key.publicKey)
        let own = try CertificateSigningRequest(for: key)
        let info = CertificateSigningRequest.info(publicKey: key.publicKey)
        #expect(elements.csr[3..<(3 + info.count)].elementsEqual(info) && own.der[3..<(3 + info.count)].elementsEqual(info))
        #expect(try CertificateSigningRequest(der: own.der) == own)
    }

    /// OpenSSL's own reader accepts what ours writes: requests, attestation certificates.
    @Test func openSSLAgrees() throws {
        let der = try CertificateSigningRequest(for: .generate()).der
        let request = try #require(
            der.withUnsafeBufferPointer { buffer -> OpaquePointer? in
                var pointer = buffer.baseAddress
                return d2i_X509_REQ(nil, &pointer, buffer.count)
            })
        defer { X509_REQ_free(request) }
        #expect(X509_REQ_verify(request, X509_REQ_get0_pubkey(request)) == 1)
        let credentials = try DevelopmentAttestation.credentials(vendorID: 0xFFF3, productID: 0xABCD)
        for certificate in [credentials.dac, credentials.pai, DevelopmentCertificates.ownPAA, DevelopmentCertificates.paa] {
            _ = try X509Handle(der: certificate)
        }
    }

    @Test func vendorAndProductAreReadFromEitherForm() throws {
        let key = try PrivateKey.generate()
        func read(_ common: String, _ vendor: VendorID? = nil, _ product: UInt16? = nil) throws -> AttestationCertificate {
            try .signed(
                subject: AttestationCertificate.name(common, vendor, product), publicKey: key.publicKey, pathLength: nil,
                issuer: AttestationCertificate.name("Issuer", nil, nil), by: key, notBefore: MatterTime(seconds: 1))
        }
        let plain = try read("A device", 0xFFF1, 0x00B1)
        #expect(plain.vendorID == 0xFFF1 && plain.productID == 0x00B1)
        let fallback = try read("ACME Mpid:00B1 Mvid:FFF1")
        #expect(fallback.vendorID == 0xFFF1 && fallback.productID == 0x00B1)
        for text in ["Mvid:FFF", "Mvid:fff1", "Mvid: FFF1", "Mvid", ""] { #expect(try read(text).vendorID == nil) }
        #expect(try read("Mvid:FFF2 Mpid:0001", 0xFFF1).productID == nil, "one form or the other")
    }

    static let firstDeclaration =
        "3081e806092a864886f70d010702a081da3081d7020103310d300b0609608648016503040201304506092a864886f70d010701a0380436"
        + "152400012501f1ff36020500801825033412" + "2c04135a494732303134315a423333303030312d3234240500240600250794262408001831"
        + "7c307a020103801462fa823359acfaa9963e1cfa140addf504f37160300b0609608648016503040201300a06082a8648ce3d040302"
        + "04463044022043a63f2b943df33c38b3e02fcaa75fe3532aebbf5e63f5bbdbc0b1f01d3c4f60"
        + "02204c1abf5f1807b81894b1576c47e4724e4d966c612ed3fa25c118c3f2b3f90369"
    static let secondDeclaration =
        "3082010d06092a864886f70d010702a081ff3081fc020103310d300b0609608648016503040201306906092a864886f70d010701a05c045a"
        + "152400012501f2ff3602050180050280182503341"
        + "22c04135a494732303134325a423333303030322d3234240500240600250794262408002509f1ff250a0080360b1014"
        + "785ce705b86b8f4e6fc793aa60cb43ea696882d51818317d307b020103801462fa823359acfaa9963e1cfa140addf504f37160"
        + "300b0609608648016503040201300a06082a8648ce3d0403020447304502204ae9c9b7f8aa68610add84e41291fc8f4dc533fca29dc1fff2253c09cd32f775"
        + "0221009c0a5fdef9e008d1cc8bb7c3959cdb65c46125cb7295081e47b5c131e4d1f48c"
    static let signingElements =
        "153001dd3081da308181020100300e310c300a060355040a0c034353413059301306072a8648ce3d020106082a8648ce3d03010703420004"
        + "5ca279e36682c2d46ce7d4cf8967846708b5b9f85b9cdafd8ca8852612cb0f0c7a71314ec8dc9c9634ddeefee9f63f0e8bd7dacfc3b6a4532aadd89a9651cd6e"
        + "a011300f06092a864886f70d01090e31023000300a06082a8648ce3d0403020348003045"
        + "02200e675ee1b3bbfe152a174af535e22d55ce10c150cac01b3118de05e8fd9f1048"
        + "022100d88c57cc6e74f0e5488a26167a07fd6dbef1aaad721c580b6eae21be5e6d0c72"
        + "300220814a4d4c1c4a8ebbeadb0ae282f991eb13ac5f9fce94309319aa94096c8cd4b8"
        + "30031773616d706c655f76656e646f725f7265736572766564313005187665"
        + "6e646f725f7265736572766564335f6578616d706c6518"
}
