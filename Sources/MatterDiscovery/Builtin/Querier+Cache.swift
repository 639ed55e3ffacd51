import HearthIO

/// Answers and how they age (RFC 6762, 10).
extension Querier {
    func handle(_ message: Message, from source: PacketSource, at now: Milliseconds) {
        guard message.flags.contains(.response), message.flags.isDisjoint(with: .operationAndCode),
            source.address.port == MulticastDNS.port
        else { return }
        let records = message.answers + message.additionals
        let interface = source.link.interface
        // In this order, so that what a record leads to in the same message is kept whatever the order there.
        for record in records { if case .pointer(let target) = record.data { pointer(record, target, interface, at: now) } }
        for record in records {
            switch record.data {
            case .service(_, _, let port, let target):
                location(record, Location(host: target, port: port), interface, at: now)
            case .text(let bytes): text(record, bytes, interface, at: now)
            default: continue
            }
        }
        var flushed: Set<DomainName> = []
        for record in records {
            if case .address(let bytes) = record.data { address(record, bytes, interface, at: now, &flushed) }
        }
        evaluateDirty(at: now)
    }

    private func pointer(_ record: ResourceRecord, _ target: DomainName, _ interface: UInt32, at now: Milliseconds) {
        guard let question = questions[record.name] else { return }
        let isKnown = question.pointers[target]?[interface] != nil
        guard isKnown || (record.lifetime > 0 && question.pointers.count < Self.maximumInstances) else { return }
        if let instance = instances[target] {
            if !instance.questions.contains(where: { $0 === question }) {
                instance.questions.append(question)
                dirty[target] = instance
            }
        } else {
            guard target.parent == DomainName(question.type), let label = target.firstLabel else { return }
            // The rest is mostly on its way: it is asked for if it has not come in a moment.
            let instance = enter(target, ServiceName(label, question.type), askAt: now + 100 + random(0...20))
            instance.questions.append(question)
        }
        let cached = CachedRecord(true, lifetime: record.lifetime, at: now, random)
        question.pointers[target, default: [:]][interface] = cached
        schedule(question, Self.rounded(cached.nextEvent))
    }

    private func location(_ record: ResourceRecord, _ location: Location, _ interface: UInt32, at now: Milliseconds) {
        guard let instance = instances[record.name] else { return }
        let before = instance.locations[interface]
        guard before != nil || record.lifetime > 0 else { return }
        // The goodbye of a record that has been replaced meanwhile concerns nobody.
        if record.lifetime == 0, before?.value != location { return }
        let cached = CachedRecord(location, lifetime: record.lifetime, at: now, random)
        instance.locations[interface] = cached
        schedule(instance, Self.rounded(cached.nextEvent))
        if before?.value == location, before?.isLive(at: now) == true { return }
        dirty[instance.name] = instance
        updateHosts(instance, at: now)
    }

    private func text(_ record: ResourceRecord, _ bytes: [UInt8], _ interface: UInt32, at now: Milliseconds) {
        guard let instance = instances[record.name] else { return }
        let before = instance.texts[interface]
        guard before != nil || record.lifetime > 0 else { return }
        if record.lifetime == 0, before?.value != bytes { return }
        let cached = CachedRecord(bytes, lifetime: record.lifetime, at: now, random)
        instance.texts[interface] = cached
        schedule(instance, Self.rounded(cached.nextEvent))
        if before?.value != bytes || before?.isLive(at: now) != true { dirty[instance.name] = instance }
    }

    private func address(
        _ record: ResourceRecord, _ bytes: [UInt8], _ interface: UInt32, at now: Milliseconds, _ flushed: inout Set<DomainName>
    ) {
        guard let host = hosts[record.name] else { return }
        var records = host.addresses[interface] ?? [:]
        let before = records[bytes]
        guard before != nil || (record.lifetime > 0 && records.count < Self.maximumAddresses) else { return }
        if record.flush, record.lifetime > 0, flushed.insert(record.name).inserted {
            for address in records.keys where address.count == bytes.count { records[address]?.flush(at: now) }
        }
        let cached = CachedRecord(true, lifetime: record.lifetime, at: now, random)
        records[bytes] = cached
        host.addresses[interface] = records
        let next = records.values.map(\.nextEvent).min() ?? cached.nextEvent
        schedule(host, Self.rounded(next))
        if before?.isLive(at: now) != true { for (name, instance) in host.instances { dirty[name] = instance } }
    }

    /// Keeps the hosts that the instance's SRV records name, and no others.
    private func updateHosts(_ instance: Instance, at now: Milliseconds) {
        let wanted = Set(instance.locations.values.map(\.value.host))
        for name in instance.hosts where !wanted.contains(name) { release(name, instance) }
        for name in wanted {
            if let host = hosts[name] {
                host.instances[instance.name] = instance
                continue
            }
            let host = Host(name, asking: Asking(due: now + 100 + random(0...20)))
            host.instances[instance.name] = instance
            hosts[name] = host
            schedule(host, host.asking.due)
        }
        instance.hosts = Array(wanted)
    }

