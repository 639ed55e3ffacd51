import HearthTime
import MatterMessage
import MatterModel

/// Sends the messages of one report, each after the peer has acknowledged the one before (Matter Core, 8.4.3.3).
final class ReportSender {
    private weak var server: InteractionServer?
    private let stream: ReportStream
    private let exchange: Exchange
    private let context: InteractionContext
    private let isLastAcknowledged: Bool
    private let onSent: () -> Void
    private var done: ((Bool) -> Void)?
    private var turn: PeerTurn?

    /// - Parameters:
    ///   - isLastAcknowledged: the peer acknowledges the last message too: in subscriptions.
    ///   - onSent: the last message has been handed to the link.
    ///   - done: called once, with whether all went well. The exchange is still open, for what follows the report.
    init(
        _ stream: ReportStream, on exchange: Exchange, _ context: InteractionContext, _ server: InteractionServer,
        isLastAcknowledged: Bool, onSent: @escaping () -> Void = {}, done: @escaping (Bool) -> Void
    ) {
        (self.server, self.stream, self.exchange, self.context) = (server, stream, exchange, context)
        (self.isLastAcknowledged, self.onSent, self.done) = (isLastAcknowledged, onSent, done)
    }

    func sendNext() {
        guard let server else { return finish(false) }
        let maximum = InteractionServer.payloadLimit(exchange)
        let (payload, isLast) = stream.nextChunk(maximum: maximum, suppressResponse: !isLastAcknowledged)
        let waits = !isLast || isLastAcknowledged
        if waits {
            turn = PeerTurn(exchange, server.timeline, server.origin, limit: server.limits.acknowledgement, isPrompt: true) {
                [self] outcome in
                heard(outcome, isLast: isLast)
            }
        }
        server.answer(exchange, .reportData, payload, context, closing: false) { [self] in
            turn?.begin()
            if isLast { onSent() }
            if !waits { finish(true) }
        }
    }

    /// Stops; `done` is not called.
    func cancel() {
        done = nil
        turn?.cancel()
        turn = nil
        exchange.close()
    }

    private func heard(_ outcome: PeerTurn.Outcome, isLast: Bool) {
        turn = nil
        guard case .message(let opcode, let payload) = outcome else { return finish(false) }
        guard opcode == InteractionOpcode.statusResponse.rawValue, let status = try? StatusResponse(decoding: payload).status
        else {
            exchange.send(InteractionOpcode.statusResponse.rawValue, StatusResponse(.invalidAction).payload)
            return finish(false)
        }
        if status != .success { return finish(false) }
        if isLast { finish(true) } else { sendNext() }
    }

    private func finish(_ isAcknowledged: Bool) {
        guard let done else { return }
        self.done = nil
        done(isAcknowledged)
    }
}
