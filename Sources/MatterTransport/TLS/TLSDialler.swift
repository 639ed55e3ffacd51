import HearthIO
import HearthTime
import MatterModel

// Outgoing connections. On the timeline's thread only.
extension TLSTransport {
    /// Dials a node operationally. The first of `addresses` that takes a connection is used; the next is tried when one fails, or has
    /// not answered within `TransportLimits.nextAddress`.
    ///
    /// `completion` is called once, never from within this call: with the connection when the node's 'session established' has come
    /// (set its `onMessage` and `onClose` then), or with the reason why not. `abort` on the returned connection gives up early.
    /// `name` is the link's, the same each time the same two dial: in virtual time it is part of the order of what arrives.
    @discardableResult
    public func dial(
        _ addresses: [TransportAddress], as identity: OperationalIdentity, node: NodeID, tickets: TicketStore?, name: String,
        timeout: Duration? = nil, wallTime: @escaping () -> Int64, completion: @escaping (Result<TLSConnection, TLSError>) -> Void
    ) -> TLSConnection? {
        dial(addresses, .dialler(identity: identity, node: node, tickets: tickets), name, timeout, wallTime, completion)
    }

    /// Dials a device's pairing port; the same otherwise. Whoever answers is unknown until SPAKE2+ has been run over it.
    @discardableResult
    public func dialPairing(
        _ addresses: [TransportAddress], name: String, timeout: Duration? = nil,
        completion: @escaping (Result<TLSConnection, TLSError>) -> Void
    ) -> TLSConnection? {
        dial(addresses, .pairingDialler, name, timeout, { 0 }, completion)
    }

    private func dial(
        _ addresses: [TransportAddress], _ role: TLSConnection.Role, _ name: String, _ timeout: Duration?,
        _ wallTime: @escaping () -> Int64, _ completion: @escaping (Result<TLSConnection, TLSError>) -> Void
    ) -> TLSConnection? {
        watchForTheEnd()
        let origins = registry.origins(for: name)
        let connection: TLSConnection
        do throws(TLSError) {
            connection = try TLSConnection(self, role: role, origins: origins, wallTime: wallTime)
        } catch {
            timeline.after(.zero, origin: origins.toDialler, phase: .delivery) { completion(.failure(error)) }
            return nil
        }
        connection.completion = completion
        let limit = timeout ?? limits.handshake
        connection.startDeadline(limit, inModelTime: addresses.allSatisfy { if case .memory = $0 { true } else { false } })
        do throws(TLSError) {
            try connection.prepareDial()
            connection.connect(to: addresses)
        } catch {
            connection.finish(error)
        }
        return connection
    }
}

extension TLSConnection {
    /// Bounds everything up to the established session.
    func startDeadline(_ limit: Duration, inModelTime: Bool = false) {
        let expired = { [weak self] in
            guard let self else { return }
            let what = self.phase == .connecting ? "no connection" : "no session"
            self.finish(TLSError(.timedOut, "\(what) within \(limit)"))
        }
        if let stream {
            deadline = stream.schedule(after: limit, expired)
        } else if inModelTime {
            let (timeline, token) = (transport.timeline, transport.timeline.after(limit, origin: origin, expired))
            deadline = StreamTimer { timeline.cancel(token) }
        } else {
            let (loop, id) = (transport.loop, transport.loop.schedule(after: limit, expired))
            deadline = StreamTimer { loop.cancel(id) }
        }
    }

    func connect(to addresses: [TransportAddress]) {
        let race = ConnectRace(transport, addresses, origins: origins)
        connector = StreamTimer { race.cancel() }
        // Keeps the connection until there is a stream that does.
        race.start { result in
            self.connector = nil
            switch result {
            case .failure(let error): self.finish(error)
            case .success(let won):
                self.address = won.address
                (self.pair, self.pairKey) = (won.pair, won.key)
                self.attach(won.stream)
                self.handshake()
            }
        }
    }
}
