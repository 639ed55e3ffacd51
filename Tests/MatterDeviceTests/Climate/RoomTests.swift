import HearthTime
import MatterInteraction
import MatterModel
import MatterTLV
import Testing

@testable import MatterDevice

/// The room as physics, and the thermostat that controls it.
@Suite struct RoomTests {
    typealias Attributes = Thermostat.Attributes

    @Test func theTemperatureIsAnExponentialTowardsTheEquilibrium() {
        var room = Room(heatLoss: 100, heatCapacity: 1_000_000, outdoor: 0, temperature: 20, now: .zero)
        func at(_ seconds: Int64) -> Double { room.temperature(at: .zero + .seconds(seconds)) }
        // The time constant is 10000 s: after it 1/e of the difference is left.
        #expect(abs(at(10_000) - 20 / 2.718281828) < 1e-6)
        #expect(abs(at(1_000_000)) < 1e-6)
        // Computed at once or in steps, it is the same.
        let direct = at(5000)
        for second in stride(from: Int64(500), through: 5000, by: 500) { room.change(at: .zero + .seconds(second)) }
        #expect(abs(at(5000) - direct) < 1e-9)
        // 2000 W hold 20 degrees above the outdoors.
        room.change(at: .zero + .seconds(5000), power: 2000)
        #expect(abs(at(1_000_000) - 20) < 1e-6)
    }

    @Test func crossingsAreFoundInClosedForm() throws {
        var room = Room(heatLoss: 100, heatCapacity: 1_000_000, outdoor: 0, temperature: 20, now: .zero)
        let delay = try #require(room.delay(until: 15, from: .zero))
        #expect(abs(room.temperature(at: .zero + delay) - 15) < 1e-6)
        // Behind it, or beyond the equilibrium: never.
        #expect(room.delay(until: 21, from: .zero) == nil)
        #expect(room.delay(until: -1, from: .zero) == nil)
        room.heatLoss = 0
        #expect(room.delay(until: 15, from: .zero) == nil)
        room.change(at: .zero, power: -1000)
        #expect(room.delay(until: 15, from: .zero) == .nanoseconds(5_000_000_000_001))
        #expect(room.delay(until: 25, from: .zero) == nil)
    }

    @Test func aRoomIsHeatedToItsSetpointAndKeptThere() async throws {
        try await Bench.run { bench in
            try bench.addThermostat([.heating])
            var reports = 0
            bench.node.onAttributeChanged = { if $0.attribute == Attributes.localTemperature { reports += 1 } }
            #expect(try bench.read(Thermostat.id, Attributes.thermostatRunningState) == .unsigned(0))
            try bench.setThermostat(Attributes.occupiedHeatingSetpoint, 2200)
            #expect(try bench.read(Thermostat.id, Attributes.thermostatRunningState) == .unsigned(1))
            #expect(try bench.read(Thermostat.id, Attributes.piHeatingDemand) == .unsigned(100))
            // 3000 W against 1000 W of loss warm 3 MJ/K by a degree in 1500 s, at first.
            try await bench.advance(.seconds(1500))
            let after = try #require(try bench.thermostat(Attributes.localTemperature))
            #expect((2080...2100).contains(after))
            try await bench.advance(.seconds(10 * 3600))
            let kept = try #require(try bench.thermostat(Attributes.localTemperature))
            #expect((2175...2225).contains(kept))
            // Steps of 0.1 °C, not ticks.
            #expect(reports < 250)
            #expect(reports > 20)
        }
    }

