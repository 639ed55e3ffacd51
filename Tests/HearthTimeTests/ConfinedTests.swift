import HearthTime
import Testing

/// An actor whose timers are plain closures of its own: they change its state without `await` or `assumeIsolated`.
private actor Lamp {
    nonisolated let timeline: Timeline
    nonisolated var unownedExecutor: UnownedSerialExecutor { timeline.asUnownedSerialExecutor() }
    private var steps: [String] = []

    init(_ timeline: Timeline) { self.timeline = timeline }

    func start() {
        let origin = timeline.origin("lamp")
        timeline.after(.seconds(2), origin: origin) { self.steps.append(self.timeline.stamp("two")) }
        timeline.after(.seconds(1), origin: origin) {
            self.steps.append(self.timeline.stamp("one"))
            self.timeline.after(.zero, origin: origin) { self.steps.append(self.timeline.stamp("at once")) }
        }
        timeline.after(.seconds(2), origin: origin, phase: .delivery) { self.steps.append(self.timeline.stamp("delivery")) }
        let token = timeline.after(.seconds(1), origin: origin) { self.steps.append("never") }
        timeline.cancel(token)
    }

    func result() -> [String] { steps }
}

@Suite(.timeLimit(.minutes(10))) struct ConfinedTests {
    @Test func anActorsClosureIsItsOwn() async throws {
        try await withTimeline(.manual) { timeline in
            let lamp = Lamp(timeline)
            await lamp.start()
            try await timeline.advance(by: .seconds(2))
            #expect(await lamp.result() == ["1.0 one", "1.0 at once", "2.0 delivery", "2.0 two"])
        }
    }

    /// Schedules a closure that owns a witness, on the thread.
    private func confine(_ timeline: Timeline, _ log: Lines) async -> Token {
        await timeline.onThread {
            let witness = Witness(timeline, log)
            return timeline.after(.seconds(1)) {
                witness.see()
                log.add("ran")
            }
        }
    }

    @Test func itIsDroppedOnTheThreadAfterItRan() async throws {
        try await withTimeline(.manual) { timeline in
            let log = Lines()
            _ = await confine(timeline, log)
            try await timeline.advance(by: .seconds(1))
            #expect(log.lines == ["ran", "dropped here"])
        }
    }

    @Test func itIsDroppedOnTheThreadWhoeverCancels() async throws {
        try await withTimeline(.manual) { timeline in
            let log = Lines()
            let first = await confine(timeline, log)
            await timeline.onThread { timeline.cancel(first) }
            #expect(log.lines == ["dropped here"])
            let second = await confine(timeline, log)
            timeline.cancel(second)  // this test's thread
            try await timeline.advance(by: .zero)
            #expect(log.lines == ["dropped here", "dropped here"])
            #expect(timeline.pendingEntries == 0)
        }
    }

    @Test func itIsDroppedOnTheThreadAtShutdownAndAfterIt() async throws {
        let timeline = Timeline(mode: .manual)
        let log = Lines()
        _ = await confine(timeline, log)
        await timeline.onThread {
            let witness = Witness(timeline, log)
            timeline.shutdown()
            // Made when it can run no more.
            timeline.after(.zero) { witness.see() }
            timeline.atTurnEnd { log.add("end of turn") }
        }
        await timeline.ended()
        #expect(log.lines == ["dropped here", "end of turn", "dropped here"])
        #expect(!timeline.post {})
    }

    @Test func itIsDroppedOnTheThreadAfterALivelock() async throws {
        try await withTimeline(.manual) { timeline in
            let log = Lines()
            _ = await confine(timeline, log)
            @Sendable func again() { timeline.schedule(at: timeline.now) { again() } }
            again()
            await #expect(throws: TimelineError.self) { try await timeline.advance(by: .seconds(2)) }
            #expect(await timeline.onThread { log.lines } == ["dropped here"])
        }
    }

    @Test func aStormOfCancellationsFromOutsideLosesNone() async throws {
        try await withTimeline(.manual) { timeline in
            let log = Lines()
            let tokens = await timeline.onThread {
                (0..<2000).map { index in
                    let witness = Witness(timeline, log)
                    return timeline.after(.milliseconds(index % 20)) { witness.see() }
                }
            }
            async let moved: Void = timeline.advance(by: .seconds(1))
            for token in tokens { timeline.cancel(token) }
            try await moved
            try await timeline.advance(by: .zero)
            #expect(log.lines == [String](repeating: "dropped here", count: 2000))
        }
    }

    @Test func anotherThreadIsRefused() async {
        await #expect(processExitsWith: .failure) {
            let timeline = Timeline(mode: .manual)
            timeline.after(.zero) {}
        }
    }
}
