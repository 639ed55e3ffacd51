import HearthIO
import HearthTime
import MatterCredentials
import MatterDiscovery
import MatterModel
import MatterTransport

/// Finds where devices are. On the timeline's thread.
struct AddressResolver {
    let discovery: Discovery
    let timeline: Timeline
    let origin: Timeline.Origin
    /// How a discovered address is reached: over TCP, or in the memory of a test.
    let route: @Sendable (SocketAddress) -> TransportAddress

    /// Looks for an operational node until it is found, cancelled, or `limit` has passed. `done` is called once, with no addresses when
    /// nothing was found, unless the search is cancelled; not from within this call.
    /// - Returns: nil when there is no discovery.
    func operational(
        _ fabric: FabricIdentity, _ node: NodeID, within limit: Duration, done: @escaping ([TransportAddress]) -> Void
    ) -> OperationalSearch? {
        guard discovery.backEnd != .off else { return nil }
        let name = OperationalService(compressedFabric: fabric.compressedID, node: node).name
        return OperationalSearch(self, name, within: limit, done: done)
    }

    /// A device that waits to be paired and has the discriminator, unless its instance was tried before.
    /// - Returns: nil when none was found in time.
    func commissionable(
        _ discriminator: Discriminator, except tried: Set<String>, within limit: Duration
    ) async -> (instance: String, service: CommissionableService, addresses: [TransportAddress])? {
        let filter: CommissionableFilter = discriminator.all.map { .discriminator($0) } ?? .shortDiscriminator(discriminator.upper)
        let found = await first(within: limit) { event in
            discovery.browser.browse(.commissionable, subtype: filter.subtype, event)
        } accept: { resolved in
            // A record that is being withdrawn, or belongs to a device that is already paired, does not count.
            guard !tried.contains(resolved.name.instance), let service = try? CommissionableService(text: resolved.text) else {
                return false
            }
            return service.mode != .closed && filter.matches(service)
        }
        guard let found, let service = try? CommissionableService(text: found.text) else { return nil }
        return (found.name.instance, service, transport(found))
    }

    func transport(_ service: ResolvedService) -> [TransportAddress] { service.addresses.map(route) }

    /// The first service that a search finds and that is acceptable.
    private func first(
        within limit: Duration, _ search: (@escaping (BrowseEvent) -> Void) -> any ServiceSearch,
        accept: @escaping (ResolvedService) -> Bool
    ) async -> ResolvedService? {
        await withCheckedContinuation { continuation in
            var isDone = false
            var running: (any ServiceSearch)?
            var timer: Token?
            let finish = { [timeline] (service: ResolvedService?) in
                guard !isDone else { return }
                isDone = true
                running?.cancel()
                // The search holds this closure, which would hold the search.
                running = nil
                if let timer { timeline.cancel(timer) }
                continuation.resume(returning: service)
            }
            running = search { event in
                switch event {
                case .found(let service), .updated(let service): if accept(service), !service.addresses.isEmpty { finish(service) }
                case .failed: finish(nil)
                case .lost: break
                }
            }
            timer = timeline.after(limit, origin: origin) { finish(nil) }
        }
    }
}

/// A search for one operational node.
final class OperationalSearch {
    private let timeline: Timeline
    private var running: (any ServiceSearch)?
    private var timer: Token?
    private var done: (([TransportAddress]) -> Void)?

    init(_ resolver: AddressResolver, _ name: ServiceName, within limit: Duration, done: @escaping ([TransportAddress]) -> Void) {
        (timeline, self.done) = (resolver.timeline, done)
        running = resolver.discovery.browser.resolve(name, timeout: nil) { [weak self] event in
            switch event {
            case .found(let service), .updated(let service): if !service.addresses.isEmpty { self?.finish(resolver.transport(service)) }
            case .failed: self?.finish([])
            case .lost: break
            }
        }
        timer = timeline.after(limit, origin: resolver.origin) { [weak self] in self?.finish([]) }
    }

    func cancel() {
        done = nil
        finish([])
    }

    private func finish(_ addresses: [TransportAddress]) {
        running?.cancel()
        running = nil
        if let timer { timeline.cancel(timer) }
        timer = nil
        let done = done
        self.done = nil
        done?(addresses)
    }
}
