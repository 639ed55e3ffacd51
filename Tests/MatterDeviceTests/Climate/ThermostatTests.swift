import HearthTime
import MatterInteraction
import MatterMessage
import MatterModel
import MatterTLV
import Testing

@testable import MatterDevice

/// A thermostat on endpoint 1.
extension Bench {
    func addThermostat(
        _ features: Thermostat.Feature, _ attributes: [AttributeID: TLVValue] = [:], parameters: [String: TLVValue] = [:],
        optional: Set<AttributeID> = []
    ) throws {
        try add(
            Thermostat.id, deviceTypes: [0x0301],
            ClusterConfiguration(
                features: features.rawValue, attributes: attributes, optionalAttributes: optional, parameters: parameters))
        node.start()
    }

    func thermostat(_ attribute: AttributeID) throws -> Int? { try read(Thermostat.id, attribute).signed.map { Int($0) } }

    func setThermostat(_ attribute: AttributeID, _ value: Int16) throws { try write(Thermostat.id, attribute, value) }

    func setpoints() throws -> [Int?] {
        [
            try thermostat(Thermostat.Attributes.occupiedHeatingSetpoint),
            try thermostat(Thermostat.Attributes.occupiedCoolingSetpoint),
        ]
    }
}

@Suite struct ThermostatTests {
    typealias Attributes = Thermostat.Attributes
    static let automatic: Thermostat.Feature = [.heating, .cooling, .autoMode]

    // MARK: Setpoints

    /// Cases T1 and T2: the dead band is in 0.1 °C and pushes the other setpoint.
    @Test func theDeadBandPushesTheOtherSetpoint() async throws {
        try await Bench.run { bench in
            try bench.addThermostat(Self.automatic, [Attributes.minSetpointDeadBand: .signed(25)])
            #expect(try bench.setpoints() == [2000, 2600])
            try bench.setThermostat(Attributes.occupiedCoolingSetpoint, 2225)
            #expect(try bench.setpoints() == [1975, 2225])
            try bench.setThermostat(Attributes.occupiedHeatingSetpoint, 2400)
            #expect(try bench.setpoints() == [2400, 2650])
            // Exactly a dead band apart pushes nothing.
            try bench.setThermostat(Attributes.occupiedCoolingSetpoint, 2650)
            #expect(try bench.setpoints() == [2400, 2650])
        }
    }

    @Test func nothingChangesWhenTheOtherSetpointWouldLeaveItsLimits() async throws {
        try await Bench.run { bench in
            try bench.addThermostat(
                Self.automatic, [Attributes.minSetpointDeadBand: .signed(25), Attributes.minHeatSetpointLimit: .signed(1900)])
            let refused = status { try bench.setThermostat(Attributes.occupiedCoolingSetpoint, 2149) }
            #expect(refused == .constraintError)
            #expect(try bench.setpoints() == [2000, 2600])
            try bench.setThermostat(Attributes.occupiedCoolingSetpoint, 2150)
            #expect(try bench.setpoints() == [1900, 2150])
        }
    }

    /// Without AUTO the dead band does not count.
    @Test func withoutAutomaticModeSetpointsAreIndependent() async throws {
        try await Bench.run { bench in
            try bench.addThermostat([.heating, .cooling])
            try bench.setThermostat(Attributes.occupiedCoolingSetpoint, 1600)
            #expect(try bench.setpoints() == [2000, 1600])
        }
    }

    /// Case T10: 20 is 0.20 °C.
    @Test(arguments: [20, 699, 3001, -1, 32767] as [Int16]) func setpointsOutsideTheirLimitsAreRefused(_ value: Int16)
        async throws
    {
        try await Bench.run { bench in
            try bench.addThermostat([.heating])
            #expect(status { try bench.setThermostat(Attributes.occupiedHeatingSetpoint, value) } == .constraintError)
            #expect(try bench.thermostat(Attributes.occupiedHeatingSetpoint) == 2000)
        }
    }

    @Test func limitsMoveSetpointsAndKeepTheirOrder() async throws {
        try await Bench.run { bench in
            try bench.addThermostat(Self.automatic)
            try bench.setThermostat(Attributes.maxCoolSetpointLimit, 3200)
            // Raising the lower limit of cooling pushes the cooling setpoint; the heating setpoint may stay.
            try bench.setThermostat(Attributes.minCoolSetpointLimit, 2700)
            #expect(try bench.setpoints() == [2000, 2700])
            try bench.setThermostat(Attributes.minHeatSetpointLimit, 2450)
            #expect(try bench.setpoints() == [2450, 2700])
            // Heating's limits stay a dead band (2 °C) below cooling's.
            #expect(status { try bench.setThermostat(Attributes.minHeatSetpointLimit, 2501) } == .constraintError)
            #expect(status { try bench.setThermostat(Attributes.maxCoolSetpointLimit, 3199) } == .constraintError)
            // Min ≤ Max, and within the absolute limits.
            #expect(status { try bench.setThermostat(Attributes.minHeatSetpointLimit, 3050) } == .constraintError)
            #expect(status { try bench.setThermostat(Attributes.minHeatSetpointLimit, 600) } == .constraintError)
            #expect(status { try bench.setThermostat(Attributes.maxCoolSetpointLimit, 3300) } == .constraintError)
        }
    }

