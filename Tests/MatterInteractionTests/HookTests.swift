import HearthTime
import MatterInteraction
import MatterMessage
import MatterModel
import MatterTLV
import Testing

@Suite struct HookTests {
    static let read = ReadRequest(ReadSelection(attributes: [path(1, Toy.value)])).payload

    /// A gate that lets answers go when the test says so, as a store does after its commit.
    final class Gate {
        private var waiting: [() -> Void] = []
        func hold(_ send: @escaping () -> Void) { waiting.append(send) }
        func open() {
            let all = waiting
            waiting = []
            for send in all { send() }
        }
    }

    @Test func everyKindOfAnswerWaitsForTheGateAndKeepsItsOrder() async throws {
        try await inLab(maximum: 1_024, endpoints: 30) { lab in
            let peer = lab.connect()
            let gate = Gate()
            lab.server.gate = { gate.hold($1) }
            var order: [UInt8] = []
            let check = peer.session.filter
            peer.session.filter = { isOutgoing, header, payload in
                if !isOutgoing { order.append(header.opcode) }
                return check?(isOutgoing, header, payload) ?? true
            }
            let talks = [
                peer.say(.readRequest, Self.read),
                peer.say(.writeRequest, WriteRequest([WriteTests.data(1, Toy.value, .unsigned(3))]).payload),
                peer.say(.invokeRequest, InvokeRequest([InvokeTests.command(1, Toy.ping)]).payload),
                peer.say(.timedRequest, TimedRequest(timeout: 1_000).payload), peer.say(77, []),
                peer.say(.readRequest, ReadRequest(ReadSelection(attributes: [AttributePathPattern()])).payload),
            ]
            // Longer than an acknowledgement may take: the time counts from when the message has gone.
            try await lab.timeline.advance(by: .seconds(15))
            #expect(order.isEmpty)
            // An acknowledgement of what has not been sent is none.
            talks[5].acknowledge()
            try await lab.settle()
            gate.open()
            try await lab.settle()
            #expect(order == [5, 7, 9, 1, 1, 5])
            talks[5].acknowledge()
            try await lab.settle()
            gate.open()
            try await lab.settle()
            #expect(talks[5].reports.count == 2)
            #expect(talks[5].reports[0].attributes.last?.path != talks[5].reports[1].attributes.first?.path)
        }
    }

    @Test func aSubscriptionWorksThroughTheGateAndSlowAnswers() async throws {
        try await inLab { lab in
            let peer = lab.connect()
            let timeline = lab.timeline
            lab.server.gate = { _, send in timeline.atTurnEnd(send) }
            peer.client.limit = .seconds(30)
            var verdicts: [String] = []
            lab.server.hooks.beforeAnswer = { opcode, context in
                verdicts.append("\(opcode) \(context.subscription?.description ?? "-")")
                return opcode == .reportData && context.subscription != nil ? .after(.seconds(12)) : .now
            }
            async let moved: Void = timeline.advance(by: .seconds(12))
            let watch = try await Watch(peer, SubscribeTests.value, minimum: 1, maximum: 20)
            try await moved
            #expect(verdicts == ["reportData 0x0001", "subscribeResponse 0x0001"])
            lab.toy.set(Toy.value, .unsigned(1))
            try await timeline.advance(by: .seconds(14))
            // Due a second after the response, 12 s late, and still acknowledged in time.
            #expect(watch.take() == ["25.0: 0"])
            #expect(lab.server.subscriptions.count == 1)
            #expect(!watch.isLost)
        }
    }

    @Test func aDelayedAnswerIsOvertakenAndNotLost() async throws {
        try await inLab { lab in
            let peer = lab.connect()
            var delays: [InteractionHooks.AnswerVerdict] = [.after(.seconds(2)), .now, .never]
            lab.server.hooks.beforeAnswer = { _, _ in delays.isEmpty ? .now : delays.removeFirst() }
            let talks = (0..<3).map { _ in peer.say(.readRequest, Self.read) }
            try await lab.settle()
            #expect(talks.map(\.messages.count) == [0, 1, 0])
            #expect(peer.serverSession.openExchanges == 1)
            try await lab.timeline.advance(by: .seconds(2))
            #expect(talks.map(\.messages.count) == [1, 1, 0])
            #expect(peer.serverSession.openExchanges == 0)
        }
    }

