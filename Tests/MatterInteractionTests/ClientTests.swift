import HearthTime
import MatterInteraction
import MatterMessage
import MatterModel
import MatterTLV
import Testing

/// A controller's peer as the controller will have it: an actor on the timeline.
private actor Reader {
    nonisolated let timeline: Timeline
    nonisolated var unownedExecutor: UnownedSerialExecutor { timeline.asUnownedSerialExecutor() }
    private var lab: Lab?
    private var peer: Peer?
    private(set) var ends: [String] = []
    private weak var session: Session?

    init(_ timeline: Timeline) { self.timeline = timeline }

    func setUp(latency: Duration) {
        let lab = Lab(timeline, maximum: 64_000)
        let peer = lab.connect()
        peer.far.latency = { latency }
        (self.lab, self.peer, session) = (lab, peer, peer.session)
    }

    func read(_ name: String, limit: Duration? = nil) async throws -> Int {
        guard let peer else { return -1 }
        do {
            let report = try await peer.client.read(ReadSelection(attributes: [path(1, Toy.value)]), limit: limit)
            ends.append("\(name) read")
            return report.attributes.count
        } catch {
            let kind =
                switch error {
                case is CancellationError: "cancelled"
                case InteractionError.noResponse: "no response"
                case InteractionError.sessionEnded: "session ended"
                default: "\(error)"
                }
            ends.append("\(name) \(kind) \(timeline.isCurrentThread ? "here" : "elsewhere")")
            throw error
        }
    }

    func openExchanges() -> Int { session?.openExchanges ?? 0 }
    func breakLink() { peer?.near.abort(LinkError(.broken, "test")) }
    /// Whether something still holds the session when nobody should.
    func letGo() -> Bool {
        (lab, peer) = (nil, nil)
        return session == nil
    }
}

@Suite struct ClientTests {
    @Test func aCancelledReadEndsPromptlyOnTheTimelinesThread() async throws {
        let timeline = Timeline(mode: .manual)
        defer { timeline.shutdown() }
        let reader = Reader(timeline)
        try await timeline.run { await reader.setUp(latency: .seconds(5)) }
        let task = timeline.spawn("reader") { try await reader.read("first") }
        try await timeline.advance(by: .seconds(1))
        #expect(await reader.openExchanges() == 1)
        task.cancel()  // from the test's thread
        await #expect(throws: CancellationError.self) { try await task.value }
        try await timeline.run {}
        #expect(await reader.ends == ["first cancelled here"])
        #expect(await reader.openExchanges() == 0)
        // The answer comes late and is dropped; the next read is undisturbed.
        let next = timeline.spawn("reader") { try await reader.read("second") }
        try await timeline.advance(by: .seconds(6))
        #expect(try await next.value == 1)
        // Cancelled before it begins: nothing is sent.
        let never = timeline.spawn("reader") {
            withUnsafeCurrentTask { $0?.cancel() }
            return try await reader.read("third")
        }
        await #expect(throws: CancellationError.self) { try await never.value }
        #expect(await reader.ends == ["first cancelled here", "second read", "third cancelled here"])
        try await timeline.advance(by: .zero)
        #expect(timeline.pendingEntries == 0)
        #expect(await reader.letGo())
    }

    @Test func aStormOfCancellationsAndAnswersLosesNobody() async throws {
        let timeline = Timeline(mode: .manual)
        defer { timeline.shutdown() }
        let reader = Reader(timeline)
        try await timeline.run { await reader.setUp(latency: .milliseconds(1)) }
        var (read, cancelled) = (0, 0)
        for _ in 0..<100 {
            let tasks = (0..<10).map { number in timeline.spawn("reader") { try await reader.read("\(number)") } }
            // While the answers arrive on the timeline's thread.
            async let moved: Void = timeline.advance(by: .milliseconds(2))
            for task in tasks.dropFirst(3) { task.cancel() }
            try await moved
            for task in tasks { if case .success = await task.result { read += 1 } else { cancelled += 1 } }
        }
        #expect(read + cancelled == 1_000)
        #expect(read >= 300)
        #expect(await reader.openExchanges() == 0)
        #expect(await reader.letGo())
        #expect(timeline.failures.isEmpty)
    }

