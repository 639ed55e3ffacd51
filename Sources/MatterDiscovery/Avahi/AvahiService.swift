import CAvahi

/// One service with the daemon: an entry group of its own, which is freed when the service goes.
final class AvahiService: Advertisement {
    private let discovery: AvahiDiscovery
    private(set) var record: ServiceRecord
    private let policy: NameConflictPolicy
    private let event: (AdvertisementEvent) -> Void
    private(set) var connection: (any AvahiConnection)?
    private(set) var group: OpaquePointer?
    private(set) var isWithdrawn = false
    private var renames = 0

    init(
        _ discovery: AvahiDiscovery, _ record: ServiceRecord, _ policy: NameConflictPolicy,
        _ event: @escaping (AdvertisementEvent) -> Void
    ) {
        self.discovery = discovery
        self.record = record
        self.policy = policy
        self.event = event
    }

    /// Tells it to the daemon. False while that is away.
    func publish() throws(DiscoveryError) -> Bool {
        let me = Unmanaged.passUnretained(self).toOpaque()
        guard let made = try discovery.object(for: "\(record.name)", { avahi_entry_group_new($0, avahiGroupChanged, me) }) else {
            return false
        }
        (connection, group) = (made.connection, made.object)
        try fill()
        return true
    }

    /// Puts the records into the empty group and commits it. A name that another service of this machine has is refused at once,
    /// one that another host has later, by a change of the group's state.
    private func fill() throws(DiscoveryError) {
        guard let group else { return }
        let type = record.name.type.name
        while true {
            let list = AvahiText.list(record.text)
            let noFlags = AvahiPublishFlags(rawValue: 0)
            var status = avahi_entry_group_add_service_strlst(
                group, discovery.interface, avahi_any_protocol, noFlags, record.name.instance, type, nil,
                record.host.map { $0.name + ".local" }, record.port, list)
            avahi_string_list_free(list)
            for subtype in record.subtypes where status >= 0 {
                status = avahi_entry_group_add_service_subtype(
                    group, discovery.interface, avahi_any_protocol, noFlags, record.name.instance, type, nil,
                    "\(subtype)._sub.\(type)")
            }
            if status >= 0 { status = avahi_entry_group_commit(group) }
            if status >= 0 { return }
            guard status == AVAHI_ERR_COLLISION else { throw AvahiFailure.error(Int(status), "\(record.name)") }
            avahi_entry_group_reset(group)
            try rename()
        }
    }

    private func rename() throws(DiscoveryError) {
        renames += 1
        let taken = record.name.instance
        guard renames < 100, let name = NameConflict.next(taken, policy) else { throw NameConflict.error(record.name) }
        record.name.instance = name
        tell(.renamed(from: taken, to: name))
    }

    fileprivate func stateChanged(_ state: AvahiEntryGroupState) {
        switch state {
        case AVAHI_ENTRY_GROUP_ESTABLISHED:
            tell(.established)
            discovery.settled(ObjectIdentifier(self))
        case AVAHI_ENTRY_GROUP_COLLISION:
            discovery.later { [self] in
                guard let group else { return }
                avahi_entry_group_reset(group)
                do throws(DiscoveryError) {
                    try rename()
                    try fill()
                } catch { fail(error) }
            }
        case AVAHI_ENTRY_GROUP_FAILURE:
            let code = connection?.error ?? AVAHI_ERR_FAILURE
            discovery.later { [self] in if group != nil { fail(AvahiFailure.error(code, "\(record.name)")) } }
        default: break
        }
    }

    /// Events never come from inside a call.
    private func tell(_ said: AdvertisementEvent) {
        discovery.later { [self] in if !isWithdrawn { event(said) } }
    }

    /// It is not advertised any more, and its owner is told; unless the daemon has gone, which it will be told anew when it is back.
    func fail(_ error: DiscoveryError) {
        guard !isWithdrawn else { return }
        if error.code == .daemonUnavailable { return detach() }
        let event = event
        discovery.later { event(.failed(error)) }
        withdraw()
    }

    /// Frees the group, unless it is gone with its connection.
    func detach() {
        if let group { connection?.free(group, avahi_entry_group_free) }
        group = nil
        connection = nil
        discovery.settled(ObjectIdentifier(self))
    }

    func update(_ new: ServiceRecord) throws(DiscoveryError) {
        try new.validate()
        guard !isWithdrawn else { return }
        let before = record
        record = new
        record.name = before.name
        guard let group, record != before else { return }
        if record.host != before.host {
            if let host = record.host { try discovery.use(host, for: self) }
            if let host = before.host { discovery.release(host, by: self) }
        }
        var onlyText = before
        onlyText.text = record.text
        if onlyText == record {
            let list = AvahiText.list(record.text)
            let status = avahi_entry_group_update_service_txt_strlst(
                group, discovery.interface, avahi_any_protocol, AvahiPublishFlags(rawValue: 0), record.name.instance,
                record.name.type.name, nil, list)
            avahi_string_list_free(list)
            if status >= 0 { return }
        }
        avahi_entry_group_reset(group)
        do throws(DiscoveryError) { try fill() } catch { fail(error) }
    }

    func withdraw() {
        guard !isWithdrawn else { return }
        isWithdrawn = true
        detach()
        discovery.forget(self)
    }
}

private func avahiGroupChanged(_ group: OpaquePointer?, _ state: AvahiEntryGroupState, _ userdata: UnsafeMutableRawPointer?) {
    guard let userdata else { return }
    Unmanaged<AvahiService>.fromOpaque(userdata).takeUnretainedValue().stateChanged(state)
}
