import HearthTime
import Testing

/// Where Swift leaves the timeline and where it stays, written down as tests so that a new compiler cannot change it silently.
///
/// "here" means on the timeline's thread. What is "elsewhere" breaks virtual time: the clock may move while it runs.
@Suite struct EscapeTests {
    private let timeline = Timeline(mode: .automatic)

    /// Runs `body` inside, with the notes that it took, and the number of foreign jobs.
    private func observe(_ body: sending @escaping (Notes) async throws -> Void) async throws -> (Notes, Int) {
        let notes = Notes(timeline)
        try await timeline.spawn("test", { try await body(notes) }).value
        try await timeline.advance(by: .zero)
        defer { timeline.shutdown() }
        return (notes, timeline.statistics.foreignJobs)
    }

    // MARK: What stays

    @Test func childTasksOfASpawnedTaskStay() async throws {
        // spawn itself, called from this test's thread, is the one foreign job.
        let (notes, foreign) = try await observe { notes in
            notes.mark("body")
            async let one: Void = notes.mark("async let")
            await one
            await withTaskGroup(of: Void.self) { group in
                group.addTask { notes.mark("group") }
                group.addTask { await withTaskGroup(of: Void.self) { $0.addTask { notes.mark("nested group") } } }
            }
            await withDiscardingTaskGroup { group in group.addTask { notes.mark("discarding group") } }
        }
        #expect(notes.elsewhere == [])
        #expect(notes.here.count == 5)
        #expect(foreign == 1)
    }

    @Test func asyncFunctionsOfEveryKindStayUnderTheTasksPreference() async throws {
        let (notes, foreign) = try await observe { notes in
            await nonisolatedFunction(notes)
            await concurrentFunction(notes)
            await Plain().work(notes)
            await Pinned(notes.timeline).work(notes)
        }
        #expect(notes.elsewhere == [])
        #expect(notes.here.count == 4)
        #expect(foreign == 1)
    }

    @Test func childTasksInsideAnActorOfEitherKindStay() async throws {
        let (notes, foreign) = try await observe { notes in
            await Pinned(notes.timeline).children(notes)
            await Plain().children(notes)
        }
        #expect(notes.elsewhere == [])
        #expect(notes.here.count == 4)
        #expect(foreign == 1)
    }

    @Test func aStreamReadAndFilledInsideStays() async throws {
        let (notes, foreign) = try await observe { notes in
            let (stream, filler) = AsyncStream.makeStream(of: Int.self)
            notes.timeline.spawn("filler") {
                for value in 0..<3 {
                    try await notes.timeline.sleep(for: .seconds(1))
                    filler.yield(value)
                }
                filler.finish()
            }
            async let _: Void = notes.timeline.advance(by: .seconds(4))
            for await _ in stream { notes.mark("element") }
        }
        #expect(notes.elsewhere == [])
        #expect(notes.here.count == 3)
        #expect(foreign == 1)
    }

    @Test func anEntrysBodyIsIsolatedForTheRuntime() async throws {
        let (notes, _) = try await observe { notes in
            let pinned = Pinned(notes.timeline)
            notes.timeline.schedule(after: .zero) {
                notes.timeline.preconditionIsolated()
                pinned.assumeIsolated { _ in notes.mark("entry") }
            }
        }
        #expect(notes.here == ["entry"])
    }

    @Test func aTaskStartedInAPinnedActorStaysOnlyIfItTouchesTheActor() async throws {
        let (notes, _) = try await observe { notes in
            let pinned = Pinned(notes.timeline)
            await pinned.startTaskThatCapturesSelf(notes).value
            await pinned.startTaskThatDoesNot(notes).value
        }
        #expect(notes.here == ["captures self"])
        #expect(notes.elsewhere == ["captures nothing"])
    }

    // MARK: What leaves

    @Test func plainTasksLeave() async throws {
        let (notes, _) = try await observe { notes in
            await Task { notes.mark("Task") }.value
            await Task.detached { notes.mark("Task.detached") }.value
        }
        #expect(notes.here == [])
        #expect(notes.elsewhere == ["Task", "Task.detached"])
    }

    /// A default actor is drained by whichever thread got there first: a task started in it runs here or elsewhere by luck, and so
    /// does a task of ours when somebody outside uses the same actor.
    @Test func defaultActorsAreALottery() async throws {
        let (notes, _) = try await observe { notes in
            for _ in 0..<500 { await Plain().startTaskThatCapturesSelf(notes).value }
        }
        print("Task {} in a default actor: here \(notes.here.count), elsewhere \(notes.elsewhere.count)")
        #expect(!notes.elsewhere.isEmpty)
    }

    /// The worst of it: a thread that drains a default actor keeps the tasks that it finds there. A task from outside can so end up
    /// on the timeline's thread and stay, and stop time for as long as it does not suspend.
    @Test func aDefaultActorSharedWithTheOutsideMixesTheThreads() async throws {
        let shared = Plain()
        let outside = Notes(timeline)
        let intruder = Task.detached {
            for _ in 0..<20_000 {
                await shared.spin()
                outside.mark("outside")
            }
        }
        let (inside, _) = try await observe { notes in for _ in 0..<2000 { await shared.work(notes) } }
        await intruder.value
        print("shared default actor: ours ran elsewhere \(inside.elsewhere.count) times of 2000,", terminator: " ")
        print("the outside's ran on the timeline \(outside.here.count) times of 20000")
        #expect(inside.here.count + inside.elsewhere.count == 2000)  // where, is luck: nothing to assert
    }

