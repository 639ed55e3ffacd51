/// What a process lets its peers cost. All times are real, but those of links in memory, which are model time.
public struct TransportLimits: Sendable {
    /// Accepted connections whose peer has not shown yet who it is. When there are so many and another comes, the
    /// one that has been silent longest ends; further ones wait in the kernel when none is silent.
    public var unauthenticated = 256
    /// Handshakes that have begun to cost time. Further ones wait before their ClientHello is answered.
    public var handshakes = 64
    /// Handshake steps a turn of the loop, each 1 to 2 ms; between turns open sessions are served.
    public var handshakeStepsPerTurn = 4
    /// From accept, or from the first connect, to an established session.
    public var handshake: Duration = .seconds(10)
    /// How long a connection may keep a place that others wait for, without getting on.
    public var patience: Duration = .seconds(2)
    /// From the first byte of a frame to its last.
    public var frame: Duration = .seconds(10)
    /// How long a closed session tries to hand over what was sent before.
    public var closing: Duration = .seconds(2)
    /// From an open pairing connection to a proven passcode. Model time.
    public var pairing: Duration = .seconds(60)
    /// Bytes that a peer may leave unread before it is cut off.
    public var output = 256 * 1024
    /// How long a dialler waits for one address before it also tries the next.
    public var nextAddress: Duration = .milliseconds(250)

    public init() {}
}
