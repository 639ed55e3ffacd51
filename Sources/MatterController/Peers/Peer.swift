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

    private let context: ControllerContext
    private var client: InteractionClient?
    private var isConnecting = false
    private var waiting: [CheckedContinuation<Void, any Error>] = []

    init(_ device: PairedDevice, context: ControllerContext) {
        (nodeID, name, self.context) = (device.nodeID, device.name, context)
        addresses = device.addresses.compactMap { SocketAddress($0) }.map(context.settings.route)
    }

    /// The device did not answer in time: its end of the session may be gone without a word. The next call makes a new session, and the
    /// old one ends when that has succeeded.
    func doubt() { isDoubted = true }
    private var isDoubted = false

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
                result = .success(())
            } catch {
                result = .failure(error)
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
        // Where it was last is nearly always where it is: discovery is asked when that fails.
        var failure: TLSError?
        if !addresses.isEmpty {
            do throws(TLSError) { return try await dial(addresses) } catch { failure = error }
        }
        let found = await context.resolver.operational(
            context.home.authority.fabric, nodeID, known: [], within: context.settings.discovery)
        guard !found.isEmpty else {
            isStranger = failure?.alert == .unrecognizedName
            let reason = failure.map { "at its last address: \($0)" } ?? "and it was not found on the network"
            throw ControllerError(.unreachable, "\(name) cannot be reached, \(reason). Is it running, and on this network?")
        }
        do throws(TLSError) {
            try await dial(found)
        } catch {
            throw ControllerError(.unreachable, "\(name) was found at \(found[0]) but took no connection: \(error)")
        }
        if found != addresses {
            addresses = found
            onAddresses?(found)
        }
    }

    private func dial(_ addresses: [TransportAddress]) async throws(TLSError) {
        let result: Result<Void, TLSError> = await withCheckedContinuation { continuation in
            context.transport.dial(
                addresses, as: context.home.identity, node: nodeID, tickets: context.tickets, name: "\(context.name)-\(nodeID)",
                wallTime: { [context] in context.wallSeconds }
            ) { [weak self] result in
                switch result {
                case .success(let connection):
                    do throws(TLSError) {
                        let session = try Session(link: connection, context: connection.sessionContext())
                        self?.adopt(session)
                        continuation.resume(returning: .success(()))
                    } catch {
                        continuation.resume(returning: .failure(error))
                    }
                case .failure(let error): continuation.resume(returning: .failure(error))
                }
            }
        }
        try result.get()
    }

    /// Takes over a session that was made elsewhere: by a pairing, or by the device itself.
    func adopt(_ session: Session) {
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
    }

    /// Ends the session, after what was sent.
    func disconnect() {
        client?.session.close()
        client = nil
    }
}
