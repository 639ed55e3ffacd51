import HearthTime
import Testing

private final class Counter { var count = 0 }

@Suite(.timeLimit(.minutes(10))) struct ConfinedValueTests {
    @Test func tasksOfTheTimelineReachIt() async throws {
        try await withTimeline(.manual) { timeline in
            let counter = Confined(sending: Counter(), on: timeline)
            try await timeline.spawn("one") { counter.value.count += 1 }.value
            await timeline.onThread { counter.value.count += 1 }
            #expect(await timeline.onThread { counter.value.count } == 2)
        }
    }

    @Test func itIsDroppedAtHomeWhoeverLetsGoLast() async throws {
        try await withTimeline(.manual) { timeline in
            let log = Lines()
            func make() -> Confined<Witness> { Confined(sending: Witness(timeline, log), on: timeline) }
            _ = make()  // this test's thread
            await timeline.onThread {}
            #expect(log.lines == ["dropped here"])
            await timeline.onThread { _ = Confined(Witness(timeline, log), on: timeline) }
            #expect(log.lines == ["dropped here", "dropped here"])
        }
    }

    @Test func aStormOfBoxesLetGoElsewhereLosesNone() async throws {
        try await withTimeline(.manual) { timeline in
            let log = Lines()
            for _ in 0..<2000 { _ = Confined(sending: Witness(timeline, log), on: timeline) }
            await timeline.onThread {}
            #expect(log.lines == [String](repeating: "dropped here", count: 2000))
        }
    }

    @Test func afterTheEndItGoesWhereTheBoxGoes() async throws {
        let timeline = Timeline(mode: .manual)
        let log = Lines()
        do {
            let box = Confined(sending: Witness(timeline, log), on: timeline)
            timeline.shutdown()
            await timeline.ended()
            withExtendedLifetime(box) {}
        }
        #expect(log.lines == ["dropped elsewhere"])
    }

    @Test func readingItElsewhereIsRefused() async {
        await #expect(processExitsWith: .failure) {
            let timeline = Timeline(mode: .manual)
            _ = Confined(sending: Counter(), on: timeline).value.count
        }
    }

    @Test func changingItElsewhereIsRefused() async {
        await #expect(processExitsWith: .failure) {
            let timeline = Timeline(mode: .manual)
            Confined(sending: Counter(), on: timeline).value = Counter()
        }
    }

    @Test func confiningWhatIsSharedElsewhereIsRefused() async {
        await #expect(processExitsWith: .failure) {
            let timeline = Timeline(mode: .manual)
            withExtendedLifetime(Confined(Counter(), on: timeline)) {}
        }
    }
}
