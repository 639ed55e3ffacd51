import HearthTime
import MatterInteraction
import MatterModel
import MatterTLV

/// Schedules of both kinds (4.3.9.48, 4.3.10.2 to 5), and holding what they would change.
///
/// The device's local time is UTC.
extension ThermostatCluster {
    var schedules: [Thermostat.ScheduleStruct] { (try? .init(tlv: value(Attributes.schedules))) ?? [] }
    private var scheduleTypes: [Thermostat.ScheduleTypeStruct] { (try? .init(tlv: value(Attributes.scheduleTypes))) ?? [] }

    private static func handles(_ schedules: [Thermostat.ScheduleStruct]) -> [(handle: [UInt8]?, builtIn: Bool?)] {
        schedules.map { ($0.scheduleHandle.value, $0.builtIn.value) }
    }

    // MARK: Writing

    func checkSchedules(_ proposed: [Thermostat.ScheduleStruct]) throws(Status) {
        try checkHandles(Self.handles(proposed), existing: Self.handles(schedules))
        for schedule in proposed {
            guard let type = scheduleTypes.first(where: { $0.systemMode == schedule.systemMode }) else {
                throw Status(.constraintError, "there are no schedules for the mode here")
            }
            if schedule.name != nil, !type.scheduleTypeFeatures.contains(.supportsNames) {
                throw Status(.constraintError, "schedules for the mode have no names")
            }
            guard (schedule.name?.utf8.count ?? 0) <= 64 else { throw Status(.constraintError, "the name is too long") }
            if schedule.presetHandle != nil, !type.scheduleTypeFeatures.contains(.supportsPresets) {
                throw Status(.constraintError, "schedules for the mode have no presets")
            }
            try checkTransitions(schedule.transitions, type.scheduleTypeFeatures)
        }
    }

    private func checkTransitions(
        _ transitions: [Thermostat.ScheduleTransitionStruct], _ abilities: Thermostat.ScheduleTypeFeaturesBitmap
    ) throws(Status) {
        guard !transitions.isEmpty else { throw Status(.constraintError, "a schedule has at least one transition") }
        guard transitions.count <= value(Attributes.numberOfScheduleTransitions).unsigned ?? 0 else {
            throw Status(.resourceExhausted, "there are too many transitions in a schedule")
        }
        if let most = value(Attributes.numberOfScheduleTransitionPerDay).unsigned {
            for day in UInt8(0)...7 where transitions.count(where: { $0.dayOfWeek.rawValue >> day & 1 != 0 }) > most {
                throw Status(.resourceExhausted, "there are too many transitions on one day")
            }
        }
        for transition in transitions {
            guard !transition.dayOfWeek.isEmpty else { throw Status(.constraintError, "a transition is on some day") }
            guard transition.transitionTime < 1440 else { throw Status(.constraintError, "a day has 1440 minutes") }
            if let mode = transition.systemMode {
                guard mode.isDefined, mode != .off || abilities.contains(.supportsOff) else {
                    throw Status(.constraintError, "a transition cannot set the mode")
                }
                if mode != .off && scheduleTypes.allSatisfy({ $0.systemMode != mode }) {
                    throw Status(.constraintError, "there are no schedules for the mode here")
                }
            }
            if transition.presetHandle != nil, !abilities.contains(.supportsPresets) {
                throw Status(.constraintError, "schedules for the mode have no presets")
            }
            if transition.heatingSetpoint != nil || transition.coolingSetpoint != nil {
                guard abilities.contains(.supportsSetpoints) else { throw Status(.constraintError, "schedules have no setpoints") }
            }
            if let heating = transition.heatingSetpoint, !heatingLimits.contains(Int(heating)) {
                throw Status(.constraintError, "the heating setpoint is outside its limits")
            }
            if let cooling = transition.coolingSetpoint, !coolingLimits.contains(Int(cooling)) {
                throw Status(.constraintError, "the cooling setpoint is outside its limits")
            }
        }
    }

