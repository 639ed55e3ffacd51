import Glibc
import HearthIO
import HearthTime

/// Connects to the first of several addresses that answers. The next is tried when one fails or takes long; what is being tried goes on
/// meanwhile (RFC 8305, without its sorting: the caller's order counts).
final class ConnectRace {
    struct Winner {
        let stream: ByteStream
        let address: TransportAddress
        /// In virtual time: what the two ends share, and under which key the acceptor's end finds it.
        let pair: InsidePair?
        let key: LinkRegistry.Key?
    }

    private final class Attempt: LoopHandler {
        let address: TransportAddress
        var fd: Int32 = -1
        var pair: InsidePair?
        var key: LinkRegistry.Key?
        var timer: StreamTimer?
        var onReady: (() -> Void)?
        init(_ address: TransportAddress) { self.address = address }
        func ready(_ events: ReadyEvents) { onReady?() }
        func loopStops() { onReady = nil }
    }

    private let transport: TLSTransport
    private let origins: LinkOrigins
    private var waiting: ArraySlice<TransportAddress>
    private var attempts: [Attempt] = []
    private var failures: [String] = []
    private var nextTimer: TimerID?
    private var done: ((Result<Winner, TLSError>) -> Void)?

    init(_ transport: TLSTransport, _ addresses: [TransportAddress], origins: LinkOrigins) {
        (self.transport, self.origins) = (transport, origins)
        waiting = addresses[...]
    }

    /// `done` is called once, unless cancelled, never from within this call.
    func start(_ done: @escaping (Result<Winner, TLSError>) -> Void) {
        self.done = done
        next()
    }

    func cancel() {
        done = nil
        letGo(but: nil)
    }

    private func next() {
        if let nextTimer { transport.loop.cancel(nextTimer) }
        nextTimer = nil
        guard let address = waiting.popFirst() else {
            if attempts.isEmpty { failLater() }
            return
        }
        let attempt = Attempt(address)
        attempts.append(attempt)
        switch address {
        case .memory(let place):
            attempt.timer = transport.memory.connect(to: place, origins: origins) { stream in
                if let stream { self.won(attempt, stream) } else { self.failed(attempt, "nobody listens there") }
            }
        case .socket(let place): connect(attempt, to: place)
        }
    }

    private func connect(_ attempt: Attempt, to place: SocketAddress) {
        do {
            attempt.fd = try Socket.connect(place)
            TCPSocket.tune(attempt.fd)
            attempt.pair = transport.registry.dialling(origins)
            attempt.key = attempt.pair.flatMap { transport.registry.register(attempt.fd, to: place, $0) }
            attempt.onReady = { self.connected(attempt) }
            try transport.loop.register(attempt.fd, .writable, attempt)
            if !waiting.isEmpty {
                nextTimer = transport.loop.schedule(after: transport.limits.nextAddress) { self.next() }
            }
        } catch {
            failed(attempt, (error as? IOError).map { String(cString: strerror($0.code)) } ?? "\(error)")
        }
    }

    private func connected(_ attempt: Attempt) {
        if let error = Socket.connectionError(attempt.fd) { return failed(attempt, String(cString: strerror(error.code))) }
        let fd = attempt.fd
        transport.loop.unregister(fd)
        attempt.fd = -1
        guard let stream = try? SocketStream(fd, loop: transport.loop) else { return failed(attempt, "it cannot be watched") }
        won(attempt, stream)
    }

    private func won(_ attempt: Attempt, _ stream: ByteStream) {
        letGo(but: attempt)
        attempt.onReady = nil
        guard let done else { return stream.close(reset: true) }
        self.done = nil
        done(.success(Winner(stream: stream, address: attempt.address, pair: attempt.pair, key: attempt.key)))
    }

    private func failed(_ attempt: Attempt, _ why: String) {
        failures.append("\(attempt.address): \(why)")
        letGo(attempt)
        attempts.removeAll { $0 === attempt }
        if !waiting.isEmpty || attempts.isEmpty { next() }
    }

    /// In an entry of its own: the first address may fail within `start`.
    private func failLater() {
        let message = failures.isEmpty ? "there is no address to connect to" : failures.joined(separator: "; ")
        transport.timeline.after(.zero, origin: origins.toDialler, phase: .delivery) {
            let done = self.done
            self.done = nil
            done?(.failure(TLSError(.unreachable, message)))
        }
    }

    private func letGo(but winner: Attempt?) {
        if let nextTimer { transport.loop.cancel(nextTimer) }
        nextTimer = nil
        waiting = []
        for attempt in attempts where attempt !== winner { letGo(attempt) }
        attempts = []
    }

    private func letGo(_ attempt: Attempt) {
        attempt.onReady = nil
        attempt.timer?.cancel()
        attempt.pair?.ended(.dialler)
        if let key = attempt.key { transport.registry.forget(key) }
        guard attempt.fd >= 0 else { return }
        transport.loop.unregister(attempt.fd)
        Glibc.close(attempt.fd)
        attempt.fd = -1
    }
}