    @Test func refusalsAndWhatWasDoneAreSeen() async throws {
        try await inLab { lab in
            let peer = lab.connect()
            var seen: [String] = []
            lab.server.hooks.beforeRead = { path, _ in path.attribute == Toy.value ? .refuse(Status(.busy)) : .proceed }
            lab.server.hooks.beforeWrite = { path, _, _ in path.endpoint == 2 ? .refuse(Status(.failure)) : .proceed }
            lab.server.hooks.afterWrite = { path, change, status, _ in seen.append("write \(path.endpoint) \(status)") }
            lab.server.hooks.beforeCommand = { path, _, _ in
                path.command == Toy.ping ? .refuse(Status(.invalidInState)) : .proceed
            }
            lab.server.hooks.afterCommand = { path, _, outcome, _ in
                if case .status(let status) = outcome {
                    seen.append("command \(path.command) \(status)")
                } else {
                    seen.append("response")
                }
            }
            #expect(try await peer.client.read(ReadSelection(attributes: [path(1, 0), path(1, 8)])).statuses == [.busy])
            let writes = [WriteTests.data(1, Toy.value, .unsigned(1)), WriteTests.data(2, Toy.value, .unsigned(1))]
            #expect(try await peer.client.write(writes).map(\.status.code) == [.success, .failure])
            _ = try await peer.client.invoke([InvokeTests.command(1, Toy.ping)])
            _ = try await peer.client.invoke([InvokeTests.command(1, Toy.echo)])
            #expect(seen == ["write 1 SUCCESS", "write 2 FAILURE", "command 0x0000 INVALID_IN_STATE", "response"])
            #expect(lab.toys[2]?.log.isEmpty == true)
        }
    }

    @Test func aReportCanBeThinnedOutOrDropped() async throws {
        try await inLab { lab in
            let watch = try await Watch(lab.connect(), ReadSelection(attributes: [path(1, nil)]), minimum: 1, maximum: 10)
            lab.server.hooks.beforeReport = { _, paths, _ in
                if paths.isEmpty { return false }
                paths.removeAll { $0.attribute == Toy.value }
                return true
            }
            lab.toy.set(Toy.value, .unsigned(1))
            lab.toy.set(Toy.readOnly, .unsigned(1))
            try await lab.timeline.advance(by: .seconds(11))
            #expect(watch.take() == ["1.0: 8"])
            #expect(lab.server.subscriptions.count == 1)
            // The subscriber hears nothing any more.
            try await lab.timeline.advance(by: .seconds(5))
            #expect(watch.isLost)
        }
    }

    @Test func whatFollowsAnAnswerHappensAfterItAndMayEndTheSession() async throws {
        try await inLab { lab in
            let peer = lab.connect()
            let session = peer.serverSession
            lab.server.hooks.beforeCommand = { _, _, context in
                context.afterAnswering { session.close() }
                return .proceed
            }
            let answers = try await peer.client.invoke([InvokeTests.command(1, Toy.ping)])
            #expect(answers.map(\.outcome) == [.status(.success)])
            try await lab.settle()
            #expect(!session.isOpen && !peer.session.isOpen)
            await #expect(throws: InteractionError.self) { try await peer.client.read(ReadSelection()) }
        }
    }

    @Test func aServerWhoseNodeHasGoneServesNothing() async throws {
        try await inLab { lab in
            let timeline = lab.timeline
            func orphan() -> InteractionServer {
                let node = ToyNode(timeline)
                node.add(1, [ToyCluster(endpoint: 1)])
                return InteractionServer(node: node, timeline: timeline, origin: timeline.origin("orphan"))
            }
            let server = orphan()
            let peer = lab.connect()
            peer.serverSession.onExchange = { [unowned peer] exchange, opcode, payload in
                server.accept(exchange, opcode, payload, in: peer.serverSession)
            }
            #expect(try await peer.client.read(ReadSelection(attributes: [path(1, 0)])).statuses == [.unsupportedAccess])
            let answers = try await peer.client.invoke([InvokeTests.command(1, Toy.ping)])
            #expect(answers.map(\.outcome) == [.status(Status(.unsupportedEndpoint))])
            server.attributeChanged(AttributePath(1, Toy.id, 0))
        }
    }

    @Test func nothingIsKeptAlive() async throws {
        try await inLab(maximum: 1_024, endpoints: 40) { lab in
            weak var node: ToyNode?
            weak var server: InteractionServer?
            weak var subscription: Subscription?
            weak var session: Session?
            let timeline = lab.timeline
            func use() async throws {
                let other = Lab(timeline, maximum: 1_024, endpoints: 40)
                (node, server) = (other.node, other.server)
                let peer = other.connect()
                session = peer.serverSession
                _ = try await Watch(peer, ReadSelection(attributes: [AttributePathPattern()]))
                subscription = other.server.subscriptions.first
                // And interactions that are under way: a chunked read, a timed request, a chunked write, a priming report.
                let talks = [
                    peer.say(.readRequest, ReadRequest(ReadSelection(attributes: [AttributePathPattern()])).payload),
                    peer.say(.timedRequest, TimedRequest(timeout: 1_000).payload),
                    peer.say(.writeRequest, WriteRequest([], moreChunks: true).payload),
                    peer.say(
                        .subscribeRequest,
                        SubscribeRequest(
                            ReadSelection(attributes: [AttributePathPattern()]), minimumInterval: 0, maximumInterval: 9
                        ).payload),
                ]
                try await timeline.advance(by: .zero)
                #expect(talks.map(\.messages.count) == [1, 1, 1, 1])
                #expect(subscription != nil)
                peer.near.abort(LinkError(.broken, "test"))
                try await timeline.advance(by: .zero)
            }
            try await use()
            try await timeline.advance(by: .seconds(200))
            #expect(node == nil && server == nil && subscription == nil && session == nil)
            #expect(timeline.pendingEntries == 0)
        }
    }
}
