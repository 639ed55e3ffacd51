import CLinux
import Glibc

/// An IPv4 or IPv6 address without port or scope.
public struct IPAddress: Hashable, Comparable, Sendable, CustomStringConvertible {
    /// The two versions.
    public enum Family: Sendable, Hashable { case v4, v6 }

    /// 4 or 16 bytes in network order.
    public let bytes: [UInt8]

    /// From bytes in network order; nil unless there are 4 or 16.
    public init?(bytes: [UInt8]) {
        guard bytes.count == 4 || bytes.count == 16 else { return nil }
        self.bytes = bytes
    }

    private init(trusted bytes: [UInt8]) { self.bytes = bytes }

    /// Reads a numeric address (`192.0.2.1`, `2001:db8::1`), without a scope, or `localhost`, which is 127.0.0.1. No other names:
    /// looking those up blocks. Nil for anything else.
    public init?(_ text: String) {
        var buffer = [UInt8](repeating: 0, count: 16)
        if text.lowercased() == "localhost" {
            self = .loopback4
        } else if inet_pton(AF_INET, text, &buffer) == 1 {
            bytes = Array(buffer[..<4])
        } else if inet_pton(AF_INET6, text, &buffer) == 1 {
            bytes = buffer
        } else {
            return nil
        }
    }

    /// 127.0.0.1
    public static let loopback4 = IPAddress(trusted: [127, 0, 0, 1])
    /// ::1
    public static let loopback6 = IPAddress(trusted: [UInt8](repeating: 0, count: 15) + [1])
    /// 0.0.0.0
    public static let any4 = IPAddress(trusted: [0, 0, 0, 0])
    /// ::
    public static let any6 = IPAddress(trusted: [UInt8](repeating: 0, count: 16))

    /// True for 4 bytes.
    public var isIPv4: Bool { bytes.count == 4 }
    /// Which version it is.
    public var family: Family { bytes.count == 4 ? .v4 : .v6 }
    /// 127.0.0.0/8 or ::1.
    public var isLoopback: Bool { family == .v4 ? bytes[0] == 127 : bytes == Self.loopback6.bytes }
    /// fe80::/10 (RFC 4291, 2.5.6): means something only together with an interface.
    public var isLinkLocal6: Bool { bytes.count == 16 && bytes[0] == 0xfe && bytes[1] & 0xc0 == 0x80 }
    /// `isLinkLocal6`, or 169.254.0.0/16 (RFC 3927).
    public var isLinkLocal: Bool { isLinkLocal6 || (isIPv4 && bytes[0] == 169 && bytes[1] == 254) }
    /// 224.0.0.0/4 or ff00::/8.
    public var isMulticast: Bool { family == .v4 ? bytes[0] & 0xf0 == 0xe0 : bytes[0] == 0xff }
    /// 0.0.0.0 or ::.
    public var isUnspecified: Bool { bytes.allSatisfy { $0 == 0 } }
    /// The IPv4 address inside an IPv4-mapped one (::ffff:a.b.c.d, RFC 4291, 2.5.5.2), which is how a dual-stack socket names its
    /// IPv4 peers; any other address unchanged.
    public var unmapped: IPAddress {
        guard family == .v6, bytes.prefix(10).allSatisfy({ $0 == 0 }), bytes[10] == 0xff, bytes[11] == 0xff else { return self }
        return IPAddress(trusted: [UInt8](bytes[12...]))
    }

    /// IPv4 first, then by the bytes.
    public static func < (left: Self, right: Self) -> Bool {
        if left.bytes.count != right.bytes.count { return left.bytes.count < right.bytes.count }
        return left.bytes.lexicographicallyPrecedes(right.bytes)
    }

    /// The shortest usual form (RFC 5952).
    public var description: String {
        var text = [CChar](repeating: 0, count: Int(INET6_ADDRSTRLEN))
        guard inet_ntop(isIPv4 ? AF_INET : AF_INET6, bytes, &text, socklen_t(text.count)) != nil else { return "?" }
        return String(decoding: text.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }
}

/// An address and a port: where a TCP or UDP socket is.
public struct SocketAddress: Hashable, Sendable, CustomStringConvertible {
    /// The host.
    public var address: IPAddress
    /// The port; 0 means "a free one" when binding.
    public var port: UInt16

