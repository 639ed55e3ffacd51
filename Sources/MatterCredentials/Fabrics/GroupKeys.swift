import MatterModel

/// Keys that a fabric's members share, derived from an epoch key (Matter Core, 4.15.2 and 4.17). The identity protection key is the
/// operational key of group key set 0.
public struct GroupKey: Hashable, Sendable {
    /// The operational group key, 16 bytes. Never log it.
    public let operationalKey: [UInt8]
    /// What receivers of group messages choose the key by (Matter Core, 4.17.3.6).
    public let sessionID: UInt16
    /// The key that hides the header of group messages, 16 bytes (Matter Core, 4.9.1).
    public let privacyKey: [UInt8]

    /// Length of an epoch key and of the keys derived from it.
    public static let length = 16

    /// - Throws: `outOfRange` unless the epoch key has 16 bytes.
    public init(epochKey: [UInt8], fabric: FabricIdentity) throws(CredentialsError) {
        try self.init(epochKey: epochKey, compressedFabricID: fabric.compressedID)
    }

    init(epochKey: [UInt8], compressedFabricID: UInt64) throws(CredentialsError) {
        guard epochKey.count == Self.length else {
            throw CredentialsError(.outOfRange, "an epoch key has \(Self.length) bytes, and this one has \(epochKey.count)")
        }
        operationalKey = Crypto.hkdf(
            epochKey, salt: bigEndian(compressedFabricID), info: Array("GroupKey v1.0".utf8), count: Self.length)
        sessionID = Crypto.hkdf(operationalKey, info: Array("GroupKeyHash".utf8), count: 2).reduce(0) { $0 << 8 | UInt16($1) }
        privacyKey = Crypto.hkdf(operationalKey, info: Array("PrivacyKey".utf8), count: Self.length)
    }

    /// A fresh random epoch key.
    public static func randomEpochKey() -> [UInt8] { Crypto.random(length) }
}

extension GroupKey: CustomStringConvertible, CustomReflectable {
    public var description: String { "group key for session \(sessionID) (hidden)" }
    public var customMirror: Mirror { Mirror(self, children: []) }
}

extension FabricIdentity {
    /// What the first message of CASE names its responder by without telling others (Matter Core, 4.14.2.4.1).
    /// - Parameters:
    ///   - initiatorRandom: 32 bytes.
    ///   - identityProtectionKey: the operational key, 16 bytes.
    public func destinationID(of node: NodeID, initiatorRandom: [UInt8], identityProtectionKey: [UInt8]) -> [UInt8] {
        Crypto.hmac(
            key: identityProtectionKey,
            initiatorRandom + rootPublicKey + bigEndian(fabricID.rawValue).reversed() + bigEndian(node.rawValue).reversed())
    }
}
