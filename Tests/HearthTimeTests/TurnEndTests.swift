import HearthTime
import Testing

@Suite(.timeLimit(.minutes(10))) struct TurnEndTests {
    @Test func itComesAfterTheRunningEntryAndBeforeAnythingElse() async throws {
        try await withTimeline(.manual) { timeline in
            let log = Lines()
            for name in ["a", "b"] {
                timeline.schedule(after: .seconds(1)) {
                    timeline.atTurnEnd { log.add("end of \(name), first") }
                    timeline.post { log.add("job of \(name)") }
                    timeline.atTurnEnd { log.add("end of \(name), second") }
                    log.add(name)
                }
            }
            try await timeline.advance(by: .seconds(1))
            #expect(
                log.lines == [
                    "a", "end of a, first", "end of a, second", "job of a", "b", "end of b, first", "end of b, second",
                    "job of b",
                ])
        }
    }

    @Test func jobsOfOneBatchShareOneEnd() async throws {
        try await withTimeline(.manual) { timeline in
            let log = Lines()
            timeline.schedule(after: .zero) {
                for index in 0..<3 {
                    timeline.post {
                        log.add("job \(index)")
                        timeline.atTurnEnd { log.add("end \(index)") }
                    }
                }
            }
            try await timeline.advance(by: .zero)
            #expect(log.lines == ["job 0", "job 1", "job 2", "end 0", "end 1", "end 2"])
        }
    }

    @Test func aBodyMayAddAnother() async throws {
        try await withTimeline(.manual) { timeline in
            let log = Lines()
            timeline.schedule(after: .zero) {
                timeline.atTurnEnd {
                    log.add("commit")
                    timeline.atTurnEnd { log.add("answer") }
                }
                timeline.post { log.add("job") }
            }
            try await timeline.advance(by: .zero)
            #expect(log.lines == ["commit", "answer", "job"])
        }
    }

    @Test func aBodyThatAlwaysAddsAnotherStopsVirtualTimeAndIsFound() async throws {
        var limits = Timeline.Limits()
        limits.jobsPerInstant = 10_000
        let timeline = Timeline(mode: .manual, limits: limits)
        timeline.schedule(after: .zero) {
            func again() { timeline.atTurnEnd { again() } }
            again()
        }
        await #expect {
            try await timeline.advance(by: .seconds(1))
        } throws: { error in
            guard case .tooManyJobs = error as? TimelineError else { return false }
            return true
        }
        timeline.shutdown()
        await timeline.ended()  // it ends all the same
    }

    @Test func aBodyThatAlwaysAddsAnotherDoesNotKeepRealTimersFromRunning() async throws {
        try await withTimeline(.real(speed: 1)) { timeline in
            timeline.schedule(after: .zero) {
                func again() { timeline.atTurnEnd { again() } }
                again()
            }
            try await timeline.spawn("sleeper") { try await timeline.sleep(for: .milliseconds(5)) }.value
        }
    }

    @Test func aJobThatActsForACallEndsItsTurnBeforeTheAnswerGoesOut() async throws {
        try await withTimeline(.automatic) { timeline in
            let log = Lines()
            try await timeline.call("call") {
                timeline.atTurnEnd { log.add("committed") }
                try await timeline.sleep(for: .zero)
            }
            #expect(log.lines == ["committed"])
        }
    }

    @Test func anotherThreadIsRefused() async {
        await #expect(processExitsWith: .failure) {
            let timeline = Timeline(mode: .manual)
            timeline.atTurnEnd {}
        }
    }
}