    @Test func childTasksOfAPinnedActorCalledFromOutsideLeave() async throws {
        // No preference on the task, only a pinned actor: the actor's own code is here, its children are not.
        let notes = Notes(timeline)
        defer { timeline.shutdown() }
        await Pinned(timeline).work(notes)
        await Pinned(timeline).children(notes)
        #expect(notes.here == ["pinned actor"])
        #expect(notes.elsewhere.sorted() == ["async let in actor", "group in actor"])
    }

    @Test func theMainActorLeaves() async throws {
        let (notes, foreign) = try await observe { notes in
            await MainActor.run { notes.mark("main actor") }
            notes.mark("after it")
        }
        #expect(notes.elsewhere == ["main actor"])
        #expect(notes.here == ["after it"])
        #expect(foreign == 2)  // it came back
    }

    @Test func realSleepAndForeignResumptionComeBackAsForeignJobs() async throws {
        let (notes, foreign) = try await observe { notes in
            try await Task.sleep(for: .milliseconds(1))
            notes.mark("after Task.sleep")
            await withCheckedContinuation { waiting in
                Task.detached { waiting.resume() }
            }
            notes.mark("after a continuation resumed elsewhere")
        }
        #expect(notes.here.count == 2)
        #expect(foreign == 3)
    }

    @Test func anImmediateTaskRunsOnWhateverThreadStartsIt() async throws {
        let notes = Notes(timeline)
        defer { timeline.shutdown() }
        await Task.immediate(executorPreference: timeline) { notes.mark("immediate") }.value
        #expect(notes.elsewhere + notes.here == ["immediate"])
        print("Task.immediate with a preference, started outside, ran \(notes.here.isEmpty ? "elsewhere" : "here")")
    }

    @Test func cancellationHandlersRunOnTheCancellersThread() async throws {
        let notes = Notes(timeline)
        defer { timeline.shutdown() }
        let task = timeline.spawn("sleeper") {
            try await withTaskCancellationHandler {
                try await self.timeline.sleep(for: .seconds(10))
            } onCancel: {
                notes.mark("onCancel")
            }
        }
        try await timeline.advance(by: .zero)  // it has begun to sleep
        task.cancel()
        _ = await task.result
        #expect(notes.elsewhere == ["onCancel"])
    }

    // MARK: Finding an escape

    @Test func anEscapedTaskThatComesBackIsCounted() async throws {
        let (notes, foreign) = try await observe { notes in
            let worker = Worker(notes.timeline)
            await Task { await worker.work() }.value
            notes.mark("back")
        }
        #expect(notes.here == ["back"])
        #expect(foreign >= 2)  // `spawn` from this test's thread is one
    }

    @Test func theHookRunsForEveryForeignJob() async throws {
        let log = Lines()
        timeline.onForeignJob { log.add("foreign") }
        defer { timeline.shutdown() }
        await Worker(timeline).work()
        #expect(log.lines == ["foreign"])
        #expect(timeline.statistics.foreignJobs == 1)
    }
}

/// Which pieces of code ran on the timeline's thread.
final class Notes: Sendable {
    let timeline: Timeline
    private let stored = Locked<(here: [String], elsewhere: [String])>(([], []))
    init(_ timeline: Timeline) { self.timeline = timeline }
    var here: [String] { stored.withLock { $0.here } }
    var elsewhere: [String] { stored.withLock { $0.elsewhere } }
    func mark(_ what: String) {
        let isHere = timeline.isCurrentThread
        stored.withLock { if isHere { $0.here.append(what) } else { $0.elsewhere.append(what) } }
    }
}

private func nonisolatedFunction(_ notes: Notes) async { notes.mark("nonisolated") }
@concurrent private func concurrentFunction(_ notes: Notes) async { notes.mark("@concurrent") }

private actor Pinned {
    let timeline: Timeline
    nonisolated var unownedExecutor: UnownedSerialExecutor { timeline.asUnownedSerialExecutor() }
    init(_ timeline: Timeline) { self.timeline = timeline }
    func work(_ notes: Notes) { notes.mark("pinned actor") }
    func children(_ notes: Notes) async {
        async let one: Void = notes.mark("async let in actor")
        await one
        await withTaskGroup(of: Void.self) { $0.addTask { notes.mark("group in actor") } }
    }
    func startTaskThatCapturesSelf(_ notes: Notes) -> Task<Void, Never> {
        Task {
            work(nil)
            notes.mark("captures self")
        }
    }
    private func work(_: Never?) {}
    func startTaskThatDoesNot(_ notes: Notes) -> Task<Void, Never> { Task { notes.mark("captures nothing") } }
}

private actor Plain {
    func work(_ notes: Notes) { notes.mark("default actor") }
    func children(_ notes: Notes) async {
        async let one: Void = notes.mark("async let in default actor")
        await one
        await withTaskGroup(of: Void.self) { $0.addTask { notes.mark("group in default actor") } }
    }
    func startTaskThatCapturesSelf(_ notes: Notes) -> Task<Void, Never> {
        Task {
            self.nothing()
            await Task.yield()
            notes.mark("default actor's Task")
        }
    }
    func spin() { for _ in 0..<100 { nothing() } }
    private func nothing() {}
}
