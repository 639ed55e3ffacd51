import Glibc
import HearthIO
import HearthTime
import MatterCredentials
import MatterMessage
import MatterModel
import Testing

@testable import MatterTransport

/// Serves nodes in one place and echoes every frame. An actor pinned to its timeline, as nodes are.
actor TestServer {
    nonisolated let transport: TLSTransport
    nonisolated var unownedExecutor: UnownedSerialExecutor { transport.timeline.asUnownedSerialExecutor() }
    private var identities: [String: OperationalIdentity] = [:]
    private var window: PairingIdentity?
    private var isBusy = false
    private var acceptor: TLSAcceptor?
    private var sessions: [TLSConnection] = []
    private(set) var failures: [TLSError] = []
    private(set) var opened: [(peer: PeerIdentity?, resumed: Bool)] = []
    private(set) var contexts: [SessionContext] = []
    private(set) var received = 0
    private(set) var ends: [LinkError?] = []
    /// What the pairing side does with a frame; echoes when nil.
    private var pairingHandler: (@Sendable (isolated TestServer, [UInt8], [UInt8]) -> [UInt8])?
    private var echoes = true
    private var pausesAfter = Int.max
    private var delay: Duration?
    /// Who sent what, when, in the order of arrival.
    private(set) var log: [String] = []

    init(_ transport: TLSTransport) { self.transport = transport }

    func start(
        on address: TransportAddress = .loopback(0), clock: ModelClock = ModelClock(), identities: [OperationalIdentity] = []
    ) throws -> TransportAddress {
        let acceptor = try transport.listen(on: address, name: "server", wallTime: { clock.now })
        // These closures belong to this actor; the cycle ends in `stop`.
        acceptor.choose = { hello in self.choose(hello) }
        acceptor.onOpen = { connection in self.open(connection) }
        acceptor.onRefused = { _, error in self.failures.append(error) }
        self.acceptor = acceptor
        for identity in identities { add(identity) }
        return acceptor.address
    }

    enum Moment: CaseIterable { case choosing, opening, message, abort }
    private var stopMoment: Moment?
    private var known: [WeakConnection] = []
    var aliveConnections: Int { known.filter { $0.connection != nil }.count }
    func stop(at moment: Moment) { stopMoment = moment }

    private(set) var mostHandshakes = 0
    private(set) var mostWaiting = 0

    private func choose(_ hello: ClientHello) -> TLSChoice {
        known += acceptor?.all.map { WeakConnection(connection: $0) } ?? []
        if stopMoment == .choosing { stop() }
        mostHandshakes = max(mostHandshakes, transport.load.handshakes)
        mostWaiting = max(mostWaiting, transport.load.waiting)
        if hello.protocols.contains(TLSMode.operational.rawValue) {
            guard let name = hello.serverName, let identity = identities[name] else { return .refuse(.unrecognizedName) }
            return .operational(identity)
        }
        guard hello.protocols.contains(TLSMode.pairing.rawValue) else { return .refuse(.noApplicationProtocol) }
        guard let window else { return .refuse(.accessDenied) }
        return isBusy ? .busy(window, retryAfter: .milliseconds(1500)) : .pairing(window)
    }

    private func open(_ connection: TLSConnection) {
        opened.append((connection.peer, connection.isResumed))
        if let context = try? connection.sessionContext() { contexts.append(context) }
        sessions.append(connection)
        if stopMoment == .opening { stop() }
        connection.onMessage = { [weak connection] message in if let connection { self.handle(connection, message) } }
        connection.onClose = { [weak connection] error in
            self.ends.append(error)
            if let reason = connection?.closeReason { self.failures.append(reason) }
            self.sessions.removeAll { $0 === connection }
        }
    }

    private func handle(_ connection: TLSConnection, _ message: UnsafeRawBufferPointer) {
        received += 1
        if stopMoment == .message { stop() }
        if stopMoment == .abort { connection.abort(LinkError(.closedHere, "within a callback")) }
        log.append("\(transport.timeline.now) \(connection.peer?.nodeID.rawValue ?? 0) \(message.first ?? 0)")
        if received == pausesAfter { connection.pauseReading() }
        if let delay {
            let answer = Array(message)
            transport.timeline.after(delay) { connection.send(answer) }
            return
        }
        guard echoes else { return }
        guard connection.mode == .pairing, let pairingHandler, let binding = try? connection.pairingBinding() else {
            return connection.send(message)
        }
        connection.send(pairingHandler(self, Array(message), binding))
    }

    func add(_ identity: OperationalIdentity, as name: String? = nil) { identities[name ?? identity.instanceName] = identity }
    func remove(_ fabric: FabricIdentity) { identities = identities.filter { $0.value.fabric != fabric } }
    func openWindow() throws { window = try PairingIdentity(notBefore: TestFabric.notBefore) }
    func closeWindow() { window = nil }
    func setBusy(_ isBusy: Bool) { self.isBusy = isBusy }
    func setPairing(_ handler: @escaping @Sendable (isolated TestServer, [UInt8], [UInt8]) -> [UInt8]) {
        pairingHandler = handler
    }
    func setDelay(_ delay: Duration?) { self.delay = delay }
    func setEchoes(_ echoes: Bool) { self.echoes = echoes }
    func pause(after count: Int) { pausesAfter = count }
    func resume() { for session in sessions { session.resumeReading() } }
    /// Lets the kernel keep as little as possible of what is sent.
    func shrinkBuffers() {
        var size: Int32 = 4096
        for case let stream as SocketStream in sessions.compactMap(\.stream) {
            setsockopt(stream.fd, SOL_SOCKET, SO_SNDBUF, &size, 4)
        }
    }
    var hasOutput: Bool { acceptor?.all.contains { !$0.output.isEmpty } ?? false }
    /// Sends to every session, then closes it.
    func sendAndClose(_ message: [UInt8], times: Int = 1) {
        for session in sessions {
            for _ in 0..<times { session.send(message) }
            session.close()
        }
    }
    func send(_ message: [UInt8], times: Int = 1) {
        for session in sessions { for _ in 0..<times { session.send(message) } }
    }
    func completePairing() { for session in sessions { session.pairingCompleted() } }
    var connectionCount: Int { acceptor?.all.count ?? 0 }
    var address: TransportAddress { acceptor?.address ?? .loopback(0) }
    var load: TransportLoad { transport.load }
    func stop() {
        acceptor?.close()
        acceptor = nil
    }
}

