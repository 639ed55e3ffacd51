import HearthIO
import HearthTime

/// How a process takes part in discovery: an advertiser and a browser of one back end. Plain object of one thread, the timeline's.
public final class Discovery {
    /// What `--mdns` chooses.
    public enum BackEnd: String, CaseIterable, Hashable, Sendable {
        /// `avahi` when its daemon answers and the fleet fits its limits, otherwise `builtin`.
        case auto
        /// The system's Avahi daemon.
        case avahi
        /// A responder and browser of our own.
        case builtin
        /// A registry in process. Not for the command line.
        case memory
        /// None: devices are reached by address.
        case off
    }

    /// What it came to; never `auto`.
    public let backEnd: BackEnd
    public let advertiser: any ServiceAdvertiser
    public let browser: any ServiceBrowser
    private var stop: (() -> Void)?

    init(_ backEnd: BackEnd, advertiser: any ServiceAdvertiser, browser: any ServiceBrowser, stop: (() -> Void)? = nil) {
        self.backEnd = backEnd
        self.advertiser = advertiser
        self.browser = browser
        self.stop = stop
    }

    /// Starts a back end. On the timeline's thread, where everything of it is used; `loop` is the timeline's. `interface` restricts
    /// it to one network interface. `expectedServices` is how many will be advertised, for `auto` to choose by.
    /// - Throws: `DiscoveryError` when the back end cannot work here.
    public static func make(
        backEnd: BackEnd, interface: String? = nil, loop: EventLoop, timeline: Timeline, expectedServices: Int = 1
    ) throws(DiscoveryError) -> Discovery {
        switch backEnd {
        case .memory: return .memory(MemoryRegistry(timeline: timeline))
        case .off: return .off(timeline: timeline)
        case .avahi: return try avahi(loop, interface)
        case .auto:
            if expectedServices <= comfortableAvahiFleet, let avahi = try? avahi(loop, interface) { return avahi }
            return try builtin(loop, interface)
        case .builtin: return try builtin(loop, interface)
        }
    }

    /// The daemon takes two seconds for a hundred services and ten for a thousand, and its processor all the while.
    private static let comfortableAvahiFleet = 200

    private static func avahi(_ loop: EventLoop, _ interface: String?) throws(DiscoveryError) -> Discovery {
        let avahi = try AvahiDiscovery(loop: loop, interface: interface)
        return Discovery(.avahi, advertiser: avahi, browser: avahi) { avahi.stop() }
    }

    private static func builtin(_ loop: EventLoop, _ interface: String?) throws(DiscoveryError) -> Discovery {
        let builtin = try BuiltinDiscovery(loop: loop, interface: interface)
        return Discovery(.builtin, advertiser: builtin, browser: builtin) { builtin.stop() }
    }

    /// The registry in process, to be shared by all that shall find each other.
    public static func memory(_ registry: MemoryRegistry) -> Discovery {
        Discovery(.memory, advertiser: registry, browser: registry)
    }

    /// Advertises nothing and finds nothing. A search is told so.
    public static func off(timeline: Timeline) -> Discovery {
        let nowhere = Nowhere(timeline: timeline)
        return Discovery(.off, advertiser: nowhere, browser: nowhere)
    }

    /// Takes everything that is advertised from the network, with goodbyes that have left when this returns, and ends all searches.
    /// No event comes any more. Harmless when repeated.
    public func shutdown() {
        stop?()
        stop = nil
    }
}

/// The back end `off`.
private final class Nowhere: ServiceAdvertiser, ServiceBrowser {
    private let timeline: Timeline
    init(timeline: Timeline) { self.timeline = timeline }

    private final class Silent: Advertisement {
        private(set) var record: ServiceRecord
        init(_ record: ServiceRecord) { self.record = record }
        func update(_ new: ServiceRecord) throws(DiscoveryError) {
            try new.validate()
            let name = record.name
            record = new
            record.name = name
        }
        func withdraw() {}
    }

    private final class Search: ServiceSearch {
        var cancelled = false
        func cancel() { cancelled = true }
    }

    func advertise(
        _ record: ServiceRecord, onConflict: NameConflictPolicy, _ event: @escaping (AdvertisementEvent) -> Void
    ) throws(DiscoveryError) -> any Advertisement {
        try record.validate()
        return Silent(record)
    }

    func browse(_ type: ServiceType, subtype: String?, _ event: @escaping (BrowseEvent) -> Void) -> any ServiceSearch {
        refuse(event)
    }

    func resolve(_ name: ServiceName, timeout: Duration?, _ event: @escaping (BrowseEvent) -> Void) -> any ServiceSearch {
        refuse(event)
    }

    private func refuse(_ event: @escaping (BrowseEvent) -> Void) -> Search {
        let search = Search()
        timeline.after(.zero) {
            if search.cancelled { return }
            event(.failed(DiscoveryError(.off, "discovery is off: give the device's address, or choose another --mdns")))
        }
        return search
    }
}
