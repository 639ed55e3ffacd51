import Glibc
import HearthIO
import HearthTime

/// Listens in one place and makes connections. Belongs to the timeline's thread, like the connections; `TLSTransport.listen` makes it.
public final class TLSAcceptor: LoopHandler {
    private let transport: TLSTransport
    private let wallTime: () -> Int64
    /// What its links from outside are ordered by.
    private let origin: Timeline.Origin
    /// -1 when it listens in memory, or no longer.
    private var fd: Int32 = -1
    private var isPaused = false
    private var isClosed = false
    private var connections: [ObjectIdentifier: TLSConnection] = [:]

    /// Where it listens, with the port that it was given.
    public private(set) var address: TransportAddress

    /// Decides on each ClientHello.
    public var choose: (ClientHello) -> TLSChoice = { _ in .refuse(.unrecognizedName) }
    /// Who is at the other end of an operational connection is known: nil to let it in, or how long it has to wait, at most 65 s. It is
    /// told BUSY then instead of 'session established'.
    public var busy: (TLSConnection) -> Duration? = { _ in nil }
    /// A session is established: set its `onMessage` and `onClose` here.
    public var onOpen: (TLSConnection) -> Void = { _ in }
    /// A connection ended before it was established; for diagnostics.
    public var onRefused: (TLSConnection, TLSError) -> Void = { _, _ in }

    init(
        _ transport: TLSTransport, _ address: TransportAddress, origin: Timeline.Origin, wallTime: @escaping () -> Int64
    ) throws(TLSError) {
        (self.transport, self.origin, self.wallTime, self.address) = (transport, origin, wallTime, address)
        switch address {
        case .memory(let wanted):
            let given = try transport.memory.listen(on: wanted) { [weak self] stream, origins in
                if let self { self.serve(stream, origins, pair: nil) } else { stream.close(reset: true) }
            }
            self.address = .memory(given)
        case .socket(let wanted):
            do {
                let isEverywhere = wanted.address == .any6
                let made = isEverywhere ? try Socket.listenEverywhere(port: wanted.port) : try Socket.listen(wanted)
                fd = made.fd
                self.address = .socket(made.address)
                try transport.loop.register(fd, .readable, self)
            } catch {
                closeSocket()
                throw TLSError(.system, "cannot listen on \(wanted): \(error)", systemError: (error as? IOError)?.code)
            }
        }
    }

    deinit { if fd >= 0 { Glibc.close(fd) } }

    /// The most connections that one look takes from one socket.
    private static let acceptsPerTurn = 64

    public func ready(_ events: ReadyEvents) {
        for _ in 0..<Self.acceptsPerTurn where fd >= 0 && !isPaused {
            guard transport.admission.mayAccept else {
                pause()
                return transport.admission.waitForRoom(self)
            }
            do {
                guard let accepted = try Socket.accept(fd) else { return }
                transport.admission.makeRoom()
                serve(socket: accepted)
            } catch {
                // Out of descriptors or memory: the listener stays readable, so pause instead of spinning.
                pause()
                transport.loop.schedule(after: .milliseconds(100)) { [weak self] in self?.resumeAccepting() }
                return
            }
        }
    }

    private func pause() {
        isPaused = true
        transport.loop.watch(fd, [])
    }

    func resumeAccepting() {
        guard fd >= 0, isPaused else { return }
        isPaused = false
        transport.loop.watch(fd, .readable)
    }

    private func serve(socket: Int32) {
        TCPSocket.tune(socket)
        let inside = transport.registry.accepted(socket)
        guard let stream = try? SocketStream(socket, loop: transport.loop) else { return }
        let outside = LinkOrigins(name: "", toAcceptor: origin, toDialler: origin, isOwned: false)
        let pair = inside.flatMap { $0.join() ? $0 : nil }
        serve(stream, pair?.origins ?? outside, pair: pair)
    }

    private func serve(_ stream: ByteStream, _ origins: LinkOrigins, pair: InsidePair?) {
        guard !isClosed,
            let connection = try? TLSConnection(transport, role: .acceptor(self), origins: origins, wallTime: wallTime)
        else {
            pair?.ended(.acceptor)
            return stream.close(reset: true)
        }
        connection.address = address
        connection.pair = pair
        connections[ObjectIdentifier(connection)] = connection
        if !stream.isOrdered { transport.admission.accepted(connection) }
        connection.attach(stream)
        connection.startDeadline(transport.limits.handshake)
        stream.watch(readable: true, writable: false)
    }

    func opened(_ connection: TLSConnection) { onOpen(connection) }

    /// At once, so that the two do not keep each other when the timeline ends before it says so.
    func forget(_ connection: TLSConnection) { connections[ObjectIdentifier(connection)] = nil }

    func ended(_ connection: TLSConnection) {
        if !connection.wasReported {
            onRefused(connection, connection.closeReason ?? TLSError(.closedByPeer, "the peer went away"))
        }
    }

    /// Connections that are open, being made or ending.
    public var all: [TLSConnection] { Array(connections.values) }

    /// Stops listening; established sessions stay. Connections that are being made are given up.
    public func stopListening() {
        guard !isClosed else { return }
        isClosed = true
        transport.admission.stopWaiting(self)
        if case .memory(let address) = address { transport.memory.stopListening(on: address) }
        closeSocket()
        for connection in all where !connection.wasReported { connection.close() }
    }

    /// Stops listening and closes every connection, each after what was sent on it.
    public func close() {
        stopListening()
        for connection in all { connection.close() }
    }

    public func loopStops() {
        isClosed = true
        closeSocket()
        // Nobody is to be told of anything any more, and the node that set these also holds this.
        (choose, busy, onOpen, onRefused) = ({ _ in .refuse(.internalError) }, { _ in nil }, { _ in }, { _, _ in })
    }

    private func closeSocket() {
        guard fd >= 0 else { return }
        let closing = fd
        fd = -1
        transport.loop.unregister(closing)
        Glibc.close(closing)
    }
}

extension TLSTransport {
    /// Listens on `address`; port 0 picks a free one, and the address `::` serves IPv4 too. On the timeline's thread. Set the
    /// acceptor's callbacks before returning to the loop. `name` is the node's, and part of the order in virtual time; `wallTime` is
    /// its clock, in seconds since 1970.
    /// - Throws: `TLSError` with `.system` when the port is taken or the address is not ours.
    public func listen(
        on address: TransportAddress, name: String, wallTime: @escaping () -> Int64
    ) throws(TLSError) -> TLSAcceptor {
        watchForTheEnd()
        return try TLSAcceptor(self, address, origin: registry.acceptorOrigin(for: name), wallTime: wallTime)
    }
}