/// One outgoing connection at a time.
actor TestClient {
    struct Session: Sendable {
        let peer: PeerIdentity?
        let resumed: Bool
        let binding: [UInt8]
        let context: SessionContext
        let address: TransportAddress?
    }

    nonisolated let transport: TLSTransport
    nonisolated let name: String
    nonisolated var unownedExecutor: UnownedSerialExecutor { transport.timeline.asUnownedSerialExecutor() }
    private var connection: TLSConnection?
    private var waiting: CheckedContinuation<[UInt8], any Error>?
    private(set) var received: [[UInt8]] = []
    private(set) var end: LinkError??
    private var onFrame: ((UnsafeRawBufferPointer) -> Void)?

    init(_ transport: TLSTransport, name: String = "client") { (self.transport, self.name) = (transport, name) }

    func connect(
        _ addresses: TransportAddress..., as identity: OperationalIdentity, to node: NodeID, tickets: TicketStore? = nil,
        clock: ModelClock = ModelClock(), timeout: Duration = .seconds(600)
    ) async throws -> Session {
        try await open { completion in
            transport.dial(
                addresses, as: identity, node: node, tickets: tickets, name: name, timeout: timeout, wallTime: { clock.now },
                completion: completion)
        }
    }

    /// Dials and does not wait for what comes of it.
    func startDialling(_ address: TransportAddress, as identity: OperationalIdentity, to node: NodeID) {
        transport.dial([address], as: identity, node: node, tickets: nil, name: name, wallTime: { ModelClock.start }) { _ in }
    }

    /// The first bytes that a client sends.
    func clientHello(as identity: OperationalIdentity, to node: NodeID) throws -> [UInt8] {
        let stream = RecordingStream()
        let connection = try TLSConnection(
            transport, role: .dialler(identity: identity, node: node, tickets: nil), origins: .anonymous,
            wallTime: { ModelClock.start })
        try connection.prepareDial()
        connection.attach(stream)
        connection.handshake()
        connection.abort(LinkError(.closedHere, "done"))
        return stream.written
    }

    /// Whether the other end was found in this process.
    var isInside: Bool { connection?.pair != nil }

    func connectPairing(_ address: TransportAddress) async throws -> Session {
        try await open { completion in
            transport.dialPairing([address], name: name, timeout: .seconds(600), completion: completion)
        }
    }

    private func open(_ dial: (@escaping (Result<TLSConnection, TLSError>) -> Void) -> TLSConnection?) async throws -> Session {
        (received, end) = ([], nil)
        return try await withCheckedThrowingContinuation { continuation in
            _ = dial { result in
                do {
                    let connection = try result.get()
                    self.adopt(connection)
                    continuation.resume(
                        returning: Session(
                            peer: connection.peer, resumed: connection.isResumed, binding: try connection.pairingBinding(),
                            context: try connection.sessionContext(), address: connection.address))
                } catch {
                    continuation.resume(throwing: error)
                }
            }
        }
    }

    private weak var last: TLSConnection?
    var connectionExists: Bool { last != nil }

    private func adopt(_ connection: TLSConnection) {
        self.connection = connection
        last = connection
        connection.onMessage = { message in
            self.received.append(Array(message))
            self.onFrame?(message)
            self.waiting?.resume(returning: Array(message))
            self.waiting = nil
        }
        connection.onClose = { error in
            self.end = .some(error)
            let reason = self.connection?.closeReason
            self.connection = nil
            self.waiting?.resume(throwing: reason ?? TLSError(.closedByPeer, "closed"))
            self.waiting = nil
        }
    }

    func request(_ message: [UInt8]) async throws -> [UInt8] {
        guard let connection else { throw TLSError(.broken, "not connected") }
        return try await withCheckedThrowingContinuation { continuation in
            waiting = continuation
            connection.send(message)
        }
    }

    /// Sends bytes without a frame around them and waits for an answer.
    func requestRaw(_ bytes: [UInt8]) async throws -> [UInt8] {
        guard let connection else { throw TLSError(.broken, "not connected") }
        return try await withCheckedThrowingContinuation { continuation in
            waiting = continuation
            bytes.withUnsafeBytes { connection.write($0) }
        }
    }

    func send(_ message: [UInt8], times: Int = 1) { for _ in 0..<times { connection?.send(message) } }
    func setLatency(_ latency: Duration) { transport.memory.latency = latency }
    func close() { connection?.close() }
    func pause() { connection?.pauseReading() }
    func resume() { connection?.resumeReading() }
    /// Ends the connection; whether a callback came from within the call.
    func endAndWatch(abort: Bool) -> Bool {
        if abort { self.abort() } else { close() }
        return end != nil
    }
    /// The next message is the answer to what is sent next.
    func expectAnswer() {
        connection?.expectAnswer()
        onFrame = { _ in
            self.connection?.answerArrived()
            self.onFrame = nil
        }
    }
    func abort() { connection?.abort(LinkError(.closedHere, "aborted")) }
    var isEnded: Bool { end != nil }

    /// Sends, then closes the socket without a word to TLS and without reading the answers. With `reset` the kernel resets the
    /// connection at once; without, the other end learns of it only from its second write, as EPIPE.
    func sendAndVanish(_ message: [UInt8], times: Int, reset: Bool) {
        guard let connection else { return }
        for _ in 0..<times { connection.send(message) }
        connection.finish(TLSError(.broken, "vanished"), reset: reset)
    }
}