    // MARK: SetpointRaiseLower

    /// Case T4.
    @Test func raiseAndLower() async throws {
        try await Bench.run { bench in
            try bench.addThermostat(Self.automatic, [Attributes.minSetpointDeadBand: .signed(25)])
            func raise(_ mode: Thermostat.SetpointRaiseLowerModeEnum, _ amount: Int8) throws -> [Int?] {
                try bench.invoke(Thermostat.SetpointRaiseLower(mode: mode, amount: amount))
                return try bench.setpoints()
            }
            #expect(try raise(.heat, -30) == [1700, 2600])
            #expect(try raise(.heat, 30) == [2000, 2600])
            #expect(try raise(.cool, -30) == [2000, 2300])
            #expect(try raise(.cool, 30) == [2000, 2600])
            #expect(try raise(.both, 30) == [2300, 2900])
            #expect(try raise(.both, -30) == [2000, 2600])
            // The limits stop both at the same distance.
            #expect(try raise(.both, 127) == [2600, 3200])
            // Amounts beyond the limit stop at it, and the dead band pushes.
            #expect(try raise(.heat, 127) == [2950, 3200])
        }
    }

    @Test func aModeThatTheFeaturesRuleOutIsAnInvalidCommand() async throws {
        try await Bench.run { bench in
            try bench.addThermostat([.heating])
            func raise(_ mode: UInt8) -> StatusCode? {
                status { try bench.invoke(Thermostat.SetpointRaiseLower(mode: .init(rawValue: mode), amount: 10)) }
            }
            #expect(raise(1) == .invalidCommand)
            #expect(raise(3) == .invalidCommand)
            #expect(raise(0) == nil)
            #expect(raise(2) == nil)
            #expect(try bench.thermostat(Attributes.occupiedHeatingSetpoint) == 2200)
            let missing = status { try bench.invoke(Thermostat.id, Thermostat.Commands.setpointRaiseLower, .structure([])) }
            #expect(missing == .invalidCommand)
        }
    }

    @Test func whoChangedASetpointIsShown() async throws {
        try await Bench.run { bench in
            try bench.addThermostat([.heating])
            try await bench.advance(.seconds(3600))
            try bench.invoke(Thermostat.SetpointRaiseLower(mode: .heat, amount: -5))
            #expect(try bench.read(Thermostat.id, Attributes.setpointChangeSource) == .unsigned(2))
            #expect(try bench.thermostat(Attributes.setpointChangeAmount) == -50)
            let wall = bench.node.environment.wall.components.seconds - 946_684_800
            #expect(try bench.read(Thermostat.id, Attributes.setpointChangeSourceTimestamp).unsigned == UInt64(max(0, wall)))
            let cluster = try bench.cluster(Thermostat.id) as? Cluster
            let setpoint = try #require(Thermostat.definition.attribute(named: "OccupiedHeatingSetpoint"))
            try cluster?.setLocally(setpoint, .signed(2000))
            #expect(try bench.read(Thermostat.id, Attributes.setpointChangeSource) == .unsigned(0))
            #expect(try bench.thermostat(Attributes.setpointChangeAmount) == 50)
        }
    }

    // MARK: Modes

