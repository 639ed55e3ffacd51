import CAvahi
import HearthIO

/// A connection with the Avahi daemon. The daemon gives each a limited number of objects, so that a large fleet has several.
protocol AvahiConnection: AnyObject {
    var isRunning: Bool { get }
    /// It is of no more use and is to be replaced.
    var hasFailed: Bool { get }
    /// Entry groups, browsers and resolvers that it has.
    var objects: Int { get }
    /// Whether it may have another.
    var hasRoom: Bool { get }
    /// What the library says went wrong last.
    var error: Int { get }
    /// The daemon has come, has gone, or has refused. Called from within the library: do not close the connection there.
    var changed: (() -> Void)? { get set }

    /// Makes an entry group, a browser or a resolver; `free` gives it back. Nil when the daemon gives this connection no more: another
    /// is to be asked. - Throws: what else the daemon says.
    func object(for what: @autoclosure () -> String, _ make: (OpaquePointer?) -> OpaquePointer?) throws(DiscoveryError) -> OpaquePointer?
    /// Gives back what `object` has made. Of a connection that is gone, everything is gone already.
    func free(_ object: OpaquePointer, _ free: (OpaquePointer) -> Int32)
    /// Ends it with everything that it has.
    func close()
}

/// The library's client, which has one connection with the daemon over D-Bus.
final class AvahiClient: AvahiConnection {
    private var client: OpaquePointer?
    private(set) var isRunning = false
    private(set) var objects = 0
    /// How many it may have. The daemon's limit, objects-per-client-max, is 1024 unless it was configured otherwise, which a client
    /// learns by being refused.
    private(set) var capacity = 1000
    var changed: (() -> Void)?

    /// - Throws: `DiscoveryError.daemonUnavailable` when there is no daemon; with `waits` only when there is no D-Bus.
    ///   `tooManyServices` when the daemon has as many clients as it may.
    init(_ events: AvahiEventLoop, waits: Bool) throws(DiscoveryError) {
        var error: Int32 = 0
        let flags = AvahiClientFlags(rawValue: waits ? AVAHI_CLIENT_NO_FAIL.rawValue : 0)
        let made = avahi_client_new(events.poll, flags, avahiClientChanged, Unmanaged.passUnretained(self).toOpaque(), &error)
        guard let made else {
            if error == AVAHI_ERR_TOO_MANY_CLIENTS { throw AvahiFailure.error(Int(error), "another connection") }
            throw DiscoveryError(
                .daemonUnavailable, "the Avahi daemon does not answer: start avahi-daemon, or choose --mdns builtin",
                cause: AvahiFailure.text(error))
        }
        client = made
    }

    fileprivate func stateChanged(_ client: OpaquePointer?, _ state: AvahiClientState) {
        // The first call comes before `avahi_client_new` returns.
        self.client = client
        let runs = state == AVAHI_CLIENT_S_RUNNING
        if state == AVAHI_CLIENT_FAILURE || runs != isRunning {
            isRunning = runs
            hasFailed = state == AVAHI_CLIENT_FAILURE
            changed?()
        }
    }

    private(set) var hasFailed = false

    var error: Int { client.map { Int(avahi_client_errno($0)) } ?? AVAHI_ERR_DISCONNECTED }

    var hasRoom: Bool { isRunning && objects < capacity }

    func object(for what: @autoclosure () -> String, _ make: (OpaquePointer?) -> OpaquePointer?) throws(DiscoveryError) -> OpaquePointer? {
        if let object = make(client) {
            objects += 1
            return object
        }
        // One that is not given any at all is not helped by another client.
        guard error == AVAHI_ERR_TOO_MANY_OBJECTS, objects > 0 else { throw AvahiFailure.error(error, what()) }
        capacity = objects
        return nil
    }

    func free(_ object: OpaquePointer, _ free: (OpaquePointer) -> Int32) {
        guard client != nil, !hasFailed else { return }
        _ = free(object)
        objects -= 1
    }

    func close() {
        changed = nil
        if let client { avahi_client_free(client) }
        client = nil
        isRunning = false
    }
}

private func avahiClientChanged(_ client: OpaquePointer?, _ state: AvahiClientState, _ userdata: UnsafeMutableRawPointer?) {
    guard let userdata else { return }
    Unmanaged<AvahiClient>.fromOpaque(userdata).takeUnretainedValue().stateChanged(client, state)
}

/// What the library's numbers mean here.
enum AvahiFailure {
    static func text(_ code: Int32) -> String { avahi_strerror(code).map { String(cString: $0) } ?? "Avahi error \(code)" }

    static func error(_ code: Int, _ what: String) -> DiscoveryError {
        let text = text(Int32(clamping: code))
        switch code {
        case AVAHI_ERR_TOO_MANY_OBJECTS, AVAHI_ERR_TOO_MANY_ENTRIES, AVAHI_ERR_TOO_MANY_CLIENTS:
            return DiscoveryError(
                .tooManyServices,
                "\(what): the Avahi daemon's limit is reached (objects-per-client-max, entries-per-entry-group-max or clients-max in "
                    + "avahi-daemon.conf): raise it, or choose --mdns builtin", cause: text)
        case AVAHI_ERR_DISCONNECTED, AVAHI_ERR_NO_DAEMON:
            return DiscoveryError(.daemonUnavailable, "\(what): the Avahi daemon has gone", cause: text)
        case AVAHI_ERR_INVALID_SERVICE_NAME, AVAHI_ERR_INVALID_SERVICE_TYPE, AVAHI_ERR_INVALID_HOST_NAME,
            AVAHI_ERR_INVALID_SERVICE_SUBTYPE:
            return DiscoveryError(.invalidName, "\(what): the Avahi daemon does not accept the name", cause: text)
        default: return DiscoveryError(.backEnd, "\(what): the Avahi daemon refuses", cause: text)
        }
    }
}

/// A TXT record as the library wants it.
enum AvahiText {
    /// To be freed with `avahi_string_list_free`. Nil for a record without strings.
    static func list(_ text: TextRecord) -> UnsafeMutablePointer<AvahiStringList>? {
        var list: UnsafeMutablePointer<AvahiStringList>?
        // The library keeps such lists from the last to the first.
        for entry in text.entries {
            let string = Array(entry.key.utf8) + (entry.value.map { [UInt8(ascii: "=")] + $0 } ?? [])
            list = avahi_string_list_add_arbitrary(list, string, string.count)
        }
        return list
    }

    static func record(_ list: UnsafeMutablePointer<AvahiStringList>?) -> TextRecord {
        var strings: [[UInt8]] = []
        var next = UnsafePointer(list)
        while let entry = next {
            let size = Int(avahi_string_list_get_size(UnsafeMutablePointer(mutating: entry)))
            if let bytes = avahi_string_bytes(entry) { strings.append(Array(UnsafeBufferPointer(start: bytes, count: size))) }
            next = UnsafePointer(avahi_string_next(entry))
        }
        return TextRecord(encoded: strings.reversed().flatMap { [UInt8(clamping: $0.count)] + $0.prefix(255) })
    }
}
