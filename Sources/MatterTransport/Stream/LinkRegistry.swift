import HearthIO
import HearthTime

/// The two origins of one link's entries: what arrives at either end.
struct LinkOrigins {
    let name: String
    let toAcceptor: Timeline.Origin
    let toDialler: Timeline.Origin
    /// Whether they are the link's own and go back when it ends.
    var isOwned: Bool = true

    static let anonymous = LinkOrigins(name: "", toAcceptor: .anonymous, toDialler: .anonymous, isOwned: false)
}

/// What the links of one timeline share: their origins and, in virtual time, which sockets belong together.
final class LinkRegistry {
    /// A loopback connection as both of its ends see it.
    struct Key: Hashable {
        let dialler: SocketAddress
        let acceptor: SocketAddress
    }

    private let timeline: Timeline
    private var made: [String: Int] = [:]
    private var free: [String: [LinkOrigins]] = [:]
    private var acceptors: [String: Timeline.Origin] = [:]
    private var pairs: [Key: InsidePair] = [:]
    /// Pairs that hold time because they are connecting.
    private var connecting: [ObjectIdentifier: InsidePair] = [:]
    private var renewed: UInt64 = 0

    /// Connections that are over and whose users wait to be told in an entry.
    private var untold: [ObjectIdentifier: TLSConnection] = [:]
    /// No entry runs any more.
    private(set) var isStopped = false

    init(timeline: Timeline) { self.timeline = timeline }

    func isOver(_ connection: TLSConnection) { untold[ObjectIdentifier(connection)] = connection }
    func isTold(_ connection: TLSConnection) { untold[ObjectIdentifier(connection)] = nil }

    func loopStops() {
        isStopped = true
        let left = untold
        untold = [:]
        for connection in left.values { connection.tellAll() }
    }

    var isVirtual: Bool { if case .real = timeline.mode { false } else { true } }

    /// The origins of a new link called `name`. Call it when the link is dialled: that moment is part of the model, the moment of
    /// accepting is not. A link that ended hands its origins on to the next of its name; a second at a time gets its own.
    func origins(for name: String) -> LinkOrigins {
        guard isVirtual else { return .anonymous }
        if let origins = free[name]?.popLast() { return origins }
        made[name, default: 0] += 1
        let own = made[name] == 1 ? name : "\(name) #\(made[name] ?? 0)"
        return LinkOrigins(
            name: name, toAcceptor: timeline.origin("\(own), to acceptor"), toDialler: timeline.origin("\(own), to dialler"))
    }

    /// What orders the links that come from outside to the acceptor called `name`.
    func acceptorOrigin(for name: String) -> Timeline.Origin {
        guard isVirtual else { return .anonymous }
        if let origin = acceptors[name] { return origin }
        let origin = timeline.origin("\(name), from outside")
        acceptors[name] = origin
        return origin
    }

    func giveBack(_ origins: LinkOrigins) { if origins.isOwned { free[origins.name, default: []].append(origins) } }

    // MARK: Pairs

    /// A link that is being dialled, and holds time until it is established at both ends or has failed. Nil in real time.
    func dialling(_ origins: LinkOrigins) -> InsidePair? {
        guard isVirtual else { return nil }
        let pair = InsidePair(timeline, origins)
        connecting[ObjectIdentifier(pair)] = pair
        pair.onConnectDone = { [weak self] pair in self?.connecting[ObjectIdentifier(pair)] = nil }
        return pair
    }

    /// Makes a dialled socket known, so that the acceptor finds its other end here.
    func register(_ fd: Int32, to address: SocketAddress, _ pair: InsidePair) -> Key? {
        guard let local = try? Socket.localAddress(fd) else { return nil }
        let key = Key(dialler: Self.normal(local), acceptor: Self.normal(address, like: local))
        pairs[key] = pair
        return key
    }

    func forget(_ key: Key) { pairs[key] = nil }

    /// The other end of an accepted socket, if it is here.
    func accepted(_ fd: Int32) -> InsidePair? {
        guard !pairs.isEmpty, let local = try? Socket.localAddress(fd), let peer = try? Socket.remoteAddress(fd) else {
            return nil
        }
        return pairs[Key(dialler: Self.normal(peer), acceptor: Self.normal(local))]
    }

    /// A handshake has moved on: those that wait behind it are not stuck. Renewing is cheap, but not as cheap as doing it for a
    /// thousand links at each of their steps.
    func handshakeMoved() {
        if connecting.isEmpty { return }
        let now = EventLoop.now()
        guard now - renewed > 100_000_000 else { return }
        renewed = now
        for pair in connecting.values { pair.renewConnectHold() }
    }

    /// Without scope or IPv4 mapping, and with the address that a wildcard stands for.
    private static func normal(_ address: SocketAddress, like local: SocketAddress? = nil) -> SocketAddress {
        let ip = address.address.isUnspecified ? local?.address ?? address.address : address.address
        return SocketAddress(ip.unmapped, port: address.port)
    }
}
