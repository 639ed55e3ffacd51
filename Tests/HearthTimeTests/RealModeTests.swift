import HearthTime
import Testing

@Suite(.timeLimit(.minutes(10))) struct RealModeTests {
    @Test func theClockIsFreshWhenTheThreadWakes() async throws {
        try await withTimeline(.real(speed: 1)) { timeline in
            for _ in 0..<100 {
                let before = timeline.now  // from outside: the real clock
                let inside = await timeline.onThread { timeline.now }
                #expect(inside >= before)
            }
        }
    }

    @Test func theClockStandsStillForATurn() async throws {
        try await withTimeline(.real(speed: 1000)) { timeline in
            let same = await timeline.onThread {
                let first = timeline.now
                var spin = 0
                for index in 0..<100_000 { spin &+= index }
                return first == timeline.now && spin > 0
            }
            #expect(same)
        }
    }

    @Test func tasksThatYieldInACircleDoNotStarveTimers() async throws {
        try await withTimeline(.real(speed: 1)) { timeline in
            let spinner = timeline.spawn("spinner") { while !Task.isCancelled { await Task.yield() } }
            let log = Lines()
            let sleeper = timeline.spawn("sleeper") {
                try await timeline.sleep(for: .milliseconds(5))
                log.add("awake")
            }
            try await sleeper.value
            spinner.cancel()
            try await spinner.value
            #expect(log.lines == ["awake"])
            #expect(timeline.failures.isEmpty)
        }
    }

    @Test func changingTheModeNeverTurnsTimeBack() async throws {
        try await withTimeline(.real(speed: 100)) { timeline in
            try await timeline.spawn("sleeper") { try await timeline.sleep(for: .milliseconds(500)) }.value
            let before = timeline.now
            timeline.setMode(.manual)
            let stopped = timeline.now
            #expect(stopped >= before)
            #expect(timeline.mode == .manual)
            #expect(await timeline.onThread { timeline.now } == stopped)
            try await timeline.advance(by: .seconds(3600))
            #expect(timeline.now == stopped + .seconds(3600))
            timeline.setMode(.real(speed: 2))
            #expect(timeline.now >= stopped + .seconds(3600))
            #expect(timeline.now < stopped + .seconds(4000))
        }
    }

    @Test(arguments: [Double.nan, -1, 0, .infinity, 1e300]) func aSpeedThatIsNoneDoesNoHarm(_ speed: Double) async throws {
        try await withTimeline(.real(speed: speed)) { timeline in
            let log = Lines()
            timeline.schedule(after: .milliseconds(1)) { log.add("ran") }
            try await timeline.advance(by: .milliseconds(2))
            #expect(log.lines == ["ran"])
        }
    }

    @Test func theWallClockCanBeTheSystems() async throws {
        let before = Timeline.systemEpoch()
        let timeline = Timeline(mode: .real(speed: 1), epoch: before)
        defer { timeline.shutdown() }
        let wall = timeline.wall()
        #expect(wall >= before && wall - before < .seconds(30))
        #expect(timeline.wall(offset: .seconds(3600)) - wall >= .seconds(3600))
        #expect(before > .seconds(1_700_000_000))
    }

    @Test func advanceInRealTimeWaits() async throws {
        try await withTimeline(.real(speed: 1000)) { timeline in
            let start = timeline.now
            try await timeline.advance(by: .seconds(5))
            #expect(timeline.now >= start + .seconds(5))
        }
    }

    @Test func whatRunsAtTheEndIsBounded() async throws {
        let timeline = Timeline(mode: .real(speed: 1))
        timeline.spawn("never ends") { while true { await Task.yield() } }
        timeline.shutdown()
        timeline.shutdown()
        await timeline.ended()
        await timeline.ended()
        #expect(!timeline.post { Issue.record("ran after the end") })
    }
}
