import CLinux
import Glibc

/// One of the machine's network interfaces, as it was when it was asked for.
public struct NetworkInterface: Hashable, Sendable {
    /// The name, for example `eth0`.
    public var name: String
    /// The index by which the system knows it; 1 or more.
    public var index: UInt32
    /// It is up.
    public var isUp: Bool
    /// It is the machine's own loopback.
    public var isLoopback: Bool
    /// It says that it can do multicast. The loopback does not, and yet carries IPv4 multicast.
    public var supportsMulticast: Bool
    /// It joins two machines only.
    public var isPointToPoint: Bool
    /// Its addresses, in the system's order.
    public var addresses: [IPAddress]

    /// All interfaces that have an address or a link, by index. - Throws: `IOError`.
    public static func all() throws -> [NetworkInterface] {
        var first: UnsafeMutablePointer<ifaddrs>?
        guard getifaddrs(&first) == 0 else { throw IOError("getifaddrs") }
        defer { freeifaddrs(first) }
        var found: [NetworkInterface] = []
        var next = first
        while let entry = next?.pointee {
            next = entry.ifa_next
            let name = String(cString: entry.ifa_name)
            let flags = entry.ifa_flags
            func has(_ flag: Int) -> Bool { flags & UInt32(flag) != 0 }
            var position = found.firstIndex { $0.name == name }
            if position == nil {
                let index = if_nametoindex(name)
                if index == 0 { continue }  // it has gone meanwhile
                found.append(
                    NetworkInterface(
                        name: name, index: index, isUp: has(IFF_UP), isLoopback: has(IFF_LOOPBACK),
                        supportsMulticast: has(IFF_MULTICAST),
                        isPointToPoint: has(IFF_POINTOPOINT), addresses: []))
                position = found.count - 1
            }
            if let position, let address = Self.address(entry.ifa_addr) { found[position].addresses.append(address) }
        }
        return found.sorted { $0.index < $1.index }
    }

    /// The name of the interface with `index`, or nil.
    public static func name(index: UInt32) -> String? {
        var text = [CChar](repeating: 0, count: Int(IF_NAMESIZE))
        guard if_indextoname(index, &text) != nil else { return nil }
        return String(decoding: text.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }

    private static func address(_ pointer: UnsafeMutablePointer<sockaddr>?) -> IPAddress? {
        guard let pointer else { return nil }
        var storage = sockaddr_storage()
        let size: Int
        switch Int32(pointer.pointee.sa_family) {
        case AF_INET: size = MemoryLayout<sockaddr_in>.size
        case AF_INET6: size = MemoryLayout<sockaddr_in6>.size
        default: return nil
        }
        withUnsafeMutableBytes(of: &storage) { $0.copyMemory(from: UnsafeRawBufferPointer(start: pointer, count: size)) }
        return SocketAddress(system: storage)?.address
    }
}
