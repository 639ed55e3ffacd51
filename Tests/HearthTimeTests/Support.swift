import HearthTime
import Testing

/// Makes a timeline, runs `body` in the test's own task and ends the timeline.
func withTimeline<Result: Sendable>(
    _ mode: Timeline.Mode, limits: Timeline.Limits = .init(), waiter: any Waiter = EventWaiter(),
    _ body: (Timeline) async throws -> Result
) async throws -> Result {
    let timeline = Timeline(mode: mode, limits: limits, waiter: waiter)
    defer { timeline.shutdown() }
    return try await body(timeline)
}

/// Collects lines from any thread.
final class Lines: Sendable {
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

extension Timeline {
    /// Runs `body` on the timeline's thread as one job and returns what it returns.
    func onThread<Value: Sendable>(_ body: @escaping @Sendable () -> Value) async -> Value {
        await withCheckedContinuation { waiting in
            if !post({ waiting.resume(returning: body()) }) { Issue.record("the timeline has ended") }
        }
    }
}

/// Says on which thread it was let go.
final class Witness {
    let timeline: Timeline
    let log: Lines
    init(_ timeline: Timeline, _ log: Lines) { (self.timeline, self.log) = (timeline, log) }
    deinit { log.add(timeline.isCurrentThread ? "dropped here" : "dropped elsewhere") }
    func see() {}
}