    /// Case T6 and the public suite TestThermostat.
    @Test func systemModeFollowsFeaturesAndControlSequence() async throws {
        func outcomes(_ features: Thermostat.Feature, _ attributes: [AttributeID: TLVValue] = [:]) async throws -> [UInt8] {
            let refused = Locked<[UInt8]>([])
            try await Bench.run { bench in
                try bench.addThermostat(features, attributes)
                for mode in [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 254] as [UInt8] {
                    let outcome = status { try bench.write(Thermostat.id, Attributes.systemMode, mode) }
                    if outcome == .constraintError { refused.withLock { $0.append(mode) } } else { #expect(outcome == nil) }
                }
            }
            return refused.withLock { $0 }
        }
        #expect(try await outcomes([.heating]) == [1, 2, 3, 6, 254])
        #expect(try await outcomes([.cooling]) == [1, 2, 4, 5, 254])
        #expect(try await outcomes([.heating, .cooling]) == [1, 2, 254])
        #expect(try await outcomes(Self.automatic) == [2, 254])
        let coolingOnly = [Attributes.controlSequenceOfOperation: TLVValue.unsigned(0)]
        #expect(try await outcomes([.heating, .cooling], coolingOnly) == [1, 2, 4, 5, 254])
        let heatingOnly = [Attributes.controlSequenceOfOperation: TLVValue.unsigned(2)]
        #expect(try await outcomes([.heating, .cooling], heatingOnly) == [1, 2, 3, 6, 254])
    }

    @Test func someWritesAreAcceptedAndIgnoredOrClamped() async throws {
        try await Bench.run { bench in
            try bench.addThermostat([.heating, .cooling, .autoMode, .setback, .occupancy])
            try bench.write(Thermostat.id, Attributes.controlSequenceOfOperation, UInt8(2))
            #expect(try bench.read(Thermostat.id, Attributes.controlSequenceOfOperation) == .unsigned(4))
            try bench.write(Thermostat.id, Attributes.minSetpointDeadBand, Int8(5))
            #expect(try bench.read(Thermostat.id, Attributes.minSetpointDeadBand) == .signed(20))
            #expect(status { try bench.write(Thermostat.id, Attributes.minSetpointDeadBand, Int8(-1)) } == .constraintError)
            try bench.write(Thermostat.id, Attributes.occupiedSetback, UInt8(254))
            #expect(try bench.read(Thermostat.id, Attributes.occupiedSetback) == .unsigned(254))
            try bench.write(Thermostat.id, Attributes.localTemperatureCalibration, Int8(100))
            #expect(try bench.read(Thermostat.id, Attributes.localTemperatureCalibration) == .signed(25))
        }
        try await Bench.run { bench in
            try bench.addThermostat(
                [.heating, .setback], [Attributes.occupiedSetbackMin: .unsigned(5), Attributes.occupiedSetbackMax: .unsigned(20)])
            try bench.write(Thermostat.id, Attributes.occupiedSetback, UInt8(40))
            #expect(try bench.read(Thermostat.id, Attributes.occupiedSetback) == .unsigned(20))
            try bench.write(Thermostat.id, Attributes.occupiedSetback, UInt8(1))
            #expect(try bench.read(Thermostat.id, Attributes.occupiedSetback) == .unsigned(5))
            try bench.write(Thermostat.id, Attributes.occupiedSetback, TLVValue.null)
            #expect(try bench.read(Thermostat.id, Attributes.occupiedSetback) == .null)
        }
    }

    @Test func aLocalTemperatureThatIsNotExposedIsNull() async throws {
        try await Bench.run { bench in
            try bench.addThermostat([.heating, .localTemperatureNotExposed], optional: [Attributes.remoteSensing])
            #expect(try bench.read(Thermostat.id, Attributes.localTemperature) == .null)
            #expect(status { try bench.write(Thermostat.id, Attributes.remoteSensing, UInt8(1)) } == .constraintError)
            #expect(status { try bench.write(Thermostat.id, Attributes.remoteSensing, UInt8(6)) } == nil)
            // It heats all the same.
            try bench.setThermostat(Attributes.occupiedHeatingSetpoint, 2500)
            #expect(try bench.read(Thermostat.id, Attributes.thermostatRunningState) == .unsigned(1))
            try await bench.advance(.seconds(4 * 3600))
            #expect(try bench.read(Thermostat.id, Attributes.localTemperature) == .null)
        }
    }

    @Test func setpointsSurviveARestart() async throws {
        try await Bench.run { bench in
            try bench.addThermostat([.heating])
            try bench.setThermostat(Attributes.occupiedHeatingSetpoint, 2300)
            try await bench.advance(.seconds(1200))
            let room = try #require(try bench.thermostat(Attributes.localTemperature))
            #expect(room > 2050)
            try bench.restart { node in
                let cluster = try #require(
                    ClusterFactory.make(
                        Thermostat.id, endpoint: 1, node: node,
                        configuration: ClusterConfiguration(features: Thermostat.Feature.heating.rawValue)))
                node.add(EndpointServer(id: 1, deviceTypes: [(0x0301, 1)], clusters: [cluster]))
            }
            #expect(try bench.thermostat(Attributes.occupiedHeatingSetpoint) == 2300)
            #expect(abs(try #require(try bench.thermostat(Attributes.localTemperature)) - room) <= 10)
            #expect(try bench.read(Thermostat.id, Attributes.thermostatRunningState) == .unsigned(1))
        }
    }
}
