import HearthTime
import MatterInteraction
import MatterMessage
import MatterModel
import MatterTLV
import Testing

@testable import MatterDevice

extension Bench {
    fileprivate func atomic(
        _ type: GlobalTypes.AtomicRequestTypeEnum, _ attributes: [AttributeID] = [Thermostat.Attributes.presets],
        timeout: UInt16? = 5000, as peer: SessionContext = .node(1)
    ) throws -> Thermostat.AtomicResponse {
        let request = Thermostat.AtomicRequest(
            requestType: type, attributeRequests: attributes, timeout: type == .beginWrite ? timeout : nil)
        return try invoke(request, at: 1, InteractionContext(peer: peer))
    }

    fileprivate func presets(as peer: SessionContext = .node(9)) throws -> [Thermostat.PresetStruct] {
        try .init(tlv: read(Thermostat.id, Thermostat.Attributes.presets, as: peer))
    }

    fileprivate func writePresets(_ presets: [Thermostat.PresetStruct], as peer: SessionContext = .node(1)) -> StatusCode? {
        status { try write(Thermostat.id, Thermostat.Attributes.presets, presets, as: peer) }
    }

    fileprivate func writeSchedules(_ schedules: [Thermostat.ScheduleStruct]) -> StatusCode? {
        status { try write(Thermostat.id, Thermostat.Attributes.schedules, schedules) }
    }
}

/// Presets and schedules, which are written in one go (4.3.10.9); the steps of the public test TC-TSTAT-4.2 are among these.
@Suite struct ThermostatPresetTests {
    typealias Attributes = Thermostat.Attributes
    typealias Preset = Thermostat.PresetStruct
    static let features: Thermostat.Feature = [.heating, .cooling, .autoMode, .presets, .matterScheduleConfiguration]

    static func sleep(_ handle: [UInt8]? = nil, builtIn: Bool? = false, heating: Int16 = 1800) -> Preset {
        Preset(
            presetHandle: Nullable(handle), presetScenario: .sleep, name: .value("night"), coolingSetpoint: 2500, heatingSetpoint: heating,
            builtIn: Nullable(builtIn))
    }

    /// Begins a write, writes, and commits; gives the status of the presets.
    static func commit(_ bench: Bench, _ presets: [Preset]) throws -> StatusCode? {
        #expect(try bench.atomic(.beginWrite).statusCode == .success)
        #expect(bench.writePresets(presets) == nil)
        return try bench.atomic(.commitWrite).attributeStatus.first?.statusCode
    }

    @Test func presetsAreWrittenInOneGo() async throws {
        try await Bench.run { bench in
            try bench.addThermostat(Self.features)
            let builtIn = try bench.presets()
            #expect(builtIn.count == 2)
            #expect(builtIn.allSatisfy { $0.builtIn.value == true })
            #expect(bench.writePresets(builtIn) == .invalidInState)
            #expect(status { _ = try bench.atomic(.commitWrite) } == .invalidInState)

            // Pending presets are seen by their writer only, and a rollback forgets them.
            let begun = try bench.atomic(.beginWrite)
            #expect(begun.statusCode == .success)
            #expect(begun.timeout == 5000)
            #expect(bench.writePresets(builtIn + [Self.sleep()]) == nil)
            #expect(try bench.presets(as: .node(1)).count == 3)
            #expect(try bench.presets().count == 2)
            #expect(try bench.atomic(.rollbackWrite).statusCode == .success)
            #expect(try bench.presets(as: .node(1)).count == 2)

            var existing = builtIn
            existing[0].builtIn = .null
            #expect(try Self.commit(bench, existing + [Self.sleep()]) == .success)
            let stored = try bench.presets()
            #expect(stored.count == 3)
            #expect(stored[0].builtIn.value == true)
            #expect(stored[2].builtIn.value == false)
            #expect(stored[2].name == .value("night"))
            #expect(try #require(stored[2].presetHandle.value).count <= 16)
        }
    }