    func checkSchedulesForCommit(_ value: TLVValue, presets pendingPresets: TLVValue?) throws(Status) {
        let proposed = try [Thermostat.ScheduleStruct](tlv: value)
        let handles = proposed.map(\.scheduleHandle.value)
        try checkBuiltIn(handles, existing: Self.handles(schedules))
        if let active = self.value(Attributes.activeScheduleHandle).octets, !handles.contains(active) {
            throw Status(.invalidInState, "the active schedule cannot be removed")
        }
        let presets = try pendingPresets.map { value throws(Status) in try [Thermostat.PresetStruct](tlv: value) } ?? self.presets
        for used in proposed.flatMap(Self.presetHandles) where presets.allSatisfy({ $0.presetHandle.value != used }) {
            throw Status(.constraintError, "a schedule uses a preset that does not exist")
        }
        for type in scheduleTypes where proposed.count(where: { $0.systemMode == type.systemMode }) > type.numberOfSchedules {
            throw Status(.resourceExhausted, "there are too many schedules for one mode")
        }
    }

    /// SetActiveScheduleRequest (4.3.10.7).
    func activateSchedule(_ handle: [UInt8]) throws(Status) {
        guard schedules.contains(where: { $0.scheduleHandle.value == handle }) else {
            throw Status(.invalidCommand, "there is no such schedule")
        }
        set(Attributes.activeScheduleHandle, .octets(handle))
        resumeSchedule()
    }

    // MARK: Running

    /// What a schedule does at a minute of the week that begins on Sunday.
    private struct Transition {
        var minute: Int
        var mode: Thermostat.SystemModeEnum?
        var preset: [UInt8]?
        var heating: Int?
        var cooling: Int?
    }

    private static var minutesOfWeek: Int { 7 * 1440 }

    /// The transitions that count now, in the order of the week.
    private var transitions: [Transition] {
        var found: [Transition] = []
        if supports(.matterScheduleConfiguration), let active = value(Attributes.activeScheduleHandle).octets,
            let schedule = schedules.first(where: { $0.scheduleHandle.value == active })
        {
            for transition in schedule.transitions {
                for day in 0..<7 where transition.dayOfWeek.rawValue >> UInt8(day) & 1 != 0 {
                    let hasSetpoints = transition.heatingSetpoint != nil || transition.coolingSetpoint != nil
                    found.append(
                        Transition(
                            minute: day * 1440 + Int(transition.transitionTime), mode: transition.systemMode ?? schedule.systemMode,
                            preset: transition.presetHandle ?? (hasSetpoints ? nil : schedule.presetHandle),
                            heating: transition.heatingSetpoint.map { Int($0) }, cooling: transition.coolingSetpoint.map { Int($0) }))
                }
            }
        } else if supports(.scheduleConfiguration), programIsActive {
            let table = weeklyTable
            for day in 0..<7 {
                for entry in table[day] ?? [] {
                    found.append(
                        Transition(
                            minute: day * 1440 + Int(entry.transitionTime), heating: entry.heatSetpoint.value.map { Int($0) },
                            cooling: entry.coolSetpoint.value.map { Int($0) }))
                }
            }
        }
        return found.sorted { $0.minute < $1.minute }
    }

    private var programIsActive: Bool {
        !has(Attributes.thermostatProgrammingOperationMode)
            || (value(Attributes.thermostatProgrammingOperationMode).unsigned ?? 0) & 1 != 0
    }

    private var isHeld: Bool { value(Attributes.temperatureSetpointHold).unsigned == 1 && has(Attributes.temperatureSetpointHold) }

    /// Nanoseconds since Sunday, 00:00 (1970-01-01 was a Thursday).
    private var nanosecondsOfWeek: Int64 {
        let week = Int64(Self.minutesOfWeek) * 60_000_000_000
        let shifted = node.environment.wall.wholeNanoseconds % week + 4 * 1440 * 60_000_000_000
        return (shifted % week + week) % week
    }

