import HearthTime
import MatterDiscovery
import MatterModel
import MatterTransport

/// Finds the subscribers of nodes: one search for all nodes of the process that look for the same. Belongs to the timeline's thread.
final class PeerLocator {
    private let discovery: Discovery
    private let timeline: Timeline
    private let route: (ResolvedService) -> [TransportAddress]
    private var searches: [ServiceName: Search] = [:]

    private final class Search {
        var running: (any ServiceSearch)?
        var timer: Token?
        var waiting: [([TransportAddress]) -> Void] = []
    }

    init(discovery: Discovery, timeline: Timeline, route: @escaping (ResolvedService) -> [TransportAddress]) {
        (self.discovery, self.timeline, self.route) = (discovery, timeline, route)
    }

    /// `done` hears the addresses of an operational node, none when it is not found within `limit`.
    func find(_ name: ServiceName, within limit: Duration, origin: Timeline.Origin, done: @escaping ([TransportAddress]) -> Void) {
        if let search = searches[name] { return search.waiting.append(done) }
        let search = Search()
        searches[name] = search
        search.waiting.append(done)
        search.timer = timeline.after(limit, origin: origin) { [weak self] in self?.finish(name, []) }
        search.running = discovery.browser.resolve(name, timeout: nil) { [weak self] event in
            switch event {
            case .found(let service), .updated(let service):
                if let self, !service.addresses.isEmpty { finish(name, route(service)) }
            case .failed: self?.finish(name, [])
            case .lost: break
            }
        }
        // It may have ended before there was something to cancel.
        if searches[name] !== search { search.running?.cancel() }
    }

    private func finish(_ name: ServiceName, _ addresses: [TransportAddress]) {
        guard let search = searches.removeValue(forKey: name) else { return }
        search.running?.cancel()
        search.running = nil
        if let timer = search.timer { timeline.cancel(timer) }
        for done in search.waiting { done(addresses) }
    }
}
