import HearthIO
import HearthTime

/// The `memory` back end: a registry in process, advertiser and browser in one, for homes in virtual time.
///
/// What it tells is an entry of the timeline at the present instant, in the order in which things were done, so that a home with
/// the same seed finds its devices in the same order every time. Searches see services in the order of their names.
public final class MemoryRegistry: ServiceAdvertiser, ServiceBrowser {
    private let timeline: Timeline
    private let origin: Timeline.Origin
    /// What the host name of the back end stands for.
    private let hostAddresses: [IPAddress]
    private var services: [Key: MemoryAdvertisement] = [:]
    private var searches: [MemorySearch] = []

    /// DNS names compare without regard to case.
    private struct Key: Hashable {
        let instance: String
        let type: String
        init(_ name: ServiceName) {
            instance = name.instance.lowercased()
            type = name.type.name.lowercased()
        }
    }

    /// `addresses` are those of services that bring no host of their own. Make it, and use it, on the timeline's thread.
    public init(timeline: Timeline, origin: Timeline.Origin = .anonymous, addresses: [IPAddress] = [.loopback4]) {
        self.timeline = timeline
        self.origin = origin
        hostAddresses = addresses
    }

    public func advertise(
        _ record: ServiceRecord, onConflict policy: NameConflictPolicy, _ event: @escaping (AdvertisementEvent) -> Void
    ) throws(DiscoveryError) -> any Advertisement {
        try record.validate()
        let advertisement = MemoryAdvertisement(record, registry: self, event)
        later { self.establish(advertisement, policy) }
        return advertisement
    }

    private func establish(_ advertisement: MemoryAdvertisement, _ policy: NameConflictPolicy) {
        guard !advertisement.withdrawn else { return }
        var attempt = 1
        while services[Key(advertisement.record.name)] != nil {
            attempt += 1
            let taken = advertisement.record.name.instance
            guard attempt < 100, let name = NameConflict.next(taken, policy) else {
                advertisement.withdrawn = true
                return advertisement.event(.failed(NameConflict.error(advertisement.record.name)))
            }
            advertisement.rename(name)
            advertisement.event(.renamed(from: taken, to: name))
            guard !advertisement.withdrawn else { return }
        }
        services[Key(advertisement.record.name)] = advertisement
        advertisement.established = true
        tell(advertisement.record)
        advertisement.event(.established)
    }

    fileprivate func changed(_ advertisement: MemoryAdvertisement) {
        guard advertisement.established else { return }
        let record = advertisement.record
        later { self.tell(record) }
    }

    fileprivate func withdraw(_ advertisement: MemoryAdvertisement) {
        guard advertisement.established else { return }
        services[Key(advertisement.record.name)] = nil
        let record = advertisement.record
        later { for search in self.searches { search.gone(record.name) } }
    }

    private func tell(_ record: ServiceRecord) {
        // A withdrawal or a further change may have come between the change and this entry; it tells the searches itself.
        guard services[Key(record.name)]?.record == record else { return }
        for search in searches { search.present(record, resolved(record)) }
    }

    public func browse(
        _ type: ServiceType, subtype: String?, _ event: @escaping (BrowseEvent) -> Void
    ) -> any ServiceSearch {
        start(MemorySearch(self, event) { $0.name.type == type && (subtype.map($0.subtypes.contains) ?? true) })
    }

    public func resolve(_ name: ServiceName, timeout: Duration?, _ event: @escaping (BrowseEvent) -> Void) -> any ServiceSearch {
        let search = MemorySearch(self, event) { Key($0.name) == Key(name) }
        if let timeout {
            search.timeout = later(timeout, .timer) { [weak search] in search?.timedOut(name) }
        }
        return start(search)
    }

    private func start(_ search: MemorySearch) -> MemorySearch {
        searches.append(search)
        later {
            let names = self.services.values.map(\.record).sorted { $0.name.description < $1.name.description }
            for record in names { search.present(record, self.resolved(record)) }
        }
        return search
    }

    fileprivate func cancel(_ search: MemorySearch) {
        searches.removeAll { $0 === search }
        if let timeout = search.timeout { timeline.cancel(timeout) }
    }

    private func resolved(_ record: ServiceRecord) -> ResolvedService {
        ResolvedService(
            name: record.name, host: (record.host?.name ?? "memory") + ".local", port: record.port,
            addresses: (record.host?.addresses ?? hostAddresses).map { SocketAddress($0, port: record.port) }, text: record.text)
    }

    @discardableResult
    private func later(
        _ delay: Duration = .zero, _ phase: Phase = .delivery, _ body: @escaping () -> Void
    ) -> Token {
        timeline.after(delay, origin: origin, phase: phase, body)
    }
}

private final class MemoryAdvertisement: Advertisement {
    private(set) var record: ServiceRecord
    let registry: MemoryRegistry
    let event: (AdvertisementEvent) -> Void
    var established = false
    var withdrawn = false

    init(_ record: ServiceRecord, registry: MemoryRegistry, _ event: @escaping (AdvertisementEvent) -> Void) {
        self.record = record
        self.registry = registry
        self.event = event
    }

    func rename(_ instance: String) { record.name.instance = instance }

    func update(_ new: ServiceRecord) throws(DiscoveryError) {
        try new.validate()
        guard !withdrawn else { return }
        let before = record
        record = new
        record.name = before.name
        if record != before { registry.changed(self) }
    }

    func withdraw() {
        guard !withdrawn else { return }
        withdrawn = true
        registry.withdraw(self)
    }
}

private final class MemorySearch: ServiceSearch {
    private let registry: MemoryRegistry
    private let event: (BrowseEvent) -> Void
    private let wants: (ServiceRecord) -> Bool
    private var known: [ServiceName: ResolvedService] = [:]
    private var cancelled = false
    var timeout: Token?

    init(
        _ registry: MemoryRegistry, _ event: @escaping (BrowseEvent) -> Void, wants: @escaping (ServiceRecord) -> Bool
    ) {
        self.registry = registry
        self.event = event
        self.wants = wants
    }

    func present(_ record: ServiceRecord, _ service: ResolvedService) {
        guard !cancelled else { return }
        guard wants(record) else { return gone(record.name) }
        guard let before = known.updateValue(service, forKey: record.name) else { return event(.found(service)) }
        if before != service { event(.updated(service)) }
    }

    func gone(_ name: ServiceName) {
        if !cancelled, known.removeValue(forKey: name) != nil { event(.lost(name)) }
    }

    func timedOut(_ name: ServiceName) {
        if !cancelled, known.isEmpty { event(.failed(DiscoveryError(.notFound, "\(name) was not found on the network"))) }
    }

    func cancel() {
        guard !cancelled else { return }
        cancelled = true
        registry.cancel(self)
    }
}
