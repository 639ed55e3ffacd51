import HearthIO

/// The browser of RFC 6762 and 6763 without its sockets: packets and instants in, packets, events and a deadline out.
///
/// Its cache holds what somebody asked for and nothing else, so that a talkative network does not fill it: the instances of the
/// types that are browsed, and their hosts.
final class Querier {
    /// What a caller of `browse` or `resolve` gets told.
    final class Search {
        let id: Int
        let event: (BrowseEvent) -> Void
        var reported: [DomainName: ResolvedService] = [:]

        init(id: Int, event: @escaping (BrowseEvent) -> Void) {
            self.id = id
            self.event = event
        }
    }

    /// Something in the cache whose records age.
    class Ageing {
        /// The earliest entry of the heap that stands for it.
        var scheduled: Milliseconds = .max
        var isDropped = false
    }

    /// A continuous question for PTR records (RFC 6762, 5.2).
    final class PointerQuestion: Ageing {
        let name: DomainName
        let type: ServiceType
        var searches: [Search] = []
        /// The instances, each with the interfaces it was heard on.
        var pointers: [DomainName: [UInt32: CachedRecord<Bool>]] = [:]
        var due: Milliseconds
        var interval: Milliseconds = 1000

        init(_ name: DomainName, _ type: ServiceType, due: Milliseconds) {
            self.name = name
            self.type = type
            self.due = due
        }
    }

    /// The data of an SRV record.
    struct Location: Equatable {
        let host: DomainName
        let port: UInt16
    }

    final class Instance: Ageing {
        let name: DomainName
        let service: ServiceName
        /// Those who browse for it and have its PTR record.
        var questions: [PointerQuestion] = []
        var resolvers: [Search] = []
        var locations: [UInt32: CachedRecord<Location>] = [:]
        var texts: [UInt32: CachedRecord<[UInt8]>] = [:]
        /// Hosts it keeps in the cache.
        var hosts: [DomainName] = []
        var asking: Asking

        init(_ name: DomainName, _ service: ServiceName, asking: Asking) {
            self.name = name
            self.service = service
            self.asking = asking
        }

        var isWanted: Bool { !questions.isEmpty || !resolvers.isEmpty }
    }

    final class Host: Ageing {
        let name: DomainName
        /// By interface and address.
        var addresses: [UInt32: [[UInt8]: CachedRecord<Bool>]] = [:]
        var instances: [DomainName: Instance] = [:]
        var asking: Asking

        init(_ name: DomainName, asking: Asking) {
            self.name = name
            self.asking = asking
        }
    }

    /// When to ask for what is missing, less and less often.
    struct Asking {
        var due: Milliseconds
        var interval: Milliseconds = 1000

        mutating func next(_ now: Milliseconds) {
            due = now + interval
            interval = min(interval * 2, 60_000)
        }
    }

    /// How many instances one question may bring into the cache: a bound against floods.
    static let maximumInstances = 20_000
    static let maximumAddresses = 32

    private(set) var links: [LinkID] = []
    var questions: [DomainName: PointerQuestion] = [:]
    var instances: [DomainName: Instance] = [:]
    var hosts: [DomainName: Host] = [:]
    private var searches: [Int: (search: Search, question: PointerQuestion?, instance: Instance?)] = [:]
    var sweeps = DeadlineHeap<Ageing>()
    /// Questions that leave at the next poll.
    var asks: Set<Question> = []
    var dirty: [DomainName: Instance] = [:]
    private var events: [() -> Void] = []
    private var lastID = 0
    let random: RandomDelay

    init(random: @escaping RandomDelay) { self.random = random }

    // MARK: Searches

    func browse(
        _ type: ServiceType, subtype: String?, at now: Milliseconds, _ event: @escaping (BrowseEvent) -> Void
    ) -> Int {
        let name = subtype.map { DomainName(type, subtype: $0) } ?? DomainName(type)
        let search = newSearch(event)
        let question: PointerQuestion
        if let known = questions[name] {
            question = known
            question.interval = 1000
            question.due = min(question.due, now + random(20...120))
        } else {
            question = PointerQuestion(name, type, due: now + random(20...120))
            questions[name] = question
        }
        question.searches.append(search)
        searches[search.id] = (search, question, nil)
        for name in question.pointers.keys { dirty[name] = instances[name] }
        return search.id
    }

    func resolve(_ service: ServiceName, at now: Milliseconds, _ event: @escaping (BrowseEvent) -> Void) -> Int {
        let name = DomainName(service)
        let search = newSearch(event)
        let instance = instances[name] ?? enter(name, service, askAt: now)
        instance.asking = Asking(due: min(instance.asking.due, now))
        instance.resolvers.append(search)
        searches[search.id] = (search, nil, instance)
        schedule(instance, now)
        dirty[name] = instance
        return search.id
    }

    private func newSearch(_ event: @escaping (BrowseEvent) -> Void) -> Search {
        lastID += 1
        return Search(id: lastID, event: event)
    }

