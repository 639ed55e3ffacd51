import HearthTime
import MatterInteraction
import MatterModel
import MatterTLV
import Testing

@testable import MatterDevice

extension Bench {
    /// Something happens at the device.
    func setLocally(_ cluster: ClusterID, _ attribute: AttributeID, _ value: TLVValue) throws {
        let server = try #require(try self.cluster(cluster) as? Cluster)
        try server.setLocally(#require(server.attribute(attribute)), value)
    }

    @discardableResult
    func trigger(_ cluster: ClusterID, _ event: EventID, _ fields: [UInt64] = []) throws -> EventNumber {
        let server = try #require(try self.cluster(cluster) as? Cluster)
        let members = fields.enumerated().map { TLVElement(.context(UInt8($0.offset)), .unsigned($0.element)) }
        return try server.triggerLocally(#require(server.event(event)), .structure(members))
    }
}

@Suite struct SensorTests {
    /// A profile that names the device type only gives a sensor whose values fit its own constraints.
    @Test(arguments: [
        TemperatureMeasurement.id, RelativeHumidityMeasurement.id, IlluminanceMeasurement.id, PressureMeasurement.id,
        FlowMeasurement.id, OccupancySensing.id, BooleanState.id, Switch.id, FanControl.id, Thermostat.id,
        ElectricalPowerMeasurement.id, ElectricalEnergyMeasurement.id, ModeSelect.id, PowerTopology.id,
        ThermostatUserInterfaceConfiguration.id,
    ]) func aClusterWithoutConfigurationConforms(_ id: ClusterID) async throws {
        try await Bench.run { bench in
            try bench.add(id)
            bench.node.start()
            let cluster = try #require(try bench.cluster(id) as? Cluster)
            let elements = MatterModel.ClusterElements(
                attributes: Set(cluster.attributeIDs.filter { $0.rawValue < 0xF000 }),
                acceptedCommands: Set(cluster.elements.acceptedCommandIDs),
                generatedCommands: Set(cluster.elements.generatedCommandIDs), events: Set(cluster.eventIDs))
            let problems = cluster.definition.conformanceProblems(features: cluster.features, elements: elements)
            #expect(problems == [])
            for attribute in cluster.attributeIDs where attribute.rawValue < 0xF000 {
                let definition = try #require(cluster.attribute(attribute))
                let value = try cluster.read(definition, .local())
                #expect(status { try cluster.check(definition, value) } == nil, "\(definition.name): \(value)")
            }
        }
    }

    @Test func aMeasuredValueFollowsTheWorldAndStaysInItsRange() async throws {
        try await Bench.run { bench in
            typealias Attributes = TemperatureMeasurement.Attributes
            try bench.add(TemperatureMeasurement.id)
            bench.node.start()
            var reports = 0
            bench.node.onAttributeChanged = { _ in reports += 1 }
            #expect(try bench.read(TemperatureMeasurement.id, Attributes.measuredValue) == .signed(2000))
            try bench.setLocally(TemperatureMeasurement.id, Attributes.measuredValue, .signed(-512))
            #expect(try bench.read(TemperatureMeasurement.id, Attributes.measuredValue) == .signed(-512))
            try bench.setLocally(TemperatureMeasurement.id, Attributes.measuredValue, .signed(20_000))
            #expect(try bench.read(TemperatureMeasurement.id, Attributes.measuredValue) == .signed(12_500))
            try bench.setLocally(TemperatureMeasurement.id, Attributes.measuredValue, .null)
            #expect(try bench.read(TemperatureMeasurement.id, Attributes.measuredValue) == .null)
            #expect(reports == 3)
        }
    }

    @Test func darknessIsNoIlluminanceOfTheRange() async throws {
        try await Bench.run { bench in
            typealias Attributes = IlluminanceMeasurement.Attributes
            try bench.add(
                IlluminanceMeasurement.id,
                ClusterConfiguration(attributes: [Attributes.minMeasuredValue: .unsigned(100)]))
            bench.node.start()
            for (set, shown) in [(0, 0), (5, 100), (4321, 4321), (65_534, 65_533)] as [(UInt64, UInt64)] {
                try bench.setLocally(IlluminanceMeasurement.id, Attributes.measuredValue, .unsigned(set))
                #expect(try bench.read(IlluminanceMeasurement.id, Attributes.measuredValue) == .unsigned(shown))
            }
        }
    }

    @Test func aScaledPressureFollows() async throws {
        try await Bench.run { bench in
            typealias Attributes = PressureMeasurement.Attributes
            try bench.add(PressureMeasurement.id, ClusterConfiguration(features: 1))
            bench.node.start()
            try bench.setLocally(PressureMeasurement.id, Attributes.measuredValue, .signed(990))
            // 99 kPa in units of 10 Pa.
            #expect(try bench.read(PressureMeasurement.id, Attributes.scaledValue) == .signed(9900))
        }
    }

    @Test func aContactTellsOfEachChange() async throws {
        try await Bench.run { bench in
            typealias Spec = BooleanState
            try bench.add(Spec.id)
            bench.node.start()
            for state in [true, true, false] { try bench.setLocally(Spec.id, Spec.Attributes.stateValue, .boolean(state)) }
            let events = bench.events(Spec.id, Spec.Events.stateChange)
            #expect(events.map { $0.fields[0] } == [.boolean(true), .boolean(false)])
            #expect(try bench.read(Spec.id, Spec.Attributes.stateValue) == .boolean(false))
        }
    }

    // MARK: Occupancy

    @Test func occupancyIsHeld() async throws {
        try await Bench.run { bench in
            typealias Attributes = OccupancySensing.Attributes
            let delay = Attributes.pirOccupiedToUnoccupiedDelay
            try bench.add(OccupancySensing.id, ClusterConfiguration(optionalAttributes: [Attributes.holdTime, delay]))
            bench.node.start()
            func occupied() throws -> TLVValue { try bench.read(OccupancySensing.id, Attributes.occupancy) }
            func somebody(_ moves: Bool) throws {
                try bench.setLocally(OccupancySensing.id, Attributes.occupancy, .unsigned(moves ? 1 : 0))
            }
            #expect(status { try bench.write(OccupancySensing.id, Attributes.holdTime, UInt16(3601)) } == .constraintError)
            #expect(status { try bench.write(OccupancySensing.id, Attributes.holdTime, UInt16(0)) } == .constraintError)
            try bench.write(OccupancySensing.id, delay, UInt16(30))
            #expect(try bench.read(OccupancySensing.id, Attributes.holdTime) == .unsigned(30))
            try somebody(true)
            #expect(try occupied() == .unsigned(1))
            try somebody(false)
            try await bench.advance(.seconds(29))
            #expect(try occupied() == .unsigned(1))
            // Who moves again is not gone.
            try somebody(true)
            try somebody(false)
            try await bench.advance(.milliseconds(29_999))
            #expect(try occupied() == .unsigned(1))
            try await bench.advance(.milliseconds(1))
            #expect(try occupied() == .unsigned(0))
            #expect(bench.events(OccupancySensing.id, OccupancySensing.Events.occupancyChanged).count == 2)
        }
    }

    @Test(
        arguments: [
            (1 << 1, 0, 1), (1 << 2, 1, 2), (1 << 1 | 1 << 2, 2, 3), (1 << 3, 3, 4), (1 << 5, 0, 1), (0, 0, 1),
        ] as [(UInt32, UInt64, UInt64)]) func theSensorTypeFollowsFromTheFeatures(_ features: UInt32, _ type: UInt64, _ bitmap: UInt64)
        async throws
    {
        try await Bench.run { bench in
            try bench.add(OccupancySensing.id, ClusterConfiguration(features: features))
            #expect(try bench.read(OccupancySensing.id, OccupancySensing.Attributes.occupancySensorType) == .unsigned(type))
            #expect(try bench.read(OccupancySensing.id, OccupancySensing.Attributes.occupancySensorTypeBitmap) == .unsigned(bitmap))
        }
    }

    @Test func aThermostatKnowsTheSensorBesideIt() async throws {
        try await Bench.run { bench in
            try bench.add(OccupancySensing.id)
            try bench.addThermostat([.heating, .occupancy], [Thermostat.Attributes.localTemperature: .signed(1850)])
            #expect(try bench.read(Thermostat.id, Thermostat.Attributes.occupancy) == .unsigned(0))
            #expect(try bench.read(Thermostat.id, Thermostat.Attributes.thermostatRunningState) == .unsigned(0))
            try bench.setLocally(OccupancySensing.id, OccupancySensing.Attributes.occupancy, .unsigned(1))
            #expect(try bench.read(Thermostat.id, Thermostat.Attributes.occupancy) == .unsigned(1))
            #expect(try bench.read(Thermostat.id, Thermostat.Attributes.thermostatRunningState) == .unsigned(1))
        }
    }

    // MARK: Modes

    @Test func modesAreThoseOfTheList() async throws {
        try await Bench.run { bench in
            typealias Attributes = ModeSelect.Attributes
            try bench.add(OnOff.id)
            try bench.add(ModeSelect.id, ClusterConfiguration(features: 1, optionalAttributes: [Attributes.startUpMode]))
            bench.node.start()
            try bench.invoke(ModeSelect.ChangeToMode(newMode: 1))
            #expect(try bench.read(ModeSelect.id, Attributes.currentMode) == .unsigned(1))
            #expect(status { try bench.invoke(ModeSelect.ChangeToMode(newMode: 7)) } == .invalidCommand)
            #expect(status { try bench.write(ModeSelect.id, Attributes.onMode, UInt8(7)) } == .constraintError)
            try bench.write(ModeSelect.id, Attributes.onMode, UInt8(0))
            try bench.invoke(OnOff.On())
            #expect(try bench.read(ModeSelect.id, Attributes.currentMode) == .unsigned(0))
            try bench.write(ModeSelect.id, Attributes.startUpMode, UInt8(1))
            bench.node.stop()
            bench.node.start()
            #expect(try bench.read(ModeSelect.id, Attributes.currentMode) == .unsigned(1))
        }
    }

    @Test func theUserInterfaceOfAThermostatTakesItsModes() async throws {
        try await Bench.run { bench in
            typealias Attributes = ThermostatUserInterfaceConfiguration.Attributes
            let id = ThermostatUserInterfaceConfiguration.id
            try bench.add(id)
            try bench.write(id, Attributes.temperatureDisplayMode, UInt8(1))
            #expect(try bench.read(id, Attributes.temperatureDisplayMode) == .unsigned(1))
            #expect(status { try bench.write(id, Attributes.temperatureDisplayMode, UInt8(2)) } == .constraintError)
            try bench.write(id, Attributes.keypadLockout, UInt8(5))
            #expect(status { try bench.write(id, Attributes.keypadLockout, UInt8(6)) } == .constraintError)
        }
    }
}
