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
    private let link: (any MessageLink)?

    /// - Parameter isPrompt: the peer answers as soon as it has read: in virtual time the clock waits for a peer outside the process.
    init(
        _ exchange: Exchange, _ timeline: Timeline, _ origin: Timeline.Origin, limit: Duration, isPrompt: Bool = false,
        then: @escaping (Outcome) -> Void
    ) {
        (self.timeline, self.origin, self.limit, self.then) = (timeline, origin, limit, then)
        link = isPrompt ? exchange.session?.link : nil
        exchange.onMessage = { [self] opcode, payload in
            // Nothing has been sent yet that this could answer.
            if timer != nil { finish(.message(opcode: opcode, payload: payload)) }
        }
        exchange.onSessionEnd = { [self] _ in finish(.sessionEnded) }
    }

    func begin() {
        guard then != nil else { return }
        link?.expectAnswer()
        timer = timeline.after(limit, origin: origin) { [weak self] in self?.finish(.silence) }
    }

    /// Nobody is interested any more.
    func cancel() {
        then = nil
        guard let timer else { return }
        timeline.cancel(timer)
        self.timer = nil
        link?.answerArrived()
    }

    private func finish(_ outcome: Outcome) {
        guard let then else { return }
        cancel()
        then(outcome)
    }
}
