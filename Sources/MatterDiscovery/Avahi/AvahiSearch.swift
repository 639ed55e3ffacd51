import CAvahi
import HearthIO

/// A search with the daemon: one browser, and a resolver for each service on each interface and IP version, kept open so that
/// changes are told.
final class AvahiSearch: ServiceSearch {
    private struct Place: Hashable {
        let instance: String
        let interface: AvahiIfIndex
        let family: AvahiProtocol
    }

    private struct Answer {
        var host: String
        var address: SocketAddress
        var text: TextRecord
    }

    private let discovery: AvahiDiscovery
    private let type: ServiceType
    private let subtype: String?
    /// The one instance that is wanted; nil for all.
    private let only: String?
    private let event: (BrowseEvent) -> Void
    private(set) var connection: (any AvahiConnection)?
    private(set) var isCancelled = false
    private var browser: OpaquePointer?
    private var resolvers: [Place: AvahiResolver] = [:]
    /// Where there is something for which no resolver was to be had: for when there is one again.
    private var unresolved: Set<Place> = []
    private var answers: [Place: Answer] = [:]
    private var reported: [String: ResolvedService] = [:]

    init(
        _ discovery: AvahiDiscovery, _ type: ServiceType, subtype: String?, only: String?,
        _ event: @escaping (BrowseEvent) -> Void
    ) {
        self.discovery = discovery
        self.type = type
        self.subtype = subtype
        self.only = only
        self.event = event
    }

    /// Asks the daemon, unless that is away.
    func begin() throws(DiscoveryError) {
        let kind = subtype.map { "\($0)._sub.\(type)" } ?? type.name
        let interface = discovery.interface
        let me = Unmanaged.passUnretained(self).toOpaque()
        let made = try discovery.object(
            for: "looking for \(kind)",
            { client in
                avahi_service_browser_new(
                    client, interface, avahi_any_protocol, kind, nil, AvahiLookupFlags(rawValue: 0), avahiBrowsed, me)
            })
        if let made { (connection, browser) = (made.connection, made.object) }
    }

    /// Whether it needs this connection, for its browser or for a resolver.
    func uses(_ other: any AvahiConnection) -> Bool {
        connection === other || resolvers.values.contains { $0.connection === other }
    }

    func tell(_ said: BrowseEvent) {
        discovery.later { [self] in if !isCancelled { event(said) } }
    }

    /// When the daemon has gone the search is not over: it is asked again when it is back.
    func fail(_ error: DiscoveryError) { if error.code != .daemonUnavailable { tell(.failed(error)) } }

    func timedOut(_ name: ServiceName) {
        if !isCancelled, reported.isEmpty { event(.failed(DiscoveryError(.notFound, "\(name) was not found on the network"))) }
    }

    func browsed(_ interface: AvahiIfIndex, _ family: AvahiProtocol, _ what: AvahiBrowserEvent, _ name: String?) {
        switch what {
        case AVAHI_BROWSER_NEW:
            guard let name, only == nil || only?.lowercased() == name.lowercased() else { return }
            resolve(Place(instance: name, interface: interface, family: family))
        case AVAHI_BROWSER_REMOVE:
            guard let name else { return }
            let place = Place(instance: name, interface: interface, family: family)
            drop(place)
            answers[place] = nil
            evaluate(name)
        case AVAHI_BROWSER_FAILURE:
            fail(AvahiFailure.error(connection?.error ?? AVAHI_ERR_FAILURE, "looking for \(type)"))
        default: break
        }
    }

    /// One resolver for each service and place: a thousand devices are more objects than the daemon gives one client.
    private func resolve(_ place: Place) {
        guard connection != nil, resolvers[place] == nil else { return }
        let resolver = AvahiResolver { [weak self] in self?.resolved(place, $0) }
        let (type, me) = (type.name, Unmanaged.passUnretained(resolver).toOpaque())
        do throws(DiscoveryError) {
            let made = try discovery.object(
                for: "resolving \(place.instance)",
                { client in
                    avahi_service_resolver_new(
                        client, place.interface, place.family, place.instance, type, "local", avahi_any_protocol,
                        AvahiLookupFlags(rawValue: 0), avahiResolved, me)
                })
            guard let made else {
                unresolved.insert(place)
                return
            }
            (resolver.connection, resolver.handle) = (made.connection, made.object)
            resolvers[place] = resolver
        } catch { fail(error) }
    }

    /// The daemon, or another connection with it, is there.
    func resume() {
        let places = unresolved
        unresolved = []
        for place in places { resolve(place) }
    }

