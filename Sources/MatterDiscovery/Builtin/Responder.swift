import HearthIO

/// The responder of RFC 6762 without its sockets: packets and instants in, packets and a deadline out.
///
/// Built for fleets: names are looked up in one table, services that start together are probed for and announced in common
/// packets, and one answer fills its packets with as many services as fit.
///
/// After any call, send what `poll` gives, run `takeEvents`, and call `poll` again at `deadline`.
final class Responder {
    /// What is known about one link.
    struct LinkState {
        /// All addresses of the link's interface.
        var addresses: [IPAddress]
        /// False while what is already established elsewhere is being probed for here.
        var ready: Bool
        /// Answers that wait for their moment.
        var pending: [RecordKey: Milliseconds] = [:]
        var pendingDue: Milliseconds?
        /// What was multicast within the last second, and when.
        var lastSent: [RecordKey: Milliseconds] = [:]
    }

    enum Entry {
        case claim(Claim)
        case pointers(PointerSet)
    }

    struct Member {
        let claim: Claim
        let generation: Int
        var isCurrent: Bool { claim.generation == generation }
    }

    /// Claims that are probed for in common packets.
    struct ProbeBatch {
        var members: [Member]
        var sent = 0
        var due: Milliseconds
        /// Nil for all links.
        var link: LinkID?
    }

    /// Claims whose records are told to everybody in common packets.
    struct AnnounceBatch {
        var members: [Member]
        var left = 2
        var due: Milliseconds
        var link: LinkID?
    }

    /// A query whose known answers come in further packets (RFC 6762, 7.2).
    struct TruncatedQuery {
        var keys: Set<RecordKey>
        var due: Milliseconds
    }

    private(set) var links: [LinkID: LinkState] = [:]
    var claims: [Int: Claim] = [:]
    var index: [DomainName: Entry] = [:]
    var types: [Int: PointerSet] = [:]
    var probes: [ProbeBatch] = []
    var announcements: [AnnounceBatch] = []
    var truncated: [PacketSource: TruncatedQuery] = [:]
    /// Packets that leave at the next poll.
    var outbox: [Outgoing] = []
    /// Records to be withdrawn at the next poll.
    var goodbyes: [PacketPart] = []
    var events: [() -> Void] = []
    /// When names turned out to be taken, within the last ten seconds.
    var conflicts: [Milliseconds] = []
    var hosts: [ServiceHost: HostClaim] = [:]
    var ownHost: HostClaim?
    private var ownHostLabel: String
    private var lastID = 0
    let random: RandomDelay
    let newHostLabel: () -> String

    /// `newHostLabel` gives a name for the host of the back end, and another one each time that it turns out to be taken.
    init(newHostLabel: @escaping () -> String, random: @escaping RandomDelay) {
        self.newHostLabel = newHostLabel
        self.random = random
        ownHostLabel = newHostLabel()
    }

    func nextID() -> Int {
        lastID += 1
        return lastID
    }

    // MARK: Services

    /// Starts to claim a service's name. The record must be valid. Returns its number.
    func add(
        _ record: ServiceRecord, _ policy: NameConflictPolicy, at now: Milliseconds,
        _ event: @escaping (AdvertisementEvent) -> Void
    ) -> Int {
        let host = use(record.host, at: now)
        let claim = ServiceClaim(id: nextID(), record, host: host, policy: policy, event: event)
        claims[claim.id] = claim
        while index[claim.name] != nil {
            guard rename(claim) else {
                drop(claim)
                return claim.id
            }
        }
        index[claim.name] = .claim(claim)
        setPointers(claim)
        probe(claim, at: now)
        return claim.id
    }

    /// The service as it is advertised now; nil when it is not any more.
    func record(_ id: Int) -> ServiceRecord? { (claims[id] as? ServiceClaim)?.record }

    func isEstablished(_ id: Int) -> Bool { claims[id]?.state == .established }

    /// Changes everything but the name.
    func update(_ id: Int, _ record: ServiceRecord, at now: Milliseconds) {
        guard let claim = claims[id] as? ServiceClaim else { return }
        let before = claim.record
        claim.record = record
        claim.record.name = before.name
        guard claim.record != before else { return }
        if record.host != before.host {
            let old = claim.host
            claim.host = use(record.host, at: now)
            release(old)
        }
        let oldPointers = claim.pointers
        setPointers(claim)
        guard claim.state == .established else { return }
        let gone = oldPointers.filter { old in !claim.pointers.contains { $0 === old } }
        if !gone.isEmpty { goodbye(gone.map { claim.pointer($0.name) }) }
        announce([claim], at: max(now, (claim.lastAnnounced ?? .min / 2) + 1000))
    }

    /// Withdraws a service; the goodbye leaves at the next poll.
    func remove(_ id: Int) {
        guard let claim = claims[id] as? ServiceClaim else { return }
        // Without PTR and SRV nobody has a use for the TXT record, and a fleet's goodbye takes a third less.
        if claim.state == .established { goodbye(claim.everything().filter { $0.type != RecordType.txt }) }
        drop(claim)
    }

    /// Withdraws everything.
    func removeAll() {
        for id in claims.keys.sorted() { remove(id) }
    }

    /// Forgets a service without a word.
    func drop(_ claim: ServiceClaim) {
        claims[claim.id] = nil
        claim.generation += 1
        unindex(claim)
        for set in claim.pointers { leave(set, claim) }
        claim.pointers = []
        release(claim.host)
    }

    func unindex(_ claim: Claim) {
        if case .claim(let owner)? = index[claim.name], owner === claim { index[claim.name] = nil }
    }