    @Test func whatPresetsMayNotBe() async throws {
        try await Bench.run { bench in
            try bench.addThermostat(Self.features)
            #expect(try Self.commit(bench, bench.presets() + [Self.sleep()]) == .success)
            let stored = try bench.presets()
            let own = try #require(stored[2].presetHandle.value)

            // At the commit: what is built in, or active, stays; scenarios have their numbers.
            #expect(try Self.commit(bench, Array(stored.dropFirst())) == .constraintError)
            try bench.invoke(Thermostat.SetActivePresetRequest(presetHandle: .value(own)))
            #expect(try Self.commit(bench, Array(stored.dropLast())) == .invalidInState)
            #expect(try Self.commit(bench, stored + [Self.sleep(), Self.sleep()]) == .resourceExhausted)
            #expect(try bench.presets() == stored)

            // At the write.
            #expect(try bench.atomic(.beginWrite).statusCode == .success)
            func with(_ change: (inout [Preset]) -> Void) -> StatusCode? {
                var presets = stored
                change(&presets)
                return bench.writePresets(presets)
            }
            #expect(with { $0[0].builtIn = .value(false) } == .constraintError)
            #expect(with { $0[2].builtIn = .value(true) } == .constraintError)
            #expect(with { $0.append(Self.sleep(builtIn: true)) } == .constraintError)
            #expect(with { $0.append(Self.sleep([9, 9, 9], builtIn: true)) } == .notFound)
            #expect(with { $0.append($0[2]) } == .constraintError)
            #expect(with { $0[2].presetScenario = .init(rawValue: 77) } == .constraintError)
            #expect(with { $0[2].heatingSetpoint = 3100 } == .constraintError)
            #expect(with { $0[2].coolingSetpoint = 100 } == .constraintError)
            #expect(with { $0[0].name = .value("occupied presets have no names") } == .constraintError)
            #expect(with { $0[2].name = .value(String(repeating: "x", count: 65)) } == .constraintError)
            #expect(with { $0 += (0..<8).map { _ in Self.sleep() } } == .resourceExhausted)
            #expect(with { $0[2].heatingSetpoint = 1850 } == nil)
            #expect(try bench.atomic(.commitWrite).statusCode == .success)
            #expect(try bench.presets()[2].heatingSetpoint == 1850)
        }
    }

    @Test func onlyOnePeerWritesAtATime() async throws {
        try await Bench.run { bench in
            try bench.addThermostat(Self.features)
            let other = SessionContext.node(1, fabric: 2)
            #expect(try bench.atomic(.beginWrite).statusCode == .success)
            #expect(status { _ = try bench.atomic(.beginWrite) } == .invalidInState)
            let refused = try bench.atomic(.beginWrite, as: other)
            #expect(refused.statusCode == .failure)
            #expect(refused.attributeStatus.map(\.statusCode) == [.busy])
            #expect(bench.writePresets([], as: other) == .busy)
            #expect(status { _ = try bench.atomic(.commitWrite, as: other) } == .invalidInState)
            // It ends with its time, or with its fabric.
            try await bench.advance(.milliseconds(4999))
            #expect(try bench.atomic(.beginWrite, as: other).statusCode == .failure)
            try await bench.advance(.milliseconds(1))
            #expect(try bench.atomic(.beginWrite, as: other).statusCode == .success)
            bench.node.forget(FabricIndex(2))
            #expect(try bench.atomic(.beginWrite, timeout: 60_000).timeout == 10_000)
        }
    }

    @Test func requestsThatMakeNoSense() async throws {
        try await Bench.run { bench in
            try bench.addThermostat(Self.features)
            #expect(status { _ = try bench.atomic(.beginWrite, []) } == .invalidCommand)
            #expect(status { _ = try bench.atomic(.beginWrite, timeout: nil) } == .invalidCommand)
            #expect(status { _ = try bench.atomic(.beginWrite, [Attributes.presets, Attributes.presets]) } == .invalidCommand)
            #expect(status { _ = try bench.atomic(.beginWrite, [Attributes.setpointChangeAmount, AttributeID(0x999)]) } == .invalidCommand)
            let mixed = try bench.atomic(.beginWrite, [Attributes.presets, Attributes.systemMode])
            #expect(mixed.statusCode == .failure)
            #expect(mixed.attributeStatus.map(\.statusCode) == [.success, .invalidCommand])
            // Nothing has begun.
            #expect(bench.writePresets([]) == .invalidInState)
        }
    }

