import HearthIO

/// Where an acceptor listens and a dialler connects: a TCP socket, or a place in a `MemoryNetwork`.
public enum TransportAddress: Hashable, Sendable, CustomStringConvertible {
    case socket(SocketAddress)
    case memory(MemoryAddress)

    /// TCP on the loopback interface.
    public static func loopback(_ port: UInt16) -> TransportAddress { .socket(SocketAddress(.loopback4, port: port)) }

    /// The port, which an acceptor that asked for 0 was given.
    public var port: UInt16 {
        switch self {
        case .socket(let address): address.port
        case .memory(let address): address.port
        }
    }

    /// `192.0.2.1:5540`, `[fe80::1%2]:5540` or `memory:name:5540`.
    public var description: String {
        switch self {
        case .socket(let address): address.description
        case .memory(let address): address.description
        }
    }
}

/// A name and a port in a `MemoryNetwork`.
public struct MemoryAddress: Hashable, Sendable, CustomStringConvertible {
    public var name: String
    public var port: UInt16

    public init(_ name: String, port: UInt16) { (self.name, self.port) = (name, port) }

    public var description: String { "memory:\(name):\(port)" }
}
