import HearthTime
import MatterInteraction
import MatterModel
import MatterTLV
import Testing

@testable import MatterDevice

@Suite struct FanControlTests {
    typealias Attributes = FanControl.Attributes
    typealias Feature = FanControl.Feature

    /// Mode, percent setting, percent now, speed setting, speed now; nil is null.
    static func state(_ bench: Bench) throws -> [UInt64?] {
        try [Attributes.fanMode, Attributes.percentSetting, Attributes.percentCurrent, Attributes.speedSetting, Attributes.speedCurrent]
            .map { try bench.read(FanControl.id, $0).unsigned }
    }

    static func run(
        _ features: Feature, _ attributes: [AttributeID: TLVValue] = [:],
        _ body: @escaping @Sendable @concurrent (Bench) async throws -> Void
    ) async throws {
        try await Bench.run { bench in
            try bench.add(FanControl.id, deviceTypes: [0x002B], ClusterConfiguration(features: features.rawValue, attributes: attributes))
            bench.node.start()
            try await body(bench)
        }
    }

    @Test func modePercentAndSpeedAreOneSetting() async throws {
        try await Self.run([.multiSpeed, .auto]) { bench in
            #expect(try Self.state(bench) == [0, 0, 0, 0, 0])
            try bench.write(FanControl.id, Attributes.percentSetting, UInt8(25))
            // Speed is rounded up (4.4.6.3.1), percent down (4.4.6.6.1).
            #expect(try Self.state(bench) == [1, 25, 25, 3, 3])
            try bench.write(FanControl.id, Attributes.speedSetting, UInt8(7))
            #expect(try Self.state(bench) == [3, 70, 70, 7, 7])
            try bench.write(FanControl.id, Attributes.fanMode, UInt8(2))
            #expect(try Self.state(bench) == [2, 66, 66, 7, 7])
            try bench.write(FanControl.id, Attributes.fanMode, UInt8(0))
            #expect(try Self.state(bench) == [0, 0, 0, 0, 0])
            try bench.write(FanControl.id, Attributes.fanMode, UInt8(3))
            #expect(try Self.state(bench) == [3, 100, 100, 10, 10])
            try bench.write(FanControl.id, Attributes.percentSetting, UInt8(0))
            #expect(try Self.state(bench) == [0, 0, 0, 0, 0])
            try bench.write(FanControl.id, Attributes.fanMode, UInt8(5))
            #expect(try Self.state(bench) == [5, nil, 50, nil, 5])
            try bench.write(FanControl.id, Attributes.speedSetting, UInt8(1))
            #expect(try Self.state(bench) == [1, 10, 10, 1, 1])
            // Null cannot be asked for.
            try bench.write(FanControl.id, Attributes.percentSetting, TLVValue.null)
            #expect(try Self.state(bench) == [1, 10, 10, 1, 1])
            #expect(status { try bench.write(FanControl.id, Attributes.percentSetting, UInt8(101)) } == .constraintError)
            #expect(status { try bench.write(FanControl.id, Attributes.speedSetting, UInt8(11)) } == .constraintError)
        }
    }

    @Test func modesThatTheSequenceLacksAreRefused() async throws {
        try await Self.run([], [Attributes.fanModeSequence: .unsigned(5)]) { bench in
            for mode in [1, 2, 5, 7] as [UInt8] {
                #expect(status { try bench.write(FanControl.id, Attributes.fanMode, mode) } == .constraintError, "\(mode)")
            }
            // What earlier revisions call On and Smart is High here.
            for mode in [4, 6, 3] as [UInt8] {
                try bench.write(FanControl.id, Attributes.fanMode, mode)
                #expect(try bench.read(FanControl.id, Attributes.fanMode) == .unsigned(3))
            }
            try bench.write(FanControl.id, Attributes.percentSetting, UInt8(1))
            #expect(try bench.read(FanControl.id, Attributes.fanMode) == .unsigned(3))
        }
        try await Self.run([.auto]) { bench in
            try bench.write(FanControl.id, Attributes.fanMode, UInt8(6))
            #expect(try bench.read(FanControl.id, Attributes.fanMode) == .unsigned(5))
        }
    }

    /// Steps and gives the speed then.
    private static func step(
        _ bench: Bench, _ direction: FanControl.StepDirectionEnum, wrap: Bool? = nil, lowestOff: Bool? = nil
    ) throws -> UInt64? {
        try bench.invoke(FanControl.Step(direction: direction, wrap: wrap, lowestOff: lowestOff))
        return try bench.read(FanControl.id, Attributes.speedSetting).unsigned
    }

    @Test func stepsGoUpAndDownAndAround() async throws {
        try await Self.run([.multiSpeed, .step], [Attributes.speedMax: .unsigned(3)]) { bench in
            let first = try Self.step(bench, .increase)
            #expect(first == 1)
            #expect(try Self.step(bench, .decrease, lowestOff: false) == 1)
            #expect(try Self.step(bench, .decrease) == 0)
            #expect(try bench.read(FanControl.id, Attributes.fanMode) == .unsigned(0))
            #expect(try Self.step(bench, .decrease) == 0)
            #expect(try Self.step(bench, .decrease, wrap: true) == 3)
            #expect(try Self.step(bench, .increase) == 3)
            #expect(try Self.step(bench, .increase, wrap: true, lowestOff: false) == 1)
        }
        try await Self.run(.step) { bench in
            try bench.invoke(FanControl.Step(direction: .increase))
            #expect(try bench.read(FanControl.id, Attributes.percentSetting) == .unsigned(10))
        }
    }

    @Test func rockingAndWindAreWhatTheFanCan() async throws {
        try await Self.run([.rocking, .wind, .airflowDirection], [Attributes.rockSupport: .unsigned(1)]) { bench in
            try bench.write(FanControl.id, Attributes.rockSetting, UInt8(1))
            #expect(status { try bench.write(FanControl.id, Attributes.rockSetting, UInt8(2)) } == .constraintError)
            try bench.write(FanControl.id, Attributes.windSetting, UInt8(3))
            #expect(status { try bench.write(FanControl.id, Attributes.windSetting, UInt8(4)) } == .constraintError)
            try bench.write(FanControl.id, Attributes.airflowDirection, UInt8(1))
            #expect(status { try bench.write(FanControl.id, Attributes.airflowDirection, UInt8(2)) } == .constraintError)
        }
    }

    @Test func theModeSurvivesARestartAndOnOffStopsTheFan() async throws {
        try await Bench.run { bench in
            try bench.add(OnOff.id)
            try bench.add(FanControl.id, ClusterConfiguration(features: Feature.multiSpeed.rawValue))
            bench.node.start()
            try bench.write(FanControl.id, Attributes.fanMode, UInt8(2))
            #expect(try Self.state(bench) == [2, 66, 0, 7, 0])
            try bench.invoke(OnOff.On())
            #expect(try Self.state(bench) == [2, 66, 66, 7, 7])
            try bench.restart { node in
                for id in [OnOff.id, FanControl.id] {
                    let made = try #require(
                        ClusterFactory.make(
                            id, endpoint: 1, node: node,
                            configuration: ClusterConfiguration(features: id == FanControl.id ? Feature.multiSpeed.rawValue : 0)))
                    if let endpoint = node.endpoint(1) {
                        endpoint.add(made)
                    } else {
                        node.add(EndpointServer(id: 1, deviceTypes: [(0x002B, 1)], clusters: [made]))
                    }
                }
            }
            #expect(try Self.state(bench) == [2, 66, 66, 7, 7])
        }
    }
}
