import MatterCredentials
import MatterModel

/// Who is at the other end of an operational connection.
public struct PeerIdentity: Equatable, Sendable {
    public let nodeID: NodeID
    public let fabricID: FabricID
    /// CASE authenticated tags: identifier in the upper, version in the lower 16 bits (Matter Core, 6.6.2.1.2).
    public let tags: [UInt32]

    public init(nodeID: NodeID, fabricID: FabricID, tags: [UInt32] = []) {
        (self.nodeID, self.fabricID, self.tags) = (nodeID, fabricID, tags)
    }

    /// Reads a node certificate's claims, and refuses one that is not exactly a node certificate (Matter Core, 6.5.5 to 6.5.11).
    /// Checks neither signature nor time.
    init(_ leaf: MatterCertificate) throws(TLSError) {
        do { try CertificateChain.check(leaf, .node, at: nil) } catch { throw TLSError(.wrongPeer, error.message) }
        guard let node = leaf.subject.identifiers(.nodeID).first, let fabric = leaf.subject.identifiers(.fabricID).first else {
            throw TLSError(.wrongPeer, "the certificate names no node and fabric")
        }
        let tags = leaf.subject.identifiers(.nocCAT).map { UInt32(truncatingIfNeeded: $0) }
        self.init(nodeID: NodeID(node), fabricID: FabricID(fabric), tags: tags)
    }

    /// Checks that the certificate is for `fabric` and, when dialled, for `node`.
    init(_ leaf: MatterCertificate, in fabric: FabricIdentity, dialled node: NodeID?) throws(TLSError) {
        try self.init(leaf)
        guard fabricID == fabric.fabricID else { throw TLSError(.wrongPeer, "the peer is in another fabric under the same root") }
        if let node, node != nodeID { throw TLSError(.wrongPeer, "another node answered than the one that was dialled") }
    }
}
