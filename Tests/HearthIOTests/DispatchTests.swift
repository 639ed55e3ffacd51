import CLinux
import Glibc
import HearthTime
import Testing

@testable import HearthIO

/// What the loop and the timeline do together with descriptors.
@Suite(.timeLimit(.minutes(10))) struct DispatchTests {
    @Test func allDescriptorsOfOneLookShareOneTurnEnd() async throws {
        try await withRuntime(.manual) { runtime in
            let pairs = try (0..<20).map { _ in try socketPair() }
            defer { for pair in pairs { Socket.close(pair.outside) } }
            for pair in pairs { writeAll(pair.outside, [1]) }  // readable before the loop looks
            let order: [String] = try await runtime.untilDone { done in
                var log: [String] = []
                for pair in pairs {
                    try Handler(runtime.loop, pair.inside, .readable) { handler, _ in
                        handler.end()
                        log.append("request")
                        runtime.timeline.atTurnEnd { log.append("answer") }
                        if log.count == pairs.count { runtime.timeline.after(.zero) { done(log) } }
                    }
                }
            }
            #expect(order == [String](repeating: "request", count: 20) + [String](repeating: "answer", count: 20))
        }
    }

    enum Busy: CaseIterable, Sendable { case realMode, heldVirtualTime }

    @Test(arguments: Busy.allCases) func tasksThatYieldInACircleDoNotStarveDescriptors(_ busy: Busy) async throws {
        try await withRuntime(busy == .realMode ? .real(speed: 1) : .manual) { runtime in
            let pair = try socketPair()
            defer { Socket.close(pair.outside) }
            let hold = runtime.timeline.hold("the peer's frame")
            let spinner = runtime.timeline.spawn("spinner") { while !Task.isCancelled { await Task.yield() } }
            writeAll(pair.outside, [7])
            let got: [UInt8]? = try await runtime.untilDone { done in
                try Handler(runtime.loop, pair.inside, .readable) { handler, _ in
                    let bytes = readAll(handler.fd)
                    handler.end()
                    done(bytes)
                }
            }
            #expect(got == [7])
            spinner.cancel()
            runtime.timeline.release(hold)
            try await spinner.value
        }
    }

    @Test func aPeerOutsideIsServedWhileVirtualTimeIsParked() async throws {
        for mode in [Timeline.Mode.manual, .automatic] {
            try await withRuntime(mode) { runtime in
                let pair = try socketPair()
                let log = Lines()
                try await runtime.onThread {
                    runtime.timeline.schedule(after: .seconds(1)) { log.add("later") }
                    try Handler(runtime.loop, pair.inside, .readable) { handler, _ in
                        guard let bytes = readAll(handler.fd), !bytes.isEmpty else { return handler.end() }
                        // What it schedules for now runs, and then answers.
                        runtime.timeline.after(.zero) { writeAll(handler.fd, bytes.reversed()) }
                    }
                }
                // This thread is the peer: it blocks until the answers come.
                for round in UInt8(0)..<50 {
                    writeAll(pair.outside, [1, round])
                    #expect(readAll(pair.outside) == [round, 1])
                }
                Socket.close(pair.outside)
                #expect(runtime.timeline.now == .zero)
                #expect(log.lines == [])
            }
        }
    }

    @Test func aHoldForAPeerOutsideKeepsAutomaticTimeFromJumping() async throws {
        try await withRuntime(.automatic) { runtime in
            let (loop, timeline) = (runtime.loop, runtime.timeline)
            let pair = try socketPair()
            let peer = pair.outside
            var thread = pthread_t()
            let argument = UnsafeMutableRawPointer(bitPattern: Int(peer) + 1)
            pthread_create(&thread, nil, answer, argument)
            let now = try await timeline.call("ask", deadline: .seconds(60)) {
                timeline.schedule(after: .seconds(30)) { Issue.record("time jumped") }
                return try await withCheckedThrowingContinuation { (waiting: CheckedContinuation<ModelInstant, any Error>) in
                    let hold = timeline.hold("the peer's answer")
                    do {
                        try Handler(loop, pair.inside, .readable) { handler, _ in
                            handler.end()
                            waiting.resume(returning: timeline.now)
                            timeline.release(hold)
                        }
                    } catch { waiting.resume(throwing: error) }
                    // From within the wait for the hold: the peer hears nothing before time had its chance to jump.
                    loop.schedule(after: .zero) { writeAll(pair.inside, [1]) }
                }
            }
            pthread_join(thread, nil)
            Socket.close(peer)
            #expect(now == .zero)
        }
    }

    @Test func aTimerIsForThisRoundOnly() async throws {
        try await withRuntime { runtime in
            let pair = try socketPair()
            defer { Socket.close(pair.outside) }
            let loop = runtime.loop
            let rounds: Int = try await runtime.untilDone { done in
                var count = 0
                var finished = false
                func again() {
                    count += 1
                    if !finished { loop.schedule(after: .zero) { again() } }
                }
                again()
                try Handler(loop, pair.inside, .readable) { handler, _ in
                    finished = true
                    handler.end()
                    done(count)
                }
                writeAll(pair.outside, [1])
            }
            #expect(rounds >= 1)
        }
    }

    @Test func eventsOfADescriptorThatWasClosedAndReusedAreDropped() async throws {
        try await withRuntime(.manual) { runtime in
            let (a, b) = (try socketPair(), try socketPair())
            defer { for fd in [a.outside, b.outside] { Socket.close(fd) } }
            for fd in [a.outside, b.outside] { writeAll(fd, [1]) }
            let loop = runtime.loop
            let log: [String] = try await runtime.untilDone { done in
                var log: [String] = []
                var handlers: [Handler] = []
                /// Whoever is first ends both and registers another descriptor under the other's number.
                func first(_ handler: Handler) {
                    let other = handler === handlers[0] ? handlers[1] : handlers[0]
                    log.append("first")
                    loop.unregister(other.fd)
                    handler.end()
                    guard let fresh = try? socketPair() else { return done(["no socket pair"]) }
                    // Closes and takes the number in one step: between two, another test could take it.
                    if dup2(fresh.inside, other.fd) != other.fd { return done(["no dup2"]) }
                    Socket.close(fresh.inside)
                    do {
                        let reused = try Handler(loop, other.fd, .readable) { _, _ in log.append("stale") }
                        loop.schedule(after: .milliseconds(5)) {
                            reused.end()
                            Socket.close(fresh.outside)
                            handlers = []
                            done(log)
                        }
                    } catch { done(["\(error)"]) }
                }
                for pair in [a, b] {
                    handlers.append(try Handler(loop, pair.inside, .readable) { handler, _ in first(handler) })
                }
            }
            #expect(log == ["first"])
        }
    }

    @Test func handlersHearTheEndOnTheThreadInTheOrderOfTheDescriptors() async throws {
        let runtime = try Runtime(mode: .manual)
        let log = Lines()
        let pairs = try (0..<3).map { _ in try socketPair() }
        try await runtime.onThread {
            let loop = runtime.loop
            loop.schedule(after: .seconds(3600)) { log.add("timer") }
            for (index, pair) in pairs.enumerated().reversed() {
                let handler = try Handler(loop, pair.inside, .readable) { _, _ in }
                handler.onStop = {
                    log.add("\(index) \(loop.isCurrent)")
                    // What follows from it still runs.
                    runtime.timeline.post { log.add("job \(index)") }
                }
            }
        }
        runtime.shutdown()
        await runtime.ended()
        let order = pairs.enumerated().sorted { $0.element.inside < $1.element.inside }.map(\.offset)
        #expect(log.lines == order.map { "\($0) true" } + order.map { "job \($0)" })
        for pair in pairs {
            #expect(readAll(pair.outside) == [])  // closed
            Socket.close(pair.outside)
        }
    }

    @Test func nothingCanBeRegisteredAfterTheEnd() async throws {
        let runtime = try Runtime(mode: .manual)
        let log = Lines()
        let pair = try socketPair()
        runtime.timeline.spawn("actor") {
            do { try await runtime.timeline.sleep(for: .seconds(1)) } catch { log.add("woken") }
            do { try Handler(runtime.loop, pair.inside, .readable) { _, _ in } } catch let error as IOError {
                log.add(error.code == ESHUTDOWN ? "refused" : "\(error)")
            }
            runtime.loop.schedule(after: .zero) { log.add("timer") }
            runtime.loop.watch(pair.inside, .writable)
            runtime.loop.unregister(pair.inside)
        }
        try await runtime.timeline.advance(by: .zero)
        runtime.shutdown()
        await runtime.ended()
        #expect(log.lines == ["woken", "refused"])
        for fd in [pair.inside, pair.outside] { Socket.close(fd) }
    }

    @Test func anotherThreadIsRefused() async {
        await #expect(processExitsWith: .failure) {
            let runtime = try Runtime(mode: .manual)
            runtime.loop.schedule(after: .zero) {}
        }
    }

    @Test func theDescriptorLimitIsRaised() {
        var limit = rlimit()
        _ = Runtime.descriptorLimit
        #expect(getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit) == 0)
        #expect(limit.rlim_cur == min(limit.rlim_max, 1_048_576))
        #expect(Runtime.descriptorLimit == Int(limit.rlim_cur))
    }

    @Test func aRuntimesRandomStreamsDependOnItsSeed() throws {
        func first(_ seed: UInt64) throws -> UInt64 {
            let runtime = try Runtime(mode: .manual, seed: seed)
            defer { runtime.shutdown() }
            var stream = runtime.random(owner: "light-1", purpose: "delay")
            return stream.bits()
        }
        #expect(try first(1) == first(1))
        #expect(try first(1) != first(2))
    }
}

/// A peer on a thread of its own: reads a byte and sends it back.
private func answer(_ argument: UnsafeMutableRawPointer?) -> UnsafeMutableRawPointer? {
    let fd = Int32(Int(bitPattern: argument) - 1)
    var byte: UInt8 = 0
    _ = read(fd, &byte, 1)
    _ = write(fd, &byte, 1)
    return nil
}
