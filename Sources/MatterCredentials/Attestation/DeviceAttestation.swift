import MatterModel
import MatterTLV

/// What a device proves its origin with: certificates, key, declaration (Matter Core, 6.2).
public struct DeviceAttestation: Sendable {
    /// The device's certificate (DAC), X.509 DER.
    public let dac: [UInt8]
    /// Its issuer's (PAI), X.509 DER.
    public let pai: [UInt8]
    /// The signed certification declaration.
    public let certificationDeclaration: [UInt8]
    private let key: PrivateKey

    /// - Throws: `malformed` unless the key is the certificate's.
    public init(dac: [UInt8], pai: [UInt8], certificationDeclaration: [UInt8], key: PrivateKey) throws(CredentialsError) {
        guard try AttestationCertificate(der: dac).publicKey == key.publicKey else {
            throw CredentialsError(.malformed, "the attestation key is not the attestation certificate's")
        }
        (self.dac, self.pai, self.certificationDeclaration, self.key) = (dac, pai, certificationDeclaration, key)
    }

    /// Answers AttestationRequest: the elements and the signature over elements and challenge (r and s, 64 bytes).
    public func attest(
        nonce: [UInt8], challenge: [UInt8], timestamp: UInt32 = 0
    ) throws(CredentialsError) -> (elements: [UInt8], signature: [UInt8]) {
        let elements = AttestationElements(
            certificationDeclaration: certificationDeclaration, attestationNonce: nonce, timestamp: timestamp
        ).tlv
        return (elements, try key.sign(elements + challenge))
    }

    /// Answers CSRRequest for a fresh operational key: the elements and the signature (r and s, 64 bytes).
    public func request(
        for operationalKey: PrivateKey, nonce: [UInt8], challenge: [UInt8]
    ) throws(CredentialsError) -> (elements: [UInt8], signature: [UInt8]) {
        let elements = NOCSRElements(csr: try CertificateSigningRequest(for: operationalKey).der, csrNonce: nonce).tlv
        return (elements, try key.sign(elements + challenge))
    }

    /// Everything as a TLV structure for the store. Never log it.
    public var serialized: [UInt8] {
        get throws(CredentialsError) {
            TLVValue.structure([
                .init(1, .octets(dac)), .init(2, .octets(pai)), .init(3, .octets(certificationDeclaration)),
                .init(4, .octets(try key.scalar)),
            ]).encoded()
        }
    }

    public init(serialized bytes: [UInt8]) throws(CredentialsError) {
        let value = try TLVValue(credentials: bytes, "stored attestation credentials")
        guard let dac = value[1]?.octets, let pai = value[2]?.octets, let declaration = value[3]?.octets,
            let scalar = value[4]?.octets
        else {
            throw CredentialsError(.malformed, "stored attestation credentials lack a certificate, the declaration or the key")
        }
        try self.init(dac: dac, pai: pai, certificationDeclaration: declaration, key: PrivateKey(scalar: scalar))
    }
}
