import HearthTime
import Testing

@testable import HearthIO

/// An actor pinned to a timeline, which uses the loop with its own, non-Sendable closures.
actor Pinned {
    nonisolated let runtime: Runtime
    nonisolated var unownedExecutor: UnownedSerialExecutor { runtime.timeline.asUnownedSerialExecutor() }
    private var fired: [String] = []

    init(_ runtime: Runtime) { self.runtime = runtime }
    func isOnLoop() -> Bool { runtime.loop.isCurrent && runtime.timeline.isCurrentThread }
    func nonisolatedCallIsOnLoop() async -> Bool { await helper(runtime.loop) }

    func spin() async { while !Task.isCancelled { await Task.yield() } }

    func timers() async -> [String] {
        let loop = runtime.loop
        return await withCheckedContinuation { continuation in
            loop.schedule(after: .milliseconds(20)) { self.fired.append("b") }
            loop.schedule(after: .milliseconds(10)) { self.fired.append("a") }
            let cancelled = loop.schedule(after: .milliseconds(15)) { self.fired.append("never") }
            loop.cancel(cancelled)
            loop.schedule(after: .milliseconds(30)) { continuation.resume(returning: self.fired) }
        }
    }
}

private func helper(_ loop: EventLoop) async -> Bool { loop.isCurrent }

/// Makes a runtime, runs `body` in the test's own task, ends the runtime and waits for its end.
func withRuntime<Result: Sendable>(
    _ mode: Timeline.Mode = .real(speed: 1), limits: Timeline.Limits = .init(), _ body: (Runtime) async throws -> Result
) async throws -> Result {
    let runtime = try Runtime(mode: mode, limits: limits)
    do {
        let result = try await body(runtime)
        runtime.shutdown()
        await runtime.ended()
        return result
    } catch {
        runtime.shutdown()
        throw error
    }
}

@Suite(.timeLimit(.minutes(10))) struct EventLoopTests {
    static let modes: [Timeline.Mode] = [.real(speed: 1), .manual, .automatic]

    @Test(arguments: modes) func actorsAndSpawnedTasksRunOnTheLoop(_ mode: Timeline.Mode) async throws {
        try await withRuntime(mode) { runtime in
            let (loop, actor) = (runtime.loop, Pinned(runtime))
            #expect(await actor.isOnLoop())
            #expect(await actor.nonisolatedCallIsOnLoop())
            let one = try await runtime.timeline.spawn("one") { loop.isCurrent }.value
            let two = try await runtime.timeline.spawn("two") { await helper(loop) }.value
            #expect(one && two)
            #expect(!loop.isCurrent)
        }
    }

    @Test(arguments: modes) func timersFireInOrderAndCanBeCancelled(_ mode: Timeline.Mode) async throws {
        try await withRuntime(mode) { runtime in
            #expect(await Pinned(runtime).timers() == ["a", "b"])
            // Real time passed, model time only in real mode.
            if mode != .real(speed: 1) { #expect(runtime.timeline.now == .zero) }
        }
    }

    @Test func aBusyTaskDoesNotStarveTimers() async throws {
        try await withRuntime { runtime in
            let actor = Pinned(runtime)
            let busy = runtime.timeline.spawn("busy") { await actor.spin() }
            #expect(await actor.timers() == ["a", "b"])
            busy.cancel()
            _ = try await busy.value
        }
    }

    @Test func manyThreadsCanHandOverJobs() async throws {
        try await withRuntime { runtime in
            let actor = Pinned(runtime)
            let count = await withTaskGroup(of: Int.self) { group in
                for _ in 0..<8 {
                    group.addTask {
                        var sum = 0
                        for _ in 0..<2000 where await actor.isOnLoop() { sum += 1 }
                        return sum
                    }
                }
                return await group.reduce(0, +)
            }
            #expect(count == 16_000)
        }
    }

    @Test func heapKeepsOrderThroughCancellation() {
        var timers = LoopTimers()
        var ids: [TimerID] = []
        for i in 0..<1000 { ids.append(timers.add(due: UInt64((i * 7919) % 1000)) {}) }
        for i in stride(from: 0, to: 1000, by: 3) { timers.cancel(ids[i]) }
        var last: UInt64 = 0
        var count = 0
        while let due = timers.nextDue() {
            #expect(due >= last)
            last = due
            #expect(timers.takeDue(by: due) != nil)
            count += 1
        }
        #expect(count == 666)
    }
}
