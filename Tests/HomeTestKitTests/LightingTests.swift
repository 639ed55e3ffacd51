import HearthTime
import HomeTestKit
import MatterController
import MatterInteraction
import MatterModel
import MatterSimulator
import MatterTLV
import Testing

/// Lights of four kinds as a controller finds them.
@Suite struct LightingTests {
    private static func light(_ type: DeviceTypeID) -> DeviceProfile {
        DeviceProfile(name: "lamp", endpoints: [.init(1, deviceTypes: [type])])
    }

    private static let kinds: [(DeviceTypeID, [ClusterID: UInt64])] = [
        (0x0100, [OnOff.id: 1]), (0x0101, [OnOff.id: 1, LevelControl.id: 3]),
        (0x010C, [OnOff.id: 1, LevelControl.id: 3, ColorControl.id: 0x10]),
        (0x010D, [OnOff.id: 1, LevelControl.id: 3, ColorControl.id: 0x18]),
    ]

    @Test(arguments: kinds)
    func lightsHaveTheFeaturesOfTheirType(_ type: DeviceTypeID, _ features: [ClusterID: UInt64]) async throws {
        try await VirtualHome.run(Self.light(type)) { home in
            let device = try await home.pair("lamp")
            let clusters = Set(device.endpoints.last?.clusters ?? [])
            #expect(clusters.intersection([OnOff.id, LevelControl.id, ColorControl.id]) == Set(features.keys))
            for (cluster, map) in features.sorted(by: { $0.key < $1.key }) {
                #expect(try await home.read("lamp", AttributePath(1, cluster, 0xFFFC)) == .unsigned(map))
            }
        }
    }

    @Test func aLightIsSwitchedDimmedAndColoured() async throws {
        try await VirtualHome.run(Self.light(0x010D)) { home in
            try await home.pair("lamp")
            try await home.invoke("lamp", OnOff.Off())
            try await home.invoke(
                "lamp", LevelControl.MoveToLevelWithOnOff(level: 50, transitionTime: 0, optionsMask: [], optionsOverride: []))
            try await home.expect("lamp", OnOff.id, OnOff.Attributes.onOff, equals: .boolean(true))
            try await home.invoke(
                "lamp", LevelControl.MoveToLevel(level: 200, transitionTime: 300, optionsMask: [], optionsOverride: []))
            let began = home.timeline.now
            try await home.expect(
                "lamp", LevelControl.id, LevelControl.Attributes.currentLevel, equals: .unsigned(200), within: .seconds(31))
            #expect(home.timeline.now - began > .seconds(29))
            try await home.invoke(
                "lamp",
                ColorControl.MoveToColor(colorX: 16334, colorY: 13067, transitionTime: 10, optionsMask: [], optionsOverride: []))
            try await home.expect(
                "lamp", ColorControl.id, ColorControl.Attributes.currentY, equals: .unsigned(13067), within: .seconds(2))
            let answer = await #expect(throws: Status.self) {
                try await home.invoke(
                    "lamp", LevelControl.Move(moveMode: .up, rate: 0, optionsMask: [], optionsOverride: []))
            }
            #expect(answer?.code == .invalidCommand)
        }
    }

    /// At most one report of the level a second, and the end at once (quality Q).
    @Test func aSubscriberHearsOfAFadeOnceASecond() async throws {
        try await VirtualHome.run(Self.light(0x0101)) { home in
            try await home.pair("lamp")
            try await home.invoke(
                "lamp", LevelControl.MoveToLevelWithOnOff(level: 50, transitionTime: 0, optionsMask: [], optionsOverride: []))
            let heard = Locked<[UInt64]>([])
            let path = AttributePathPattern(1, LevelControl.id, LevelControl.Attributes.currentLevel)
            _ = try await home.controller.subscribe(
                "lamp", SubscribeRequest(ReadSelection(attributes: [path]), minimumInterval: 0, maximumInterval: 600)
            ) { update in
                guard case .report(let attributes, _) = update else { return }
                for case .value(_, .unsigned(let level)) in attributes.map(\.outcome) { heard.withLock { $0.append(level) } }
            }
            heard.withLock { $0 = [] }
            try await home.invoke(
                "lamp", LevelControl.MoveToLevel(level: 85, transitionTime: 35, optionsMask: [], optionsOverride: []))
            try await home.advance(by: .seconds(10))
            #expect(heard.withLock { $0 } == [60, 70, 80, 85])
        }
    }
}
