import HearthIO

/// Questions and what becomes of them (RFC 6762, 6 and 7).
extension Responder {
    /// Takes a packet that came in on a link.
    func handle(_ message: Message, from source: PacketSource, at now: Milliseconds) {
        guard message.flags.isDisjoint(with: .operationAndCode), let link = links[source.link] else { return }
        if message.flags.contains(.response) {
            // Answers come from port 5353 only (RFC 6762, 11).
            guard source.address.port == MulticastDNS.port else { return }
            checkConflicts(message, link, at: now)
            forget(message, source.link)
        } else {
            if !message.authorities.isEmpty { breakTies(message, link, at: now) }
            if link.ready { handleQuery(message, source, link, at: now) }
        }
    }

    private func handleQuery(_ message: Message, _ source: PacketSource, _ link: LinkState, at now: Milliseconds) {
        guard source.address.port == MulticastDNS.port else { return answerLegacy(message, source, link) }
        let isTruncated = message.flags.contains(.truncated)
        if message.questions.isEmpty { return handleKnownAnswers(message, source, isTruncated, at: now) }
        var multicast: Set<RecordKey> = []
        var unicast: Set<RecordKey> = []
        var shared = false
        for question in message.questions {
            let (keys, isShared) = answers(to: question, link)
            for key in keys {
                if question.unicast, wasRecentlyAnnounced(key, at: now) { unicast.insert(key) } else { multicast.insert(key) }
            }
            if isShared { shared = true }
        }
        if multicast.isEmpty && unicast.isEmpty { return }
        let known = knownKeys(message.answers, link)
        multicast.subtract(known)
        unicast.subtract(known)
        if !unicast.isEmpty {
            let packets = PacketPacker(flags: [.response, .authoritative]).pack(parts(unicast, link))
            outbox += packets.map { Outgoing(link: source.link, to: source.address, bytes: $0) }
        }
        if isTruncated, truncated.count < 256 {
            let earlier = truncated[source]?.keys ?? []
            truncated[source] = TruncatedQuery(keys: multicast.union(earlier), due: now + random(400...500))
        } else {
            let isProbe = !message.authorities.isEmpty
            // Whoever is the only one who can answer does so at once (RFC 6762, 6).
            let due = shared && !isProbe ? now + random(20...120) : now
            schedule(multicast, at: due, interval: isProbe ? 250 : 1000, source.link)
        }
    }

    /// More known answers to a truncated query.
    private func handleKnownAnswers(_ message: Message, _ source: PacketSource, _ isTruncated: Bool, at now: Milliseconds) {
        guard var query = truncated[source], let link = links[source.link] else { return }
        query.keys.subtract(knownKeys(message.answers, link))
        if isTruncated { query.due = now + random(400...500) }
        truncated[source] = query
    }

    func runTruncated(at now: Milliseconds) {
        for (source, query) in truncated where query.due <= now {
            truncated[source] = nil
            schedule(query.keys, at: now, interval: 1000, source.link)
        }
    }

    // MARK: Which records

    /// What answers a question, and whether others may have answers too.
    private func answers(to question: Question, _ link: LinkState) -> (keys: [RecordKey], shared: Bool) {
        guard question.questionClass == 1 || question.questionClass == 255 else { return ([], false) }
        let wantsPointers = question.type == RecordType.ptr || question.type == RecordType.any
        switch index[question.name] {
        case .claim(let claim):
            guard claim.state == .established else { return ([], false) }
            let kinds = claim.kinds(on: link.addresses).filter {
                question.type == RecordType.any || Self.type($0) == question.type
            }
            // The name is ours, so that we know what it does not have.
            return ((kinds.isEmpty ? [.nsec] : kinds).map { RecordKey(owner: claim.id, kind: $0) }, false)
        case .pointers(let set):
            guard wantsPointers else { return ([], true) }
            return (set.claims.filter { $0.state == .established }.compactMap { $0.pointerKey(set) }, true)
        case nil:
            guard wantsPointers, question.name == .serviceTypes else { return ([], false) }
            let listed = types.values.filter { $0.claims.contains { $0.state == .established } }
            return (listed.map { RecordKey(owner: $0.id, kind: .serviceType) }, true)
        }
    }

