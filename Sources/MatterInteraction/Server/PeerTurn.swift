import HearthTime
import MatterMessage

/// The wait for the peer's next message in an exchange, which may take so long and no longer.
///
/// The time runs from `begin`: when what the peer is to answer has been handed to the link, not while it waits for the store or a fault.
/// Whatever comes, `then` hears of exactly one outcome, and nothing is kept alive after it.
final class PeerTurn {
    enum Outcome {
        /// The bytes are valid during the call only.
        case message(opcode: UInt8, payload: UnsafeRawBufferPointer)
        case silence
        case sessionEnded
    }

    private let timeline: Timeline
    private let origin: Timeline.Origin
    private let limit: Duration
    private var then: ((Outcome) -> Void)?
    private var timer: Token?

    init(
        _ exchange: Exchange, _ timeline: Timeline, _ origin: Timeline.Origin, limit: Duration, then: @escaping (Outcome) -> Void
    ) {
        (self.timeline, self.origin, self.limit, self.then) = (timeline, origin, limit, then)
        exchange.onMessage = { [self] opcode, payload in
            // Nothing has been sent yet that this could answer.
            if timer != nil { finish(.message(opcode: opcode, payload: payload)) }
        }
        exchange.onSessionEnd = { [self] _ in finish(.sessionEnded) }
    }

    func begin() {
        guard then != nil else { return }
        timer = timeline.after(limit, origin: origin) { [weak self] in self?.finish(.silence) }
    }

    /// Nobody is interested any more.
    func cancel() {
        then = nil
        if let timer { timeline.cancel(timer) }
        timer = nil
    }

    private func finish(_ outcome: Outcome) {
        guard let then else { return }
        cancel()
        then(outcome)
    }
}
