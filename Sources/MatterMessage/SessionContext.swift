/// How a session's peer has shown who it is (Matter Core, 9.10.5.4).
public enum AuthMode: UInt8, Sendable {
    /// By knowing the passcode.
    case pase = 1
    /// By a certificate of a common fabric. An operational TLS session counts as such.
    case `case` = 2
    /// By a group's key.
    case group = 3
}

/// What the layers above know of a session, whatever carries it.
public struct SessionContext: Sendable, Hashable {
    /// Nil until the peer has proven anything.
    public var authMode: AuthMode?
    /// The fabric as this node numbers it; 0 while pairing.
    public var fabricIndex: UInt8
    /// The peer's node id; 0 while pairing.
    public var peerNodeID: UInt64
    /// CASE authenticated tags of the peer (Matter Core, 6.6.2.1.2).
    public var authenticatedTags: [UInt32]
    /// What attestation and certificate signing responses are bound to (Matter Core, 4.14.1.3); 16 bytes.
    public var attestationChallenge: [UInt8]
    /// The longest message in bytes, header included.
    public var maximumMessageSize: Int

    public init(
        authMode: AuthMode? = nil, fabricIndex: UInt8 = 0, peerNodeID: UInt64 = 0, authenticatedTags: [UInt32] = [],
        attestationChallenge: [UInt8] = [], maximumMessageSize: Int = 64_000
    ) {
        (self.authMode, self.fabricIndex, self.peerNodeID) = (authMode, fabricIndex, peerNodeID)
        (self.authenticatedTags, self.attestationChallenge) = (authenticatedTags, attestationChallenge)
        self.maximumMessageSize = maximumMessageSize
    }
}