    private func leave(_ set: PointerSet, _ claim: ServiceClaim) {
        set.remove(claim)
        guard set.claims.isEmpty else { return }
        index[set.name] = nil
        types[set.id] = nil
    }

    /// Enters the claim under its type and subtypes, and takes it out where it was before.
    private func setPointers(_ claim: ServiceClaim) {
        let type = claim.record.name.type
        let names = [DomainName(type)] + claim.record.subtypes.map { DomainName(type, subtype: $0) }
        var sets: [PointerSet] = []
        for (i, name) in names.enumerated() {
            let set = pointerSet(name, isType: i == 0)
            if sets.contains(where: { $0 === set }) { continue }
            set.insert(claim)
            sets.append(set)
        }
        for set in claim.pointers where !sets.contains(where: { $0 === set }) { leave(set, claim) }
        claim.pointers = sets
    }

    private func pointerSet(_ name: DomainName, isType: Bool) -> PointerSet {
        if case .pointers(let set)? = index[name] { return set }
        let set = PointerSet(id: nextID(), name: name, isType: isType)
        index[name] = .pointers(set)
        if isType { types[set.id] = set }
        return set
    }

    private func goodbye(_ records: [ResourceRecord]) {
        goodbyes.append(
            PacketPart(
                answers: records.map {
                    var record = $0
                    record.lifetime = 0
                    return record
                }))
    }

    // MARK: Hosts

    private func use(_ wanted: ServiceHost?, at now: Milliseconds) -> HostClaim {
        let claim: HostClaim
        if let known = wanted == nil ? ownHost : wanted.flatMap({ hosts[$0] }) {
            claim = known
        } else {
            claim = HostClaim(id: nextID(), label: wanted?.name ?? ownHostLabel, addresses: wanted?.addresses)
            claims[claim.id] = claim
            if let wanted { hosts[wanted] = claim } else { ownHost = claim }
            // Two hosts of our own with one name: the second is renamed when its probes meet the first.
            if index[claim.name] == nil { index[claim.name] = .claim(claim) } else { relabel(claim) }
            probe(claim, at: now)
        }
        claim.uses += 1
        return claim
    }

    private func release(_ host: HostClaim) {
        host.uses -= 1
        guard host.uses == 0 else { return }
        if host.state == .established { goodbye(host.records(on: host.fixedAddresses ?? [])) }
        host.generation += 1
        claims[host.id] = nil
        unindex(host)
        if ownHost === host { ownHost = nil }
        if let key = hosts.first(where: { $0.value === host })?.key { hosts[key] = nil }
    }

    /// Gives a host another name; services that point to it are announced anew once the name is established.
    func relabel(_ host: HostClaim) {
        unindex(host)
        var number = 1
        repeat {
            number += 1
            host.label = host.fixedAddresses == nil ? newHostLabel() : "\(host.label.prefix(56))-\(number)"
            host.name = DomainName.local.prefixed(host.label)
        } while index[host.name] != nil && number < 1000
        if host.fixedAddresses == nil { ownHostLabel = host.label }
        index[host.name] = .claim(host)
    }

    // MARK: Links

    /// Tells which links there are, with the addresses of their interfaces.
    func setLinks(_ wanted: [LinkID: [IPAddress]], at now: Milliseconds) {
        for link in links.keys where wanted[link] == nil {
            links[link] = nil
            probes.removeAll { $0.link == link }
            announcements.removeAll { $0.link == link }
            truncated = truncated.filter { $0.key.link != link }
        }
        let established = claims.keys.sorted().compactMap { claims[$0] }.filter { $0.state == .established }
        for (link, addresses) in wanted.sorted(by: { $0.key < $1.key }) {
            if let state = links[link] {
                guard state.addresses != addresses else { continue }
                links[link]?.addresses = addresses
                if let ownHost, ownHost.state == .established, state.ready { announce([ownHost], at: now, link: link) }
            } else {
                links[link] = LinkState(addresses: addresses, ready: established.isEmpty)
                guard !established.isEmpty else { continue }
                let members = established.map { Member(claim: $0, generation: $0.generation) }
                probes.append(ProbeBatch(members: members, due: now + random(0...250), link: link))
            }
        }
    }

    func withLink(_ link: LinkID, _ body: (inout LinkState) -> Void) {
        guard var state = links.removeValue(forKey: link) else { return }
        body(&state)
        links[link] = state
    }

    // MARK: Time

    /// When `poll` is to be called next; nil when nothing waits.
    var deadline: Milliseconds? {
        if !outbox.isEmpty || !goodbyes.isEmpty { return .min }
        let dues =
            probes.map(\.due) + announcements.map(\.due) + truncated.values.map(\.due) + links.values.compactMap(\.pendingDue)
        return dues.min()
    }

    /// What is to be sent by now.
    func poll(at now: Milliseconds) -> [Outgoing] {
        runProbes(at: now)
        runAnnouncements(at: now)
        runTruncated(at: now)
        for link in links.keys.sorted() { flush(link, at: now) }
        sayGoodbye()
        defer { outbox = [] }
        return outbox
    }

    /// What is to be told, to be called when the responder is at rest.
    func takeEvents() -> [() -> Void] {
        defer { events = [] }
        return events
    }

    private func sayGoodbye() {
        guard !goodbyes.isEmpty else { return }
        let packets = PacketPacker(flags: [.response, .authoritative]).pack(goodbyes)
        goodbyes = []
        for (link, state) in links.sorted(by: { $0.key < $1.key }) where state.ready {
            outbox += packets.map { Outgoing(link: link, to: nil, bytes: $0) }
        }
    }
}
