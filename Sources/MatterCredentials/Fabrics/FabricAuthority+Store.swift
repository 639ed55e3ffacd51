import MatterModel
import MatterTLV

extension FabricAuthority {
    /// The authority with its keys, as a TLV structure for the store. Never log it.
    public var serialized: [UInt8] {
        get throws(CredentialsError) {
            var writer = TLVWriter(reservingCapacity: 1024)
            let (rootScalar, signerScalar) = (try rootKey.scalar, try signer.scalar)
            writer.structure(.anonymous) { w in
                w.unsigned(0, 1)
                w.unsigned(1, fabric.fabricID.rawValue)
                w.octets(2, root.tlv)
                w.octets(3, rootScalar)
                if let intermediate {
                    w.octets(4, intermediate.tlv)
                    w.octets(5, signerScalar)
                }
            }
            return writer.bytes
        }
    }

    /// Restores an authority. Certificates and keys must fit each other.
    public init(serialized bytes: [UInt8]) throws(CredentialsError) {
        let value = try TLVValue(credentials: bytes, "a fabric authority")
        guard let version = value[0]?.unsigned, version == 1 else {
            throw CredentialsError(.unsupported, "a fabric authority was stored by a later version of this program")
        }
        guard let fabricID = value[1]?.unsigned, let rootBytes = value[2]?.octets, let rootScalar = value[3]?.octets else {
            throw CredentialsError(.malformed, "a stored fabric authority lacks its id, its root or its key")
        }
        let root = try MatterCertificate(tlv: rootBytes)
        let rootKey = try PrivateKey(scalar: rootScalar)
        var (intermediate, signer) = (MatterCertificate?.none, rootKey)
        if let bytes = value[4]?.octets, let scalar = value[5]?.octets {
            intermediate = try MatterCertificate(tlv: bytes)
            signer = try PrivateKey(scalar: scalar)
        }
        guard root.publicKey == rootKey.publicKey, (intermediate ?? root).publicKey == signer.publicKey else {
            throw CredentialsError(.malformed, "a stored fabric authority has a key that is not its certificate's")
        }
        self.init(
            fabric: FabricIdentity(fabricID: FabricID(fabricID), rootPublicKey: root.publicKey), root: root, rootKey: rootKey,
            intermediate: intermediate, signer: signer)
    }
}

extension TLVValue {
    /// Reads a structure that fills `bytes`. - Throws: `malformed`, with `what` it should have been.
    init(credentials bytes: [UInt8], _ what: String, stringLength: Int = 4096) throws(CredentialsError) {
        do throws(TLVError) {
            self = try TLVValue(decoding: bytes, limits: TLVLimits(depth: 8, elements: 512, stringLength: stringLength))
        } catch {
            throw CredentialsError(.malformed, "\(what): \(error)")
        }
        guard case .structure = self else { throw CredentialsError(.malformed, "\(what) is not a structure") }
    }
}
