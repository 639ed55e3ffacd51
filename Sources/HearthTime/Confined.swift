/// A value that belongs to a timeline's thread, in a box that may be held anywhere: by a task, a cancellation handler, a Sendable
/// object. Any other thread that reaches for the value stops the process.
///
/// Why `@unchecked Sendable` is sound: `stored` is private. Put in: `init(_:on:)` checks the thread; `init(sending:on:)` takes what nobody
/// else has. Reached: `value` checks the thread. Let go: a last reference that goes on another thread sends the value home first, and it
/// is let go there. Only when the timeline has ended, and with it every thread that could reach the value, it goes where the box goes.
public final class Confined<Value>: @unchecked Sendable {
    /// Nil in `deinit` only.
    private var stored: Value?
    private let timeline: Timeline

    /// Confines what is on the timeline's thread already. There only (checked).
    public init(_ value: Value, on timeline: Timeline) {
        precondition(timeline.isCurrentThread, "only the timeline's thread confines what it may share")
        (stored, self.timeline) = (value, timeline)
    }

    /// Confines what nobody else has. Any thread.
    public init(sending value: sending Value, on timeline: Timeline) { (stored, self.timeline) = (value, timeline) }

    /// On the timeline's thread only (checked).
    public var value: Value {
        get {
            precondition(timeline.isCurrentThread, "a confined value was read on another thread than its timeline's")
            guard let stored else { preconditionFailure("a confined value was read while it is let go") }
            return stored
        }
        set {
            precondition(timeline.isCurrentThread, "a confined value was changed on another thread than its timeline's")
            stored = newValue
        }
    }

    deinit {
        guard !timeline.isCurrentThread, stored != nil else { return }
        // In a box again, which the closure empties: the closure itself may be let go last by this thread.
        let parcel = Parcel(stored)
        stored = nil
        timeline.post { parcel.value = nil }
    }

    /// Why `@unchecked Sendable` is sound: this thread fills it and never looks at it again; the timeline's empties it, once. After
    /// the timeline's end nobody else has it.
    private final class Parcel: @unchecked Sendable {
        var value: Value?
        init(_ value: Value?) { self.value = value }
    }
}
