/// What happens to an advertisement.
public enum AdvertisementEvent: Sendable {
    /// It is on the network under the name given by the handle. Comes again when it had to be established anew.
    case established
    /// Another host had the name; it goes on under the new one, and `established` follows.
    case renamed(from: String, to: String)
    /// It is not advertised, and nothing more comes.
    case failed(DiscoveryError)
}

/// What to do when another host has the instance name (RFC 6762, 9).
public enum NameConflictPolicy {
    /// Append " (2)", " (3)" and so on, as people expect of a name that they read.
    case number
    /// Ask for another name; nil gives up. For names that are random numbers.
    case replace((_ taken: String) -> String?)
    /// Give up, with `nameTaken`. For names that mean something, as an operational instance name does.
    case fail
}

/// One service that is being advertised. Used on the thread of its advertiser only.
public protocol Advertisement: AnyObject {
    /// As it is advertised now; the instance name may have changed since `advertise`.
    var record: ServiceRecord { get }
    /// Changes TXT record, subtypes, port or host of a service that goes on. The name stays as it is now.
    /// - Throws: `DiscoveryError` when the new record is not valid; the old one then stays.
    func update(_ record: ServiceRecord) throws(DiscoveryError)
    /// Takes it from the network, with a goodbye (RFC 6762, 10.1). Harmless when repeated. No event comes any more.
    func withdraw()
}

/// Advertises services. Plain object of one thread, the timeline's; the callbacks come on it, never from inside the call that
/// they answer.
public protocol ServiceAdvertiser: AnyObject {
    /// Starts advertising; the advertiser keeps it until `withdraw`, also when the handle is let go.
    /// - Throws: `DiscoveryError` when the record cannot be advertised by anybody. What the network says comes as an event.
    func advertise(
        _ record: ServiceRecord, onConflict: NameConflictPolicy, _ event: @escaping (AdvertisementEvent) -> Void
    ) throws(DiscoveryError) -> any Advertisement
}

/// What a browser sees.
public enum BrowseEvent: Sendable {
    /// A service with all its records. Comes once until it is lost.
    case found(ResolvedService)
    /// Its port, host, addresses or TXT record have changed.
    case updated(ResolvedService)
    case lost(ServiceName)
    /// The search is over, or nothing came within the time given.
    case failed(DiscoveryError)
}

/// A search that goes on until it is cancelled. Used on the thread of its browser only.
public protocol ServiceSearch: AnyObject {
    /// Ends it. Harmless when repeated. No event comes any more.
    func cancel()
}

/// Finds services. Plain object of one thread, the timeline's; the callbacks come on it, never from inside the call that they
/// answer.
public protocol ServiceBrowser: AnyObject {
    /// Looks for all services of a type or, with `subtype` (`_L3840`), those of the subtype.
    func browse(_ type: ServiceType, subtype: String?, _ event: @escaping (BrowseEvent) -> Void) -> any ServiceSearch
    /// Looks for one service whose name is known. With `timeout`, and when nothing was found by then, `failed(notFound)` comes;
    /// the search goes on nevertheless.
    func resolve(_ name: ServiceName, timeout: Duration?, _ event: @escaping (BrowseEvent) -> Void) -> any ServiceSearch
}

extension ServiceBrowser {
    /// Looks for all services of a type.
    public func browse(_ type: ServiceType, _ event: @escaping (BrowseEvent) -> Void) -> any ServiceSearch {
        browse(type, subtype: nil, event)
    }
}
