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

    /// Reads a node certificate's claims, and refuses one that is not exactly a node certificate (Matter Core, 6.5.6.3 and
    /// 6.5.11). Checks neither signature nor time.
    init(_ leaf: MatterCertificate) throws(TLSError) {
        let nodes = leaf.subject.identifiers(.nodeID)
        let fabrics = leaf.subject.identifiers(.fabricID)
        guard nodes.count == 1, fabrics.count == 1, fabrics[0] != 0, (1...0xFFFF_FFEF_FFFF_FFFF).contains(nodes[0]) else {
            throw TLSError(.wrongPeer, "the certificate must have exactly one node id and one fabric id")
        }
        guard !leaf.isCA, leaf.keyUsage == .digitalSignature, leaf.purposes.contains(.clientAuth),
            leaf.purposes.contains(.serverAuth)
        else {
            throw TLSError(.wrongPeer, "the certificate is not a node's: key usage, extended key usage or basic constraints")
        }
        let tags = leaf.subject.identifiers(.nocCAT).compactMap { UInt32(exactly: $0) }
        guard tags.count == leaf.subject.identifiers(.nocCAT).count, tags.count <= 3, tags.allSatisfy({ $0 & 0xFFFF != 0 }),
            Set(tags.map { $0 >> 16 }).count == tags.count
        else { throw TLSError(.wrongPeer, "the certificate's authenticated tags are invalid") }
        (nodeID, fabricID, self.tags) = (NodeID(nodes[0]), FabricID(fabrics[0]), tags)
    }

    /// Checks that the certificate is for `fabric` and, when dialled, for `node`.
    init(_ leaf: MatterCertificate, in fabric: FabricIdentity, dialled node: NodeID?) throws(TLSError) {
        try self.init(leaf)
        guard fabricID == fabric.fabricID else { throw TLSError(.wrongPeer, "the peer is in another fabric under the same root") }
        if let node, node != nodeID { throw TLSError(.wrongPeer, "another node answered than the one that was dialled") }
    }
}
