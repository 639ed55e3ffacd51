import MatterModel
import MatterTLV

/// What a thermostat has when its profile says no more than the features.
extension ThermostatCluster {
    static func usualAttributes(features: Thermostat.Feature) -> Set<AttributeID> {
        var usual: Set<AttributeID> = [
            Attributes.outdoorTemperature, Attributes.absMinHeatSetpointLimit, Attributes.absMaxHeatSetpointLimit,
            Attributes.absMinCoolSetpointLimit, Attributes.absMaxCoolSetpointLimit, Attributes.piHeatingDemand,
            Attributes.piCoolingDemand, Attributes.localTemperatureCalibration, Attributes.minHeatSetpointLimit,
            Attributes.maxHeatSetpointLimit, Attributes.minCoolSetpointLimit, Attributes.maxCoolSetpointLimit,
            Attributes.thermostatRunningMode, Attributes.thermostatRunningState, Attributes.setpointChangeSource,
            Attributes.setpointChangeAmount, Attributes.setpointChangeSourceTimestamp,
        ]
        if !features.isDisjoint(with: [.scheduleConfiguration, .matterScheduleConfiguration, .presets]) {
            usual.formUnion([
                Attributes.temperatureSetpointHold, Attributes.temperatureSetpointHoldDuration,
                Attributes.setpointHoldExpiryTimestamp,
            ])
        }
        return usual
    }

    /// The configuration with values for what depends on the features or on other attributes. Without HEAT and COOL it heats.
    static func completed(_ configuration: ClusterConfiguration) -> ClusterConfiguration {
        var result = configuration
        var features = Thermostat.Feature(rawValue: configuration.features)
        if features.contains(.autoMode) { features.formUnion([.heating, .cooling]) }
        if features.isDisjoint(with: [.heating, .cooling]) { features.insert(.heating) }
        result.features = features.rawValue

        func initial(_ attribute: AttributeID, _ value: TLVValue) {
            if result.attributes[attribute] == nil { result.attributes[attribute] = value }
        }
        func number(_ attribute: AttributeID, _ fallback: Int64) -> Int64 { result.attributes[attribute]?.signed ?? fallback }

        let (heats, cools) = (features.contains(.heating), features.contains(.cooling))
        let sequence: Thermostat.ControlSequenceOfOperationEnum =
            heats && cools ? .coolingAndHeating : heats ? .heatingOnly : .coolingOnly
        initial(Attributes.controlSequenceOfOperation, sequence.tlv)
        let mode: Thermostat.SystemModeEnum = features.contains(.autoMode) ? .auto : heats ? .heat : .cool
        initial(Attributes.systemMode, mode.tlv)
        initial(Attributes.outdoorTemperature, .signed(heats ? 1000 : 3200))
        initial(Attributes.localTemperature, .signed(heats ? 2000 : 2600))

        let (absMaxHeat, absMaxCool) = (
            number(Attributes.absMaxHeatSetpointLimit, 3000), number(Attributes.absMaxCoolSetpointLimit, 3200)
        )
        let (absMinHeat, absMinCool) = (
            number(Attributes.absMinHeatSetpointLimit, 700), number(Attributes.absMinCoolSetpointLimit, 1600)
        )
        let deadBand = features.contains(.autoMode) ? number(Attributes.minSetpointDeadBand, 20) * 10 : nil
        initial(Attributes.minCoolSetpointLimit, .signed(absMinCool))
        initial(Attributes.maxCoolSetpointLimit, .signed(absMaxCool))
        // With automatic mode the limits of heating stay a dead band below those of cooling.
        let maxHeat = deadBand.map { min(absMaxHeat, number(Attributes.maxCoolSetpointLimit, absMaxCool) - $0) } ?? absMaxHeat
        let minHeat = deadBand.map { min(absMinHeat, number(Attributes.minCoolSetpointLimit, absMinCool) - $0) } ?? absMinHeat
        initial(Attributes.minHeatSetpointLimit, .signed(minHeat))
        initial(Attributes.maxHeatSetpointLimit, .signed(maxHeat))
        initial(Attributes.occupiedHeatingSetpoint, .signed(2000))
        initial(Attributes.occupiedCoolingSetpoint, .signed(2600))
        if features.contains(.occupancy) {
            initial(Attributes.unoccupiedHeatingSetpoint, .signed(1700))
            initial(Attributes.unoccupiedCoolingSetpoint, .signed(2800))
        }
        if features.contains(.setback) {
            initial(Attributes.occupiedSetbackMin, .unsigned(0))
            initial(Attributes.occupiedSetbackMax, .unsigned(254))
            if features.contains(.occupancy) {
                initial(Attributes.unoccupiedSetbackMin, .unsigned(0))
                initial(Attributes.unoccupiedSetbackMax, .unsigned(254))
            }
        }
        if result.optionalAttributes.contains(Attributes.acLouverPosition) {
            initial(Attributes.acLouverPosition, Thermostat.ACLouverPositionEnum.open.tlv)
        }
        if features.contains(.scheduleConfiguration) {
            initial(Attributes.numberOfWeeklyTransitions, .unsigned(70))
            initial(Attributes.numberOfDailyTransitions, .unsigned(10))
        }
        completePresetsAndSchedules(&result, features)
        return result
    }
}
