import COpenSSL
import MatterCredentials
import MatterModel

/// The two protocols over TLS, by their ALPN names.
public enum TLSMode: String, Sendable {
    case operational = "hearth/1"
    case pairing = "hearth-pase/1"
}

/// A node's membership in a fabric: what it shows, whom it trusts. Made once per node and fabric, shared by connections.
public final class OperationalIdentity: Sendable {
    public let fabric: FabricIdentity
    public let nodeID: NodeID
    /// The fabric as this node numbers it (Matter Core, 7.19.2.20); goes into the context of its sessions.
    public let fabricIndex: FabricIndex
    /// Goes up whenever the credentials or the fabric's membership change; old session tickets die with it.
    public let generation: UInt32
    let certificate: X509Handle
    let intermediate: X509Handle?
    let key: PrivateKey
    let trust: TrustStore
    /// OpenSSL's session id context (32 bytes at most): resumption stays within one node, fabric, root and generation.
    let sessionContext: [UInt8]

    /// `trust` may be shared by the nodes of a process that are in the same fabric.
    /// - Throws: `CredentialsError` for a chain that is not valid whenever, `TLSError` for a key that is not its node's.
    public convenience init(
        certificate: MatterCertificate, intermediate: MatterCertificate? = nil, root: MatterCertificate, key: PrivateKey,
        fabricIndex: FabricIndex, generation: UInt32, trust: TrustStore? = nil
    ) throws {
        let chain = try CertificateChain.validate(noc: certificate, icac: intermediate, root: root, at: nil)
        guard certificate.publicKey == key.publicKey else {
            throw TLSError(.wrongPeer, "the key is not the certificate's")
        }
        try self.init(
            unchecked: certificate, intermediate: intermediate, root: root,
            fabric: chain.fabric, nodeID: chain.nodeID, key: key,
            fabricIndex: fabricIndex, generation: generation, trust: trust)
    }

    /// Checks nothing: tests build misbehaving peers with it.
    init(
        unchecked certificate: MatterCertificate, intermediate: MatterCertificate? = nil, root: MatterCertificate,
        fabric: FabricIdentity, nodeID: NodeID, key: PrivateKey, fabricIndex: FabricIndex = 1, generation: UInt32 = 1,
        trust: TrustStore? = nil
    ) throws {
        self.fabric = fabric
        self.nodeID = nodeID
        self.fabricIndex = fabricIndex
        self.generation = generation
        self.key = key
        self.certificate = try X509Handle(der: certificate.x509)
        self.intermediate = try intermediate.map { try X509Handle(der: $0.x509) }
        let trust = try trust ?? TrustStore(root: root)
        guard trust.root == root else { throw TLSError(.wrongPeer, "the trust store holds another root") }
        self.trust = trust
        let description =
            "\(TLSMode.operational.rawValue)|\(fabric.instanceName(node: nodeID))|\(fabric.fabricID)|\(fabricIndex)|\(generation)|"
        sessionContext = Crypto.sha256(Array(description.utf8) + root.publicKey)
    }

    /// The name that clients ask for: the operational instance name, in upper case (Matter Core, 4.3.2.1).
    public var instanceName: String { fabric.instanceName(node: nodeID) }

    func apply(to ssl: OpaquePointer) -> Bool {
        guard SSL_use_certificate(ssl, certificate.pointer) == 1, SSL_use_PrivateKey(ssl, key.handle) == 1,
            ossl_ssl_set1_verify_store(ssl, trust.pointer) == 1,
            SSL_set_session_id_context(ssl, sessionContext, UInt32(sessionContext.count)) == 1
        else { return false }
        guard let intermediate else { return true }
        return ossl_ssl_add1_chain(ssl, intermediate.pointer) == 1
    }
}

/// What a device shows while its pairing window is open: a throw-away self-signed certificate. It proves nothing; SPAKE2+
/// bound to this TLS session (`TLSConnection.pairingBinding`) does.
public final class PairingIdentity: Sendable {
    let certificate: X509Handle
    let key: PrivateKey

    public init(notBefore: MatterTime) throws {
        key = try PrivateKey.generate()
        certificate = try X509Handle(der: MatterCertificate.selfSigned(key, commonName: "hearth", notBefore: notBefore).x509)
    }

    func apply(to ssl: OpaquePointer) -> Bool {
        SSL_use_certificate(ssl, certificate.pointer) == 1 && SSL_use_PrivateKey(ssl, key.handle) == 1
    }
}
