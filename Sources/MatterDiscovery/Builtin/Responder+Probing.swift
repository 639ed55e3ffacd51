import HearthIO

/// Probing, conflicts and announcing (RFC 6762, 8 and 9).
extension Responder {
    /// Puts a claim among those that are about to be probed for, or after `delay` into a batch of its own.
    func probe(_ claim: Claim, at now: Milliseconds, delay: Milliseconds? = nil) {
        claim.state = .probing
        claim.generation += 1
        let member = Member(claim: claim, generation: claim.generation)
        if delay == nil, let i = probes.firstIndex(where: { $0.sent == 0 && $0.link == nil && $0.due >= now }) {
            probes[i].members.append(member)
        } else {
            probes.append(ProbeBatch(members: [member], due: now + (delay ?? random(0...250))))
        }
    }

    /// Tells everybody a claim's records, twice, a second apart.
    func announce(_ claims: [Claim], at due: Milliseconds, link: LinkID? = nil) {
        let members = claims.map { Member(claim: $0, generation: $0.generation) }
        if let i = announcements.firstIndex(where: { $0.left == 2 && $0.due == due && $0.link == link }) {
            announcements[i].members += members
        } else {
            announcements.append(AnnounceBatch(members: members, due: due, link: link))
        }
    }

    func runProbes(at now: Milliseconds) {
        while let i = probes.firstIndex(where: { $0.due <= now }) {
            var batch = probes.remove(at: i)
            batch.members.removeAll { !$0.isCurrent }
            guard !batch.members.isEmpty || batch.link != nil else { continue }
            if batch.sent == 3 {
                finish(batch, at: now)
                continue
            }
            sendProbes(batch)
            batch.sent += 1
            batch.due = now + 250
            probes.append(batch)
        }
    }

    private func sendProbes(_ batch: ProbeBatch) {
        for (link, state) in links.sorted(by: { $0.key < $1.key }) where batch.link == nil || batch.link == link {
            // The bit for unicast answers is not set: port 5353 may be shared with another responder of this machine, and the
            // answer would go to either (RFC 6762, 15.1).
            let parts = batch.members.map { member in
                PacketPart(
                    questions: [Question(name: member.claim.name, type: RecordType.any)],
                    authorities: member.claim.proposal(on: state.addresses).map {
                        var record = $0
                        record.flush = false
                        return record
                    })
            }
            outbox += PacketPacker(flags: []).pack(parts).map { Outgoing(link: link, to: nil, bytes: $0) }
        }
    }

    private func finish(_ batch: ProbeBatch, at now: Milliseconds) {
        if let link = batch.link {
            withLink(link) { $0.ready = true }
            return announce(batch.members.map(\.claim), at: now, link: link)
        }
        var told = batch.members.map(\.claim)
        for claim in told {
            claim.state = .established
            if let service = claim as? ServiceClaim {
                events.append { service.event(.established) }
            } else if let host = claim as? HostClaim {
                // A host that has changed its name: those that point to it must say so.
                let pointing = claims.keys.sorted().compactMap { claims[$0] as? ServiceClaim }.filter { $0.host === host }
                told += pointing.filter { service in
                    service.state == .established && service.lastAnnounced != nil && !told.contains { $0 === service }
                }
            }
        }
        announce(told, at: now)
    }

    func runAnnouncements(at now: Milliseconds) {
        while let i = announcements.firstIndex(where: { $0.due <= now }) {
            var batch = announcements.remove(at: i)
            batch.members.removeAll { !$0.isCurrent || $0.claim.state != .established }
            guard !batch.members.isEmpty else { continue }
            for link in links.keys.sorted() where batch.link == nil || batch.link == link {
                sendAnnouncement(batch, link, at: now)
            }
            for member in batch.members { member.claim.lastAnnounced = now }
            batch.left -= 1
            batch.due = now + 1000
            if batch.left > 0 { announcements.append(batch) }
        }
    }

    private func sendAnnouncement(_ batch: AnnounceBatch, _ link: LinkID, at now: Milliseconds) {
        guard let state = links[link], state.ready else { return }
        var sent: [RecordKey] = []
        let parts = batch.members.map { member -> PacketPart in
            let claim = member.claim
            sent += claim.kinds(on: state.addresses).map { RecordKey(owner: claim.id, kind: $0) }
            guard let service = claim as? ServiceClaim else {
                return PacketPart(answers: claim.records(on: state.addresses))
            }
            sent += service.pointers.indices.map { RecordKey(owner: service.id, kind: .pointer, detail: UInt8(clamping: $0)) }
            var part = PacketPart(answers: service.everything())
            part.common = common(service, state.addresses)
            return part
        }
        withLink(link) { state in
            for key in sent {
                state.pending[key] = nil
                state.lastSent[key] = now
            }
        }
        let packets = PacketPacker(flags: [.response, .authoritative]).pack(parts)
        outbox += packets.map { Outgoing(link: link, to: nil, bytes: $0) }
    }

