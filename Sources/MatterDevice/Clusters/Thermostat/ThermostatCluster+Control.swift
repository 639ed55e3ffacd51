import HearthTime
import MatterModel
import MatterTLV

/// What is switched on and off, and the room that answers to it.
extension ThermostatCluster {
    private var sequence: Thermostat.ControlSequenceOfOperationEnum {
        .init(rawValue: UInt8(clamping: value(Attributes.controlSequenceOfOperation).unsigned ?? 0))
    }
    /// Whether features and control sequence let the device heat.
    var mayHeat: Bool { supports(.heating) && sequence != .coolingOnly && sequence != .coolingWithReheat }
    var mayCool: Bool { supports(.cooling) && sequence != .heatingOnly && sequence != .heatingWithReheat }

    /// What the sensor shows beyond the true temperature, 0.01 °C.
    var calibration: Int { (number(Attributes.localTemperatureCalibration) ?? 0) * 10 }

    var isOccupied: Bool { !supports(.occupancy) || (value(Attributes.occupancy).unsigned ?? 1) & 1 != 0 }

    /// Half the band around the setpoint, or the setback where it is more (4.3.9.35).
    private var offset: Int {
        let setback = number(isOccupied ? Attributes.occupiedSetback : Attributes.unoccupiedSetback) ?? 0
        return max(hysteresis, setback * 10)
    }

    /// The temperatures between which the heater is switched; nil when the mode does not heat.
    private var heatingBand: (on: Int, off: Int)? {
        guard mayHeat, [.heat, .emergencyHeat, .auto, .sleep].contains(systemMode),
            let setpoint = number(isOccupied ? Attributes.occupiedHeatingSetpoint : Attributes.unoccupiedHeatingSetpoint)
        else { return nil }
        return (setpoint - offset, setpoint + hysteresis)
    }
    private var coolingBand: (on: Int, off: Int)? {
        guard mayCool, [.cool, .precooling, .auto, .sleep].contains(systemMode),
            let setpoint = number(isOccupied ? Attributes.occupiedCoolingSetpoint : Attributes.unoccupiedCoolingSetpoint)
        else { return nil }
        return (setpoint + offset, setpoint - hysteresis)
    }

    /// The temperature as the sensor has it now.
    private var sensed: Int { Int((room.temperature(at: node.environment.now) * 100).rounded()) + calibration }

    /// Decides what runs, shows it in the attributes, and schedules when it has to be decided again.
    /// - Parameter exact: LocalTemperature shows the room's temperature even when it moved by less than a step.
    func control(exact: Bool = false) {
        guard node.isRunning else { return }
        let temperature = sensed
        let wanted = decision(temperature)
        var exact = exact
        if wanted != output {
            output = wanted
            exact = true
            let power: Double =
                switch wanted {
                case .heating: heaterPower
                case .emergencyHeating: heaterPower + emergencyHeaterPower
                case .cooling: -coolerPower
                case .off, .fan: 0
                }
            room.change(at: node.environment.now, power: power)
        }
        show(temperature, exact: exact)
        // A power cut leaves no time for it.
        keepTemperature()
        scheduleCrossing(temperature)
    }

    private var isHeating: Bool { output == .heating || output == .emergencyHeating }

    /// So far below the setpoint the second heater helps (4.3.9.39); nil without the attribute.
    private var emergencyThreshold: Int? {
        guard let delta = number(Attributes.emergencyHeatDelta),
            let setpoint = number(isOccupied ? Attributes.occupiedHeatingSetpoint : Attributes.unoccupiedHeatingSetpoint)
        else { return nil }
        return setpoint - delta * 10
    }

    private func decision(_ temperature: Int) -> Output {
        if systemMode == .fanOnly || systemMode == .dry { return .fan }
        guard !sensorIsBroken else { return .off }
        if let band = heatingBand, isHeating ? temperature < band.off : temperature <= band.on {
            let isEmergency = systemMode == .emergencyHeat || temperature <= emergencyThreshold ?? .min
            return isEmergency ? .emergencyHeating : .heating
        }
        if let band = coolingBand, output == .cooling ? temperature > band.off : temperature >= band.on { return .cooling }
        return .off
    }

    private func show(_ temperature: Int, exact: Bool) {
        let hidden = sensorIsBroken || supports(.localTemperatureNotExposed)
        let shown = value(Attributes.localTemperature).signed.map { Int($0) }
        if hidden {
            set(Attributes.localTemperature, .null)
        } else if exact || abs((shown ?? .min / 2) - temperature) >= temperatureStep {
            set(Attributes.localTemperature, .signed(Int64(temperature.clamped(to: -27315...32767))))
        }
        let relays: Thermostat.RelayStateBitmap =
            switch output {
            case .off: []
            case .heating: .heat
            case .emergencyHeating: [.heat, .heatStage2]
            case .cooling: .cool
            case .fan: .fan
            }
        set(Attributes.thermostatRunningState, relays.tlv)
        let mode: Thermostat.ThermostatRunningModeEnum = isHeating ? .heat : output == .cooling ? .cool : .off
        set(Attributes.thermostatRunningMode, mode.tlv)
        set(Attributes.piHeatingDemand, .unsigned(isHeating ? 100 : 0))
        set(Attributes.piCoolingDemand, .unsigned(output == .cooling ? 100 : 0))
    }

    /// Wakes when the room next reaches a temperature at which something changes, if it ever does.
    private func scheduleCrossing(_ temperature: Int) {
        cancel(crossing)
        crossing = nil
        let now = node.environment.now
        let direction = room.direction(at: now)
        guard direction != 0 else { return }
        var targets: [Int] = []
        if let shown = value(Attributes.localTemperature).signed { targets.append(Int(shown) + direction * temperatureStep) }
        if let band = heatingBand { targets += [band.on, band.off] + [emergencyThreshold].compactMap { $0.map { $0 + 1 } } }
        if let band = coolingBand { targets += [band.on, band.off] }
        let next = targets.filter { ($0 - temperature) * direction > 0 }
            .compactMap { room.delay(until: Double($0 - calibration) / 100, from: now) }.min()
        guard let next else { return }
        crossing = after(next) { [weak self] in
            guard let self else { return }
            crossing = nil
            control()
        }
    }

    // MARK: Over a restart

    /// The room is where it was when the device was switched off.
    var keptTemperature: Double? {
        kept("room").flatMap { try? TLVValue(decoding: $0) }?.signed.map { Double($0) / 100 }
    }
    func keepTemperature() {
        let hundredths = (room.temperature(at: node.environment.now) * 100).rounded()
        guard let value = Int64(exactly: hundredths) else { return }
        keep(TLVValue.signed(value).encoded(), as: "room")
    }
}
