import Glibc

/// A closure that is not Sendable, on its way through the timeline's heap and back to the thread that made it.
///
/// Why `@unchecked Sendable` is sound: the closure is made, called and dropped on the timeline's thread, whoever holds the box.
/// Made: `Timeline.after` checks the thread. Called: `run` does. Dropped, in one of four ways, all on that thread: after it ran, in
/// the loop; by a cancellation there; by a cancellation elsewhere, which moves the box from the heap to the run queue under the
/// lock and so lets the thread drop it; at shutdown or after a livelock, when the thread empties the heap itself and nothing is
/// armed any more. The thread keeps the timeline alive until then, so the heap is never freed with a box in it.
/// A debug build checks the last point too.
final class ConfinedBody: @unchecked Sendable {
    private let body: () -> Void
    private let thread = pthread_self()

    init(_ body: @escaping () -> Void) { self.body = body }

    deinit { assert(thread == pthread_self(), "a confined closure was dropped on another thread") }

    func run() {
        precondition(thread == pthread_self(), "a confined closure was called on another thread")
        body()
    }
}

/// What is to be done at the end of the present turn.
///
/// Why `@unchecked Sendable` is sound: `bodies` is private and every accessor stops the process unless it runs on the thread that
/// `timeline` says is its own. That thread empties the list before it ends, so nothing is left for a `deinit` elsewhere.
final class TurnEnds: @unchecked Sendable {
    private var bodies: [() -> Void] = []

    func append(on timeline: Timeline, _ body: @escaping () -> Void) {
        precondition(timeline.isCurrentThread, "the end of a turn belongs to the timeline's thread")
        bodies.append(body)
    }

    /// Takes what there is, in order.
    @inline(__always)
    func take(on timeline: Timeline) -> [() -> Void] {
        precondition(timeline.isCurrentThread, "the end of a turn belongs to the timeline's thread")
        if bodies.isEmpty { return [] }
        defer { bodies = [] }
        return bodies
    }

    func isEmpty(on timeline: Timeline) -> Bool {
        precondition(timeline.isCurrentThread, "the end of a turn belongs to the timeline's thread")
        return bodies.isEmpty
    }
}
