import HearthTime
import MatterDevice
import MatterDiscovery
import MatterInteraction
import MatterMessage
import MatterModel
import MatterTransport

/// How long a node tries to reach those who had subscribed before its restart. Model time.
public struct ResumptionLimits: Sendable {
    /// The first attempt comes between a fifth of this after the start and this: not all nodes of a process at once.
    public var begin: Duration = .milliseconds(50)
    /// How long discovery may look for a subscriber.
    public var discovery: Duration = .seconds(5)
    /// The wait after the first attempt that fails, and the longest; it doubles each time.
    public var backOff: ClosedRange<Duration> = .seconds(5)...(.seconds(300))
    /// Attempts before the node takes a subscriber as gone for good: half an hour's with these waits.
    public var attempts = 12

    public init() {}
}

/// Brings a node's subscriptions back after its restart: connects to each subscriber, as a member of their fabric, and lets the
/// interaction server go on over the new session. Made only when there are such subscriptions.
///
/// Whoever comes first wins: a subscriber that subscribes anew meanwhile makes its old subscription needless, and one that cannot be
/// found after so many attempts is forgotten.
final class SubscriptionResumption {
    private struct Key: Hashable {
        let fabric: FabricIndex
        let node: UInt64
    }

    /// One subscriber.
    private final class Subscriber {
        let key: Key
        var attempts = 0
        var wait: Duration
        var timer: Token?
        var dial: TLSConnection?
        init(_ key: Key, wait: Duration) { (self.key, self.wait) = (key, wait) }
    }

    private unowned let host: NodeHost
    private let services: NodeServices
    private let limits: ResumptionLimits
    private var random: RandomStream
    private var subscribers: [Subscriber] = []
    private var isStopped = false

    init(_ host: NodeHost, services: NodeServices) {
        (self.host, self.services, limits) = (host, services, services.resumption)
        random = host.node.environment.random("resumption")
    }

    func start() {
        var known: Set<Key> = []
        for record in host.interactions.waiting {
            let key = Key(fabric: FabricIndex(record.fabricIndex), node: record.nodeID)
            guard known.insert(key).inserted else { continue }
            let subscriber = Subscriber(key, wait: limits.backOff.lowerBound)
            subscribers.append(subscriber)
            attempt(subscriber, after: random.duration(in: limits.begin / 5...limits.begin))
        }
    }

    func stop() {
        isStopped = true
        for subscriber in subscribers { end(subscriber) }
        subscribers = []
    }

    private func end(_ subscriber: Subscriber) {
        if let timer = subscriber.timer { services.timeline.cancel(timer) }
        subscriber.timer = nil
        subscriber.dial?.abort(LinkError(.closedHere, "nobody wants the connection any more"))
        subscriber.dial = nil
    }

    /// Subscriptions that need not be resumed any more: with the last one of a subscriber its connection is not wanted.
    func recordsChanged() {
        guard !isStopped else { return }
        subscribers.removeAll { subscriber in
            guard ids(of: subscriber).isEmpty else { return false }
            end(subscriber)
            return true
        }
    }

    private func ids(of subscriber: Subscriber) -> [SubscriptionID] {
        host.interactions.waiting.filter { $0.fabricIndex == subscriber.key.fabric.rawValue && $0.nodeID == subscriber.key.node }.map(\.id)
    }

    private func attempt(_ subscriber: Subscriber, after delay: Duration) {
        subscriber.timer = services.timeline.after(delay, origin: host.node.environment.origin) { [weak self] in
            guard let self else { return }
            subscriber.timer = nil
            subscriber.attempts += 1
            look(for: subscriber)
        }
    }

    private func look(for subscriber: Subscriber) {
        guard let fabric = host.node.commissioning.fabrics.fabrics.first(where: { $0.index == subscriber.key.fabric }) else {
            return giveUp(subscriber)
        }
        let service = OperationalService(compressedFabric: fabric.identity.compressedID, node: NodeID(subscriber.key.node))
        services.locator.find(service.name, within: limits.discovery, origin: host.node.environment.origin) { [weak self] addresses in
            guard let self, !isStopped, subscribers.contains(where: { $0 === subscriber }) else { return }
            if addresses.isEmpty { failed(subscriber) } else { dial(subscriber, addresses) }
        }
    }

    private func dial(_ subscriber: Subscriber, _ addresses: [TransportAddress]) {
        subscriber.dial = host.dial(addresses, fabric: subscriber.key.fabric, node: NodeID(subscriber.key.node)) { [weak self] hosted in
            guard let self, !isStopped, subscribers.contains(where: { $0 === subscriber }) else {
                hosted?.session.close()
                return
            }
            subscriber.dial = nil
            guard let hosted else { return failed(subscriber) }
            resume(subscriber, over: hosted)
        }
    }

    private func resume(_ subscriber: Subscriber, over hosted: HostedSession) {
        let ids = ids(of: subscriber)
        subscribers.removeAll { $0 === subscriber }
        var pending = ids.count
        for id in ids {
            host.interactions.resume(id, in: hosted.session) { isTaken in
                pending -= 1
                Log.node.debug("subscription \(id): the subscriber \(isTaken ? "goes on with it" : "wants no more of it")")
                // For what this connection was made there is nothing left.
                if pending == 0, !hosted.hasSubscription { hosted.end() }
            }
        }
    }

    private func failed(_ subscriber: Subscriber) {
        guard subscriber.attempts < limits.attempts else { return giveUp(subscriber) }
        attempt(subscriber, after: random.duration(in: subscriber.wait / 2...subscriber.wait))
        subscriber.wait = min(subscriber.wait * 2, limits.backOff.upperBound)
    }

    private func giveUp(_ subscriber: Subscriber) {
        end(subscriber)
        subscribers.removeAll { $0 === subscriber }
        host.interactions.giveUp { $0.fabricIndex == subscriber.key.fabric.rawValue && $0.nodeID == subscriber.key.node }
    }
}