    // MARK: Ageing

    /// Up to the next quarter of a second: what is due at nearly the same time shares a packet.
    private static func rounded(_ due: Milliseconds) -> Milliseconds { (due + 249) / 250 * 250 }

    /// Looks at an object again at `due`, unless that happens earlier anyway.
    func schedule(_ object: Ageing, _ due: Milliseconds) {
        guard due < object.scheduled else { return }
        object.scheduled = due
        sweeps.push(object, due: due)
    }

    func runSweeps(at now: Milliseconds) {
        while let (object, due) = sweeps.pop(by: now) {
            // An entry that an earlier one has replaced.
            guard !object.isDropped, object.scheduled == due else { continue }
            object.scheduled = .max
            var next: Milliseconds = .max
            switch object {
            case let question as PointerQuestion: next = sweep(question, at: now)
            case let instance as Instance: next = sweep(instance, at: now)
            case let host as Host: next = sweep(host, at: now)
            default: break
            }
            if next < .max { schedule(object, max(next, now + 1)) }
        }
    }

    /// Drops what has expired, counts what is to be asked for again, and says when to look next.
    private func age<Key, Value>(
        _ records: inout [Key: CachedRecord<Value>], at now: Milliseconds
    ) -> (expired: Int, refresh: [Key], next: Milliseconds) {
        var (expired, refresh, next) = (0, [Key](), Milliseconds.max)
        for (key, record) in records {
            var record = record
            guard record.isLive(at: now) else {
                records[key] = nil
                expired += 1
                continue
            }
            if record.takeRefresh(at: now) {
                refresh.append(key)
                records[key] = record
            }
            next = min(next, Self.rounded(record.nextEvent))
        }
        return (expired, refresh, next)
    }

    private func sweep(_ question: PointerQuestion, at now: Milliseconds) -> Milliseconds {
        var next: Milliseconds = .max
        for (name, records) in question.pointers {
            var records = records
            let aged = age(&records, at: now)
            if !aged.refresh.isEmpty { question.due = min(question.due, now) }
            next = min(next, aged.next)
            if aged.expired > 0 || !aged.refresh.isEmpty { question.pointers[name] = records.isEmpty ? nil : records }
            if records.isEmpty { lose(name, question) }
        }
        return next
    }

    private func lose(_ name: DomainName, _ question: PointerQuestion) {
        guard let instance = instances[name] else { return }
        instance.questions.removeAll { $0 === question }
        for search in question.searches { tell(search, instance, nil) }
        dropIfUnwanted(instance)
    }

    private func sweep(_ instance: Instance, at now: Milliseconds) -> Milliseconds {
        let locations = age(&instance.locations, at: now)
        let texts = age(&instance.texts, at: now)
        if locations.expired > 0 { updateHosts(instance, at: now) }
        if locations.expired + texts.expired > 0 { dirty[instance.name] = instance }
        if !locations.refresh.isEmpty { asks.insert(Question(name: instance.name, type: RecordType.srv)) }
        if !texts.refresh.isEmpty { asks.insert(Question(name: instance.name, type: RecordType.txt)) }
        var missing: [UInt16] = []
        if instance.locations.isEmpty { missing.append(RecordType.srv) }
        if instance.texts.isEmpty { missing.append(RecordType.txt) }
        let ask = askFor(missing, instance.name, &instance.asking, at: now)
        return min(locations.next, texts.next, ask)
    }

    private func sweep(_ host: Host, at now: Milliseconds) -> Milliseconds {
        var next: Milliseconds = .max
        var missing: [UInt16] = [RecordType.a, RecordType.aaaa]
        for (interface, records) in host.addresses {
            var records = records
            let aged = age(&records, at: now)
            host.addresses[interface] = records.isEmpty ? nil : records
            next = min(next, aged.next)
            if aged.expired > 0 { for (name, instance) in host.instances { dirty[name] = instance } }
            for address in aged.refresh {
                asks.insert(Question(name: host.name, type: address.count == 4 ? RecordType.a : RecordType.aaaa))
            }
            if !records.isEmpty { missing = [] }
        }
        return min(next, askFor(missing, host.name, &host.asking, at: now))
    }

    /// Asks for records that are not there, and says when to do it again.
    private func askFor(_ types: [UInt16], _ name: DomainName, _ asking: inout Asking, at now: Milliseconds) -> Milliseconds {
        guard !types.isEmpty else {
            asking = Asking(due: now)
            return .max
        }
        if asking.due <= now {
            for type in types { asks.insert(Question(name: name, type: type)) }
            asking.next(now)
        }
        return asking.due
    }
}