    /// The index of the interface that a link-local IPv6 address belongs to; 0 for all others.
    public var scope: UInt32

    /// From its parts.
    public init(_ address: IPAddress, port: UInt16, scope: UInt32 = 0) {
        (self.address, self.port, self.scope) = (address, port, scope)
    }

    /// Reads `127.0.0.1:5540`, `[::1]:5540`, `[fe80::1%eth0]:5540`, `localhost:5540`. Also without brackets where the last colon
    /// can only be the port's, as in `fe80::1%eth0:5540`. A scope is an interface's name or index. Nil for anything else, also for a
    /// name that no interface has: host names are not looked up.
    public init?(_ text: String) {
        guard let colon = text.lastIndex(of: ":"), let port = Self.port(text[text.index(after: colon)...]) else { return nil }
        var host = text[..<colon]
        if host.hasPrefix("[") {
            guard host.hasSuffix("]"), host.count > 2 else { return nil }
            host = host.dropFirst().dropLast()
            guard host.contains(":") else { return nil }
        } else if host.contains(":"), !host.contains("%") {
            return nil  // `::1:5540` is an address itself
        }
        let parts = host.split(separator: "%", maxSplits: 1, omittingEmptySubsequences: false)
        guard let address = parts.first.flatMap({ IPAddress(String($0)) }) else { return nil }
        var scope: UInt32 = 0
        if parts.count == 2 {
            guard !address.isIPv4 else { return nil }
            scope = UInt32(parts[1]) ?? if_nametoindex(String(parts[1]))
            if scope == 0 { return nil }
        }
        self.init(address, port: port, scope: scope)
    }

    private static func port(_ text: Substring) -> UInt16? {
        guard !text.isEmpty, text.utf8.allSatisfy({ (0x30...0x39).contains($0) }) else { return nil }
        return UInt16(text)
    }

    /// `192.0.2.1:5540` or `[fe80::1%2]:5540`.
    public var description: String {
        address.isIPv4 ? "\(address):\(port)" : "[\(address)" + (scope == 0 ? "" : "%\(scope)") + "]:\(port)"
    }

    /// Lends the address as the system wants it.
    func withSystem<R>(_ body: (UnsafePointer<sockaddr>, socklen_t) throws -> R) rethrows -> R {
        var storage = sockaddr_storage()
        let length = write(to: &storage)
        return try withUnsafePointer(to: &storage) {
            try $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { try body($0, length) }
        }
    }

    func write(to storage: inout sockaddr_storage) -> socklen_t {
        withUnsafeMutableBytes(of: &storage) { raw in
            switch address.family {
            case .v4:
                var name = sockaddr_in()
                name.sin_family = sa_family_t(AF_INET)
                name.sin_port = port.bigEndian
                withUnsafeMutableBytes(of: &name.sin_addr) { $0.copyBytes(from: address.bytes) }
                withUnsafeBytes(of: name) { raw.copyMemory(from: $0) }
                return socklen_t(MemoryLayout<sockaddr_in>.size)
            case .v6:
                var name = sockaddr_in6()
                name.sin6_family = sa_family_t(AF_INET6)
                name.sin6_port = port.bigEndian
                name.sin6_scope_id = scope
                withUnsafeMutableBytes(of: &name.sin6_addr) { $0.copyBytes(from: address.bytes) }
                withUnsafeBytes(of: name) { raw.copyMemory(from: $0) }
                return socklen_t(MemoryLayout<sockaddr_in6>.size)
            }
        }
    }

    /// Nil for another family.
    init?(system storage: sockaddr_storage) {
        switch Int32(storage.ss_family) {
        case AF_INET:
            let name = withUnsafeBytes(of: storage) { $0.load(as: sockaddr_in.self) }
            guard let address = IPAddress(bytes: withUnsafeBytes(of: name.sin_addr) { [UInt8]($0) }) else { return nil }
            self.init(address, port: UInt16(bigEndian: name.sin_port))
        case AF_INET6:
            let name = withUnsafeBytes(of: storage) { $0.load(as: sockaddr_in6.self) }
            guard let address = IPAddress(bytes: withUnsafeBytes(of: name.sin6_addr) { [UInt8]($0) }) else { return nil }
            self.init(address, port: UInt16(bigEndian: name.sin6_port), scope: name.sin6_scope_id)
        default: return nil
        }
    }
}
