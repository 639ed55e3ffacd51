import HearthTime
import HomeTestKit
import MatterController
import MatterInteraction
import MatterModel
import MatterSimulator
import MatterTLV
import Testing

/// The ready profiles of thermostats, sensors, buttons, fans and meters as a controller finds them.
@Suite struct ClimateTests {
    private static func profile(_ name: String) throws -> DeviceProfile {
        var path = #filePath
        for _ in 0..<3 { path = String(path[..<(path.lastIndex(of: "/") ?? path.startIndex)]) }
        return try ProfileLibrary(folders: [path + "/device-profiles"]).profile(name)
    }

    private static func number(_ home: VirtualHome, _ device: String, _ cluster: ClusterID, _ attribute: AttributeID) async throws -> Int {
        Int(try #require(try await home.read(device, AttributePath(1, cluster, attribute)).signed))
    }

    @Test func aRoomIsHeatedToWhatAControllerAsksFor() async throws {
        try await VirtualHome.run(Self.profile("thermostat-heat")) { home in
            let name = "thermostat-heat"
            typealias Attributes = Thermostat.Attributes
            try await home.pair(name)
            #expect(try await home.read(name, AttributePath(1, Thermostat.id, 0xFFFC)) == .unsigned(1))
            let refused = await #expect(throws: Status.self) {
                try await home.invoke(name, Thermostat.SetpointRaiseLower(mode: .cool, amount: 10))
            }
            #expect(refused?.code == .invalidCommand)
            try await home.invoke(name, Thermostat.SetpointRaiseLower(mode: .heat, amount: 15))
            try await home.expect(name, Thermostat.id, Attributes.occupiedHeatingSetpoint, equals: .signed(2150))
            try await home.expect(name, Thermostat.id, Attributes.thermostatRunningState, equals: .unsigned(1))

            let heard = Locked<[Int64]>([])
            let path = AttributePathPattern(1, Thermostat.id, Attributes.localTemperature)
            _ = try await home.controller.subscribe(
                name, SubscribeRequest(ReadSelection(attributes: [path]), minimumInterval: 0, maximumInterval: 3600)
            ) { update in
                guard case .report(let attributes, _) = update else { return }
                for case .value(_, .signed(let value)) in attributes.map(\.outcome) { heard.withLock { $0.append(value) } }
            }
            try await home.advance(by: .seconds(6 * 3600))
            let reached = try await Self.number(home, name, Thermostat.id, Attributes.localTemperature)
            #expect((2120...2180).contains(reached))
            // In steps of a tenth of a degree: a report a few minutes, never a tick a second.
            let reports = heard.withLock { $0 }
            #expect(reports.count < 150)
            let rising = Array(reports.prefix { $0 <= 2100 })
            #expect(rising.count >= 10)
            #expect(zip(rising, rising.dropFirst()).allSatisfy { $0 < $1 && $1 - $0 <= 10 })
        }
    }

    @Test func theRoomStaysAsItIsOverAPowerCut() async throws {
        try await VirtualHome.run(Self.profile("thermostat")) { home in
            typealias Attributes = Thermostat.Attributes
            try await home.pair("thermostat")
            try await home.device("thermostat").set(Thermostat.id, Attributes.localTemperature, to: .signed(1700))
            try await home.advance(by: .seconds(1800))
            let before = try await Self.number(home, "thermostat", Thermostat.id, Attributes.localTemperature)
            #expect(before > 1750)
            try await home.device("thermostat").reboot()
            let after = try await Self.number(home, "thermostat", Thermostat.id, Attributes.localTemperature)
            #expect(abs(after - before) <= 10)
            try await home.expect("thermostat", Thermostat.id, Attributes.thermostatRunningMode, equals: .unsigned(4))
        }
    }