    /// The records that every packet with this service carries once: its host's.
    func common(_ service: ServiceClaim, _ addresses: [IPAddress]) -> [(id: Int, records: [ResourceRecord])] {
        service.host.state == .established ? [(service.host.id, service.host.additionals(on: addresses))] : []
    }

    // MARK: Conflicts

    /// Somebody else probes for what we probe for: who has the greater records goes on (RFC 6762, 8.2).
    func breakTies(_ message: Message, _ link: LinkState, at now: Milliseconds) {
        let asked = Set(message.questions.map(\.name))
        let theirs = Dictionary(grouping: message.authorities.filter { asked.contains($0.name) }, by: \.name)
        for (name, records) in theirs {
            guard case .claim(let claim)? = index[name], claim.state == .probing else { continue }
            guard !isOurs(claim, records) else { continue }
            if Self.isGreater(records, than: claim.proposal(on: link.addresses)) { probe(claim, at: now, delay: 1000) }
        }
    }

    /// Our own packet of another link, which a bridge may have carried here, is no rival.
    private func isOurs(_ claim: Claim, _ records: [ResourceRecord]) -> Bool {
        guard let host = claim as? HostClaim else { return false }
        return records.allSatisfy { isAddress(of: host, $0.data) }
    }

    private func isAddress(of host: HostClaim, _ data: RecordData) -> Bool {
        guard case .address(let bytes) = data else { return false }
        let own = host.fixedAddresses ?? links.values.flatMap(\.addresses)
        return own.contains { $0.bytes == bytes }
    }

    /// Compares by class, type and data, record for record in that order; more records are greater than fewer.
    static func isGreater(_ theirs: [ResourceRecord], than ours: [ResourceRecord]) -> Bool {
        func sorted(_ records: [ResourceRecord]) -> [[UInt8]] {
            records.map { record in
                [record.recordClass, record.type].flatMap { [UInt8($0 >> 8), UInt8($0 & 0xff)] } + record.comparable
            }.sorted { $0.lexicographicallyPrecedes($1) }
        }
        let (theirs, ours) = (sorted(theirs), sorted(ours))
        for (their, our) in zip(theirs, ours) where their != our { return our.lexicographicallyPrecedes(their) }
        return theirs.count > ours.count
    }

    /// A response says something else about a name than we do.
    func checkConflicts(_ message: Message, _ link: LinkState, at now: Milliseconds) {
        for record in message.answers + message.additionals {
            guard record.lifetime > 0, record.type != RecordType.nsec, case .claim(let claim)? = index[record.name] else {
                continue
            }
            let ours = claim.records(on: link.addresses)
            if ours.contains(where: { $0.type == record.type && $0.data == record.data }) { continue }
            if let host = claim as? HostClaim, isAddress(of: host, record.data) { continue }
            if claim.state == .probing {
                lose(claim, at: now)
            } else if ours.contains(where: { $0.type == record.type }) {
                // Back to probing: whoever has a better right to the name will defend it (RFC 6762, 9).
                count(conflictAt: now)
                probe(claim, at: now)
            }
        }
    }

    /// The name is another's.
    private func lose(_ claim: Claim, at now: Milliseconds) {
        count(conflictAt: now)
        // Fifteen conflicts in ten seconds: somebody answers to everything; go slowly (RFC 6762, 8.1).
        let delay: Milliseconds? = conflicts.count >= 15 ? 5000 : nil
        if let host = claim as? HostClaim {
            relabel(host)
        } else if let service = claim as? ServiceClaim {
            unindex(service)
            guard rename(service) else { return drop(service) }
            while index[service.name] != nil { guard rename(service) else { return drop(service) } }
            index[service.name] = .claim(service)
        }
        probe(claim, at: now, delay: delay)
    }

    private func count(conflictAt now: Milliseconds) {
        conflicts.removeAll { $0 <= now - 10_000 }
        conflicts.append(now)
    }

    /// Gives a service the next name of its policy. False when there is none; its owner is told.
    func rename(_ claim: ServiceClaim) -> Bool {
        let (taken, event) = (claim.record.name, claim.event)
        guard let name = NameConflict.next(taken.instance, claim.policy) else {
            events.append { event(.failed(NameConflict.error(taken))) }
            return false
        }
        claim.record.name.instance = name
        claim.name = DomainName(claim.record.name)
        events.append { event(.renamed(from: taken.instance, to: name)) }
        return true
    }
}
