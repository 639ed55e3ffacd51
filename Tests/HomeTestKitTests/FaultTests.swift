import HearthTime
import HomeTestKit
import MatterController
import MatterInteraction
import MatterModel
import MatterSimulator
import MatterTLV
import Testing

/// The interception points, proved by two faults and the journal.
@Suite struct FaultTests {
    private static let light = DeviceProfile(name: "lamp", endpoints: [.init(1, deviceTypes: [0x0100])])
    private static let onOff = AttributePath(1, OnOff.id, OnOff.Attributes.onOff)

    private static func read(_ home: VirtualHome) async throws {
        _ = try await home.controller.read("lamp", ReadSelection(attributes: [AttributePathPattern(onOff)]))
    }

    @Test func aDelayIsExact() async throws {
        try await VirtualHome.run(Self.light) { home in
            try await home.pair("lamp")
            _ = try await home.simulator.addFault("lamp", ["kind": "delay", "delayMs": .integer(750), "direction": "out"])
            let before = home.timeline.now
            try await Self.read(home)
            #expect(home.timeline.now - before == .milliseconds(750))
            try await home.simulator.clearFault(nil)
            let after = home.timeline.now
            try await Self.read(home)
            #expect(home.timeline.now == after)
        }
    }

    @Test func skipAndCountSayHowOften() async throws {
        try await VirtualHome.run(Self.light) { home in
            try await home.pair("lamp")
            _ = try await home.simulator.addFault(
                "lamp", ["kind": "delay", "delayMs": .integer(100), "direction": "out", "skip": .integer(1), "count": .integer(2)])
            var spans: [Duration] = []
            for _ in 0..<4 {
                let before = home.timeline.now
                try await Self.read(home)
                spans.append(home.timeline.now - before)
            }
            #expect(spans == [.zero, .milliseconds(100), .milliseconds(100), .zero])
        }
    }

    @Test func aDroppedReportIsNotHeard() async throws {
        try await VirtualHome.run(Self.light) { home in
            try await home.pair("lamp")
            let heard = Locked<[Bool]>([])
            let request = SubscribeRequest(
                ReadSelection(attributes: [AttributePathPattern(Self.onOff)]), minimumInterval: 0, maximumInterval: 60)
            _ = try await home.controller.subscribe("lamp", request) { update in
                guard case .report(let attributes, _) = update, case .value(_, let value)? = attributes.first?.outcome else { return }
                heard.withLock { $0.append(value.boolean ?? false) }
            }
            try await home.simulator.set("lamp", Self.onOff, .boolean(true))
            try await home.advance(by: .seconds(1))
            _ = try await home.simulator.addFault("lamp", ["kind": "drop-reports", "count": .integer(1)])
            try await home.simulator.set("lamp", Self.onOff, .boolean(false))
            try await home.advance(by: .seconds(1))
            try await home.simulator.set("lamp", Self.onOff, .boolean(true))
            try await home.advance(by: .seconds(1))
            // The change to off is lost; on is what it was, so that its report says nothing new, but it is sent.
            #expect(heard.withLock { $0 } == [true, true])
        }
    }

    @Test func aFaultThatIsNotKnownIsRefusedWithAHint() async throws {
        try await VirtualHome.run(Self.light) { home in
            await #expect {
                _ = try await home.simulator.addFault("lamp", ["kind": "dealy", "delayMs": .integer(1)])
            } throws: { error in
                (error as? SimulatorError)?.message.contains("delay") == true
            }
            await #expect(throws: SimulatorError.self) { _ = try await home.simulator.addFault("lamp", ["kind": "delay"]) }
            await #expect(throws: SimulatorError.self) { _ = try await home.simulator.addFault("tree", ["kind": "offline"]) }
        }
    }

    @Test func theJournalTellsWhatHappened() async throws {
        try await VirtualHome.run(Self.light) { home in
            try await home.pair("lamp")
            try await home.simulator.set("lamp", Self.onOff, .boolean(true))
            let entries = try await home.simulator.journal()
            #expect(entries.map(\.number) == Array(1...UInt64(entries.count)))
            #expect(entries.first?.kind == .start)
            #expect(entries.contains { $0.kind == .session && $0.note == "pairing" })
            #expect(entries.contains { $0.kind == .invoke && $0.command == OperationalCredentials.Commands.addNOC && $0.value == nil })
            #expect(entries.last { $0.kind == .attribute && $0.attribute == OnOff.Attributes.onOff }?.value == .boolean(true))
            await #expect(throws: Never.self) { _ = try await home.simulator.journal(from: UInt64(entries.count) + 1) }
        }
    }

    @Test func theSameSeedGivesTheSameJournal() async throws {
        func run() async throws -> [String] {
            try await VirtualHome.run(Self.light, Self.light) { home in
                try await home.pairAll()
                _ = try await home.simulator.addFault(
                    nil, ["kind": "delay", "delayMs": .integer(5), "jitterMs": .integer(50), "probability": .number(0.5)])
                for _ in 0..<20 { try await Self.read(home) }
                return try await home.simulator.journal().map { $0.json().text() }
            }
        }
        let (first, second) = (try await run(), try await run())
        #expect(first == second)
        #expect(first.count > 20)
    }
}
