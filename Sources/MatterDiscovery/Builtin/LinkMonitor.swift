import Glibc
import HearthIO

/// Which interfaces multicast DNS is spoken on, and notice when that changes (netlink, RTNETLINK(7)).
final class LinkMonitor: LoopHandler {
    private let loop: EventLoop
    private let interface: String?
    private var descriptor: Int32 = -1
    private var timer: TimerID?
    private var changed: (() -> Void)?

    /// `interface` is the only one to use; nil for all that can multicast.
    init(loop: EventLoop, interface: String?) {
        self.loop = loop
        self.interface = interface
    }

    /// The links of now, each with the addresses of its interface.
    /// - Throws: `DiscoveryError.noInterface` when the one that was asked for is not there.
    func current() throws(DiscoveryError) -> [LinkID: [IPAddress]] {
        let all: [NetworkInterface]
        do { all = try NetworkInterface.all() } catch {
            throw DiscoveryError(.noInterface, "the network interfaces cannot be listed", cause: "\(error)")
        }
        return try Self.links(of: all, interface)
    }

    /// Interfaces that are up, can multicast and have an address. On a machine that has none but the loopback, that one: it carries
    /// IPv4 multicast, although it does not say so.
    static func links(of all: [NetworkInterface], _ wanted: String?) throws(DiscoveryError) -> [LinkID: [IPAddress]] {
        var chosen: [NetworkInterface]
        if let wanted {
            chosen = all.filter { $0.name == wanted }
            guard !chosen.isEmpty else {
                let names = all.map(\.name).joined(separator: ", ")
                throw DiscoveryError(.noInterface, "there is no network interface '\(wanted)'; there are \(names)")
            }
            chosen.removeAll { !$0.isUp }
        } else {
            let up = all.filter { $0.isUp && !$0.addresses.isEmpty }
            chosen = up.filter { $0.supportsMulticast && !$0.isLoopback && !$0.isPointToPoint }
            if chosen.isEmpty { chosen = up.filter(\.isLoopback) }
        }
        var links: [LinkID: [IPAddress]] = [:]
        for interface in chosen {
            // More than these nobody tries, and every packet carries them.
            let addresses = Array(interface.addresses.prefix(8))
            if addresses.contains(where: \.isIPv4) { links[LinkID(interface: interface.index, family: .v4)] = addresses }
            if !interface.isLoopback, addresses.contains(where: { !$0.isIPv4 }) {
                links[LinkID(interface: interface.index, family: .v6)] = addresses
            }
        }
        return links
    }

    /// Calls `changed` a moment after anything has changed about interfaces or addresses. Where netlink is not to be had, every five
    /// seconds.
    func watch(_ changed: @escaping () -> Void) {
        self.changed = changed
        let kind = Int32(SOCK_RAW.rawValue) | Int32(SOCK_NONBLOCK.rawValue) | Int32(SOCK_CLOEXEC.rawValue)
        descriptor = socket(AF_NETLINK, kind, 0)
        // struct sockaddr_nl: family, padding, port, groups (links, IPv4 and IPv6 addresses).
        let name: [UInt32] = [UInt32(AF_NETLINK), 0, 0x1 | 0x10 | 0x100]
        let bound = name.withUnsafeBytes { bytes in
            bytes.withMemoryRebound(to: sockaddr.self) { $0.baseAddress.map { bind(descriptor, $0, 12) } }
        }
        if descriptor >= 0, bound == 0, (try? loop.register(descriptor, .readable, self)) != nil { return }
        if descriptor >= 0 { close(descriptor) }
        descriptor = -1
        poll()
    }

    private func poll() {
        timer = loop.schedule(after: .seconds(5)) { [weak self] in
            self?.changed?()
            self?.poll()
        }
    }

    func ready(_ events: ReadyEvents) {
        // What changed does not matter: everything is looked at again, once for the several messages of one change.
        withUnsafeTemporaryAllocation(byteCount: 8192, alignment: 8) { buffer in
            while recv(descriptor, buffer.baseAddress, buffer.count, 0) > 0 {}
        }
        guard timer == nil else { return }
        timer = loop.schedule(after: .milliseconds(100)) { [weak self] in
            self?.timer = nil
            self?.changed?()
        }
    }

    func loopStops() { stop() }

    func stop() {
        changed = nil
        if let timer { loop.cancel(timer) }
        timer = nil
        guard descriptor >= 0 else { return }
        loop.unregister(descriptor)
        close(descriptor)
        descriptor = -1
    }
}
