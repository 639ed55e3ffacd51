import MatterModel

/// What identifies a fabric: its id and its root's key; the compressed id names it on the network (Matter Core, 4.3.2.2).
public struct FabricIdentity: Equatable, Hashable, Sendable {
    public let fabricID: FabricID
    /// The root's uncompressed P-256 point, 65 bytes.
    public let rootPublicKey: [UInt8]
    public let compressedID: UInt64

    public init(fabricID: FabricID, rootPublicKey: [UInt8]) {
        self.fabricID = fabricID
        self.rootPublicKey = rootPublicKey
        compressedID = Crypto.hkdf(
            Array(rootPublicKey.dropFirst()), salt: bigEndian(fabricID.rawValue), info: Array("CompressedFabric".utf8), count: 8
        ).reduce(0) { $0 << 8 | UInt64($1) }
    }

    /// The operational instance name `<compressed fabric id>-<node id>`, 16 upper-case hexadecimal digits each.
    public func instanceName(node: NodeID) -> String {
        String(decoding: hexadecimal(compressedID, digits: 16) + [0x2D] + hexadecimal(node.rawValue, digits: 16), as: UTF8.self)
    }
}

/// The bytes of `value`, most significant first.
func bigEndian(_ value: UInt64) -> [UInt8] { (0..<8).map { UInt8(truncatingIfNeeded: value >> (56 - 8 * $0)) } }