    @Test func automaticModeHeatsAndCools() async throws {
        try await Bench.run { bench in
            try bench.addThermostat([.heating, .cooling, .autoMode], [Attributes.outdoorTemperature: .signed(3500)])
            // It gets warm, and the cooler holds it near 26 °C.
            try await bench.advance(.seconds(24 * 3600))
            let warm = try #require(try bench.thermostat(Attributes.localTemperature))
            #expect((2570...2630).contains(warm))
            let cluster = try #require(try bench.cluster(Thermostat.id) as? Cluster)
            try cluster.setLocally(#require(Thermostat.definition.attribute(named: "LocalTemperature")), .signed(2700))
            #expect(try bench.read(Thermostat.id, Attributes.thermostatRunningMode) == .unsigned(3))
            #expect(try bench.read(Thermostat.id, Attributes.thermostatRunningState) == .unsigned(2))
            #expect(try bench.read(Thermostat.id, Attributes.piCoolingDemand) == .unsigned(100))
            // A cold snap.
            try cluster.setLocally(#require(Thermostat.definition.attribute(named: "OutdoorTemperature")), .signed(-1000))
            try cluster.setLocally(#require(Thermostat.definition.attribute(named: "LocalTemperature")), .signed(1900))
            #expect(try bench.thermostat(Attributes.localTemperature) == 1900)
            #expect(try bench.read(Thermostat.id, Attributes.thermostatRunningMode) == .unsigned(4))
            #expect(try bench.read(Thermostat.id, Attributes.piCoolingDemand) == .unsigned(0))
            // -10 °C outdoors and 3000 W: the heater cannot hold 20 °C against 3000 W of loss for ever, but nearly.
            try await bench.advance(.seconds(24 * 3600))
            let cold = try #require(try bench.thermostat(Attributes.localTemperature))
            #expect((1900...2025).contains(cold))
        }
    }

    @Test func modeAndOccupancyAndABrokenSensorDecideWhatRuns() async throws {
        try await Bench.run { bench in
            try bench.addThermostat([.heating, .cooling, .occupancy, .setback], [Attributes.localTemperature: .signed(1800)])
            let cluster = try #require(try bench.cluster(Thermostat.id) as? Cluster)
            func relays() throws -> UInt64? { try bench.read(Thermostat.id, Attributes.thermostatRunningState).unsigned }
            func setLocally(_ name: String, _ value: TLVValue) throws {
                try cluster.setLocally(#require(Thermostat.definition.attribute(named: name)), value)
            }
            #expect(try relays() == 1)
            try bench.write(Thermostat.id, Attributes.systemMode, UInt8(0))
            #expect(try relays() == 0)
            try bench.write(Thermostat.id, Attributes.systemMode, UInt8(5))
            #expect(try relays() == 9)
            try bench.write(Thermostat.id, Attributes.systemMode, UInt8(7))
            #expect(try relays() == 4)
            try bench.write(Thermostat.id, Attributes.systemMode, UInt8(4))
            #expect(try relays() == 1)
            // Nobody is at home: 17 °C will do.
            try setLocally("Occupancy", .unsigned(0))
            #expect(try relays() == 0)
            try setLocally("Occupancy", .unsigned(1))
            #expect(try relays() == 1)
            // With a setback of 3 degrees 18 °C is warm enough for 20 °C.
            try bench.write(Thermostat.id, Attributes.systemMode, UInt8(0))
            try bench.write(Thermostat.id, Attributes.occupiedSetback, UInt8(30))
            try bench.write(Thermostat.id, Attributes.systemMode, UInt8(4))
            #expect(try relays() == 0)
            try bench.write(Thermostat.id, Attributes.occupiedSetback, UInt8(10))
            #expect(try relays() == 1)
            // The calibration counts as temperature.
            try bench.write(Thermostat.id, Attributes.localTemperatureCalibration, Int8(25))
            #expect(try bench.thermostat(Attributes.localTemperature) == 2050)
            #expect(try relays() == 0)
            try setLocally("LocalTemperature", .null)
            #expect(try bench.read(Thermostat.id, Attributes.localTemperature) == .null)
            #expect(try relays() == 0)
            try setLocally("LocalTemperature", .signed(1500))
            #expect(try bench.thermostat(Attributes.localTemperature) == 1500)
            #expect(try relays() == 1)
        }
    }

    /// EmergencyHeatDelta: far below the setpoint a second heater helps until the room is nearer.
    @Test func aVeryColdRoomIsHeatedTwice() async throws {
        try await Bench.run { bench in
            try bench.addThermostat(
                [.heating], [Attributes.localTemperature: .signed(1600), Attributes.emergencyHeatDelta: .unsigned(30)],
                parameters: ["emergencyHeaterPower": .double(5000)])
            func relays() throws -> UInt64? { try bench.read(Thermostat.id, Attributes.thermostatRunningState).unsigned }
            #expect(try relays() == 0b1001)
            // 8000 W against 600 W warm the room by a degree in less than seven minutes; 17 °C is 3 degrees below 20 °C.
            try await bench.advance(.seconds(390))
            #expect(try relays() == 0b1001)
            try await bench.advance(.seconds(30))
            #expect(try relays() == 0b0001)
            let then = try #require(try bench.thermostat(Attributes.localTemperature))
            #expect((1700...1706).contains(then))
        }
    }

    /// What happens is computed, not ticked: ten hours of a heated room and of a meter are a few hundred entries of the timeline.
    @Test func tenHoursAreFewEvents() async throws {
        try await Bench.run { bench in
            try ElectricalMeasurementTests.addPlug(bench)
            try bench.invoke(OnOff.On())
            let before = bench.timeline.statistics.entries
            try await bench.advance(.seconds(36_000))
            #expect(bench.timeline.statistics.entries - before == 120)
        }
        try await Bench.run { bench in
            try bench.addThermostat([.heating, .cooling, .autoMode])
            let before = bench.timeline.statistics.entries
            try await bench.advance(.seconds(36_000))
            let entries = bench.timeline.statistics.entries - before
            #expect((50...250).contains(entries), "\(entries)")
        }
    }
}
