import CAvahi

/// One service with the daemon: an entry group of its own, which is freed when the service goes.
final class AvahiService: Advertisement {
    private let discovery: AvahiDiscovery
    private(set) var record: ServiceRecord
    private let policy: NameConflictPolicy
    private let event: (AdvertisementEvent) -> Void
    private(set) var connection: AvahiConnection?
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

    func publish(on connection: AvahiConnection) throws(DiscoveryError) {
        let me = Unmanaged.passUnretained(self).toOpaque()
        guard let group = avahi_entry_group_new(connection.client, avahiGroupChanged, me) else {
            throw AvahiFailure.error(connection.error, "\(record.name)")
        }
        self.group = group
        self.connection = connection
        connection.objects += 1
        try fill()
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
        case AVAHI_ENTRY_GROUP_ESTABLISHED: tell(.established)
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

    /// It is not advertised any more, and its owner is told.
    func fail(_ error: DiscoveryError) {
        guard !isWithdrawn else { return }
        let event = event
        discovery.later { event(.failed(error)) }
        withdraw()
    }

    /// The group is gone with its connection, or is to be freed on a connection that is still there.
    func detach(freeing: Bool) {
        if freeing, let group { avahi_entry_group_free(group) }
        group = nil
        connection = nil
    }

    func update(_ new: ServiceRecord) throws(DiscoveryError) {
        try new.validate()
        guard !isWithdrawn else { return }
        let before = record
        record = new
        record.name = before.name
        guard let group, let connection, record != before else { return }
        if record.host != before.host {
            if let host = record.host { try discovery.use(host, connection) }
            if let host = before.host { discovery.release(host) }
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
        connection?.objects -= 1
        detach(freeing: true)
        discovery.forget(self)
    }
}

private func avahiGroupChanged(_ group: OpaquePointer?, _ state: AvahiEntryGroupState, _ userdata: UnsafeMutableRawPointer?) {
    guard let userdata else { return }
    Unmanaged<AvahiService>.fromOpaque(userdata).takeUnretainedValue().stateChanged(state)
}
