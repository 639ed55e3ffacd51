import HearthTime
import MatterInteraction
import MatterMessage
import MatterModel
import MatterTLV
import Testing

@Suite struct EventTests {
    @Test func eventsAreReadInOrderFromAMinimum() async throws {
        try await inLab { lab in
            let peer = lab.connect()
            for event in [Toy.info, Toy.debug, Toy.critical, Toy.info] {
                lab.toy.record(event, .structure([TLVElement(0, .unsigned(event.unsigned))]))
                try await lab.timeline.advance(by: .seconds(1))
            }
            lab.toys[2]?.record(Toy.info)
            func read(_ events: [EventPathPattern], from minimum: EventNumber? = nil) async throws -> ReportAccumulator {
                try await peer.client.read(ReadSelection(events: events, eventMinimum: minimum))
            }
            let all = try await read([EventPathPattern()])
            #expect(all.numbers == [0, 1, 2, 3, 4])
            let second = EventReport(
                EventPathPattern(1, Toy.id, Toy.debug),
                .event(1, .debug, .system(milliseconds: 1_000), .structure([TLVElement(0, .unsigned(1))])))
            #expect(all.events[1] == second)
            #expect(try await read([EventPathPattern()], from: 3).numbers == [3, 4])
            #expect(try await read([EventPathPattern(1, Toy.id, Toy.info), EventPathPattern(2)]).numbers == [0, 3, 4])
            let wrong = try await read([
                EventPathPattern(9, Toy.id, 0), EventPathPattern(1, 0x99, 0), EventPathPattern(1, Toy.id, 0x77),
                EventPathPattern(1, Toy.id, 2),
            ])
            #expect(wrong.statuses == [.unsupportedEndpoint, .unsupportedCluster, .unsupportedEvent])
            #expect(wrong.numbers == [2])
        }
    }

    @Test func whoSeesWhichEvents() async throws {
        try await inLab { lab in
            let (owner, guest, third) = (lab.connect(), lab.connect(fabric: 2, node: 0xB), lab.connect(fabric: 3, node: 0xC))
            let pairing = lab.connect(fabric: 0, node: 0, mode: .pase)
            lab.toy.record(Toy.info)
            lab.toy.record(Toy.sensitive, fabric: 1)
            lab.toy.record(Toy.sensitive, fabric: 2)
            lab.toy.record(Toy.adminEvent)
            func numbers(_ peer: Peer, filtered: Bool) async throws -> [EventNumber] {
                try await peer.client.read(ReadSelection(events: [EventPathPattern()], isFabricFiltered: filtered)).numbers
            }
            for filtered in [true, false] {
                #expect(try await numbers(owner, filtered: filtered) == [0, 1, 3])
                #expect(try await numbers(guest, filtered: filtered) == [0, 2])
                #expect(try await numbers(third, filtered: filtered) == [0, 3])
                #expect(try await numbers(pairing, filtered: filtered) == [0, 3])
            }
            let denied = try await guest.client.read(ReadSelection(events: [EventPathPattern(1, Toy.id, Toy.adminEvent)]))
            #expect(denied.statuses == [.unsupportedAccess])
            // The endpoint goes, its events stay, under the same control.
            lab.node.reach[3] = [0]
            lab.node.remove(1)
            #expect(try await numbers(third, filtered: true).isEmpty)
            #expect(try await numbers(owner, filtered: true) == [0, 1, 3])
            lab.node.events.forget(1)
            #expect(try await numbers(owner, filtered: true) == [0, 3])
        }
    }