    @Test func aButtonTellsItsPresses() async throws {
        try await VirtualHome.run(Self.profile("generic-switch")) { home in
            try await home.pair("generic-switch")
            let heard = Locked<[EventID]>([])
            _ = try await home.controller.subscribe(
                "generic-switch",
                SubscribeRequest(
                    ReadSelection(events: [EventPathPattern(1, Switch.id, nil, isUrgent: true)]), minimumInterval: 0, maximumInterval: 3600)
            ) { update in
                guard case .report(_, let events) = update else { return }
                heard.withLock { $0 += events.compactMap(\.path.event) }
            }
            let button = home.device("generic-switch")
            try await button.trigger(
                Switch.id, Switch.Events.multiPressComplete,
                .structure([.init(.context(0), .unsigned(1)), .init(.context(1), .unsigned(2))]))
            try await home.advance(by: .seconds(2))
            typealias Events = Switch.Events
            #expect(
                heard.withLock { $0 } == [
                    Events.initialPress, Events.shortRelease, Events.initialPress, Events.multiPressOngoing, Events.shortRelease,
                    Events.multiPressComplete,
                ])
            heard.withLock { $0 = [] }
            // A finger on the button, for two seconds.
            try await button.set(Switch.id, Switch.Attributes.currentPosition, to: .unsigned(1))
            try await home.advance(by: .seconds(2))
            try await button.set(Switch.id, Switch.Attributes.currentPosition, to: .unsigned(0))
            try await home.advance(by: .seconds(2))
            #expect(heard.withLock { $0 } == [Events.initialPress, Events.longPress, Events.longRelease])
        }
    }

    @Test func aPlugMeasuresWhatItSwitches() async throws {
        try await VirtualHome.run(Self.profile("metering-plug")) { home in
            let device = try await home.pair("metering-plug")
            #expect(device.endpoints.last?.clusters.contains(PowerTopology.id) == true)
            typealias Power = ElectricalPowerMeasurement.Attributes
            typealias Energy = ElectricalEnergyMeasurement
            try await home.expect("metering-plug", ElectricalPowerMeasurement.id, Power.activePower, equals: .signed(500))
            try await home.invoke("metering-plug", OnOff.On())
            try await home.expect("metering-plug", ElectricalPowerMeasurement.id, Power.activePower, equals: .signed(60_000))
            let path = AttributePath(1, Energy.id, Energy.Attributes.cumulativeEnergyImported)
            let before = try Energy.EnergyMeasurementStruct(tlv: await home.read("metering-plug", path)).energy
            try await home.advance(by: .seconds(2 * 3600))
            let after = try Energy.EnergyMeasurementStruct(tlv: await home.read("metering-plug", path)).energy
            // 120 Wh, within what is used between two measurements.
            #expect((114_000...121_000).contains(after - before))
        }
    }

    @Test func aFanIsOneSettingInThreeViews() async throws {
        try await VirtualHome.run(Self.profile("fan")) { home in
            typealias Attributes = FanControl.Attributes
            try await home.pair("fan")
            let answers = try await home.controller.write(
                "fan", [AttributeData(WireAttributePath(AttributePathPattern(1, FanControl.id, Attributes.percentSetting)), .unsigned(35))])
            #expect(answers.map(\.status) == [.success])
            try await home.expect("fan", FanControl.id, Attributes.fanMode, equals: .unsigned(2))
            try await home.expect("fan", FanControl.id, Attributes.speedCurrent, equals: .unsigned(4))
            try await home.invoke("fan", FanControl.Step(direction: .increase))
            try await home.expect("fan", FanControl.id, Attributes.speedSetting, equals: .unsigned(5))
        }
    }

    static let sensors: [(String, ClusterID, TLVValue, TLVValue)] = [
        ("temperature-sensor", TemperatureMeasurement.id, .signed(2100), .signed(-1850)),
        ("humidity-sensor", RelativeHumidityMeasurement.id, .unsigned(4500), .unsigned(8000)),
        ("light-sensor", IlluminanceMeasurement.id, .unsigned(20_001), .unsigned(1)),
        ("occupancy-sensor", OccupancySensing.id, .unsigned(0), .unsigned(1)),
        ("contact-sensor", BooleanState.id, .boolean(true), .boolean(false)),
    ]

    /// What a sensor measures is its first attribute.
    @Test(arguments: sensors)
    func aSensorShowsWhatTheWorldIs(_ name: String, _ cluster: ClusterID, _ first: TLVValue, _ then: TLVValue) async throws {
        try await VirtualHome.run(Self.profile(name)) { home in
            try await home.pair(name)
            try await home.expect(name, cluster, 0x0000, equals: first)
            try await home.device(name).set(cluster, 0x0000, to: then)
            try await home.expect(name, cluster, 0x0000, equals: then)
        }
    }
}
