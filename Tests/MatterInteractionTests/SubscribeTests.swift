import HearthTime
import MatterInteraction
import MatterMessage
import MatterModel
import MatterTLV
import Testing

/// A subscription and what came of it: "seconds: what".
final class Watch {
    let subscription: ClientSubscription
    let priming: ReportAccumulator
    private(set) var lines: [String] = []
    private(set) var reports: [ReportAccumulator] = []
    private(set) var isLost = false

    init(
        _ peer: Peer, _ selection: ReadSelection, minimum: UInt16 = 2, maximum: UInt16 = 60, keeps: Bool = true
    ) async throws {
        (subscription, priming) = try await peer.client.subscribe(
            SubscribeRequest(selection, keepsSubscriptions: keeps, minimumInterval: minimum, maximumInterval: maximum))
        let timeline = peer.timeline
        subscription.onReport = { [weak self] report in
            guard let self else { return }
            reports.append(report)
            let attributes = report.attributes.map { "\($0.path.pattern.attribute?.rawValue ?? 0)" }.joined(separator: ",")
            let events = report.numbers.map { "e\($0.rawValue)" }.joined(separator: ",")
            lines.append("\(Double(timeline.now.nanoseconds) / 1e9): \(attributes)\(events)")
        }
        subscription.onLost = { [weak self] in self?.isLost = true }
    }

    func take() -> [String] {
        defer { lines = [] }
        return lines
    }
}

@Suite struct SubscribeTests {
    static let value = ReadSelection(attributes: [path(1, Toy.value)])

    @Test func intervalsAreExact() async throws {
        try await inLab { lab in
            let watch = try await Watch(lab.connect(), Self.value, minimum: 2, maximum: 60)
            #expect(watch.priming[1, Toy.value] == .unsigned(0))
            #expect(watch.subscription.maximumInterval == 60)
            // Keep-alive: an empty report every 60 s.
            try await lab.timeline.advance(by: .seconds(121))
            #expect(watch.take() == ["60.0: ", "120.0: "])
            // A change after the minimum goes out at once, one within it when it is over, together with what came meanwhile.
            try await lab.timeline.advance(by: .seconds(9))
            lab.toy.set(Toy.value, .unsigned(1))
            try await lab.settle()
            #expect(watch.take() == ["130.0: 0"])
            try await lab.timeline.advance(by: .milliseconds(500))
            lab.toy.set(Toy.value, .unsigned(2))
            lab.toy.set(Toy.value, .unsigned(3))
            lab.toy.set(Toy.readOnly, .unsigned(3))  // not subscribed to
            try await lab.timeline.advance(by: .milliseconds(1_499))
            #expect(watch.take().isEmpty)
            try await lab.timeline.advance(by: .milliseconds(1))
            #expect(watch.take() == ["132.0: 0"])
            #expect(watch.reports.last?[1, Toy.value] == .unsigned(3))
            try await lab.timeline.advance(by: .seconds(60))
            #expect(watch.take() == ["192.0: "])
        }
    }

    @Test func minimumZeroReportsAtOnceAndOneAtATime() async throws {
        try await inLab { lab in
            let peer = lab.connect()
            peer.near.latency = { .milliseconds(300) }  // acknowledgements are slow
            let timeline = lab.timeline
            async let moved: Void = timeline.advance(by: .seconds(2))
            let watch = try await Watch(peer, ReadSelection(attributes: [path(1, nil)]), minimum: 0, maximum: 10)
            try await moved
            for number in 1...5 {
                lab.toy.set(Toy.value, .unsigned(UInt64(number)))
                lab.toy.set(Toy.readOnly, .unsigned(UInt64(number)))
                try await lab.timeline.advance(by: .milliseconds(100))
            }
            try await lab.timeline.advance(by: .seconds(1))
            // The first change alone; then, when its acknowledgement had come, all that had happened since.
            #expect(watch.take() == ["2.0: 0,8", "2.3: 0,8", "2.6: 0,8"])
            #expect(watch.reports.map { $0[1, Toy.value] } == [.unsigned(1), .unsigned(3), .unsigned(5)])
            // The maximum interval counts from when the report was sent, not from its acknowledgement.
            try await lab.timeline.advance(by: .seconds(10))
            #expect(watch.take() == ["12.6: "])
        }
    }

    @Test func zeroMaximumBecomesOne() async throws {
        try await inLab { lab in
            let watch = try await Watch(lab.connect(), Self.value, minimum: 0, maximum: 0)
            #expect(watch.subscription.maximumInterval == 1)
        }
    }

