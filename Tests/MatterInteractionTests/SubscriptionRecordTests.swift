import HearthTime
import MatterInteraction
import MatterMessage
import MatterModel
import MatterTLV
import Testing

/// What a publisher keeps of its subscriptions, and when it forgets it.
@Suite struct SubscriptionRecordTests {
    private static let selection = ReadSelection(attributes: [path(1, Toy.value)], isFabricFiltered: false)

    @Test func recordsSurviveAsBytes() async throws {
        try await inLab { lab in
            var changes = 0
            lab.server.onRecordsChanged = { changes += 1 }
            let peer = lab.connect()
            let watch = try await Watch(peer, Self.selection, minimum: 2, maximum: 60)
            #expect(changes == 1)
            let records = lab.server.records
            #expect(records.map(\.id) == [watch.subscription.id])
            #expect(records.first?.request.minimumInterval == 2 && records.first?.request.maximumInterval == 60)
            #expect(records.first?.request.selection == Self.selection)
            #expect(SubscriptionRecord.decoded(SubscriptionRecord.encoded(records)) == records)
            #expect(SubscriptionRecord.decoded([1, 2, 3]).isEmpty)
            // The node stops: what is kept stays. Then another ends while it runs.
            lab.server.stop()
            #expect(changes == 1)
        }
    }

    @Test func whatEndsWhileTheNodeRunsIsForgotten() async throws {
        try await inLab { lab in
            var kept = 0
            lab.server.onRecordsChanged = { [unowned server = lab.server] in kept = server.records.count }
            let peer = lab.connect()
            let first = try await Watch(peer, Self.selection)
            #expect(kept == 1)
            peer.client.unsubscribe(first.subscription.id)
            try await lab.timeline.advance(by: .seconds(61))
            #expect(kept == 0, "the report was answered with INVALID_SUBSCRIPTION")
            _ = try await Watch(peer, Self.selection)
            _ = try await Watch(peer, Self.selection, keeps: false)
            #expect(kept == 1)
            lab.server.endSubscriptions(of: FabricIndex(peer.client.session.context.fabricIndex))
            #expect(kept == 0)
        }
    }

    @Test func whoSubscribesAnewIsNotResumed() async throws {
        try await inLab { lab in
            let peer = lab.connect()
            let first = try await Watch(peer, Self.selection)
            let other = try await Watch(peer, Self.selection, maximum: 90)
            let records = lab.server.records
            lab.server.stop()
            lab.server.restore(records)
            let again = try await Watch(peer, Self.selection)
            #expect(again.subscription.id.rawValue > other.subscription.id.rawValue, "no number is given twice")
            #expect(lab.server.waiting.map(\.id) == [other.subscription.id], "the one with other intervals still waits")
            _ = first
            _ = try await Watch(peer, Self.selection, keeps: false)
            #expect(lab.server.waiting.isEmpty)
        }
    }

    @Test func aResumedSubscriptionGoesOnUnderItsNumber() async throws {
        try await inLab { lab in
            let peer = lab.connect()
            let first = try await Watch(peer, Self.selection, minimum: 0)
            let records = lab.server.records
            lab.server.stop()
            lab.server.restore(records)
            lab.toy.set(Toy.value, .unsigned(7))
            let back = lab.connect()
            var taken: ClientSubscription?
            var reports: [ReportAccumulator] = []
            back.client.takeUp = { id, make in
                guard id == first.subscription.id else { return nil }
                let subscription = make(60)
                subscription.onReport = { reports.append($0) }
                taken = subscription
                return subscription
            }
            let session = back.serverSession
            var isTaken: Bool?
            lab.server.resume(first.subscription.id, in: session) { isTaken = $0 }
            try await lab.settle()
            #expect(isTaken == true && taken?.id == first.subscription.id)
            #expect(reports.map { $0[1, Toy.value] } == [.unsigned(7)])
            lab.toy.set(Toy.value, .unsigned(8))
            try await lab.settle()
            #expect(reports.map { $0[1, Toy.value] } == [.unsigned(7), .unsigned(8)])
            #expect(lab.server.records == records && lab.server.waiting.isEmpty)
            // Whoever does not know it has it ended.
            lab.server.stop()
            lab.server.restore(records)
            back.client.unsubscribe(first.subscription.id)
            back.client.takeUp = nil
            lab.server.resume(first.subscription.id, in: session) { isTaken = $0 }
            try await lab.settle()
            #expect(isTaken == false && lab.server.records.isEmpty)
        }
    }
}
