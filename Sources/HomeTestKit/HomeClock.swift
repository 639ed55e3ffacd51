import HearthTime

/// The one clock of a virtual home: devices, controllers and the test share it.
public struct HomeClock: Sendable {
    let timeline: Timeline

    /// Since the home began.
    public var now: Duration { timeline.now - .zero }
    /// Since 1970-01-01 UTC, by the clock of whoever has no wrong one.
    public var wall: Duration { timeline.wall() }

    /// Moves time on: everything that is due happens, each at its instant.
    /// - Throws: `TimelineError` when time got stuck on the way.
    public func advance(by span: Duration) async throws { try await timeline.advance(by: span) }
    /// The same up to an instant, counted from the home's beginning; nothing when that has passed.
    public func advance(to instant: Duration) async throws { try await timeline.advance(to: .zero + instant) }

    /// How long `body` takes in the home's time.
    public func measure(_ body: () async throws -> Void) async rethrows -> Duration {
        let before = timeline.now
        try await body()
        return timeline.now - before
    }
}
