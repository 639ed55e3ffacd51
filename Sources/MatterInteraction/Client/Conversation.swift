import HearthTime
import MatterMessage

/// The end of a conversation, which comes once: from a message, a timer, the session's end or the cancellation of the task that waits.
/// Belongs to the timeline's thread.
final class Conversation<Value> {
    /// Fails the conversation when nobody answers.
    var timer: Token?

    private let exchange: Exchange
    private let timeline: Timeline
    private var waiting: CheckedContinuation<Void, Never>?
    private var end: Result<Value, any Error>?

    init(_ exchange: Exchange, _ timeline: Timeline) { (self.exchange, self.timeline) = (exchange, timeline) }

    /// Begins and waits for the end. A cancelled task ends promptly, on the timeline's thread; the exchange is closed, and what the peer
    /// still sends is dropped as late.
    func outcome(_ begin: () -> Void) async throws -> Value {
        begin()
        let (timeline, me) = (timeline, Confined(self, on: timeline))
        await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                if end == nil { waiting = continuation } else { continuation.resume() }
            }
        } onCancel: {
            // On the timeline's thread and not here: a cancellation runs on the thread of whoever cancels.
            timeline.post { me.value.finish(.failure(CancellationError())) }
        }
        // Resumed by `finish` alone.
        guard let end else { throw CancellationError() }
        return try end.get()
    }

    func finish(_ outcome: Result<Value, any Error>) {
        guard end == nil else { return }
        end = outcome
        if let timer { timeline.cancel(timer) }
        timer = nil
        // Lets go of the closures that hold this object.
        exchange.close()
        waiting?.resume()
        waiting = nil
    }
}
