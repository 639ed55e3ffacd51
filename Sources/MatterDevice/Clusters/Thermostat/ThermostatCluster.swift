import HearthTime
import MatterInteraction
import MatterModel
import MatterTLV

/// Thermostat (Matter Application Clusters, 4.3) with a simple room around it: `Room` says how its temperature moves, the thermostat
/// switches heater and cooler by it.
///
/// Temperatures are 0.01 °C throughout, dead band, setbacks and calibration 0.1 °C, as in the attributes.
///
/// LocalTemperature is what a sensor with a resolution shows: it changes when the room has moved by `temperatureStep`, and when heater or
/// cooler are switched, and these crossings are all that is scheduled. `LocalTemperature` set at the device is another room temperature,
/// null a broken sensor; `OutdoorTemperature` and `Occupancy` can be set too, and every setpoint or mode, as with buttons on the device.
///
/// Parameters of the profile: see `ClusterFactory.climateParameters`.
public final class ThermostatCluster: Cluster {
    typealias Spec = Thermostat
    typealias Attributes = Thermostat.Attributes

    /// What the thermostat has switched on.
    enum Output { case off, heating, emergencyHeating, cooling, fan }

    let heaterPower: Double
    let coolerPower: Double
    /// What the second heater adds to the first.
    let emergencyHeaterPower: Double
    /// Half the width of the band around a setpoint in which nothing is switched.
    let hysteresis: Int
    /// What the room has to move by for LocalTemperature to change.
    let temperatureStep: Int
    var room: Room
    var output = Output.off
    var sensorIsBroken = false
    var crossing: Token?
    var holdExpiry: Token?
    var scheduleTimer: Token?
    /// Presets and schedules are written in one go or not at all.
    var atomicWrite: AtomicWrite?

    public init(endpoint: EndpointID, node: DeviceNode, configuration: ClusterConfiguration = .init()) {
        let configuration = Self.completed(configuration)
        let parameters = configuration.parameters
        func number(_ name: String, _ fallback: Double) -> Double { parameters[name]?.number ?? fallback }
        (heaterPower, coolerPower) = (number("heaterPower", 3000), number("coolerPower", 3000))
        emergencyHeaterPower = number("emergencyHeaterPower", 2000)
        hysteresis = Int(clamping: parameters["hysteresis"]?.signed ?? 25)
        temperatureStep = max(1, Int(clamping: parameters["temperatureStep"]?.signed ?? 10))
        let outdoor = configuration.attributes[Attributes.outdoorTemperature]?.signed ?? 1000
        let indoor = configuration.attributes[Attributes.localTemperature]?.signed ?? 2000
        room = Room(
            heatLoss: number("heatLoss", 100), heatCapacity: number("heatCapacity", 3_000_000), outdoor: Double(outdoor) / 100,
            temperature: Double(indoor) / 100, now: node.environment.now)
        super.init(
            Spec.definition, endpoint: endpoint, node: node, configuration: configuration,
            alsoSupported: (Self.usualAttributes(features: Spec.Feature(rawValue: configuration.features)), []))
    }

    func supports(_ feature: Spec.Feature) -> Bool { hasFeature(feature.rawValue) }

    /// The number of an attribute that exists and is not null.
    func number(_ attribute: AttributeID) -> Int? { has(attribute) ? value(attribute).signed.map { Int($0) } : nil }

    var systemMode: Spec.SystemModeEnum {
        Spec.SystemModeEnum(rawValue: UInt8(clamping: value(Attributes.systemMode).unsigned ?? 0))
    }

    public override func ownConfigurationProblems(_ given: Set<AttributeID>) -> [ConfigurationProblem] { setpointProblems(given) }

    // MARK: Running

    public override func start() {
        (output, atomicWrite, crossing, holdExpiry, scheduleTimer) = (.off, nil, nil, nil, nil)
        room.change(at: node.environment.now, power: 0, temperature: keptTemperature)
        for occupied in [true, false] { settle(occupied: occupied) }
        resumeHold()
        control()
        resumeSchedule()
        if supports(.occupancy) { followOccupancySensor() }
    }

    /// A sensor on the same endpoint says whether somebody is there.
    private func followOccupancySensor() {
        let copy: () -> Void = { [weak self] in
            guard let self, let sensor = node.cluster(OccupancySensingCluster.self, at: endpoint) else { return }
            set(Attributes.occupancy, .unsigned(sensor.isOccupied ? 1 : 0))
            control()
        }
        copy()
        node.observe(endpoint, OccupancySensing.id, OccupancySensing.Attributes.occupancy, copy)
    }

