import HearthTime
import MatterInteraction
import MatterModel
import MatterTLV
import Testing

@testable import MatterDevice

@Suite struct ElectricalMeasurementTests {
    typealias Power = ElectricalPowerMeasurement
    typealias Energy = ElectricalEnergyMeasurement

    static func addPlug(_ bench: Bench, energy: Energy.Feature = [.importedEnergy, .cumulativeEnergy, .periodicEnergy]) throws {
        try bench.add(OnOff.id)
        try bench.add(
            Power.id, ClusterConfiguration(parameters: ["power": .double(100), "standbyPower": .double(0), "powerFactor": .double(0.8)]))
        try bench.add(Energy.id, ClusterConfiguration(features: energy.rawValue))
        bench.node.start()
    }

    /// mWh.
    static func energy(_ bench: Bench, _ attribute: AttributeID = Energy.Attributes.cumulativeEnergyImported) throws -> Int64 {
        try Energy.EnergyMeasurementStruct(tlv: bench.read(Energy.id, attribute)).energy
    }

    @Test func powerFollowsTheSwitch() async throws {
        try await Bench.run { bench in
            try Self.addPlug(bench)
            func measured() throws -> [Int64?] {
                try [
                    Power.Attributes.activePower, Power.Attributes.rmsVoltage, Power.Attributes.rmsCurrent, Power.Attributes.apparentPower,
                ]
                .map { try bench.read(Power.id, $0).signed }
            }
            #expect(try measured() == [0, 230_000, 0, 0])
            try bench.invoke(OnOff.On())
            // 100 W at a power factor of 0.8 are 125 VA, at 230 V 543 mA.
            #expect(try measured() == [100_000, 230_000, 543, 125_000])
            try bench.setLocally(Power.id, Power.Attributes.rmsVoltage, .signed(115_000))
            #expect(try measured() == [100_000, 115_000, 1087, 125_000])
            try bench.setLocally(Power.id, Power.Attributes.activePower, .signed(40_000))
            #expect(try measured() == [40_000, 115_000, 435, 50_000])
            try bench.invoke(OnOff.Off())
            #expect(try measured() == [0, 115_000, 0, 0])
        }
    }

    @Test func energyIsPowerTimesTime() async throws {
        try await Bench.run { bench in
            try Self.addPlug(bench)
            try await bench.advance(.seconds(3600))
            #expect(try Self.energy(bench) == 0)
            #expect(bench.events(Energy.id, Energy.Events.cumulativeEnergyMeasured).isEmpty)
            try bench.invoke(OnOff.On())
            try await bench.advance(.seconds(3600))
            // 100 Wh, measured every five minutes.
            #expect(try Self.energy(bench) == 100_000)
            let events = bench.events(Energy.id, Energy.Events.cumulativeEnergyMeasured)
            #expect(events.count == 12 + 1)
            let last = try Energy.EnergyMeasurementStruct(tlv: #require(events.last?.fields[0]))
            #expect(last.energy == 100_000)
            #expect(last.endSystime == 7_200_000)
            // Each period took a twelfth; together they are the whole.
            let periods = try bench.events(Energy.id, Energy.Events.periodicEnergyMeasured).map {
                try Energy.EnergyMeasurementStruct(tlv: #require($0.fields[0]))
            }
            #expect(periods.map(\.energy).reduce(0, +) == 100_000)
            #expect(periods.last?.energy == 8334 || periods.last?.energy == 8333)
            #expect(periods.last?.startSystime == 6_900_000)
            // Switched off in mid-period: the rest is measured at once, and then nothing more.
            try await bench.advance(.seconds(90))
            try bench.invoke(OnOff.Off())
            #expect(try Self.energy(bench) == 102_500)
            let count = bench.events(Energy.id, Energy.Events.cumulativeEnergyMeasured).count
            try await bench.advance(.seconds(36_000))
            #expect(try Self.energy(bench) == 102_500)
            #expect(bench.events(Energy.id, Energy.Events.cumulativeEnergyMeasured).count == count)
        }
    }

    @Test func whatIsFedInIsExported() async throws {
        try await Bench.run { bench in
            try Self.addPlug(bench, energy: [.importedEnergy, .exportedEnergy, .cumulativeEnergy])
            try bench.setLocally(Power.id, Power.Attributes.activePower, .signed(-500_000))
            try await bench.advance(.seconds(7200))
            #expect(try Self.energy(bench) == 0)
            #expect(try Self.energy(bench, Energy.Attributes.cumulativeEnergyExported) == 1_000_000)
        }
    }

    @Test func theMeterGoesOnAfterARestart() async throws {
        try await Bench.run { bench in
            try bench.add(Energy.id, ClusterConfiguration(parameters: ["power": .double(60)]))
            bench.node.start()
            // In the midst of a period.
            try await bench.advance(.seconds(1000))
            try bench.restart { node in
                let made = try #require(
                    ClusterFactory.make(
                        Energy.id, endpoint: 1, node: node, configuration: ClusterConfiguration(parameters: ["power": .double(60)])))
                node.add(EndpointServer(id: 1, deviceTypes: [], clusters: [made]))
            }
            try await bench.advance(.seconds(2600))
            try bench.restart { node in
                let made = try #require(ClusterFactory.make(Energy.id, endpoint: 1, node: node))
                node.add(EndpointServer(id: 1, deviceTypes: [], clusters: [made]))
            }
            #expect(try Self.energy(bench) == 60_000)
        }
    }

    /// Power starts before Energy, as its identifier is lower, and tells of what the plug takes before the meter is there.
    @Test func theMeterGoesOnBesideThePower() async throws {
        try await Bench.run { bench in
            func plug(_ node: DeviceNode) throws {
                let power = ClusterConfiguration(parameters: ["power": .double(60), "standbyPower": .double(0)])
                let energy = ClusterConfiguration(features: Energy.Feature([.importedEnergy, .cumulativeEnergy]).rawValue)
                let made = [(OnOff.id, ClusterConfiguration()), (Power.id, power), (Energy.id, energy)]
                let clusters = try made.map { id, configuration in
                    try #require(ClusterFactory.make(id, endpoint: 1, node: node, configuration: configuration))
                }
                node.add(EndpointServer(id: 1, deviceTypes: [], clusters: clusters))
            }
            try plug(bench.node)
            bench.node.start()
            try bench.invoke(OnOff.On())
            try await bench.advance(.seconds(3600))
            #expect(try Self.energy(bench) == 60_000)
            try bench.restart(plug)
            #expect(try Self.energy(bench) == 60_000)
            try bench.invoke(OnOff.On())
            // In the midst of a period.
            try await bench.advance(.seconds(1000))
            try bench.restart(plug)
            #expect(try Self.energy(bench) == 76_666)
            // The same node stopped and started, as when the power fails for a moment.
            bench.node.stop()
            bench.node.start()
            #expect(try Self.energy(bench) == 76_666)
        }
    }
}