    @Test func invalidRequestsAreRefused() async throws {
        try await inLab { lab in
            let (owner, stranger) = (lab.connect(), lab.connect(fabric: 9, node: 0xC))
            let pairing = lab.connect(fabric: 0, node: 0, mode: .pase)
            func refusal(_ peer: Peer, _ selection: ReadSelection, _ minimum: UInt16 = 0, _ maximum: UInt16 = 60) async throws
                -> StatusCode?
            {
                let talk = peer.say(
                    .subscribeRequest, SubscribeRequest(selection, minimumInterval: minimum, maximumInterval: maximum).payload)
                try await lab.settle()
                return talk.status
            }
            try await lab.settle()
            #expect(try await refusal(owner, Self.value, 61, 60) == .invalidAction)
            #expect(try await refusal(owner, ReadSelection()) == .invalidAction)
            #expect(try await refusal(owner, ReadSelection(attributes: [path(9, 0)])) == .invalidAction)
            #expect(try await refusal(owner, ReadSelection(events: [EventPathPattern(1, Toy.id, 0x77)])) == .invalidAction)
            #expect(try await refusal(owner, ReadSelection(events: [EventPathPattern(nil, Toy.id, 0x77)])) == .invalidAction)
            #expect(try await refusal(stranger, Self.value) == .invalidAction)
            #expect(try await refusal(pairing, Self.value) == .unsupportedAccess)
            #expect(lab.server.subscriptions.isEmpty)
            // One path that leads somewhere is enough.
            let watch = try await Watch(owner, ReadSelection(attributes: [path(9, 0), path(1, 0)]))
            #expect(watch.priming.statuses == [.unsupportedEndpoint])
        }
    }