    private static func type(_ kind: RecordKey.Kind) -> UInt16 {
        switch kind {
        case .pointer, .serviceType: RecordType.ptr
        case .service: RecordType.srv
        case .text: RecordType.txt
        case .addresses4: RecordType.a
        case .addresses6: RecordType.aaaa
        case .nsec: RecordType.nsec
        }
    }

    /// Those of our records that the asker has, with at least half their lifetime left (RFC 6762, 7.1).
    private func knownKeys(_ answers: [ResourceRecord], _ link: LinkState) -> Set<RecordKey> {
        var keys: Set<RecordKey> = []
        for answer in answers {
            guard let (key, lifetime) = key(of: answer, link), answer.lifetime >= lifetime / 2 else { continue }
            keys.insert(key)
        }
        return keys
    }

    /// Which of our records this is, and its lifetime with us.
    private func key(of record: ResourceRecord, _ link: LinkState) -> (RecordKey, UInt32)? {
        switch (index[record.name], record.data) {
        case (.pointers(let set), .pointer(let target)):
            guard case .claim(let claim)? = index[target], let service = claim as? ServiceClaim else { return nil }
            return service.pointerKey(set).map { ($0, MulticastDNS.lifetime) }
        case (.claim(let claim), _):
            for kind in claim.kinds(on: link.addresses) where Self.type(kind) == record.type {
                let key = RecordKey(owner: claim.id, kind: kind)
                let ours = claim.records(key, on: link.addresses)
                // Of several addresses one may be unknown: they are answered together.
                guard ours.count == 1, let first = ours.first, first.data == record.data else { return nil }
                return (key, first.lifetime)
            }
            return nil
        case (nil, .pointer(let target)) where record.name == .serviceTypes:
            guard case .pointers(let set)? = index[target], set.isType else { return nil }
            return (RecordKey(owner: set.id, kind: .serviceType), MulticastDNS.lifetime)
        default: return nil
        }
    }

    private func records(_ key: RecordKey, _ link: LinkState) -> [ResourceRecord] {
        if key.kind == .serviceType { return types[key.owner].map { [$0.typeRecord] } ?? [] }
        guard let claim = claims[key.owner], claim.state == .established else { return [] }
        return claim.records(key, on: link.addresses)
    }

    /// The answers with what will be asked for next (RFC 6763, 12).
    private func parts(_ keys: Set<RecordKey>, _ link: LinkState) -> [PacketPart] {
        keys.sorted().compactMap { key in
            var part = PacketPart(answers: records(key, link))
            guard !part.answers.isEmpty else { return nil }
            guard let claim = claims[key.owner] else { return part }
            if let service = claim as? ServiceClaim, key.kind != .nsec, key.kind != .text {
                if key.kind == .pointer, isFirstPointer(key, in: keys) {
                    for kind in [RecordKey.Kind.service, .text] where !keys.contains(RecordKey(owner: key.owner, kind: kind)) {
                        part.additionals += service.records(RecordKey(owner: key.owner, kind: kind), on: link.addresses)
                    }
                }
                part.common = common(service, link.addresses)
            } else if let host = claim as? HostClaim, key.kind != .nsec {
                let others = host.kinds(on: link.addresses).filter { !keys.contains(RecordKey(owner: host.id, kind: $0)) }
                part.additionals = others.flatMap { host.records(RecordKey(owner: host.id, kind: $0), on: link.addresses) }
                part.additionals += host.records(RecordKey(owner: host.id, kind: .nsec), on: link.addresses)
            }
            return part
        }
    }

    /// A service that is asked for under several of its subtypes brings its records once.
    private func isFirstPointer(_ key: RecordKey, in keys: Set<RecordKey>) -> Bool {
        !(0..<key.detail).contains { keys.contains(RecordKey(owner: key.owner, kind: .pointer, detail: $0)) }
    }

