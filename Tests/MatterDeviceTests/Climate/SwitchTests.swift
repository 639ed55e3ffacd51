import HearthTime
import MatterInteraction
import MatterModel
import MatterTLV
import Testing

@testable import MatterDevice

@Suite struct SwitchTests {
    typealias Events = Switch.Events
    typealias Feature = Switch.Feature
    static let button: Feature = [.momentarySwitch, .momentarySwitchRelease, .momentarySwitchLongPress, .momentarySwitchMultiPress]

    /// The events so far as `name(fields)`.
    static func told(_ bench: Bench) -> [String] {
        bench.node.events.records.filter { $0.path.cluster == Switch.id }.map { record in
            let name = Switch.definition.events.first { $0.id == record.path.event }?.name ?? "?"
            let fields = (record.fields.members ?? []).compactMap { $0.value.unsigned }.map { "\($0)" }
            return "\(name)(\(fields.joined(separator: ",")))"
        }
    }

    static func put(_ bench: Bench, _ position: UInt64) throws {
        try bench.setLocally(Switch.id, Switch.Attributes.currentPosition, .unsigned(position))
    }

    static func run(
        _ features: Feature, _ attributes: [AttributeID: TLVValue] = [:],
        _ body: @escaping @Sendable @concurrent (Bench) async throws -> Void
    ) async throws {
        try await Bench.run { bench in
            try bench.add(Switch.id, deviceTypes: [0x000F], ClusterConfiguration(features: features.rawValue, attributes: attributes))
            bench.node.start()
            try await body(bench)
        }
    }

    @Test func aLatchingSwitchStaysWhereItIsPut() async throws {
        try await Self.run(.latchingSwitch, [Switch.Attributes.numberOfPositions: .unsigned(3)]) { bench in
            for position in [2, 2, 0, 1] as [UInt64] { try Self.put(bench, position) }
            #expect(Self.told(bench) == ["SwitchLatched(2)", "SwitchLatched(0)", "SwitchLatched(1)"])
            #expect(status { try Self.put(bench, 3) } == .constraintError)
            bench.node.stop()
            bench.node.start()
            #expect(try bench.read(Switch.id, Switch.Attributes.currentPosition) == .unsigned(1))
        }
    }

    @Test func aShortPress() async throws {
        try await Self.run([.momentarySwitch, .momentarySwitchRelease]) { bench in
            try Self.put(bench, 1)
            #expect(try bench.read(Switch.id, Switch.Attributes.currentPosition) == .unsigned(1))
            try await bench.advance(.seconds(20))
            try Self.put(bench, 0)
            #expect(Self.told(bench) == ["InitialPress(1)", "ShortRelease(1)"])
        }
        try await Self.run(.momentarySwitch) { bench in
            try Self.put(bench, 1)
            try Self.put(bench, 0)
            #expect(Self.told(bench) == ["InitialPress(1)"])
        }
    }

    @Test func aLongPress() async throws {
        try await Self.run(Self.button) { bench in
            try Self.put(bench, 1)
            try await bench.advance(.milliseconds(799))
            #expect(Self.told(bench) == ["InitialPress(1)"])
            try await bench.advance(.milliseconds(1))
            #expect(Self.told(bench) == ["InitialPress(1)", "LongPress(1)"])
            try await bench.advance(.seconds(5))
            try Self.put(bench, 0)
            try await bench.advance(.seconds(5))
            #expect(Self.told(bench) == ["InitialPress(1)", "LongPress(1)", "LongRelease(1)"])
        }
    }

    @Test func severalPressesAreOneSequence() async throws {
        try await Self.run(Self.button) { bench in
            for _ in 0..<2 {
                try Self.put(bench, 1)
                try await bench.advance(.milliseconds(100))
                try Self.put(bench, 0)
                try await bench.advance(.milliseconds(300))
            }
            try await bench.advance(.milliseconds(99))
            let pressed = [
                "InitialPress(1)", "ShortRelease(1)", "InitialPress(1)", "MultiPressOngoing(1,2)", "ShortRelease(1)",
            ]
            #expect(Self.told(bench) == pressed)
            try await bench.advance(.milliseconds(1))
            #expect(Self.told(bench) == pressed + ["MultiPressComplete(1,2)"])
        }
    }

