import HearthTime
import MatterCredentials
import MatterModel

@testable import MatterTransport

/// A node's clock that tests set, in seconds since 1970.
final class ModelClock: Sendable {
    static let start: Int64 = 1_900_000_000
    private let time = Locked(ModelClock.start)
    var now: Int64 { time.withLock { $0 } }
    func set(_ value: Int64) { time.withLock { $0 = value } }
}

/// A fabric and what its nodes need.
struct TestFabric: Sendable {
    static let notBefore = MatterTime(unix: ModelClock.start - 86_400) ?? .never
    static let notAfter = MatterTime(unix: ModelClock.start + 86_400) ?? .never
    let authority: FabricAuthority

    init(_ id: FabricID = 0xFAB1, withIntermediate: Bool = false, rootKey: PrivateKey? = nil) throws {
        authority = try FabricAuthority(
            fabricID: id, withIntermediate: withIntermediate, notBefore: Self.notBefore, rootKey: rootKey)
    }

    func node(
        _ id: NodeID, index: FabricIndex = 1, generation: UInt32 = 1, notAfter: MatterTime = Self.notAfter,
        extra: [DistinguishedName.Attribute] = []
    ) throws -> OperationalIdentity {
        let key = try PrivateKey.generate()
        return try OperationalIdentity(
            certificate: authority.issueNode(
                id, publicKey: key.publicKey, notBefore: Self.notBefore, notAfter: notAfter, extra: extra),
            intermediate: authority.intermediate, root: authority.root, key: key, fabricIndex: index, generation: generation)
    }
}

/// Identities that `OperationalIdentity` would not make, for peers that misbehave.
enum Hybrid {
    /// Shows a certificate of one fabric, but names and trusts another.
    static func identity(showing: TestFabric, trusting: TestFabric, node: NodeID) throws -> OperationalIdentity {
        let key = try PrivateKey.generate()
        let certificate = try showing.authority.issueNode(
            node, publicKey: key.publicKey, notBefore: TestFabric.notBefore, notAfter: TestFabric.notAfter)
        return try OperationalIdentity(
            unchecked: certificate, root: trusting.authority.root, fabric: trusting.authority.fabric, nodeID: node, key: key)
    }

    /// A member of another fabric under the same root, which it may hide.
    static func sibling(of fabric: TestFabric, node: NodeID, claiming: TestFabric? = nil) throws -> OperationalIdentity {
        let key = try PrivateKey.generate()
        let certificate = try fabric.authority.issueNode(
            node, publicKey: key.publicKey, fabricID: 0xFAB2, notBefore: TestFabric.notBefore, notAfter: TestFabric.notAfter)
        let own = FabricIdentity(fabricID: 0xFAB2, rootPublicKey: fabric.authority.root.publicKey)
        return try OperationalIdentity(
            unchecked: certificate, root: fabric.authority.root, fabric: claiming?.authority.fabric ?? own, nodeID: node, key: key
        )
    }

    static func unchecked(
        _ fabric: TestFabric, node: NodeID, purposes: [MatterCertificate.Purpose] = [.clientAuth, .serverAuth],
        extra: [DistinguishedName.Attribute] = []
    ) throws -> OperationalIdentity {
        let key = try PrivateKey.generate()
        let certificate = try fabric.authority.issueNode(
            node, publicKey: key.publicKey, notBefore: TestFabric.notBefore, notAfter: TestFabric.notAfter, purposes: purposes,
            extra: extra)
        return try OperationalIdentity(
            unchecked: certificate, root: fabric.authority.root, fabric: fabric.authority.fabric, nodeID: node, key: key)
    }
}
