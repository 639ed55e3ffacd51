import CLinux
import Glibc

/// A non-blocking UDP socket of one IP version, with what multicast DNS needs (RFC 6762, 11): groups per interface, the interface
/// of each datagram, TTL 255.
///
/// Not Sendable: it belongs to the timeline's thread, like what uses it. Closed by `close` or its `deinit`.
public final class DatagramSocket {
    /// What came in.
    public struct Datagram {
        /// Who sent it.
        public var sender: SocketAddress
        /// Where it was sent to, a group perhaps; nil when the system did not tell.
        public var destination: IPAddress?
        /// The index of the interface that it came in on; 0 when the system did not tell.
        public var interface: UInt32
        /// How many bytes it has. More than fitted when `isTruncated`.
        public var count: Int
        /// It was longer than the buffer; the rest is lost.
        public var isTruncated: Bool
    }

    /// The descriptor, to be registered with the loop; -1 once closed.
    public private(set) var fd: Int32
    /// IPv4 or IPv6.
    public let family: IPAddress.Family

    /// Binds to `address` (port 0: a free one). `shared` lets other sockets and processes bind the same port, as responders on
    /// port 5353 do. An IPv6 socket serves IPv6 alone. - Throws: `IOError`.
    public init(_ address: SocketAddress, shared: Bool = false) throws {
        family = address.address.family
        fd = try Socket.make(family == .v4 ? AF_INET : AF_INET6, SOCK_DGRAM)
        // A throwing initialiser of a class whose properties are all set runs `deinit`, which closes.
        if shared {
            try set(SOL_SOCKET, SO_REUSEADDR, 1)
            try set(SOL_SOCKET, SO_REUSEPORT, 1)
        }
        switch family {
        case .v4:
            try set(Int32(IPPROTO_IP), Int32(LINUX_IP_PKTINFO), 1)
            // Only the groups that this socket joined, on the interfaces where it did.
            try set(Int32(IPPROTO_IP), Int32(LINUX_IP_MULTICAST_ALL), 0)
        case .v6:
            try set(Int32(IPPROTO_IPV6), Int32(LINUX_IPV6_V6ONLY), 1)
            try set(Int32(IPPROTO_IPV6), Int32(LINUX_IPV6_RECVPKTINFO), 1)
            try set(Int32(IPPROTO_IPV6), Int32(LINUX_IPV6_MULTICAST_ALL), 0)
        }
        guard address.withSystem({ Glibc.bind(fd, $0, $1) }) == 0 else { throw IOError("bind") }
    }

    deinit { close() }

    /// Closes the descriptor. Unregister it from the loop before.
    public func close() {
        if fd >= 0 { Glibc.close(fd) }
        fd = -1
    }

    /// Where the socket is bound. - Throws: `IOError`.
    public func localAddress() throws -> SocketAddress { try Socket.localAddress(fd) }

    /// How far datagrams go: hops for unicast and multicast alike, 1 to 255. - Throws: `IOError`.
    public func setHopLimit(_ hops: UInt8) throws {
        switch family {
        case .v4:
            try set(Int32(IPPROTO_IP), Int32(LINUX_IP_TTL), Int32(hops))
            try set(Int32(IPPROTO_IP), Int32(LINUX_IP_MULTICAST_TTL), Int32(hops))
        case .v6:
            try set(Int32(IPPROTO_IPV6), Int32(LINUX_IPV6_UNICAST_HOPS), Int32(hops))
            try set(Int32(IPPROTO_IPV6), Int32(LINUX_IPV6_MULTICAST_HOPS), Int32(hops))
        }
    }

    /// Whether sockets of this machine hear our multicasts too. - Throws: `IOError`.
    public func setMulticastLoop(_ on: Bool) throws {
        switch family {
        case .v4: try set(Int32(IPPROTO_IP), Int32(LINUX_IP_MULTICAST_LOOP), on ? 1 : 0)
        case .v6: try set(Int32(IPPROTO_IPV6), Int32(LINUX_IPV6_MULTICAST_LOOP), on ? 1 : 0)
        }
    }