    @Test func silenceAndTheSessionsEndFinishARead() async throws {
        let timeline = Timeline(mode: .manual)
        defer { timeline.shutdown() }
        let reader = Reader(timeline)
        try await timeline.run { await reader.setUp(latency: .seconds(50)) }
        let first = timeline.spawn("reader") { try await reader.read("first") }
        let second = timeline.spawn("reader") { try await reader.read("second", limit: .seconds(20)) }
        let third = timeline.spawn("reader") { try await reader.read("third", limit: .seconds(40)) }
        try await timeline.advance(by: .seconds(10))
        #expect(await reader.ends == ["first no response here"])
        try await timeline.advance(by: .seconds(10))
        #expect(await reader.ends.count == 2)
        await reader.breakLink()
        try await timeline.advance(by: .zero)
        #expect(await reader.ends == ["first no response here", "second no response here", "third session ended here"])
        for task in [first, second, third] { await #expect(throws: InteractionError.self) { try await task.value } }
        #expect(await reader.letGo())
    }

    @Test func aLargeReportOverASlowLinkIsNoSilence() async throws {
        try await inLab(maximum: 1_024, endpoints: 100) { lab in
            let peer = lab.connect()
            let timeline = lab.timeline
            (peer.near.latency, peer.far.latency) = ({ .milliseconds(300) }, { .milliseconds(300) })
            async let moved: Void = timeline.advance(by: .seconds(120))
            let report = try await peer.client.read(ReadSelection(attributes: [AttributePathPattern()]))
            #expect(report.attributes.count == 100 * 14)
            #expect(timeline.now > .zero + .seconds(20))
            try await moved
            #expect(timeline.pendingEntries == 0)
        }
    }

    @Test func answersThatAreNoneAreMalformed() async throws {
        try await inLab { lab in
            let peer = lab.connect()
            for (opcode, payload) in [(9, [0x15, 0x18]), (5, [0x15]), (200, []), (10, [0x15, 0x18])] as [(UInt8, [UInt8])] {
                peer.serverSession.onExchange = { exchange, _, _ in
                    exchange.send(opcode, payload)
                    exchange.send(opcode, payload)  // a second one is late
                    exchange.close()
                }
                do {
                    _ = try await peer.client.read(ReadSelection(attributes: [path(1, 0)]))
                    Issue.record("opcode \(opcode) was an answer")
                } catch InteractionError.malformed {}
            }
            peer.serverSession.onExchange = { exchange, _, _ in
                exchange.send(1, StatusResponse(.busy).payload)
                exchange.close()
            }
            do {
                _ = try await peer.client.read(ReadSelection(attributes: [path(1, 0)]))
                Issue.record("a refusal was an answer")
            } catch InteractionError.refused(let status) { #expect(status.code == .busy) }
            #expect(peer.session.openExchanges == 0)
        }
    }

    @Test func reportsOfAnUnknownSubscriptionAndBrokenOnesAreRefused() async throws {
        try await inLab { lab in
            let peer = lab.connect()
            func say(_ opcode: UInt8, _ payload: [UInt8]) -> Talk {
                let talk = Talk(peer.serverSession.begin(.interactionModel), lab.timeline)
                talk.say(opcode, payload)
                return talk
            }
            let unknown = say(5, ReportData(subscription: 77).payload)
            let none = say(5, ReportData().payload)
            let wrong = say(2, ReadRequest(ReadSelection()).payload)
            let watch = try await Watch(peer, SubscribeTests.value)
            let id = watch.subscription.id
            let switched = say(5, ReportData(subscription: id, moreChunks: true).payload)
            let stopped = say(5, ReportData(subscription: id, moreChunks: true).payload)
            try await lab.settle()
            #expect(unknown.status == .invalidSubscription)
            #expect(none.status == .invalidAction && wrong.status == .invalidAction)
            #expect(switched.status == .success)
            switched.say(5, ReportData(subscription: 78).payload)
            try await lab.settle()
            #expect(switched.opcodes == [1, 1])
            #expect(switched.messages.last?.payload == StatusResponse(.invalidAction).payload)
            try await lab.timeline.advance(by: .seconds(10))
            #expect(peer.session.openExchanges == 0)
            #expect(stopped.messages.count == 1)
            #expect(watch.reports.isEmpty)
        }
    }
}