struct WeakConnection {
    weak var connection: TLSConnection?
}

extension TransportLimits {
    /// For tests in real time whose subject is no limit of time: a slow machine, or a sanitizer, does not run into one.
    static var generous: TransportLimits {
        var limits = TransportLimits()
        (limits.handshake, limits.frame, limits.closing, limits.pairing) = (.seconds(600), .seconds(600), .seconds(600), .seconds(600))
        return limits
    }
}

/// A runtime and its transport, which end with the test.
func withTransport<R>(
    _ mode: Timeline.Mode = .real(speed: 1), limits: TransportLimits? = nil, _ body: (TLSTransport) async throws -> R
) async throws -> R {
    // Two busy cores can be slow to answer; a hold that is really forgotten still ends the test.
    var patience = Timeline.Limits()
    patience.hold = .seconds(300)
    let runtime = try Runtime(mode: mode, limits: patience)
    defer { runtime.shutdown() }
    let usual: TransportLimits = if case .real = mode { .generous } else { TransportLimits() }
    return try await body(TLSTransport(runtime, limits: limits ?? usual))
}

/// Runs `body` and returns the `TLSError` it throws.
func failure(_ body: () async throws -> some Sendable) async -> TLSError? {
    do {
        _ = try await body()
        return nil
    } catch {
        return error as? TLSError
    }
}

/// Waits in real time until `condition` holds, a hundred seconds at most.
func eventually(_ condition: () async -> Bool) async -> Bool {
    for _ in 0..<10_000 {
        if await condition() { return true }
        try? await Task.sleep(for: .milliseconds(10))
    }
    return false
}

/// A plain blocking TCP socket, for what no TLS library would send.
struct RawPeer: ~Copyable {
    let fd: Int32
    init(_ address: TransportAddress) throws {
        fd = try Socket.connect(SocketAddress(.loopback4, port: address.port))
        var flags = pollfd(fd: fd, events: Int16(POLLOUT), revents: 0)
        poll(&flags, 1, 2000)
        _ = fcntl(fd, F_SETFL, 0)
        var limit = timeval(tv_sec: 10, tv_usec: 0)
        setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &limit, socklen_t(MemoryLayout<timeval>.size))
    }
    deinit { close(fd) }
    func send(_ bytes: [UInt8]) { _ = Glibc.send(fd, bytes, bytes.count, Int32(MSG_NOSIGNAL)) }
    /// Everything until the peer closes. - Returns: nil when it does not within ten seconds.
    func readToEnd() -> [UInt8]? {
        var all: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 4096)
        while true {
            let count = recv(fd, &buffer, buffer.count, 0)
            if count == 0 || (count < 0 && errno == ECONNRESET) { return all }
            if count < 0 { return nil }
            all += buffer[..<count]
        }
    }
}

/// A value shared between closures.
final class Box<Value: Sendable>: Sendable {
    private let storage: Locked<Value>
    init(_ value: Value) { storage = Locked(value) }
    var value: Value {
        get { storage.withLock { $0 } }
        set { storage.withLock { $0 = newValue } }
    }
}