    private func resolved(_ place: Place, _ found: AvahiResolver.Found?) {
        guard let found else {
            // It has not answered in time; as long as it is listed it is asked again.
            discovery.loop.schedule(after: .seconds(2)) { [weak self] in
                guard let self, self.resolvers[place] != nil else { return }
                self.drop(place)
                self.resolve(place)
            }
            return
        }
        let scope = found.address.isLinkLocal6 ? UInt32(clamping: place.interface) : 0
        let address = SocketAddress(found.address, port: found.port, scope: scope)
        answers[place] = Answer(host: found.host, address: address, text: found.text)
        evaluate(place.instance)
    }

    private func drop(_ place: Place) {
        unresolved.remove(place)
        guard let resolver = resolvers.removeValue(forKey: place) else { return }
        resolver.free()
    }

    private func evaluate(_ instance: String) {
        let name = ServiceName(instance, type)
        let own = answers.filter { $0.key.instance == instance }.sorted {
            ($0.key.interface, $0.value.address.address, $0.key.family) < (
                $1.key.interface, $1.value.address.address, $1.key.family
            )
        }
        let before = reported[instance]
        guard let first = own.first?.value else {
            reported[instance] = nil
            if before != nil { tell(.lost(name)) }
            return
        }
        var addresses: [SocketAddress] = []
        for (_, answer) in own.sorted(by: { !$0.value.address.address.isLinkLocal6 && $1.value.address.address.isLinkLocal6 })
        where !addresses.contains(answer.address) { addresses.append(answer.address) }
        let interfaces = Set(own.map { UInt32(clamping: $0.key.interface) }).sorted()
        let service = ResolvedService(
            name: name, host: first.host, port: first.address.port, addresses: addresses, text: first.text, interfaces: interfaces
        )
        guard service != before else { return }
        reported[instance] = service
        tell(before == nil ? .found(service) : .updated(service))
    }

    /// Frees the objects, unless they are gone with their connection. What was found is lost.
    func detach() {
        for resolver in resolvers.values { resolver.free() }
        if let browser { connection?.free(browser, avahi_service_browser_free) }
        browser = nil
        resolvers = [:]
        unresolved = []
        connection = nil
        answers = [:]
        for instance in reported.keys.sorted() { evaluate(instance) }
    }

    func cancel() {
        guard !isCancelled else { return }
        isCancelled = true
        detach()
        discovery.forget(self)
    }
}

/// One resolver, kept by its search as long as the library has its address.
private final class AvahiResolver {
    struct Found {
        let host: String
        let address: IPAddress
        let port: UInt16
        let text: TextRecord
    }

    var handle: OpaquePointer?
    var connection: (any AvahiConnection)?
    let resolved: (Found?) -> Void
    init(_ resolved: @escaping (Found?) -> Void) { self.resolved = resolved }

    func free() {
        if let handle { connection?.free(handle, avahi_service_resolver_free) }
        handle = nil
    }
}

private func avahiBrowsed(
    _ browser: OpaquePointer?, _ interface: AvahiIfIndex, _ family: AvahiProtocol, _ event: AvahiBrowserEvent,
    _ name: UnsafePointer<CChar>?, _ type: UnsafePointer<CChar>?, _ domain: UnsafePointer<CChar>?,
    _ flags: AvahiLookupResultFlags,
    _ userdata: UnsafeMutableRawPointer?
) {
    guard let userdata else { return }
    let search = Unmanaged<AvahiSearch>.fromOpaque(userdata).takeUnretainedValue()
    search.browsed(interface, family, event, name.map { String(cString: $0) })
}

private func avahiResolved(
    _ resolver: OpaquePointer?, _ interface: AvahiIfIndex, _ family: AvahiProtocol, _ event: AvahiResolverEvent,
    _ name: UnsafePointer<CChar>?, _ type: UnsafePointer<CChar>?, _ domain: UnsafePointer<CChar>?, _ host: UnsafePointer<CChar>?,
    _ address: UnsafePointer<AvahiAddress>?, _ port: UInt16, _ text: UnsafeMutablePointer<AvahiStringList>?,
    _ flags: AvahiLookupResultFlags, _ userdata: UnsafeMutableRawPointer?
) {
    guard let userdata else { return }
    let resolver = Unmanaged<AvahiResolver>.fromOpaque(userdata).takeUnretainedValue()
    guard event == AVAHI_RESOLVER_FOUND, let host, let address, let bytes = avahi_address_bytes(address) else {
        return resolver.resolved(nil)
    }
    let count = avahi_address_is_ipv4(address) != 0 ? 4 : 16
    guard let found = IPAddress(bytes: Array(UnsafeRawBufferPointer(start: bytes, count: count))) else {
        return resolver.resolved(nil)
    }
    resolver.resolved(
        AvahiResolver.Found(host: String(cString: host), address: found, port: port, text: AvahiText.record(text)))
}