    @Test func aSinglePressCompletesToo() async throws {
        try await Self.run(Self.button) { bench in
            try bench.trigger(Switch.id, Events.multiPressComplete, [1, 1])
            try await bench.advance(.seconds(1))
            #expect(Self.told(bench) == ["InitialPress(1)", "ShortRelease(1)", "MultiPressComplete(1,1)"])
        }
    }

    /// Presses beyond MultiPressMax are not heard of, and the whole sequence is told as 0 (1.13.5.3).
    @Test(arguments: [3, 4, 7]) func tooManyPresses(_ count: UInt64) async throws {
        try await Self.run(Self.button, [Switch.Attributes.multiPressMax: .unsigned(2)]) { bench in
            try bench.trigger(Switch.id, Events.multiPressComplete, [1, count])
            try await bench.advance(.seconds(3))
            let sequence = [
                "InitialPress(1)", "ShortRelease(1)", "InitialPress(1)", "MultiPressOngoing(1,2)", "ShortRelease(1)",
                "MultiPressComplete(1,0)",
            ]
            #expect(Self.told(bench) == sequence)
            // Once idle, it tells of everything again.
            try bench.trigger(Switch.id, Events.multiPressComplete, [1, 1])
            try await bench.advance(.seconds(1))
            #expect(Self.told(bench) == sequence + ["InitialPress(1)", "ShortRelease(1)", "MultiPressComplete(1,1)"])
        }
    }

    /// The position is no event: it follows the hand all the same.
    @Test func aPressTooManyIsStillAPosition() async throws {
        try await Self.run(Self.button, [Switch.Attributes.multiPressMax: .unsigned(2)]) { bench in
            for _ in 0..<2 {
                try Self.put(bench, 1)
                try Self.put(bench, 0)
            }
            let told = Self.told(bench)
            try Self.put(bench, 1)
            #expect(try bench.read(Switch.id, Switch.Attributes.currentPosition) == .unsigned(1))
            try await bench.advance(.seconds(5))
            try Self.put(bench, 0)
            #expect(Self.told(bench) == told)
            try await bench.advance(.seconds(1))
            #expect(Self.told(bench) == told + ["MultiPressComplete(1,0)"])
        }
    }

    @Test func anActionSwitchTellsOnlyBeginningAndEnd() async throws {
        let features: Feature = [.momentarySwitch, .momentarySwitchLongPress, .momentarySwitchMultiPress, .actionSwitch]
        try await Self.run(features) { bench in
            try bench.trigger(Switch.id, Events.multiPressComplete, [1, 3])
            try await bench.advance(.seconds(2))
            #expect(Self.told(bench) == ["InitialPress(1)", "MultiPressComplete(1,3)"])
            try bench.trigger(Switch.id, Events.multiPressComplete, [1, 4])
            try await bench.advance(.seconds(2))
            #expect(Self.told(bench).suffix(2) == ["InitialPress(1)", "MultiPressComplete(1,0)"])
            try bench.trigger(Switch.id, Events.longPress)
            try await bench.advance(.seconds(2))
            #expect(Self.told(bench).suffix(3) == ["InitialPress(1)", "LongPress(1)", "LongRelease(1)"])
        }
    }

    @Test func whatDoesNotFollowFromPressesCannotBeTriggered() async throws {
        try await Self.run(Self.button) { bench in
            #expect(status { try bench.trigger(Switch.id, Events.multiPressOngoing, [1, 2]) } == .invalidAction)
            #expect(status { try bench.trigger(Switch.id, Events.shortRelease) } == .invalidInState)
            #expect(status { try bench.trigger(Switch.id, Events.initialPress, [9]) } == .constraintError)
            let number = try bench.trigger(Switch.id, Events.initialPress)
            #expect(bench.node.events.records.last?.number == number)
        }
    }

    @Test func aPowerCutReleasesTheButton() async throws {
        try await Self.run(Self.button) { bench in
            try Self.put(bench, 1)
            bench.node.stop()
            bench.node.start()
            #expect(try bench.read(Switch.id, Switch.Attributes.currentPosition) == .unsigned(0))
            try await bench.advance(.seconds(5))
            #expect(Self.told(bench) == ["InitialPress(1)"])
        }
    }
}