    // MARK: When

    /// Within a quarter of the lifetime: then a unicast answer will do (RFC 6762, 5.4).
    private func wasRecentlyAnnounced(_ key: RecordKey, at now: Milliseconds) -> Bool {
        guard let last = claims[key.owner]?.lastAnnounced else { return false }
        let isHosts = key.kind == .service || key.kind == .addresses4 || key.kind == .addresses6 || key.kind == .nsec
        return now - last < Milliseconds(isHosts ? MulticastDNS.hostLifetime : MulticastDNS.lifetime) * 250
    }

    private func schedule(_ keys: Set<RecordKey>, at due: Milliseconds, interval: Milliseconds, _ link: LinkID) {
        guard !keys.isEmpty else { return }
        withLink(link) { state in
            for key in keys {
                // Not again within a second (RFC 6762, 6), nor twice.
                let allowed = max(due, (state.lastSent[key] ?? .min / 2) + interval)
                let time = min(allowed, state.pending[key] ?? .max)
                state.pending[key] = time
                state.pendingDue = min(state.pendingDue ?? .max, time)
            }
        }
    }

    func flush(_ id: LinkID, at now: Milliseconds) {
        guard let due = links[id]?.pendingDue, due <= now else { return }
        withLink(id) { link in
            let keys = Set(link.pending.filter { $0.value <= now }.keys)
            if keys.count == link.pending.count { link.pending = [:] } else { for key in keys { link.pending[key] = nil } }
            link.pendingDue = link.pending.values.min()
            let parts = parts(keys, link)
            if !parts.isEmpty {
                outbox += PacketPacker(flags: [.response, .authoritative]).pack(parts).map {
                    Outgoing(link: id, to: nil, bytes: $0)
                }
            }
            link.lastSent = link.lastSent.filter { $0.value > now - 1000 }
            for key in keys { link.lastSent[key] = now }
        }
    }

    /// Another responder has just said what we were about to say (RFC 6762, 7.4). Of our records only the list of service types
    /// can be another's too.
    private func forget(_ message: Message, _ id: LinkID) {
        guard let link = links[id], !link.pending.isEmpty else { return }
        for record in message.answers where record.name == .serviceTypes {
            guard let (key, lifetime) = key(of: record, link), record.lifetime >= lifetime else { continue }
            withLink(id) { $0.pending[key] = nil }
        }
    }

    /// An ordinary resolver asked from a port of its own: it gets an ordinary DNS answer (RFC 6762, 6.7).
    private func answerLegacy(_ message: Message, _ source: PacketSource, _ link: LinkState) {
        var keys: Set<RecordKey> = []
        for question in message.questions { keys.formUnion(answers(to: question, link).keys) }
        guard !keys.isEmpty else { return }
        func ordinary(_ records: [ResourceRecord]) -> [ResourceRecord] {
            records.map {
                var record = $0
                record.flush = false
                record.lifetime = min(record.lifetime, 10)
                return record
            }
        }
        let questions = message.questions.map { Question(name: $0.name, type: $0.type, questionClass: $0.questionClass) }
        let parts = parts(keys, link).map { part in
            PacketPart(
                answers: ordinary(part.answers), additionals: ordinary(part.additionals),
                common: part.common.map { ($0.id, ordinary($0.records)) })
        }
        let packer = PacketPacker(flags: [.response, .authoritative])
        let header = PacketPart(questions: questions)
        var fitting = parts.count
        while true {
            let flags = fitting < parts.count ? packer.flags.union(.truncated) : packer.flags
            let bytes = packer.write([header] + parts[..<fitting], id: message.id, flags: flags, legacy: true)
            if bytes.count <= packer.limit || fitting <= 1 {
                outbox.append(Outgoing(link: source.link, to: source.address, bytes: bytes))
                return
            }
            fitting = max(1, min(fitting - 1, fitting * packer.limit / bytes.count))
        }
    }
}
