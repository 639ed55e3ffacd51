import MatterCredentials
import MatterModel
import MatterTLV

/// A fabric that the device belongs to: everything that a TLS identity and the attributes of Operational Credentials are made of
/// (Matter Core, 11.18).
public struct Fabric: Sendable {
    public let index: FabricIndex
    public var root: MatterCertificate
    public var noc: MatterCertificate
    public var icac: MatterCertificate?
    /// The operational key: never log it.
    public var key: PrivateKey
    /// What AddNOC gave as identity protection key, 16 bytes. Later keys stand in key set 0 of Group Key Management.
    public var ipkEpochKey: [UInt8]
    public var vendorID: VendorID
    public var label: String
    public var identity: FabricIdentity
    public var nodeID: NodeID
    /// CASE Authenticated Tags of this node's own certificate.
    public var authenticatedTags: [UInt32]
    /// The first administrator, a node id or a CASE Authenticated Tag as a subject.
    public var adminSubject: UInt64
    /// Rises over the whole device with every change of credentials: a session that was begun under another number cannot be resumed.
    public var generation: UInt64

    public var fabricID: FabricID { identity.fabricID }
    /// The operational instance name `<compressed fabric id>-<node id>`.
    public var instanceName: String { identity.instanceName(node: nodeID) }

    /// - Parameter chain: what the certificates say; they must have been validated.
    public init(
        index: FabricIndex, root: MatterCertificate, noc: MatterCertificate, icac: MatterCertificate?, key: PrivateKey,
        ipkEpochKey: [UInt8], vendorID: VendorID, label: String = "", chain: ValidatedChain, adminSubject: UInt64,
        generation: UInt64
    ) {
        (self.index, self.root, self.noc, self.icac, self.key) = (index, root, noc, icac, key)
        (self.ipkEpochKey, self.vendorID, self.label) = (ipkEpochKey, vendorID, label)
        (identity, nodeID, authenticatedTags) = (chain.fabric, chain.nodeID, chain.cats)
        (self.adminSubject, self.generation) = (adminSubject, generation)
    }
}

extension Fabric: CustomStringConvertible, CustomReflectable {
    /// Without keys: a fabric may be named in a log.
    public var description: String { "fabric \(index) (\(instanceName), generation \(generation))" }
    public var customMirror: Mirror { Mirror(self, children: []) }
}

extension Fabric {
    /// The record for the store, key included. Never log it.
    var serialized: [UInt8] {
        get throws(CredentialsError) {
            let scalar = try key.scalar
            var fields = StructureBuilder()
            fields.add(0, UInt8(1))
            fields.add(1, index)
            fields.add(2, root.tlv)
            fields.add(3, noc.tlv)
            fields.add(4, ifPresent: icac?.tlv)
            fields.add(5, scalar)
            fields.add(6, ipkEpochKey)
            fields.add(7, vendorID)
            fields.add(8, label)
            fields.add(9, adminSubject)
            fields.add(10, generation)
            return fields.structure.encoded()
        }
    }

    /// Restores a fabric. Ids and tags are read from the certificates again, so that they cannot disagree.
    /// - Throws: `CredentialsError` or `Status` for a record that is damaged or from a later version.
    init(serialized bytes: [UInt8]) throws {
        let fields = try StructureReader(try TLVValue(decoding: bytes))
        let version: UInt8 = try fields.required(0, "version")
        guard version == 1 else { throw CredentialsError(.unsupported, "a fabric was stored by a later version of this program") }
        let (rootBytes, nocBytes): ([UInt8], [UInt8]) = (try fields.required(2, "root"), try fields.required(3, "noc"))
        let icacBytes: [UInt8]? = try fields.optional(4, "icac")
        let root = try MatterCertificate(tlv: rootBytes)
        let noc = try MatterCertificate(tlv: nocBytes)
        let icac = try icacBytes.map { try MatterCertificate(tlv: $0) }
        let key = try PrivateKey(scalar: try fields.required(5, "key"))
        guard key.publicKey == noc.publicKey else {
            throw CredentialsError(.malformed, "a stored fabric has a key that is not its certificate's")
        }
        // The chain was validated when it came and is not again at every start of every device: its ids are only read.
        guard let node = noc.subject.identifiers(.nodeID).first, let fabricID = noc.subject.identifiers(.fabricID).first else {
            throw CredentialsError(.malformed, "a stored fabric has a certificate without a node id or fabric id")
        }
        self.index = try fields.required(1, "index")
        (self.root, self.noc, self.icac, self.key) = (root, noc, icac, key)
        ipkEpochKey = try fields.required(6, "ipk")
        vendorID = try fields.required(7, "vendor")
        label = try fields.required(8, "label")
        identity = FabricIdentity(fabricID: FabricID(fabricID), rootPublicKey: root.publicKey)
        nodeID = NodeID(node)
        authenticatedTags = noc.subject.identifiers(.nocCAT).map { UInt32(truncatingIfNeeded: $0) }
        adminSubject = try fields.required(9, "admin")
        generation = try fields.required(10, "generation")
    }
}
