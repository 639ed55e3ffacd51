import Glibc

/// An IPv4 or IPv6 address without port or scope.
public struct IPAddress: Hashable, Comparable, Sendable, CustomStringConvertible {
    /// 4 or 16 bytes in network order.
    public let bytes: [UInt8]

    /// Nil unless there are 4 or 16 bytes.
    public init?(bytes: [UInt8]) {
        guard bytes.count == 4 || bytes.count == 16 else { return nil }
        self.bytes = bytes
    }

    /// Nil unless `text` is a numeric address (`192.0.2.1`, `2001:db8::1`), without a scope.
    public init?(_ text: String) {
        var buffer = [UInt8](repeating: 0, count: 16)
        if inet_pton(AF_INET, text, &buffer) == 1 {
            bytes = Array(buffer[..<4])
        } else if inet_pton(AF_INET6, text, &buffer) == 1 {
            bytes = buffer
        } else {
            return nil
        }
    }

    private init(trusted bytes: [UInt8]) { self.bytes = bytes }

    public static let loopback4 = IPAddress(trusted: [127, 0, 0, 1])
    public static let loopback6 = IPAddress(trusted: [UInt8](repeating: 0, count: 15) + [1])

    public var isIPv4: Bool { bytes.count == 4 }
    /// fe80::/10: means something only together with an interface.
    public var isLinkLocal6: Bool { bytes.count == 16 && bytes[0] == 0xfe && bytes[1] & 0xc0 == 0x80 }
    public var isLoopback: Bool { isIPv4 ? bytes[0] == 127 : self == .loopback6 }

    /// IPv4 first, then by the bytes.
    public static func < (left: Self, right: Self) -> Bool {
        if left.bytes.count != right.bytes.count { return left.bytes.count < right.bytes.count }
        return left.bytes.lexicographicallyPrecedes(right.bytes)
    }

    public var description: String {
        var text = [CChar](repeating: 0, count: Int(INET6_ADDRSTRLEN))
        guard inet_ntop(isIPv4 ? AF_INET : AF_INET6, bytes, &text, socklen_t(text.count)) != nil else { return "?" }
        return String(decoding: text.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }
}

/// Where a socket connects to or is bound to.
public struct SocketAddress: Hashable, Sendable, CustomStringConvertible {
    public var address: IPAddress
    public var port: UInt16
    /// The interface a link-local IPv6 address belongs to; 0 for all others.
    public var scope: UInt32

    public init(_ address: IPAddress, port: UInt16, scope: UInt32 = 0) {
        self.address = address
        self.port = port
        self.scope = scope
    }

    /// `192.0.2.1:5540` or `[fe80::1%2]:5540`.
    public var description: String {
        address.isIPv4 ? "\(address):\(port)" : "[\(address)" + (scope == 0 ? "" : "%\(scope)") + "]:\(port)"
    }
}
