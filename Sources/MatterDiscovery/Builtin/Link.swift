import HearthIO

/// Milliseconds of monotonic, real time. Instants are counted from an arbitrary origin.
typealias Milliseconds = Int64

/// One way to speak multicast DNS: an interface and an IP version.
struct LinkID: Hashable, Comparable, Sendable {
    let interface: UInt32
    let family: IPAddress.Family

    static func < (left: Self, right: Self) -> Bool {
        left.interface != right.interface ? left.interface < right.interface : left.family == .v4 && right.family == .v6
    }

    /// 224.0.0.251 or ff02::fb, port 5353 (RFC 6762, 3).
    var group: SocketAddress {
        switch family {
        case .v4: SocketAddress(MulticastDNS.group4, port: MulticastDNS.port)
        case .v6: SocketAddress(MulticastDNS.group6, port: MulticastDNS.port, scope: interface)
        }
    }
}

/// The fixed numbers of RFC 6762.
enum MulticastDNS {
    static let port: UInt16 = 5353
    static let group4 = IPAddress(bytes: [224, 0, 0, 251]) ?? .loopback4
    static let group6 = IPAddress(bytes: [0xff, 0x02] + [UInt8](repeating: 0, count: 13) + [0xfb]) ?? .loopback6
    /// What a packet carries at most: with its headers it passes an interface whose MTU is 1400. A single record may be larger.
    static let payload = 1350
    /// Lifetime of records that name a host: A, AAAA, SRV (RFC 6762, 10).
    static let hostLifetime: UInt32 = 120
    /// Lifetime of all others.
    static let lifetime: UInt32 = 4500
}

/// A packet that a state machine wants to have sent.
struct Outgoing: Equatable, Sendable {
    let link: LinkID
    /// Nil for the link's group.
    let to: SocketAddress?
    let bytes: [UInt8]
}

/// Where a packet came from.
struct PacketSource: Hashable, Sendable {
    let link: LinkID
    let address: SocketAddress
}

/// Chance, which tests replace: a number of the range.
typealias RandomDelay = (ClosedRange<Milliseconds>) -> Milliseconds