    @Test func aFabricHasItsShareOfSubscriptionsAndNoMore() async throws {
        var limits = InteractionServer.Limits()
        limits.subscriptionsPerFabric = 3
        try await inLab(limits: limits) { lab in
            let (first, second, other) = (lab.connect(), lab.connect(node: 0xB), lab.connect(fabric: 3, node: 0xC))
            var watches: [Watch] = []
            for peer in [first, first, second, other] { watches.append(try await Watch(peer, Self.value)) }
            #expect(Set(lab.server.subscriptions.map(\.id)).count == 4)
            do {
                _ = try await Watch(second, Self.value)
                Issue.record("a fourth subscription")
            } catch InteractionError.refused(let status) { #expect(status.code == .resourceExhausted) }
            // Without KeepSubscriptions the subscriber's own make room, and nobody else's.
            watches.append(try await Watch(first, Self.value, keeps: false))
            #expect(lab.server.subscriptions.map(\.peer.peerNodeID) == [0xB, 0xC, 0xA])
            lab.toy.set(Toy.value, .unsigned(5))
            try await lab.timeline.advance(by: .seconds(3))
            #expect(watches.map(\.reports.count) == [0, 0, 1, 1, 1])
            lab.server.endSubscriptions(of: 1)
            #expect(lab.server.subscriptions.map(\.peer.peerNodeID) == [0xC])
            lab.server.stop()
            #expect(lab.server.subscriptions.isEmpty)
        }
    }

    @Test func whoForgetsASubscriptionEndsItWithTheNextReport() async throws {
        try await inLab { lab in
            let peer = lab.connect()
            let watch = try await Watch(peer, Self.value)
            let kept = try await Watch(peer, Self.value)
            peer.client.unsubscribe(watch.subscription.id)
            #expect(lab.server.subscriptions.count == 2)
            lab.toy.set(Toy.value, .unsigned(1))
            try await lab.timeline.advance(by: .seconds(2))
            #expect(lab.server.subscriptions.map(\.id) == [kept.subscription.id])
            #expect(watch.reports.isEmpty && !watch.isLost)
            #expect(kept.reports.count == 1)
        }
    }

    @Test func aReportThatNobodyAcknowledgesEndsTheSubscription() async throws {
        try await inLab { lab in
            let peer = lab.connect()
            let watch = try await Watch(peer, Self.value, maximum: 30)
            peer.near.latency = { .seconds(11) }
            lab.toy.set(Toy.value, .unsigned(1))
            try await lab.timeline.advance(by: .milliseconds(11_999))
            #expect(watch.take() == ["2.0: 0"])
            #expect(lab.server.subscriptions.count == 1)
            try await lab.timeline.advance(by: .milliseconds(1))
            #expect(lab.server.subscriptions.isEmpty)
            // The subscriber finds out by the silence: 5 s after the maximum interval.
            try await lab.timeline.advance(by: .milliseconds(24_999))
            #expect(!watch.isLost)
            try await lab.timeline.advance(by: .milliseconds(1))
            #expect(watch.isLost)
            #expect(peer.serverSession.openExchanges == 0)
        }
    }

    @Test func theEndOfTheSessionEndsBothSides() async throws {
        try await inLab(maximum: 1_024, endpoints: 50) { lab in
            let peer = lab.connect()
            let watch = try await Watch(peer, ReadSelection(attributes: [AttributePathPattern()]))
            #expect(watch.priming.attributes.count == 50 * 14)
            // One that is still being primed, too.
            let talk = peer.say(
                .subscribeRequest,
                SubscribeRequest(ReadSelection(attributes: [AttributePathPattern()]), minimumInterval: 0, maximumInterval: 60)
                    .payload)
            try await lab.settle()
            #expect(talk.reports.count == 1)
            #expect(lab.server.subscriptions.count == 2)
            peer.far.abort(LinkError(.broken, "test"))
            try await lab.settle()
            #expect(lab.server.subscriptions.isEmpty)
            #expect(watch.isLost)
            lab.toy.set(Toy.value, .unsigned(1))
            try await lab.timeline.advance(by: .seconds(100))
            #expect(lab.timeline.pendingEntries == 0)
        }
    }

    @Test func aSubscriberThatStopsInTheMiddleOfPrimingIsLetGo() async throws {
        try await inLab(maximum: 1_024, endpoints: 50) { lab in
            let peer = lab.connect()
            let request = SubscribeRequest(
                ReadSelection(attributes: [AttributePathPattern()]), minimumInterval: 0, maximumInterval: 60)
            let talk = peer.say(.subscribeRequest, request.payload)
            try await lab.settle()
            talk.acknowledge()
            try await lab.settle()
            #expect(talk.reports.count == 2)
            try await lab.timeline.advance(by: .seconds(10))
            #expect(lab.server.subscriptions.isEmpty)
            // Ended by another: the report in flight stops.
            let second = peer.say(.subscribeRequest, request.payload)
            try await lab.settle()
            lab.server.stop()
            second.acknowledge()
            try await lab.settle()
            #expect(second.reports.count == 1)
            #expect(peer.serverSession.openExchanges == 0)
        }
    }

    @Test func whatChangesDuringPrimingIsReportedAfterIt() async throws {
        try await inLab(maximum: 1_024, endpoints: 50) { lab in
            let peer = lab.connect()
            let node = lab.node
            lab.server.hooks.beforeRead = { [unowned lab, unowned node] path, _ in
                if path.endpoint == 40, path.attribute == Toy.value, node.questions < 1_000_000 {
                    node.questions = 1_000_000
                    lab.toy.set(Toy.value, .unsigned(77))
                }
                return .proceed
            }
            let watch = try await Watch(peer, ReadSelection(attributes: [path(nil, Toy.value), path(nil, Toy.list)]), minimum: 1)
            #expect(watch.priming[1, Toy.value] == .unsigned(0))
            try await lab.timeline.advance(by: .seconds(1))
            #expect(watch.take() == ["1.0: 0"])
            #expect(watch.reports[0][1, Toy.value] == .unsigned(77))
        }
    }

    @Test func changesThatAreOmittedOrNotWantedOrNoLongerAllowedAreNotReported() async throws {
        try await inLab { lab in
            let peer = lab.connect()
            var selection = ReadSelection(attributes: [path(nil, nil)])
            selection.attributes[0].wildcardFlags = .skipRootNode
            let watch = try await Watch(peer, selection, minimum: 0)
            lab.toy.set(Toy.counter, .unsigned(1))
            lab.toys[0]?.set(Toy.value, .unsigned(1))
            try await lab.timeline.advance(by: .seconds(1))
            #expect(watch.take().isEmpty)
            lab.node.reach[1] = [2]
            lab.toy.set(Toy.value, .unsigned(1))
            try await lab.timeline.advance(by: .seconds(1))
            #expect(watch.take().isEmpty)
            lab.toys[2]?.set(Toy.value, .unsigned(1))
            lab.node.remove(1)
            try await lab.settle()
            #expect(watch.take() == ["2.0: 0"])
        }
    }

    @Test func reportsThatComeBeforeAnybodyListensAreKept() async throws {
        try await inLab { lab in
            let peer = lab.connect()
            let (subscription, _) = try await peer.client.subscribe(
                SubscribeRequest(Self.value, minimumInterval: 0, maximumInterval: 5))
            lab.toy.set(Toy.value, .unsigned(1))
            try await lab.settle()
            lab.toy.set(Toy.value, .unsigned(2))
            try await lab.settle()
            var values: [TLVValue?] = []
            subscription.onReport = { values.append($0[1, Toy.value]) }
            #expect(values == [.unsigned(1), .unsigned(2)])
            peer.near.abort(LinkError(.broken, "test"))
            try await lab.settle()
            var isLost = false
            subscription.onLost = { isLost = true }
            #expect(isLost)
        }
    }
}