    /// The other setpoints are not those of the preset that counts.
    @Test(arguments: [true, false]) func onlyASetpointThatCountsEndsThePreset(occupied: Bool) async throws {
        try await Bench.run { bench in
            try bench.addThermostat([.heating, .cooling, .occupancy, .presets])
            try bench.setLocally(Thermostat.id, Attributes.occupancy, .unsigned(occupied ? 1 : 0))
            let ofOccupied = [Attributes.occupiedHeatingSetpoint, Attributes.occupiedCoolingSetpoint]
            let ofUnoccupied = [Attributes.unoccupiedHeatingSetpoint, Attributes.unoccupiedCoolingSetpoint]
            func active() throws -> TLVValue { try bench.read(Thermostat.id, Attributes.activePresetHandle) }
            try bench.invoke(Thermostat.SetActivePresetRequest(presetHandle: .value([2])))
            for attribute in occupied ? ofUnoccupied : ofOccupied {
                try bench.setThermostat(attribute, Int16(try #require(try bench.thermostat(attribute)) + 50))
                #expect(try active() == .octets([2]))
            }
            for attribute in occupied ? ofOccupied : ofUnoccupied {
                try bench.invoke(Thermostat.SetActivePresetRequest(presetHandle: .value([2])))
                try bench.setThermostat(attribute, Int16(try #require(try bench.thermostat(attribute)) + 50))
                #expect(try active() == .null)
            }
        }
    }

    @Test func anActivePresetSetsTheSetpoints() async throws {
        try await Bench.run { bench in
            try bench.addThermostat(Self.features)
            #expect(status { try bench.invoke(Thermostat.SetActivePresetRequest(presetHandle: .value([7]))) } == .invalidCommand)
            try bench.invoke(Thermostat.SetActivePresetRequest(presetHandle: .value([2])))
            #expect(try bench.setpoints() == [1700, 2800])
            #expect(try bench.read(Thermostat.id, Attributes.activePresetHandle) == .octets([2]))
            // A setpoint of one's own ends the preset.
            try bench.setThermostat(Attributes.occupiedHeatingSetpoint, 1750)
            #expect(try bench.read(Thermostat.id, Attributes.activePresetHandle) == .null)
            try bench.invoke(Thermostat.SetActivePresetRequest(presetHandle: .value([1])))
            #expect(try bench.setpoints() == [2000, 2600])
            try bench.invoke(Thermostat.SetActivePresetRequest(presetHandle: .null))
            #expect(try bench.read(Thermostat.id, Attributes.activePresetHandle) == .null)
            #expect(try bench.setpoints() == [2000, 2600])
        }
    }

    // MARK: Schedules

    /// Nanoseconds of the bench's wall clock into the week that begins on Sunday.
    static func minuteOfWeek(_ bench: Bench) -> Int {
        let minutes = Int(bench.node.environment.wall.wholeNanoseconds / 60_000_000_000)
        return (minutes + 4 * 1440) % (7 * 1440)
    }

    @Test func aScheduleRunsAndIsHeld() async throws {
        try await Bench.run { bench in
            try bench.addThermostat(Self.features)
            #expect(try bench.atomic(.beginWrite, [Attributes.schedules]).statusCode == .success)
            let everyDay = Thermostat.ScheduleDayOfWeekBitmap(rawValue: 0x7F)
            let schedule = Thermostat.ScheduleStruct(
                scheduleHandle: .null, systemMode: .heat,
                transitions: [
                    .init(dayOfWeek: everyDay, transitionTime: 6 * 60, coolingSetpoint: 2650, heatingSetpoint: 2100),
                    .init(dayOfWeek: everyDay, transitionTime: 22 * 60, presetHandle: [2]),
                ], builtIn: .null)
            #expect(bench.writeSchedules([schedule]) == nil)
            #expect(try bench.atomic(.commitWrite, [Attributes.schedules]).statusCode == .success)
            let stored = try [Thermostat.ScheduleStruct](tlv: bench.read(Thermostat.id, Attributes.schedules))
            let handle = try #require(stored.first?.scheduleHandle.value)
            #expect(status { try bench.invoke(Thermostat.SetActiveScheduleRequest(scheduleHandle: [8])) } == .invalidCommand)
            try bench.invoke(Thermostat.SetActiveScheduleRequest(scheduleHandle: handle))

            // Until 7 o'clock, whatever the time is now.
            func advance(toMinuteOfDay minute: Int) async throws {
                let wait = (minute - Self.minuteOfWeek(bench) % 1440 + 1440) % 1440
                try await bench.advance(.seconds(Int64(wait) * 60))
            }
            try await advance(toMinuteOfDay: 7 * 60)
            #expect(try bench.setpoints() == [2100, 2650])
            #expect(try bench.read(Thermostat.id, Attributes.systemMode) == .unsigned(4))
            #expect(try bench.read(Thermostat.id, Attributes.setpointChangeSource) == .unsigned(1))
            try await advance(toMinuteOfDay: 23 * 60)
            #expect(try bench.setpoints() == [1700, 2800])
            #expect(try bench.read(Thermostat.id, Attributes.activePresetHandle) == .octets([2]))

            // Held for ten hours: six o'clock changes nothing, nine o'clock catches up.
            try bench.write(Thermostat.id, Attributes.temperatureSetpointHoldDuration, UInt16(600))
            try bench.write(Thermostat.id, Attributes.temperatureSetpointHold, UInt8(1))
            let expiry = try #require(try bench.read(Thermostat.id, Attributes.setpointHoldExpiryTimestamp).unsigned)
            let now = bench.node.environment.wall.components.seconds - ThermostatCluster.unixSecondsOf2000
            #expect(Int64(expiry) - max(0, now) == 36_000)
            try await advance(toMinuteOfDay: 8 * 60)
            #expect(try bench.setpoints() == [1700, 2800])
            try await advance(toMinuteOfDay: 9 * 60 + 1)
            #expect(try bench.setpoints() == [2100, 2650])
            #expect(try bench.read(Thermostat.id, Attributes.temperatureSetpointHold) == .unsigned(0))
            #expect(try bench.read(Thermostat.id, Attributes.setpointHoldExpiryTimestamp) == .null)

            // Held without a limit, until somebody changes the mode.
            try bench.write(Thermostat.id, Attributes.temperatureSetpointHoldDuration, TLVValue.null)
            try bench.write(Thermostat.id, Attributes.temperatureSetpointHold, UInt8(1))
            #expect(try bench.read(Thermostat.id, Attributes.setpointHoldExpiryTimestamp) == .null)
            try await bench.advance(.seconds(3 * 86_400))
            #expect(try bench.setpoints() == [2100, 2650])
            try bench.write(Thermostat.id, Attributes.systemMode, UInt8(3))
            #expect(try bench.read(Thermostat.id, Attributes.temperatureSetpointHold) == .unsigned(0))
            #expect(try bench.read(Thermostat.id, Attributes.systemMode) == .unsigned(3))
            try await advance(toMinuteOfDay: 23 * 60)
            #expect(try bench.setpoints() == [1700, 2800])
        }
    }

    @Test func whatSchedulesMayNotBe() async throws {
        try await Bench.run { bench in
            try bench.addThermostat(Self.features)
            func outcome(_ change: (inout Thermostat.ScheduleStruct) -> Void) throws -> StatusCode? {
                var schedule = Thermostat.ScheduleStruct(
                    scheduleHandle: .null, systemMode: .heat,
                    transitions: [.init(dayOfWeek: .monday, transitionTime: 60, heatingSetpoint: 2100)], builtIn: .value(false))
                change(&schedule)
                #expect(try bench.atomic(.beginWrite, [Attributes.schedules]).statusCode == .success)
                if let refused = bench.writeSchedules([schedule]) {
                    #expect(try bench.atomic(.rollbackWrite, [Attributes.schedules]).statusCode == .success)
                    return refused
                }
                return try bench.atomic(.commitWrite, [Attributes.schedules]).attributeStatus.first?.statusCode
            }
            #expect(try outcome { $0.systemMode = .dry } == .constraintError)
            #expect(try outcome { $0.transitions = [] } == .constraintError)
            #expect(try outcome { $0.transitions[0].dayOfWeek = [] } == .constraintError)
            #expect(try outcome { $0.transitions[0].transitionTime = 1440 } == .constraintError)
            #expect(try outcome { $0.transitions[0].heatingSetpoint = 3100 } == .constraintError)
            #expect(try outcome { $0.transitions[0].presetHandle = [42] } == .constraintError)
            #expect(try outcome { $0.builtIn = .value(true) } == .constraintError)
            #expect(try outcome { $0.scheduleHandle = .value([1]) } == .notFound)
            #expect(try outcome { $0.transitions = Array(repeating: $0.transitions[0], count: 9) } == .resourceExhausted)
            #expect(try outcome { $0.transitions[0].systemMode = .off } == .success)
        }
    }

    @Test func theWeeklyScheduleOfTheOlderKind() async throws {
        try await Bench.run { bench in
            try bench.addThermostat([.heating, .cooling, .scheduleConfiguration])
            func set(
                _ modes: Thermostat.ScheduleModeBitmap, _ transitions: [Thermostat.WeeklyScheduleTransitionStruct], count: UInt8? = nil
            ) -> StatusCode? {
                status {
                    try bench.invoke(
                        Thermostat.SetWeeklySchedule(
                            numberOfTransitionsForSequence: count ?? UInt8(transitions.count),
                            dayOfWeekForSequence: .init(rawValue: 0x7F), modeForSequence: modes, transitions: transitions))
                }
            }
            #expect(set(.heatSetpointPresent, [.init(transitionTime: 480, heatSetpoint: 2150, coolSetpoint: .null)]) == nil)
            #expect(set(.coolSetpointPresent, [.init(transitionTime: 480, heatSetpoint: .null, coolSetpoint: 2550)]) == nil)
            let both = Thermostat.WeeklyScheduleTransitionStruct(transitionTime: 480, heatSetpoint: 2150, coolSetpoint: 2550)
            #expect(set(.heatSetpointPresent, [both]) == .constraintError, "a setpoint that the mode does not announce")
            #expect(set(.coolSetpointPresent, [both]) == .constraintError)
            #expect(set(.heatSetpointPresent, [], count: 1) == .invalidCommand)
            #expect(set([], []) == .invalidCommand)
            #expect(set(.heatSetpointPresent, [.init(transitionTime: 1, heatSetpoint: 9999, coolSetpoint: .null)]) == .constraintError)
            let answer = try bench.invoke(
                Thermostat.GetWeeklySchedule(daysToReturn: .monday, modeToReturn: [.heatSetpointPresent, .coolSetpointPresent]))
            #expect(answer.transitions == [both])
            #expect(answer.dayOfWeekForSequence == .monday)
            let heat = try bench.invoke(Thermostat.GetWeeklySchedule(daysToReturn: .init(rawValue: 3), modeToReturn: .heatSetpointPresent))
            #expect(heat.transitions == [.init(transitionTime: 480, heatSetpoint: 2150, coolSetpoint: .null)])
            #expect(heat.dayOfWeekForSequence.rawValue == 3)
            // It runs.
            try bench.setThermostat(Attributes.occupiedHeatingSetpoint, 1900)
            try await bench.advance(.seconds(24 * 3600))
            #expect(try bench.setpoints() == [2150, 2550])
            try bench.invoke(Thermostat.ClearWeeklySchedule())
            #expect(
                try bench.invoke(Thermostat.GetWeeklySchedule(daysToReturn: .monday, modeToReturn: .heatSetpointPresent)).transitions == [])
        }
    }
}
