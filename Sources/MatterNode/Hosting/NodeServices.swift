import HearthIO
import HearthTime
import MatterCredentials
import MatterDiscovery
import MatterModel
import MatterTransport

/// What the nodes of a process share. Belongs to the timeline's thread.
public final class NodeServices {
    public let timeline: Timeline
    public let transport: TLSTransport
    public let discovery: Discovery
    public let hub: StoreHub
    /// Where a node listens, given its port (0 for a free one).
    public let listenAddress: (UInt16) -> TransportAddress
    /// Host name and addresses to advertise; nil leaves them to the discovery.
    public let advertisedHost: ServiceHost?

    /// What sessions may cost each node.
    public let sessionLimits: SessionLimits
    let idleSweep = IdleSweep()

    /// How a discovered address is reached.
    let route: (SocketAddress) -> TransportAddress
    let resumption: ResumptionLimits
    /// Looks for subscribers.
    private(set) lazy var locator = PeerLocator(discovery: discovery, timeline: timeline) { [route] in $0.addresses.map(route) }

    private var pairingIdentity: PairingIdentity?
    private var trustStores: [[UInt8]: WeakTrust] = [:]

    private struct WeakTrust { weak var store: TrustStore? }

    public init(
        timeline: Timeline, transport: TLSTransport, discovery: Discovery, hub: StoreHub, advertisedHost: ServiceHost? = nil,
        sessionLimits: SessionLimits = SessionLimits(), resumption: ResumptionLimits = ResumptionLimits(),
        route: @escaping (SocketAddress) -> TransportAddress = { .socket($0) }, listenAddress: @escaping (UInt16) -> TransportAddress
    ) {
        (self.timeline, self.transport, self.discovery, self.hub) = (timeline, transport, discovery, hub)
        self.sessionLimits = sessionLimits
        (self.resumption, self.route) = (resumption, route)
        (self.advertisedHost, self.listenAddress) = (advertisedHost, listenAddress)
    }

    /// The throw-away certificate of pairing connections: it proves nothing, so that one serves all nodes.
    func pairingIdentity(now: Duration) throws -> PairingIdentity {
        if let pairingIdentity { return pairingIdentity }
        let time = MatterTime(unix: now.components.seconds) ?? MatterTime(seconds: 1)
        let made = try PairingIdentity(notBefore: time.backdated)
        pairingIdentity = made
        return made
    }

    /// The trust in a root, shared by all nodes of the fabric: it costs 5 KB a copy.
    func trust(in root: MatterCertificate) throws -> TrustStore {
        let key = root.tlv
        if let store = trustStores[key]?.store { return store }
        let store = try TrustStore(root: root)
        trustStores[key] = WeakTrust(store: store)
        return store
    }
}