    @Test func urgentEventsComeAfterTheMinimumOthersAtTheMaximum() async throws {
        try await inLab { lab in
            let peer = lab.connect()
            lab.toy.record(Toy.info)
            lab.toy.record(Toy.critical)
            let selection = ReadSelection(
                events: [EventPathPattern(1, Toy.id, Toy.critical, isUrgent: true), EventPathPattern(1, Toy.id)], eventMinimum: 1)
            let watch = try await Watch(peer, selection, minimum: 2, maximum: 60)
            #expect(watch.priming.numbers == [1])
            try await lab.timeline.advance(by: .seconds(10))
            lab.toy.record(Toy.info)
            try await lab.timeline.advance(by: .seconds(10))
            #expect(watch.take().isEmpty)
            lab.toy.record(Toy.critical)
            lab.toy.record(Toy.info)
            try await lab.settle()
            #expect(watch.take() == ["20.0: e2,e3,e4"])
            lab.toy.record(Toy.critical)
            try await lab.timeline.advance(by: .seconds(2))
            #expect(watch.take() == ["22.0: e5"])
            lab.toy.record(Toy.debug)
            try await lab.timeline.advance(by: .seconds(60))
            #expect(watch.take() == ["82.0: e6"])
        }
    }

    @Test func anUrgentEventOfAnotherFabricIsNoReasonToReport() async throws {
        try await inLab { lab in
            let watch = try await Watch(lab.connect(), ReadSelection(events: [EventPathPattern(isUrgent: true)]), minimum: 0)
            lab.toy.record(Toy.sensitive, fabric: 2)
            try await lab.timeline.advance(by: .seconds(5))
            #expect(watch.take().isEmpty)
            lab.toy.record(Toy.sensitive, fabric: 1)
            try await lab.settle()
            #expect(watch.take() == ["5.0: e1"])
        }
    }
}

@Suite struct EventLogTests {
    func record(_ log: EventLog, _ priority: EventPriority = .info, bytes: Int = 0) -> EventNumber {
        log.record(
            EventPath(1, 2, 3), priority: priority, timestamp: .system(milliseconds: 0),
            fields: .octets([UInt8](repeating: 0, count: bytes)))
    }

    @Test func theBoundaryIsStoredBeforeANumberBelowItIsUsed() {
        var boundaries: [UInt64] = []
        let log = EventLog(boundary: 0, capacity: 0)
        log.reserve = { boundaries.append($0) }
        #expect(boundaries.isEmpty)
        log.onRecord = { #expect($0.number.rawValue < boundaries.last ?? 0) }
        #expect(record(log) == 0)
        #expect(boundaries == [0x10000])
        for _ in 0..<0x10000 { _ = record(log) }
        #expect(boundaries == [0x10000, 0x20000])
        #expect(log.nextNumber == 0x10001)
        // Killed and started again with what was stored: above every number that was used.
        var later: [UInt64] = []
        let again = EventLog(boundary: 0x20000)
        again.reserve = { later.append($0) }
        #expect(record(again) == 0x20000)
        #expect(later == [0x30000])
    }

    @Test func memoryIsBoundedAndTheLeastPriorityGoesFirst() {
        var random = RandomStream(seed: 4, owner: "events", purpose: "trim")
        let log = EventLog(boundary: 0, capacity: 4_096)
        for _ in 0..<5_000 {
            let priority = EventPriority(rawValue: UInt8(random.below(3))) ?? .info
            _ = record(log, priority, bytes: Int(random.below(300)))
            #expect(log.records.count < 3 * 4_096 / 48)
        }
        #expect(zip(log.records, log.records.dropFirst()).allSatisfy { $0.number < $1.number })
        // Critical events fill it; what is less is gone first.
        for _ in 0..<100 { _ = record(log, .critical, bytes: 100) }
        #expect(log.records.allSatisfy { $0.priority == .critical })
        let quiet = EventLog(boundary: 0, capacity: 1_000)
        let first = record(quiet, .critical)
        for _ in 0..<100 { _ = record(quiet, .debug) }
        #expect(quiet.records.first?.number == first)
        #expect(quiet.records.count == 1_000 / 50)
        for _ in 0..<100 { _ = record(quiet, .info) }
        #expect(quiet.records.first?.number == first)
        #expect(quiet.records.dropFirst().allSatisfy { $0.priority == .info })
    }
}
