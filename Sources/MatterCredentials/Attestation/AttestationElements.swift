import MatterTLV

/// What AttestationResponse carries, signed with the attestation key (Matter Core, 11.18.4.7).
public struct AttestationElements: Hashable, Sendable {
    /// The certification declaration as it was signed (CMS).
    public var certificationDeclaration: [UInt8]
    /// What AttestationRequest carried, 32 bytes.
    public var attestationNonce: [UInt8]
    /// Seconds since 2000, or 0.
    public var timestamp: UInt32
    public var firmwareInformation: [UInt8]?

    public init(
        certificationDeclaration: [UInt8], attestationNonce: [UInt8], timestamp: UInt32 = 0, firmwareInformation: [UInt8]? = nil
    ) {
        (self.certificationDeclaration, self.attestationNonce) = (certificationDeclaration, attestationNonce)
        (self.timestamp, self.firmwareInformation) = (timestamp, firmwareInformation)
    }

    public var tlv: [UInt8] {
        var writer = TLVWriter(reservingCapacity: 400)
        writer.structure(.anonymous) { w in
            w.octets(1, certificationDeclaration)
            w.octets(2, attestationNonce)
            w.unsigned(3, UInt64(timestamp))
            if let firmwareInformation { w.octets(4, firmwareInformation) }
        }
        return writer.bytes
    }

    /// Reads the elements; a maker's own elements are passed over.
    public init(tlv bytes: [UInt8]) throws(CredentialsError) {
        let value = try TLVValue(credentials: bytes, "attestation elements")
        guard let declaration = value[1]?.octets, let nonce = value[2]?.octets, nonce.count == 32,
            let time = value[3]?.unsigned.flatMap({ UInt32(exactly: $0) })
        else {
            throw CredentialsError(.malformed, "attestation elements lack the declaration, the 32-byte nonce or the timestamp")
        }
        self.init(
            certificationDeclaration: declaration, attestationNonce: nonce, timestamp: time, firmwareInformation: value[4]?.octets
        )
    }
}