    public override func stop() { keepTemperature() }

    public override func fabricRemoved(_ fabric: FabricIndex) {
        if let atomicWrite, atomicWrite.peer.fabricIndex == fabric.rawValue { endAtomicWrite() }
    }

    // MARK: Attributes

    public override var valueChecks: ValueChecker.Options {
        var options = ValueChecker.Options()
        options.refusesDisallowedItems = true
        return options
    }

    /// Setbacks that are out of their range are brought into it, not refused (4.3.9.35).
    public override func valueChecks(of attribute: AttributeDefinition) -> ValueChecker.Options {
        var options = valueChecks
        switch attribute.id {
        case Attributes.occupiedSetback, Attributes.unoccupiedSetback, Attributes.localTemperatureCalibration:
            options.checksConstraints = false
        case Attributes.presets, Attributes.schedules:
            // Too many entries have a status of their own; each entry is checked by itself.
            options.checksConstraints = false
        default: break
        }
        return options
    }

    public override func computedValue(of attribute: AttributeID, _ context: InteractionContext) -> TLVValue? {
        // Who writes sees what is written so far; everybody else sees what is committed.
        guard let atomicWrite, atomicWrite.isOf(context.peer) else { return nil }
        return atomicWrite.pending[attribute]
    }

    public override func willWrite(
        _ attribute: AttributeDefinition, _ value: TLVValue, _ context: InteractionContext
    ) throws(Status) -> TLVValue {
        switch attribute.id {
        case Attributes.presets, Attributes.schedules: return try acceptAtomically(attribute, value, context)
        case Attributes.controlSequenceOfOperation, Attributes.minSetpointDeadBand:
            // Accepted, and ignored: what the equipment can do does not change by a write (4.3.9.20, 4.3.9.18).
            return self.value(attribute.id)
        default: return try accepted(attribute.id, value)
        }
    }

    public override func didWrite(
        _ attribute: AttributeDefinition, from old: TLVValue, to new: TLVValue, _ context: InteractionContext
    ) {
        guard old != new else { return }
        changed(attribute.id, from: old, to: new, by: .external)
    }

    /// What becomes of a new value, from outside or at the device.
    private func accepted(_ attribute: AttributeID, _ value: TLVValue) throws(Status) -> TLVValue {
        switch attribute {
        case Attributes.occupiedHeatingSetpoint, Attributes.unoccupiedHeatingSetpoint, Attributes.occupiedCoolingSetpoint,
            Attributes.unoccupiedCoolingSetpoint:
            try pushOpposite(of: attribute, to: Int(value.signed ?? 0))
        case Attributes.minHeatSetpointLimit, Attributes.maxHeatSetpointLimit, Attributes.minCoolSetpointLimit,
            Attributes.maxCoolSetpointLimit:
            try checkLimit(attribute, Int(value.signed ?? 0))
        case Attributes.systemMode: try checkSystemMode(value)
        case Attributes.remoteSensing:
            if supports(.localTemperatureNotExposed), (value.unsigned ?? 0) & 1 != 0 {
                throw Status(.constraintError, "a local temperature that is not exposed is not sensed remotely")
            }
        case Attributes.localTemperatureCalibration:
            return .signed(min(25, max(-25, value.signed ?? 0)))
        case Attributes.occupiedSetback:
            return clampedSetback(value, Attributes.occupiedSetbackMin, Attributes.occupiedSetbackMax)
        case Attributes.unoccupiedSetback:
            return clampedSetback(value, Attributes.unoccupiedSetbackMin, Attributes.unoccupiedSetbackMax)
        default: break
        }
        return value
    }

    private func clampedSetback(_ value: TLVValue, _ minimum: AttributeID, _ maximum: AttributeID) -> TLVValue {
        guard let setback = value.unsigned else { return .null }
        let low = self.value(minimum).unsigned ?? 0
        return .unsigned(min(max(setback, low), max(low, self.value(maximum).unsigned ?? 254)))
    }