    /// Does what the schedule says for this moment and waits for its next transition.
    func resumeSchedule() {
        guard node.isRunning, !isHeld else { return }
        let minute = Int(nanosecondsOfWeek / 60_000_000_000)
        let transitions = transitions
        if let present = transitions.last(where: { $0.minute <= minute }) ?? transitions.last { follow(present) }
        waitForTransition()
    }

    private func waitForTransition() {
        cancel(scheduleTimer)
        scheduleTimer = nil
        guard node.isRunning, !isHeld else { return }
        let minute = Int(nanosecondsOfWeek / 60_000_000_000)
        let transitions = transitions
        guard let first = transitions.first else { return }
        let next = transitions.first { $0.minute > minute }?.minute ?? (first.minute + Self.minutesOfWeek)
        scheduleTimer = after(.nanoseconds(Int64(next) * 60_000_000_000 - nanosecondsOfWeek)) { [weak self] in
            self?.scheduleTimer = nil
            self?.resumeSchedule()
        }
    }

    private func follow(_ transition: Transition) {
        if let mode = transition.mode { set(Attributes.systemMode, mode.tlv) }
        if let preset = transition.preset {
            try? activatePreset(preset, by: .schedule)
        } else if transition.heating != nil || transition.cooling != nil {
            set(Attributes.activePresetHandle, .null)
            applySetpoints(heating: transition.heating, cooling: transition.cooling, by: .schedule)
        }
        control()
    }

    // MARK: Hold

    /// Hold or its duration changed: the schedule stops or goes on.
    func holdChanged() {
        cancel(holdExpiry)
        holdExpiry = nil
        let minutes = has(Attributes.temperatureSetpointHoldDuration) ? value(Attributes.temperatureSetpointHoldDuration).unsigned : nil
        guard isHeld else {
            endHold()
            return resumeSchedule()
        }
        cancel(scheduleTimer)
        scheduleTimer = nil
        guard let minutes else { return set(Attributes.setpointHoldExpiryTimestamp, .null) }
        let seconds = Int64(min(minutes, 1440)) * 60
        set(Attributes.setpointHoldExpiryTimestamp, .unsigned(UInt64(epochSeconds) + UInt64(seconds)))
        waitForHoldExpiry(.seconds(seconds))
    }

    /// Nothing is held any more. The schedule goes on at its next transition.
    func endHold() {
        cancel(holdExpiry)
        holdExpiry = nil
        set(Attributes.setpointHoldExpiryTimestamp, .null)
        if scheduleTimer == nil { waitForTransition() }
    }

    /// After a restart a hold ends when it was to end.
    func resumeHold() {
        guard isHeld, let expiry = value(Attributes.setpointHoldExpiryTimestamp).unsigned else { return }
        waitForHoldExpiry(.seconds(max(0, Int64(clamping: expiry) - Int64(epochSeconds))))
    }

    private func waitForHoldExpiry(_ delay: Duration) {
        holdExpiry = after(delay) { [weak self] in
            guard let self else { return }
            set(Attributes.temperatureSetpointHold, .unsigned(0))
            holdChanged()
        }
    }

    // MARK: The weekly schedule of SCH

    /// By day, 0 being Sunday and 7 the day away.
    private var weeklyTable: [Int: [Thermostat.WeeklyScheduleTransitionStruct]] {
        var table: [Int: [Thermostat.WeeklyScheduleTransitionStruct]] = [:]
        for day in 0...7 {
            guard let bytes = kept("weekly/\(day)"), let value = try? TLVValue(decoding: bytes) else { continue }
            table[day] = try? .init(tlv: value)
        }
        return table
    }

