import CAvahi
import Glibc
import HearthIO

/// The `avahi` back end: libavahi-client and the system's daemon. On the loop's thread.
final class AvahiDiscovery: ServiceAdvertiser, ServiceBrowser {
    let loop: EventLoop
    /// The interface to use; `avahi_any_interface` for all.
    let interface: AvahiIfIndex
    private var connections: [any AvahiConnection] = []
    private var services: [ObjectIdentifier: AvahiService] = [:]
    private var order: [ObjectIdentifier] = []
    /// Services that are to be told to the daemon when it is their turn.
    private var waiting: [AvahiService] = []
    /// Services that it is probing for, each with the timer after which they do not hold up others any longer.
    private var registering: [ObjectIdentifier: TimerID] = [:]
    private var isPumping = false
    private var searches: [ObjectIdentifier: AvahiSearch] = [:]
    /// Hosts that services bring with them, each in a group of its own, since several services may share one.
    private var hosts: [ServiceHost: AvahiHost] = [:]
    private var isStopped = false
    private var isRepairing = false
    /// Connections that were refused one after the other.
    private var refusals = 0

    /// Makes a connection; one that waits does not fail when there is no daemon yet.
    typealias Connect = (_ waits: Bool) throws(DiscoveryError) -> any AvahiConnection
    private let connect: Connect
    /// How long a daemon that is away, or does not answer, is left alone.
    private let pause: Duration

    /// With the system's daemon. - Throws: `DiscoveryError`: no daemon, or no such interface.
    convenience init(loop: EventLoop, interface: String?) throws(DiscoveryError) {
        let events = AvahiEventLoop(loop: loop)
        try self.init(loop: loop, interface: interface) { (waits) throws(DiscoveryError) in try AvahiClient(events, waits: waits) }
    }

    init(
        loop: EventLoop, interface: String?, pause: Duration = .seconds(2), connect: @escaping Connect
    ) throws(DiscoveryError) {
        (self.loop, self.pause, self.connect) = (loop, pause, connect)
        if let interface {
            let index = if_nametoindex(interface)
            guard index > 0 else { throw DiscoveryError(.noInterface, "there is no network interface '\(interface)'") }
            self.interface = AvahiIfIndex(index)
        } else {
            self.interface = avahi_any_interface
        }
        adopt(try connect(false))
    }

    private func adopt(_ connection: any AvahiConnection) {
        connections.append(connection)
        connection.changed = { [weak self] in self?.later { self?.repair() } }
    }

    /// Runs `body` when the library is not running.
    func later(_ body: @escaping () -> Void) { loop.schedule(after: .zero, body) }

    // MARK: Connections

    /// An object of the daemon, made on whichever connection may have another; on a new one when none may. Nil while the daemon is
    /// away.
    func object(
        for what: @autoclosure () -> String, _ make: (OpaquePointer?) -> OpaquePointer?
    ) throws(DiscoveryError) -> (connection: any AvahiConnection, object: OpaquePointer)? {
        while let connection = try connection() {
            if let object = try connection.object(for: what(), make) { return (connection, object) }
        }
        return nil
    }

    private func connection() throws(DiscoveryError) -> (any AvahiConnection)? {
        if let free = connections.first(where: { $0.hasRoom }) { return free }
        guard connections.allSatisfy({ $0.isRunning }), !connections.isEmpty, !isRepairing else { return nil }
        let another: any AvahiConnection
        do throws(DiscoveryError) {
            another = try connect(false)
            refusals = 0
        } catch {
            // A daemon that is just starting, or busy, may not answer in time: what waits is told to it a little later.
            refusals += 1
            if error.code != .tooManyServices, refusals <= 5 {
                repairLater()
                return nil
            }
            let objects = connections.reduce(0) { $0 + $1.objects }
            throw DiscoveryError(
                .tooManyServices,
                "the Avahi daemon has given \(objects) objects to \(connections.count) D-Bus connections, and another connection is "
                    + "refused: raise objects-per-client-max in avahi-daemon.conf, or choose --mdns builtin",
                cause: error.cause ?? error.message)
        }
        adopt(another)
        return another.isRunning ? another : nil
    }

    /// The daemon has come, or has gone: what it forgot is told to it again as soon as it is there.
    private func repair() {
        guard !isStopped else { return }
        for failed in connections where failed.hasFailed || !failed.isRunning {
            for service in services.values where service.connection === failed { service.detach() }
            for search in searches.values where search.uses(failed) { search.detach() }
            for host in hosts.values where host.connection === failed { host.detach() }
        }
        connections.removeAll {
            if $0.hasFailed { $0.close() }
            return $0.hasFailed
        }
        if connections.isEmpty {
            // NO_FAIL: waits on D-Bus for the daemon. Without D-Bus there is nothing to wait on but time.
            if let connection = try? connect(true) { adopt(connection) } else { return repairLater() }
        }
        guard connections.contains(where: { $0.isRunning }) else { return }
        waiting = order.compactMap { services[$0] }.filter { $0.group == nil }
        pump()
        for search in searches.values { if search.connection == nil { begin(search) } else { search.resume() } }
    }