    private func checkSystemMode(_ value: TLVValue) throws(Status) {
        let mode = Spec.SystemModeEnum(rawValue: UInt8(clamping: value.unsigned ?? 0))
        let forbidden: Bool =
            switch mode {
            case .heat, .emergencyHeat: !mayHeat
            case .cool, .precooling: !mayCool
            default: false
            }
        if forbidden { throw Status(.constraintError, "the control sequence of operation forbids the mode") }
    }

    /// What follows from a changed attribute.
    func changed(_ attribute: AttributeID, from old: TLVValue, to new: TLVValue, by source: Spec.SetpointChangeSourceEnum) {
        switch attribute {
        case Attributes.occupiedHeatingSetpoint, Attributes.unoccupiedHeatingSetpoint, Attributes.occupiedCoolingSetpoint,
            Attributes.unoccupiedCoolingSetpoint:
            noteSetpointChange(by: Int((new.signed ?? 0) - (old.signed ?? 0)), source)
            // Only a setpoint that counts now ends the preset (4.3.9.13 to 16).
            if source != .schedule, isInEffect(attribute) { set(Attributes.activePresetHandle, .null) }
        case Attributes.minHeatSetpointLimit, Attributes.maxHeatSetpointLimit, Attributes.minCoolSetpointLimit,
            Attributes.maxCoolSetpointLimit:
            for occupied in [true, false] { settle(occupied: occupied) }
        case Attributes.temperatureSetpointHold, Attributes.temperatureSetpointHoldDuration: holdChanged()
        case Attributes.systemMode:
            // A setpoint is held until the mode changes (4.3.9.27).
            if has(Attributes.temperatureSetpointHold) { set(Attributes.temperatureSetpointHold, .unsigned(0)) }
            endHold()
        case Attributes.thermostatProgrammingOperationMode: resumeSchedule()
        default: break
        }
        control()
    }

    public override func setLocally(_ attribute: AttributeDefinition, _ value: TLVValue) throws(Status) {
        let old = self.value(attribute.id)
        switch attribute.id {
        case Attributes.localTemperature:
            sensorIsBroken = value.isNull
            if let temperature = value.signed {
                room.change(at: node.environment.now, temperature: Double(Int(temperature) - calibration) / 100)
            }
            return control(exact: true)
        case Attributes.outdoorTemperature:
            set(attribute.id, value)
            if let outdoor = value.signed { room.change(at: node.environment.now, outdoor: Double(outdoor) / 100) }
        case Attributes.presets, Attributes.schedules: try replaceLocally(attribute, value)
        default: set(attribute.id, try accepted(attribute.id, value))
        }
        let new = self.value(attribute.id)
        if new != old { changed(attribute.id, from: old, to: new, by: .manual) }
    }

    // MARK: Commands

    /// A mode that the features rule out is INVALID_COMMAND in SetpointRaiseLower, where the model's check would say CONSTRAINT_ERROR.
    public override func checksFields(of command: CommandDefinition) -> Bool { command.id != Spec.Commands.setpointRaiseLower }

    public override func handle(
        _ command: CommandDefinition, _ fields: TLVValue, _ context: InteractionContext
    ) throws(Status) -> CommandOutcome {
        switch command.id {
        case Spec.Commands.setpointRaiseLower: try raiseOrLower(try Spec.SetpointRaiseLower(tlv: fields))
        case Spec.Commands.atomicRequest: return .reply(try atomicRequest(try Spec.AtomicRequest(tlv: fields), context))
        case Spec.Commands.setActivePresetRequest: try activatePreset(try Spec.SetActivePresetRequest(tlv: fields).presetHandle.value)
        case Spec.Commands.setActiveScheduleRequest:
            try activateSchedule(try Spec.SetActiveScheduleRequest(tlv: fields).scheduleHandle)
        case Spec.Commands.setWeeklySchedule: try setWeeklySchedule(try Spec.SetWeeklySchedule(tlv: fields))
        case Spec.Commands.getWeeklySchedule: return .reply(try weeklySchedule(try Spec.GetWeeklySchedule(tlv: fields)))
        case Spec.Commands.clearWeeklySchedule: clearWeeklySchedule()
        default: throw Status(.unsupportedCommand)
        }
        return .success
    }
}

extension TLVValue {
    /// An integer or a floating-point number, as profiles give both for the same thing.
    var number: Double? {
        switch self {
        case .signed(let value): Double(value)
        case .unsigned(let value): Double(value)
        case .float(let value): Double(value)
        case .double(let value): value
        default: nil
        }
    }
}