    func setWeeklySchedule(_ request: Thermostat.SetWeeklySchedule) throws(Status) {
        let (days, modes) = (request.dayOfWeekForSequence, request.modeForSequence)
        guard Int(request.numberOfTransitionsForSequence) == request.transitions.count, !days.isEmpty,
            !modes.isEmpty, modes.isSubset(of: [.heatSetpointPresent, .coolSetpointPresent])
        else { throw Status(.invalidCommand, "days, modes and the number of transitions do not fit") }
        guard request.transitions.count <= value(Attributes.numberOfDailyTransitions).unsigned ?? 0 else {
            throw Status(.resourceExhausted, "there are too many transitions on a day")
        }
        if modes.contains(.heatSetpointPresent) && !supports(.heating) || modes.contains(.coolSetpointPresent) && !supports(.cooling) {
            throw Status(.invalidCommand, "the mode is not supported")
        }
        for transition in request.transitions {
            // What a mode does not announce is null (4.3.10.2.3).
            guard modes.contains(.heatSetpointPresent) || transition.heatSetpoint.isNull,
                modes.contains(.coolSetpointPresent) || transition.coolSetpoint.isNull
            else { throw Status(.constraintError, "a setpoint is there that the modes do not have") }
            if modes.contains(.heatSetpointPresent) {
                guard let heat = transition.heatSetpoint.value, heatingLimits.contains(Int(heat)) else {
                    throw Status(.constraintError, "a heating setpoint is missing or outside its limits")
                }
            }
            if modes.contains(.coolSetpointPresent) {
                guard let cool = transition.coolSetpoint.value, coolingLimits.contains(Int(cool)) else {
                    throw Status(.constraintError, "a cooling setpoint is missing or outside its limits")
                }
            }
        }
        let table = weeklyTable
        for day in 0...7 where days.rawValue >> UInt8(day) & 1 != 0 {
            var byTime: [UInt16: Thermostat.WeeklyScheduleTransitionStruct] = [:]
            for var entry in table[day] ?? [] {
                if modes.contains(.heatSetpointPresent) { entry.heatSetpoint = .null }
                if modes.contains(.coolSetpointPresent) { entry.coolSetpoint = .null }
                if !entry.heatSetpoint.isNull || !entry.coolSetpoint.isNull { byTime[entry.transitionTime] = entry }
            }
            for transition in request.transitions {
                var entry =
                    byTime[transition.transitionTime]
                    ?? .init(transitionTime: transition.transitionTime, heatSetpoint: .null, coolSetpoint: .null)
                if modes.contains(.heatSetpointPresent) { entry.heatSetpoint = transition.heatSetpoint }
                if modes.contains(.coolSetpointPresent) { entry.coolSetpoint = transition.coolSetpoint }
                byTime[transition.transitionTime] = entry
            }
            keep(byTime.values.sorted { $0.transitionTime < $1.transitionTime }.tlv.encoded(), as: "weekly/\(day)")
        }
        resumeSchedule()
    }

    /// The transitions of the first day that is asked for, and the days that share them.
    func weeklySchedule(_ request: Thermostat.GetWeeklySchedule) throws(Status) -> Thermostat.GetWeeklyScheduleResponse {
        let table = weeklyTable
        let modes = request.modeToReturn.intersection([.heatSetpointPresent, .coolSetpointPresent])
        let asked = (0...7).filter { request.daysToReturn.rawValue >> UInt8($0) & 1 != 0 }
        guard let first = asked.first, !modes.isEmpty else { throw Status(.invalidCommand, "a day and a mode are wanted") }
        let days = asked.filter { table[$0] ?? [] == table[first] ?? [] }
        let found = (table[first] ?? []).compactMap { entry -> Thermostat.WeeklyScheduleTransitionStruct? in
            var entry = entry
            if !modes.contains(.heatSetpointPresent) { entry.heatSetpoint = .null }
            if !modes.contains(.coolSetpointPresent) { entry.coolSetpoint = .null }
            return entry.heatSetpoint.isNull && entry.coolSetpoint.isNull ? nil : entry
        }
        return .init(
            numberOfTransitionsForSequence: UInt8(clamping: found.count),
            dayOfWeekForSequence: .init(rawValue: days.reduce(0) { $0 | 1 << UInt8($1) }), modeForSequence: modes, transitions: found)
    }

    func clearWeeklySchedule() {
        for day in 0...7 { keep(nil, as: "weekly/\(day)") }
        resumeSchedule()
    }
}