    private func repairLater() {
        guard !isRepairing else { return }
        isRepairing = true
        loop.schedule(after: pause) { [weak self] in
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
        later {
            self.waiting.append(service)
            self.pump()
        }
        return service
    }

    /// So many services may be probed for at once. The daemon compares each of their records with all that it has sent a moment ago,
    /// so that it takes longer for all of a fleet at once than for one part after the other.
    private static let registeringAtOnce = 150

    /// Tells the daemon of those whose turn it is; each takes some round trips on D-Bus, so that the loop gets its turn in between.
    private func pump() {
        guard !isStopped, !isPumping else { return }
        var budget = 8
        while registering.count < Self.registeringAtOnce, !waiting.isEmpty {
            guard budget > 0 else {
                isPumping = true
                return later {
                    self.isPumping = false
                    self.pump()
                }
            }
            budget -= 1
            publish(waiting.removeFirst())
        }
    }

    private func publish(_ service: AvahiService) {
        guard !service.isWithdrawn, service.group == nil else { return }
        do throws(DiscoveryError) {
            if let host = service.record.host { try use(host, for: service) }
            guard try service.publish() else { return }
            let id = ObjectIdentifier(service)
            // Where an interface goes away in between, nothing may ever come.
            registering[id] = loop.schedule(after: .seconds(5)) { [weak self] in self?.settled(id) }
        } catch { service.fail(error) }
    }

    /// It is established, or is not advertised any more.
    func settled(_ service: ObjectIdentifier) {
        guard let timer = registering.removeValue(forKey: service) else { return }
        loop.cancel(timer)
        if !waiting.isEmpty { later { self.pump() } }
    }

    func forget(_ service: AvahiService) {
        services[ObjectIdentifier(service)] = nil
        order.removeAll { $0 == ObjectIdentifier(service) }
        for host in hosts.values { release(host, by: service) }
    }

    /// Has the addresses of a host published as long as a service needs them.
    func use(_ name: ServiceHost, for service: AvahiService) throws(DiscoveryError) {
        let host = hosts[name] ?? AvahiHost(name)
        hosts[name] = host
        host.users.insert(ObjectIdentifier(service))
        try host.publish(self)
    }

    func release(_ name: ServiceHost, by service: AvahiService) {
        if let host = hosts[name] { release(host, by: service) }
    }

    private func release(_ host: AvahiHost, by service: AvahiService) {
        guard host.users.remove(ObjectIdentifier(service)) != nil, host.users.isEmpty else { return }
        host.detach()
        hosts[host.host] = nil
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
            try search.begin()
        } catch { search.fail(error) }
    }

    func forget(_ search: AvahiSearch) { searches[ObjectIdentifier(search)] = nil }

    /// Frees everything; the daemon says goodbye for us.
    func stop() {
        guard !isStopped else { return }
        isStopped = true
        for connection in connections { connection.close() }
        connections = []
        for service in services.values { service.detach() }
        for search in searches.values { search.detach() }
        for timer in registering.values { loop.cancel(timer) }
        registering = [:]
        waiting = []
        services = [:]
        searches = [:]
        hosts = [:]
    }
}

/// A host that services bring with them.
private final class AvahiHost {
    let host: ServiceHost
    private(set) var connection: (any AvahiConnection)?
    private var group: OpaquePointer?
    /// The services that need it.
    var users: Set<ObjectIdentifier> = []

    init(_ host: ServiceHost) { self.host = host }

    /// Tells it to the daemon, unless that has been done or the daemon is away.
    func publish(_ discovery: AvahiDiscovery) throws(DiscoveryError) {
        guard group == nil else { return }
        guard let made = try discovery.object(for: "host \(host.name)", { avahi_entry_group_new($0, { _, _, _ in }, nil) }) else { return }
        (connection, group) = (made.connection, made.object)
        for address in host.addresses {
            var system = AvahiAddress()
            avahi_address_set(&system, address.bytes, UInt(address.bytes.count))
            let flags = AvahiPublishFlags(rawValue: AVAHI_PUBLISH_NO_REVERSE.rawValue)
            let status = avahi_entry_group_add_address(
                group, discovery.interface, avahi_any_protocol, flags, host.name + ".local", &system)
            guard status >= 0 else {
                detach()
                throw AvahiFailure.error(Int(status), "host \(host.name)")
            }
        }
        avahi_entry_group_commit(group)
    }

    func detach() {
        if let group { connection?.free(group, avahi_entry_group_free) }
        group = nil
        connection = nil
    }
}
