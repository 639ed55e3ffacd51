import HearthIO

/// A type of service in DNS-SD, for example `_matter-tls._tcp` (RFC 6763, 7).
public struct ServiceType: Hashable, Sendable, CustomStringConvertible {
    /// The two labels with their underscores, without a domain.
    public let name: String

    /// - Throws: `DiscoveryError.invalidName` unless it is `_` and 1 to 15 letters, digits or hyphens, then `._tcp` or `._udp`.
    public init(_ name: String) throws(DiscoveryError) {
        let labels = name.split(separator: ".", omittingEmptySubsequences: false)
        guard labels.count == 2, labels[1] == "_tcp" || labels[1] == "_udp", ServiceType.isLabel(labels[0]) else {
            throw DiscoveryError(.invalidName, "'\(name)' is no service type: write it as _name._tcp or _name._udp")
        }
        self.name = name
    }

    private init(trusted name: String) { self.name = name }

    /// A Matter device that can be paired over TLS: the facts of `_matterc._udp` under a name of our own, so that no controller
    /// for Matter's own transport takes it for one of its devices (Matter Core, 4.3.1).
    public static let commissionable = ServiceType(trusted: "_matter-tlsc._tcp")
    /// A Matter device that belongs to a fabric: the facts of `_matter._tcp` (Matter Core, 4.3.2).
    public static let operational = ServiceType(trusted: "_matter-tls._tcp")

    public var description: String { name }

    private static func isLabel(_ label: Substring) -> Bool {
        guard label.first == "_", (2...16).contains(label.utf8.count) else { return false }
        return label.utf8.dropFirst().allSatisfy {
            $0 == UInt8(ascii: "-") || (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0)
                || (UInt8(ascii: "a")...UInt8(ascii: "z")).contains($0 | 0x20)
        }
    }
}

/// Which service of which type.
public struct ServiceName: Hashable, Sendable, CustomStringConvertible {
    /// The instance label, 1 to 63 bytes of UTF-8 (RFC 6763, 4.1.1). Compared as it is written: the names of Matter's services are
    /// upper-case hexadecimal.
    public var instance: String
    public var type: ServiceType

    public init(_ instance: String, _ type: ServiceType) {
        self.instance = instance
        self.type = type
    }

    public var description: String { "\(instance).\(type)" }
}

/// A host name that a service brings with it, with the addresses it stands for.
public struct ServiceHost: Hashable, Sendable {
    /// One label, without `.local`.
    public var name: String
    public var addresses: [IPAddress]

    public init(name: String, addresses: [IPAddress]) {
        self.name = name
        self.addresses = addresses
    }
}

/// What is advertised.
public struct ServiceRecord: Hashable, Sendable {
    public var name: ServiceName
    /// Subtype labels such as `_L3840`, without `._sub` (RFC 6763, 7.1).
    public var subtypes: [String]
    /// Nil for the host name of the back end, which has on each interface the addresses of that interface.
    public var host: ServiceHost?
    public var port: UInt16
    public var text: TextRecord

    public init(
        name: ServiceName, subtypes: [String] = [], host: ServiceHost? = nil, port: UInt16, text: TextRecord = TextRecord()
    ) {
        self.name = name
        self.subtypes = subtypes
        self.host = host
        self.port = port
        self.text = text
    }

    /// - Throws: `DiscoveryError.invalidName` or `.textTooLong` when no back end could put it on the wire.
    public func validate() throws(DiscoveryError) {
        try Self.check(label: name.instance, "an instance name")
        for subtype in subtypes { try Self.check(label: subtype, "a subtype") }
        if let host {
            try Self.check(label: host.name, "a host name")
            guard !host.name.contains("."), !host.addresses.isEmpty else {
                throw DiscoveryError(.invalidName, "the host '\(host.name)' needs one label and at least one address")
            }
        }
        guard text.encoded.count <= TextRecord.maximumLength else {
            let (length, most) = (text.encoded.count, TextRecord.maximumLength)
            throw DiscoveryError(.textTooLong, "the TXT record of \(name) has \(length) bytes; at most \(most) fit")
        }
        guard port > 0 else { throw DiscoveryError(.invalidName, "\(name) has no port: advertise it once it listens") }
    }

    private static func check(label: String, _ what: String) throws(DiscoveryError) {
        guard (1...63).contains(label.utf8.count) else {
            throw DiscoveryError(.invalidName, "'\(label)' cannot be \(what): 1 to 63 bytes are allowed")
        }
    }
}

/// A service that was found, with all that is needed to connect to it.
public struct ResolvedService: Hashable, Sendable {
    public var name: ServiceName
    /// The target of the SRV record, for example `hearth-3F2A.local`.
    public var host: String
    public var port: UInt16
    /// Where to connect, best first; at least one. A link-local IPv6 address carries the interface as its scope.
    public var addresses: [SocketAddress]
    public var text: TextRecord
    /// Indices of the interfaces it was seen on, ascending; empty where the back end has none.
    public var interfaces: [UInt32]

    public init(
        name: ServiceName, host: String, port: UInt16, addresses: [SocketAddress], text: TextRecord, interfaces: [UInt32] = []
    ) {
        self.name = name
        self.host = host
        self.port = port
        self.addresses = addresses
        self.text = text
        self.interfaces = interfaces
    }
}