    func cancel(_ id: Int) {
        guard let (search, question, instance) = searches.removeValue(forKey: id) else { return }
        if let question {
            question.searches.removeAll { $0 === search }
            if question.searches.isEmpty { drop(question) }
        }
        if let instance {
            instance.resolvers.removeAll { $0 === search }
            dropIfUnwanted(instance)
        }
    }

    func isSearching(_ id: Int) -> Bool { searches[id] != nil }

    /// Nobody is looking for anything.
    var isIdle: Bool { searches.isEmpty }

    private func drop(_ question: PointerQuestion) {
        question.isDropped = true
        questions[question.name] = nil
        for name in question.pointers.keys {
            guard let instance = instances[name] else { continue }
            instance.questions.removeAll { $0 === question }
            dropIfUnwanted(instance)
        }
    }

    func enter(_ name: DomainName, _ service: ServiceName, askAt due: Milliseconds) -> Instance {
        let instance = Instance(name, service, asking: Asking(due: due))
        instances[name] = instance
        schedule(instance, due)
        return instance
    }

    func dropIfUnwanted(_ instance: Instance) {
        guard !instance.isWanted, !instance.isDropped else { return }
        instance.isDropped = true
        instances[instance.name] = nil
        dirty[instance.name] = nil
        for name in instance.hosts { release(name, instance) }
    }

    func release(_ name: DomainName, _ instance: Instance) {
        guard let host = hosts[name] else { return }
        host.instances[instance.name] = nil
        guard host.instances.isEmpty else { return }
        host.isDropped = true
        hosts[name] = nil
    }

    /// A new link is asked at once; what was heard on one that is gone stays until it expires.
    func setLinks(_ wanted: [LinkID], at now: Milliseconds) {
        let isNew = wanted.contains { !links.contains($0) }
        links = wanted
        guard isNew else { return }
        for question in questions.values {
            question.interval = 1000
            question.due = now + random(20...120)
        }
        for instance in instances.values where instance.locations.isEmpty {
            instance.asking = Asking(due: now)
            schedule(instance, now)
        }
    }

    // MARK: Time

    var deadline: Milliseconds? {
        if !dirty.isEmpty || !events.isEmpty || !asks.isEmpty { return .min }
        return [sweeps.first, questions.values.map(\.due).min()].compactMap { $0 }.min()
    }

    func poll(at now: Milliseconds) -> [Outgoing] {
        runSweeps(at: now)
        evaluateDirty(at: now)
        return askQuestions(at: now)
    }

    func takeEvents() -> [() -> Void] {
        defer { events = [] }
        return events
    }

    // MARK: Telling

    func evaluateDirty(at now: Milliseconds) {
        guard !dirty.isEmpty else { return }
        let changed = dirty.values.sorted { $0.name.wire.lexicographicallyPrecedes($1.name.wire) }
        dirty = [:]
        for instance in changed {
            let resolved = resolved(instance, at: now)
            for search in instance.questions.flatMap(\.searches) + instance.resolvers { tell(search, instance, resolved) }
            dropIfUnwanted(instance)
        }
    }

    func tell(_ search: Search, _ instance: Instance, _ resolved: ResolvedService?) {
        let before = search.reported[instance.name]
        guard before != resolved else { return }
        search.reported[instance.name] = resolved
        let event: BrowseEvent
        if let resolved {
            event = before == nil ? .found(resolved) : .updated(resolved)
        } else {
            event = .lost(instance.service)
        }
        events.append { [weak self] in if self?.isSearching(search.id) == true { search.event(event) } }
    }

    /// Nil as long as something is missing.
    private func resolved(_ instance: Instance, at now: Milliseconds) -> ResolvedService? {
        let live = instance.locations.filter { $0.value.isLive(at: now) }.sorted { $0.key < $1.key }
        let text = instance.texts.filter { $0.value.isLive(at: now) }.min { $0.key < $1.key }
        guard let location = live.first?.value.value, let text, let host = hosts[location.host] else { return nil }
        var addresses: [SocketAddress] = []
        for (interface, records) in host.addresses {
            for (bytes, record) in records where record.isLive(at: now) {
                guard let address = IPAddress(bytes: bytes) else { continue }
                let found = SocketAddress(address, port: location.port, scope: address.isLinkLocal6 ? interface : 0)
                if !addresses.contains(found) { addresses.append(found) }
            }
        }
        guard !addresses.isEmpty else { return nil }
        addresses.sort { left, right in
            let (l, r) = (Self.rank(left.address), Self.rank(right.address))
            return l != r ? l < r : (left.address, left.scope) < (right.address, right.scope)
        }
        return ResolvedService(
            name: instance.service, host: location.host.description, port: location.port, addresses: addresses,
            text: TextRecord(encoded: text.value.value), interfaces: live.map(\.key))
    }

    /// Addresses that need no scope first; the loopback last of its kind, since it leads nowhere from another host.
    private static func rank(_ address: IPAddress) -> Int {
        if address.isLinkLocal6 { return 3 }
        if address.isLoopback { return 2 }
        return address.isIPv4 ? 0 : 1
    }
}
