import HearthTime
import MatterMessage

/// The end of a conversation, which comes once: from a message, a timer, the session's end or the cancellation of the task that waits.
///
/// Why `@unchecked Sendable` is sound: it is made, used and finished on the timeline's thread. The one access from elsewhere, a task's
/// cancellation, hands only the reference to `post`, which brings it to that thread.
final class Conversation<Value>: @unchecked Sendable {
    /// Fails the conversation when nobody answers.
    var timer: Token?

    private let exchange: Exchange
    private let timeline: Timeline
    private var continuation: CheckedContinuation<Carried, any Error>?
    /// The end, when it came before anybody waited.
    private var early: Result<Value, any Error>?
    private var isOver = false

    init(_ exchange: Exchange, _ timeline: Timeline) { (self.exchange, self.timeline) = (exchange, timeline) }

    /// Begins and waits for the end. A cancelled task ends promptly, on the timeline's thread; the exchange is closed, and what the peer
    /// still sends is dropped as late.
    func outcome(_ begin: () -> Void) async throws -> Value {
        begin()
        return try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { continuation in
                if let early {
                    continuation.resume(with: early.map(Carried.init))
                } else {
                    self.continuation = continuation
                }
            }
        } onCancel: {
            // On the timeline's thread and not here: a cancellation runs on the thread of whoever cancels.
            timeline.post { self.finish(.failure(CancellationError())) }
        }.value
    }

    func finish(_ outcome: Result<Value, any Error>) {
        guard !isOver else { return }
        isOver = true
        if let timer { timeline.cancel(timer) }
        timer = nil
        // Lets go of the closures that hold this object.
        exchange.close()
        guard let continuation else { return early = outcome }
        self.continuation = nil
        continuation.resume(with: outcome.map(Carried.init))
    }

    /// Carries a result through the continuation, whose both ends are on the timeline's thread: sound for the same reason.
    struct Carried: @unchecked Sendable { let value: Value }
}
