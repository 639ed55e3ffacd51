import HearthTime
import Testing

/// Makes a timeline, runs `body` in the test's own task and ends the timeline.
func withTimeline<Result: Sendable>(
    _ mode: Timeline.Mode, limits: Timeline.Limits = .init(), _ body: (Timeline) async throws -> Result
) async throws -> Result {
    let timeline = Timeline(mode: mode, limits: limits)
    defer { timeline.shutdown() }
    return try await body(timeline)
}

/// Collects lines from any thread.
final class Log: Sendable {
    private let stored = Locked<[String]>([])
    var lines: [String] { stored.withLock { $0 } }
    func add(_ line: String) { stored.withLock { $0.append(line) } }
}

extension Timeline {
    /// "1.5 what": when something happened.
    func stamp(_ what: String) -> String { "\(Double(now.nanoseconds) / 1e9) \(what)" }
}

/// An actor of the timeline, for tests.
actor Worker {
    nonisolated let timeline: Timeline
    nonisolated var unownedExecutor: UnownedSerialExecutor { timeline.asUnownedSerialExecutor() }
    private(set) var count = 0
    init(_ timeline: Timeline) { self.timeline = timeline }
    func work() { count += 1 }
}
