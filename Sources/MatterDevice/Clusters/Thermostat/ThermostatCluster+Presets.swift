import MatterInteraction
import MatterModel
import MatterTLV

/// Presets: named pairs of setpoints that are activated as one (4.3.9.47 and following).
extension ThermostatCluster {
    var presets: [Thermostat.PresetStruct] { (try? .init(tlv: value(Attributes.presets))) ?? [] }
    private var presetTypes: [Thermostat.PresetTypeStruct] { (try? .init(tlv: value(Attributes.presetTypes))) ?? [] }

    private static func handles(_ presets: [Thermostat.PresetStruct]) -> [(handle: [UInt8]?, builtIn: Bool?)] {
        presets.map { ($0.presetHandle.value, $0.builtIn.value) }
    }

    /// What is checked when presets are written, before the commit.
    func checkPresets(_ proposed: [Thermostat.PresetStruct]) throws(Status) {
        try checkHandles(Self.handles(proposed), existing: Self.handles(presets))
        for preset in proposed {
            guard let type = presetTypes.first(where: { $0.presetScenario == preset.presetScenario }) else {
                throw Status(.constraintError, "there are no presets of the scenario here")
            }
            if case .value? = preset.name, !type.presetTypeFeatures.contains(.supportsNames) {
                throw Status(.constraintError, "presets of the scenario have no names")
            }
            if let heating = preset.heatingSetpoint, !heatingLimits.contains(Int(heating)) {
                throw Status(.constraintError, "the heating setpoint is outside its limits")
            }
            if let cooling = preset.coolingSetpoint, !coolingLimits.contains(Int(cooling)) {
                throw Status(.constraintError, "the cooling setpoint is outside its limits")
            }
            if supports(.heating) && preset.heatingSetpoint == nil || supports(.cooling) && preset.coolingSetpoint == nil {
                throw Status(.constraintError, "a setpoint is missing")
            }
        }
    }

    func checkPresetsForCommit(_ value: TLVValue, schedules pendingSchedules: TLVValue?) throws(Status) {
        let proposed = try [Thermostat.PresetStruct](tlv: value)
        let handles = proposed.map(\.presetHandle.value)
        try checkBuiltIn(handles, existing: Self.handles(presets))
        if let active = self.value(Attributes.activePresetHandle).octets, !handles.contains(active) {
            throw Status(.invalidInState, "the active preset cannot be removed")
        }
        let schedules = try pendingSchedules.map { value throws(Status) in try [Thermostat.ScheduleStruct](tlv: value) } ?? self.schedules
        for used in schedules.flatMap(Self.presetHandles) where !handles.contains(used) {
            throw Status(.invalidInState, "a schedule uses a preset that is removed")
        }
        for type in presetTypes where proposed.count(where: { $0.presetScenario == type.presetScenario }) > type.numberOfPresets {
            throw Status(.resourceExhausted, "there are too many presets of one scenario")
        }
    }

    static func presetHandles(of schedule: Thermostat.ScheduleStruct) -> [[UInt8]] {
        [schedule.presetHandle].compactMap { $0 } + schedule.transitions.compactMap(\.presetHandle)
    }

    /// SetActivePresetRequest (4.3.10.8); nil is no preset.
    func activatePreset(_ handle: [UInt8]?, by source: Thermostat.SetpointChangeSourceEnum = .external) throws(Status) {
        guard let handle else { return set(Attributes.activePresetHandle, .null) }
        guard let preset = presets.first(where: { $0.presetHandle.value == handle }) else {
            throw Status(.invalidCommand, "there is no such preset")
        }
        applySetpoints(heating: preset.heatingSetpoint.map { Int($0) }, cooling: preset.coolingSetpoint.map { Int($0) }, by: source)
        set(Attributes.activePresetHandle, .octets(handle))
    }

    /// Kinds of presets and schedules for a profile that names none: two presets are built in.
    static func completePresetsAndSchedules(_ configuration: inout ClusterConfiguration, _ features: Thermostat.Feature) {
        func initial(_ attribute: AttributeID, _ value: TLVValue) {
            if configuration.attributes[attribute] == nil { configuration.attributes[attribute] = value }
        }
        let (heats, cools) = (features.contains(.heating), features.contains(.cooling))
        if features.contains(.presets) {
            let scenarios: [Thermostat.PresetScenarioEnum] = [
                .occupied, .unoccupied, .sleep, .wake, .vacation, .goingToSleep, .userDefined,
            ]
            let types = scenarios.map {
                Thermostat.PresetTypeStruct(
                    presetScenario: $0, numberOfPresets: 2, presetTypeFeatures: $0 == .occupied ? [] : .supportsNames)
            }
            initial(Attributes.presetTypes, types.tlv)
            initial(Attributes.numberOfPresets, .unsigned(10))
            func builtIn(_ handle: UInt8, _ scenario: Thermostat.PresetScenarioEnum, _ heat: Int16, _ cool: Int16)
                -> Thermostat.PresetStruct
            {
                .init(
                    presetHandle: .value([handle]), presetScenario: scenario, name: .null, coolingSetpoint: cools ? cool : nil,
                    heatingSetpoint: heats ? heat : nil, builtIn: .value(true))
            }
            initial(Attributes.presets, [builtIn(1, .occupied, 2000, 2600), builtIn(2, .unoccupied, 1700, 2800)].tlv)
        }
        if features.contains(.matterScheduleConfiguration) {
            var modes: [Thermostat.SystemModeEnum] = features.contains(.autoMode) ? [.auto] : []
            if heats { modes.append(.heat) }
            if cools { modes.append(.cool) }
            var abilities: Thermostat.ScheduleTypeFeaturesBitmap = [.supportsSetpoints, .supportsNames, .supportsOff]
            if features.contains(.presets) { abilities.insert(.supportsPresets) }
            let types = modes.map {
                Thermostat.ScheduleTypeStruct(systemMode: $0, numberOfSchedules: 5, scheduleTypeFeatures: abilities)
            }
            initial(Attributes.scheduleTypes, types.tlv)
            initial(Attributes.numberOfSchedules, .unsigned(10))
            initial(Attributes.numberOfScheduleTransitions, .unsigned(56))
            initial(Attributes.numberOfScheduleTransitionPerDay, .unsigned(8))
        }
    }
}
