import HearthIO
import HearthTime
import MatterInteraction
import MatterMessage
import MatterModel
import MatterTransport

/// A device as the controller reaches it: one session, made when it is needed and again when it was lost.
final class Peer {
    let nodeID: NodeID
    var name: String
    /// Where it answered last.
    private(set) var addresses: [TransportAddress]
    /// The session ended; subscriptions on it are lost.
    var onSessionEnd: (() -> Void)?
    /// The device answered at other addresses than before.
    var onAddresses: (([TransportAddress]) -> Void)?

    /// The device answers at its address and says that it knows nothing of this home: it was reset, or the fabric was removed.
    private(set) var isStranger = false

    /// Its pairing was cut short at its last step: the next connection completes it, or shows that the device has forgotten the home,
    /// which then forgets the device.
    private var isIncomplete: Bool

    private let context: ControllerContext
    private var client: InteractionClient?
    private var isConnecting = false
    private var waiting: [CheckedContinuation<Void, any Error>] = []

    init(_ device: PairedDevice, context: ControllerContext) {
        (nodeID, name, isIncomplete, self.context) = (device.nodeID, device.name, device.isIncomplete, context)
        addresses = device.addresses.compactMap { SocketAddress($0) }.map(context.settings.route)
    }

    /// The device did not answer in time: its end of the session may be gone without a word. The next call makes a new session, and the
    /// old one ends when that has succeeded.
    func doubt() { isDoubted = true }
    private var isDoubted = false

    /// There is no session, and none is being made.
    var isFree: Bool { !isConnecting && !isConnected }
    var isConnected: Bool { client?.session.isOpen ?? false }

    /// The client of an open session, made if there is none. - Throws: `ControllerError.unreachable`.
    func connected() async throws -> InteractionClient {
        while true {
            if let client, client.session.isOpen, !isDoubted { return client }
            if isConnecting {
                // Somebody else is at it: one connection serves all.
                try await withCheckedThrowingContinuation { waiting.append($0) }
                continue
            }
            isConnecting = true
            let result: Result<Void, any Error>
            do {
                try await connect()
                try await completePairing()
                result = .success(())
            } catch {
                result = .failure(try forgottenPairing() ?? error)
            }
            isConnecting = false
            let others = waiting
            waiting = []
            for other in others { other.resume(with: result) }
            try result.get()
        }
    }

    private func connect() async throws {
        isStranger = false
        let search = PeerSearch(context, nodeID, known: addresses)
        let result: Result<[TransportAddress], ControllerError> = await withCheckedContinuation { continuation in
            search.start { [self] outcome, failure in
                guard let outcome else {
                    isStranger = failure?.isStranger ?? false
                    let advice =
                        if isStranger {
                            "It answers, but does not know this home (any more): was it reset? Then unpair it and pair it again"
                        } else if failure?.isExpired == true {
                            "It answers, but by its own clock this controller's certificate has expired: is the device's clock right?"
                        } else {
                            "Is it running, and on this network?"
                        }
                    let message = "\(name) \(failure?.message ?? "cannot be reached"). \(advice)"
                    return continuation.resume(returning: .failure(ControllerError(.unreachable, message)))
                }
                // Here and not after the wait: what the device sends at once must find somebody.
                do throws(TLSError) {
                    let connection = outcome.connection
                    adopt(try Session(link: connection, context: connection.sessionContext()))
                    continuation.resume(returning: .success(outcome.addresses))
                } catch {
                    continuation.resume(returning: .failure(ControllerError(.unreachable, "\(name) went away at once: \(error)")))
                }
            }
        }
        let found = try result.get()
        if found != addresses {
            addresses = found
            onAddresses?(found)
        }
    }

    private func completePairing() async throws {
        guard isIncomplete, let client else { return }
        try await DeviceUnderPairing(client: client).complete()
        isIncomplete = false
        // What is on it was to be read next; if it is not said now, it is when it is needed.
        let endpoints = try? await DeviceDescription.read(client)
        try context.home.update(nodeID) { device in
            device.isIncomplete = false
            if let endpoints { device.endpoints = endpoints }
        }
        Log.controller.info("the pairing of \(name), which was cut short, is complete")
    }

    /// Lets the home forget a device that has itself forgotten a pairing that was cut short. - Returns: nil when it is not one.
    private func forgottenPairing() throws -> ControllerError? {
        guard isIncomplete, isStranger else { return nil }
        try context.home.remove(nodeID)
        return ControllerError(
            .unknownDevice,
            "the pairing of \(name) was cut short and the device has given it up, so that it is not in the home: pair it again")
    }

    /// Takes over a session that was made elsewhere: by a pairing, or by the device itself.
    @discardableResult
    func adopt(_ session: Session) -> InteractionClient {
        let doubted = isDoubted ? client : nil
        isDoubted = false
        let new = InteractionClient(session: session, timeline: context.timeline, origin: context.origin)
        new.limit = context.settings.answer
        client = new
        session.onExchange = { [weak new] exchange, opcode, payload in
            guard exchange.protocolID == .interactionModel, let new else { return exchange.close() }
            new.accept(exchange, opcode, payload)
        }
        session.onEnd = { [weak self, weak new] _ in
            new?.sessionEnded()
            guard let self, client === new else { return }
            client = nil
            onSessionEnd?()
        }
        doubted?.session.abort(LinkError(.timedOut, "the device did not answer on this session"))
        return new
    }

    /// Ends the session, after what was sent.
    func disconnect() {
        client?.session.close()
        client = nil
    }
}