    /// The interface for multicasts whose `send` names none. - Throws: `IOError`.
    public func setMulticastInterface(_ interface: UInt32) throws {
        switch family {
        case .v4: guard linux_multicast_interface4(fd, Int32(bitPattern: interface)) == 0 else { throw IOError("setsockopt") }
        case .v6: try set(Int32(IPPROTO_IPV6), Int32(LINUX_IPV6_MULTICAST_IF), Int32(bitPattern: interface))
        }
    }

    /// Hears `group` on `interface`. - Throws: `IOError`: EADDRINUSE when it does already, ENODEV when there is no such interface.
    public func join(_ group: IPAddress, interface: UInt32) throws { try membership(group, interface, join: true) }

    /// Hears `group` on `interface` no more. - Throws: `IOError`.
    public func leave(_ group: IPAddress, interface: UInt32) throws { try membership(group, interface, join: false) }

    /// Sends one datagram, through `interface` unless that is 0. False when the system has no room now or refused the datagram for
    /// a passing reason: a datagram may be lost anyway. - Throws: `IOError`.
    @discardableResult
    public func send(_ bytes: UnsafeRawBufferPointer, to address: SocketAddress, interface: UInt32 = 0) throws -> Bool {
        guard address.address.family == family else { throw IOError("sendmsg", code: EAFNOSUPPORT) }
        var storage = sockaddr_storage()
        let length = address.write(to: &storage)
        while true {
            let count = linux_send(fd, bytes.baseAddress, UInt(bytes.count), &storage, length, interface)
            if count >= 0 { return true }
            switch errno {
            case EINTR: continue
            // ECONNREFUSED is an answer to an earlier datagram.
            case EAGAIN, ENOBUFS, ECONNREFUSED: return false
            default: throw IOError("sendmsg")
            }
        }
    }

    /// The same for an array.
    @discardableResult
    public func send(_ bytes: [UInt8], to address: SocketAddress, interface: UInt32 = 0) throws -> Bool {
        try bytes.withUnsafeBytes { try send($0, to: address, interface: interface) }
    }

    /// Takes the next datagram into `buffer`; nil when there is none. - Throws: `IOError`.
    public func receive(into buffer: UnsafeMutableRawBufferPointer) throws -> Datagram? {
        while true {
            var storage = sockaddr_storage()
            var length = socklen_t(MemoryLayout<sockaddr_storage>.size)
            var interface: UInt32 = 0
            var destination = [UInt8](repeating: 0, count: 16)
            var destinationCount: Int32 = 0
            let count = linux_receive(
                fd, buffer.baseAddress, UInt(buffer.count), &storage, &length, &interface, &destination, &destinationCount)
            guard count >= 0 else {
                switch errno {
                case EAGAIN: return nil
                case EINTR, ECONNREFUSED: continue
                default: throw IOError("recvmsg")
                }
            }
            guard let sender = SocketAddress(system: storage) else { continue }
            return Datagram(
                sender: sender, destination: IPAddress(bytes: [UInt8](destination.prefix(Int(destinationCount)))),
                interface: interface, count: Int(count), isTruncated: count > buffer.count)
        }
    }

    private func set(_ level: Int32, _ option: Int32, _ value: Int32) throws {
        guard linux_set_int(fd, level, option, value) == 0 else { throw IOError("setsockopt") }
    }

    private func membership(_ group: IPAddress, _ interface: UInt32, join: Bool) throws {
        guard group.family == family else { throw IOError("setsockopt", code: EAFNOSUPPORT) }
        let status: Int32
        switch family {
        case .v4:
            let number = group.bytes.withUnsafeBytes { $0.loadUnaligned(as: UInt32.self) }
            status = linux_membership4(fd, number, Int32(bitPattern: interface), join ? 1 : 0)
        case .v6: status = linux_membership6(fd, group.bytes, interface, join ? 1 : 0)
        }
        guard status == 0 else { throw IOError("setsockopt") }
    }
}
