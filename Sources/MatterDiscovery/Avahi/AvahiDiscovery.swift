import CAvahi
import Glibc
import HearthIO

/// The `avahi` back end: libavahi-client and the system's daemon. On the loop's thread.
final class AvahiDiscovery: ServiceAdvertiser, ServiceBrowser {
    let loop: EventLoop
    /// The interface to use; `avahi_any_interface` for all.
    let interface: AvahiIfIndex
    private let events: AvahiEventLoop
    private var connections: [AvahiConnection] = []
    private var services: [ObjectIdentifier: AvahiService] = [:]
    private var order: [ObjectIdentifier] = []
    private var searches: [ObjectIdentifier: AvahiSearch] = [:]
    /// Hosts that services bring with them, each in a group of its own, since several services may share one.
    private var hosts: [ServiceHost: (group: OpaquePointer, connection: AvahiConnection, uses: Int)] = [:]
    private var isStopped = false
    private var isRepairing = false

    /// - Throws: `DiscoveryError`: no daemon, or no such interface.
    init(loop: EventLoop, interface: String?) throws(DiscoveryError) {
        self.loop = loop
        events = AvahiEventLoop(loop: loop)
        if let interface {
            let index = if_nametoindex(interface)
            guard index > 0 else { throw DiscoveryError(.noInterface, "there is no network interface '\(interface)'") }
            self.interface = AvahiIfIndex(index)
        } else {
            self.interface = avahi_any_interface
        }
        adopt(try AvahiConnection(events, waits: false))
    }

    private func adopt(_ connection: AvahiConnection) {
        connections.append(connection)
        connection.changed = { [weak self] in self?.later { self?.repair() } }
    }

    /// Runs `body` when the library is not running.
    func later(_ body: @escaping () -> Void) { loop.schedule(after: .zero, body) }

    // MARK: Connections

    /// A connection with room for another object; nil while the daemon is away.
    func connection() throws(DiscoveryError) -> AvahiConnection? {
        if let free = connections.first(where: { $0.isRunning && $0.objects < AvahiConnection.maximumObjects }) { return free }
        guard connections.allSatisfy(\.isRunning), !connections.isEmpty else { return nil }
        let another = try AvahiConnection(events, waits: false)
        adopt(another)
        return another.isRunning ? another : nil
    }

    /// The daemon has come, or has gone: what it forgot is told to it again as soon as it is there.
    private func repair() {
        guard !isStopped else { return }
        for failed in connections where failed.hasFailed || !failed.isRunning {
            for service in services.values where service.connection === failed { service.detach(freeing: !failed.hasFailed) }
            for search in searches.values where search.connection === failed { search.detach(freeing: !failed.hasFailed) }
            for (host, known) in hosts where known.connection === failed {
                if !failed.hasFailed { avahi_entry_group_free(known.group) }
                hosts[host] = nil
            }
            failed.objects = 0
        }
        connections.removeAll {
            if $0.hasFailed { $0.close() }
            return $0.hasFailed
        }
        if connections.isEmpty {
            // NO_FAIL: waits on D-Bus for the daemon. Without D-Bus there is nothing to wait on but time.
            if let connection = try? AvahiConnection(events, waits: true) { adopt(connection) } else { return repairLater() }
        }
        guard connections.contains(where: \.isRunning) else { return }
        for id in order { if let service = services[id], service.group == nil { publish(service) } }
        for search in searches.values where search.connection == nil { begin(search) }
    }

    private func repairLater() {
        guard !isRepairing else { return }
        isRepairing = true
        loop.schedule(after: .seconds(2)) { [weak self] in
            self?.isRepairing = false
            self?.repair()
        }
    }

    // MARK: Services

    func advertise(
        _ record: ServiceRecord, onConflict policy: NameConflictPolicy, _ event: @escaping (AdvertisementEvent) -> Void
    ) throws(DiscoveryError) -> any Advertisement {
        try record.validate()
        let service = AvahiService(self, record, policy, event)
        guard !isStopped else { return service }
        services[ObjectIdentifier(service)] = service
        order.append(ObjectIdentifier(service))
        later { self.publish(service) }
        return service
    }

    private func publish(_ service: AvahiService) {
        guard !isStopped, !service.isWithdrawn, service.group == nil else { return }
        do throws(DiscoveryError) {
            guard let connection = try connection() else { return }
            if let host = service.record.host { try use(host, connection) }
            try service.publish(on: connection)
        } catch { service.fail(error) }
    }

    func forget(_ service: AvahiService) {
        services[ObjectIdentifier(service)] = nil
        order.removeAll { $0 == ObjectIdentifier(service) }
        if let host = service.record.host { release(host) }
    }

    func use(_ host: ServiceHost, _ connection: AvahiConnection) throws(DiscoveryError) {
        if hosts[host] != nil {
            hosts[host]?.uses += 1
            return
        }
        guard let group = avahi_entry_group_new(connection.client, { _, _, _ in }, nil) else {
            throw AvahiFailure.error(connection.error, "host \(host.name)")
        }
        for address in host.addresses {
            var system = AvahiAddress()
            avahi_address_set(&system, address.bytes, UInt(address.bytes.count))
            let flags = AvahiPublishFlags(rawValue: AVAHI_PUBLISH_NO_REVERSE.rawValue)
            let status = avahi_entry_group_add_address(group, interface, avahi_any_protocol, flags, host.name + ".local", &system)
            guard status >= 0 else {
                avahi_entry_group_free(group)
                throw AvahiFailure.error(Int(status), "host \(host.name)")
            }
        }
        avahi_entry_group_commit(group)
        connection.objects += 1
        hosts[host] = (group, connection, 1)
    }

    func release(_ host: ServiceHost) {
        guard let known = hosts[host] else { return }
        hosts[host]?.uses -= 1
        guard known.uses <= 1 else { return }
        avahi_entry_group_free(known.group)
        known.connection.objects -= 1
        hosts[host] = nil
    }

    // MARK: Searches

    func browse(_ type: ServiceType, subtype: String?, _ event: @escaping (BrowseEvent) -> Void) -> any ServiceSearch {
        start(AvahiSearch(self, type, subtype: subtype, only: nil, event))
    }

    func resolve(_ name: ServiceName, timeout: Duration?, _ event: @escaping (BrowseEvent) -> Void) -> any ServiceSearch {
        let search = AvahiSearch(self, name.type, subtype: nil, only: name.instance, event)
        if let timeout { loop.schedule(after: timeout) { [weak search] in search?.timedOut(name) } }
        return start(search)
    }

    private func start(_ search: AvahiSearch) -> AvahiSearch {
        guard !isStopped else { return search }
        searches[ObjectIdentifier(search)] = search
        later { self.begin(search) }
        return search
    }

    private func begin(_ search: AvahiSearch) {
        guard !isStopped, !search.isCancelled, search.connection == nil else { return }
        do throws(DiscoveryError) {
            if let connection = try connection() { try search.begin(on: connection) }
        } catch { search.tell(.failed(error)) }
    }

    func forget(_ search: AvahiSearch) { searches[ObjectIdentifier(search)] = nil }

    /// Frees everything; the daemon says goodbye for us.
    func stop() {
        guard !isStopped else { return }
        isStopped = true
        for connection in connections { connection.close() }
        connections = []
        for service in services.values { service.detach(freeing: false) }
        for search in searches.values { search.detach(freeing: false) }
        services = [:]
        searches = [:]
        hosts = [:]
    }
}
