import MatterTLV

/// What CSRResponse carries, signed with the attestation key: the request for a certificate (Matter Core, 11.18.4.9).
public struct NOCSRElements: Hashable, Sendable {
    /// The PKCS #10 request in DER.
    public var csr: [UInt8]
    /// What CSRRequest carried, 32 bytes.
    public var csrNonce: [UInt8]
    /// Up to three values of the maker's own, by their tags 3 to 5.
    public var vendorReserved: [UInt8: [UInt8]]

    public init(csr: [UInt8], csrNonce: [UInt8], vendorReserved: [UInt8: [UInt8]] = [:]) {
        (self.csr, self.csrNonce, self.vendorReserved) = (csr, csrNonce, vendorReserved)
    }

    public var tlv: [UInt8] {
        var writer = TLVWriter(reservingCapacity: 400)
        writer.structure(.anonymous) { w in
            w.octets(1, csr)
            w.octets(2, csrNonce)
            for tag in UInt8(3)...5 { if let value = vendorReserved[tag] { w.octets(.context(tag), value) } }
        }
        return writer.bytes
    }

    public init(tlv bytes: [UInt8]) throws(CredentialsError) {
        let value = try TLVValue(credentials: bytes, "NOCSR elements")
        guard let csr = value[1]?.octets, let nonce = value[2]?.octets, nonce.count == 32 else {
            throw CredentialsError(.malformed, "NOCSR elements lack the signing request or its 32-byte nonce")
        }
        self.init(csr: csr, csrNonce: nonce)
        for tag in UInt8(3)...5 { vendorReserved[tag] = value[tag]?.octets }
    }

    /// The controller's side of CSRResponse: checks signature, nonce and proof of possession.
    /// - Parameters:
    ///   - signature: r and s, 64 bytes.
    ///   - challenge: the session's attestation challenge.
    ///   - key: the device's attestation key.
    /// - Returns: the key to certify.
    public static func verify(
        _ bytes: [UInt8], signature: [UInt8], challenge: [UInt8], nonce: [UInt8], key: PublicKey
    ) throws(CredentialsError) -> CertificateSigningRequest {
        guard key.isValid(signature: signature, of: bytes + challenge) else {
            throw CredentialsError(.invalidSignature, "the device's signing request is not signed with its attestation key")
        }
        let elements = try NOCSRElements(tlv: bytes)
        guard Crypto.equal(elements.csrNonce, nonce) else {
            throw CredentialsError(.invalidAttestation, "the device answered another signing request than the one it was sent")
        }
        return try CertificateSigningRequest(der: elements.csr)
    }
}
