import Glibc
import HearthIO

/// The socket of one link.
///
/// It is bound to the group's own address, so that it gets the multicasts of its interface and nothing else. On a machine where
/// an Avahi daemon has port 5353 too, the daemon's unicast answers cannot end up here.
final class LinkSocket: LoopHandler {
    let link: LinkID
    private let loop: EventLoop
    private let socket: DatagramSocket
    private let received: (PacketSource, [UInt8]) -> Void
    private let drained: () -> Void
    private static let size = 9000

    /// - Throws: `IOError`.
    init(
        _ link: LinkID, loop: EventLoop, received: @escaping (PacketSource, [UInt8]) -> Void, drained: @escaping () -> Void
    ) throws {
        self.link = link
        self.loop = loop
        self.received = received
        self.drained = drained
        let group = link.group
        socket = try DatagramSocket(group, shared: true)
        // A thousand services answer with a hundred packets at once. The system cuts it to its limit.
        var wanted: Int32 = 4 << 20
        setsockopt(socket.fd, SOL_SOCKET, SO_RCVBUF, &wanted, 4)
        try socket.setHopLimit(255)
        try socket.setMulticastLoop(true)
        try socket.setMulticastInterface(link.interface)
        try socket.join(group.address, interface: link.interface)
        try loop.register(socket.fd, .readable, self)
    }

    func ready(_ events: ReadyEvents) {
        withUnsafeTemporaryAllocation(byteCount: Self.size, alignment: 8) { buffer in
            // A bound, so that a flood leaves the loop its other descriptors.
            for _ in 0..<128 {
                guard socket.fd >= 0, let datagram = try? socket.receive(into: buffer) else { break }
                if datagram.isTruncated { continue }
                let bytes = [UInt8](UnsafeRawBufferPointer(rebasing: buffer[..<datagram.count]))
                received(PacketSource(link: link, address: datagram.sender), bytes)
            }
        }
        drained()
    }

    /// False when the system has no room: try again in a moment.
    func send(_ packet: Outgoing) -> Bool {
        // An interface that has just gone refuses; the monitor will notice.
        (try? socket.send(packet.bytes, to: packet.to ?? link.group, interface: link.interface)) ?? true
    }

    func loopStops() { close() }

    func close() {
        guard socket.fd >= 0 else { return }
        loop.unregister(socket.fd)
        socket.close()
    }
}
