import MatterInteraction
import MatterModel
import MatterTLV

/// Setpoints, their limits and the dead band between them (4.3.6).
extension ThermostatCluster {
    /// One kind of setpoint in one state of occupancy.
    private struct Setpoint {
        var isHeating: Bool
        var isOccupied: Bool

        init(heating: Bool, occupied: Bool) { (isHeating, isOccupied) = (heating, occupied) }

        init?(_ attribute: AttributeID) {
            switch attribute {
            case Attributes.occupiedHeatingSetpoint: self.init(heating: true, occupied: true)
            case Attributes.unoccupiedHeatingSetpoint: self.init(heating: true, occupied: false)
            case Attributes.occupiedCoolingSetpoint: self.init(heating: false, occupied: true)
            case Attributes.unoccupiedCoolingSetpoint: self.init(heating: false, occupied: false)
            default: return nil
            }
        }

        var attribute: AttributeID {
            switch (isHeating, isOccupied) {
            case (true, true): Attributes.occupiedHeatingSetpoint
            case (true, false): Attributes.unoccupiedHeatingSetpoint
            case (false, true): Attributes.occupiedCoolingSetpoint
            case (false, false): Attributes.unoccupiedCoolingSetpoint
            }
        }
        var opposite: Setpoint { Setpoint(heating: !isHeating, occupied: isOccupied) }
    }

    /// The dead band in 0.01 °C; nil without the feature that makes it count.
    var deadBand: Int? { supports(.autoMode) ? (number(Attributes.minSetpointDeadBand) ?? 20) * 10 : nil }

    var heatingLimits: ClosedRange<Int> {
        Self.range(
            number(Attributes.minHeatSetpointLimit) ?? number(Attributes.absMinHeatSetpointLimit) ?? 700,
            number(Attributes.maxHeatSetpointLimit) ?? number(Attributes.absMaxHeatSetpointLimit) ?? 3000)
    }
    var coolingLimits: ClosedRange<Int> {
        Self.range(
            number(Attributes.minCoolSetpointLimit) ?? number(Attributes.absMinCoolSetpointLimit) ?? 1600,
            number(Attributes.maxCoolSetpointLimit) ?? number(Attributes.absMaxCoolSetpointLimit) ?? 3200)
    }

    private static func range(_ low: Int, _ high: Int) -> ClosedRange<Int> { low...max(low, high) }

    /// Whether a setpoint is that of the present occupancy.
    func isInEffect(_ attribute: AttributeID) -> Bool { Setpoint(attribute)?.isOccupied == isOccupied }

    private func limits(_ setpoint: Setpoint) -> ClosedRange<Int> { setpoint.isHeating ? heatingLimits : coolingLimits }

    /// Checks a new setpoint, and moves the opposite one out of the dead band. Nothing changes when that is not possible.
    func pushOpposite(of attribute: AttributeID, to value: Int) throws(Status) {
        guard let setpoint = Setpoint(attribute) else { return }
        guard limits(setpoint).contains(value) else { throw Status(.constraintError, "the setpoint is outside its limits") }
        guard let deadBand, let other = number(setpoint.opposite.attribute) else { return }
        let pushed = setpoint.isHeating ? max(other, value + deadBand) : min(other, value - deadBand)
        guard pushed != other else { return }
        guard limits(setpoint.opposite).contains(pushed) else {
            throw Status(.constraintError, "the dead band would push the other setpoint out of its limits")
        }
        set(setpoint.opposite.attribute, .signed(Int64(pushed)))
    }

    /// Whether a limit may have a value: AbsMin ≤ Min ≤ Max ≤ AbsMax, and with automatic mode the limits of heating stay a dead band below
    /// those of cooling.
    func checkLimit(_ attribute: AttributeID, _ value: Int) throws(Status) {
        func limit(_ id: AttributeID, _ fallback: Int) -> Int { id == attribute ? value : number(id) ?? fallback }
        let absoluteHeat = (number(Attributes.absMinHeatSetpointLimit) ?? 700, number(Attributes.absMaxHeatSetpointLimit) ?? 3000)
        let absoluteCool = (
            number(Attributes.absMinCoolSetpointLimit) ?? 1600, number(Attributes.absMaxCoolSetpointLimit) ?? 3200
        )
        let heat = (
            limit(Attributes.minHeatSetpointLimit, absoluteHeat.0), limit(Attributes.maxHeatSetpointLimit, absoluteHeat.1)
        )
        let cool = (
            limit(Attributes.minCoolSetpointLimit, absoluteCool.0), limit(Attributes.maxCoolSetpointLimit, absoluteCool.1)
        )
        let isOfHeating = attribute == Attributes.minHeatSetpointLimit || attribute == Attributes.maxHeatSetpointLimit
        let (limits, absolute) = isOfHeating ? (heat, absoluteHeat) : (cool, absoluteCool)
        guard absolute.0 <= limits.0, limits.0 <= limits.1, limits.1 <= absolute.1 else {
            throw Status(.constraintError, "the limits are not in order")
        }
        if let deadBand, heat.0 > cool.0 - deadBand || heat.1 > cool.1 - deadBand {
            throw Status(.constraintError, "the limits leave no dead band between heating and cooling")
        }
    }

    /// Moves setpoints into their limits and apart, by as little as possible.
    func settle(occupied: Bool) {
        let (heating, cooling) = (Setpoint(heating: true, occupied: occupied), Setpoint(heating: false, occupied: occupied))
        var (heat, cool) = (number(heating.attribute), number(cooling.attribute))
        if let value = heat { heat = value.clamped(to: heatingLimits) }
        if let value = cool { cool = value.clamped(to: coolingLimits) }
        if let deadBand, let low = heat, let high = cool, low > high - deadBand {
            let pushed = (low + deadBand).clamped(to: coolingLimits)
            (heat, cool) = ((pushed - deadBand).clamped(to: heatingLimits), pushed)
        }
        if let heat { set(heating.attribute, .signed(Int64(heat))) }
        if let cool { set(cooling.attribute, .signed(Int64(cool))) }
    }

    /// SetpointRaiseLower (4.3.10.1). The amount is cut where a limit is met; both setpoints keep their distance.
    func raiseOrLower(_ request: Thermostat.SetpointRaiseLower) throws(Status) {
        let amount = Int(request.amount) * 10
        switch request.mode {
        case .heat where supports(.heating): try shift(Setpoint(heating: true, occupied: true), by: amount)
        case .cool where supports(.cooling): try shift(Setpoint(heating: false, occupied: true), by: amount)
        case .both:
            let setpoints = [true, false].map { Setpoint(heating: $0, occupied: true) }.filter { has($0.attribute) }
            let possible = setpoints.map { setpoint in
                let now = number(setpoint.attribute) ?? 0
                return (now + amount).clamped(to: limits(setpoint)) - now
            }
            guard let shift = possible.min(by: { abs($0) < abs($1) }) else { throw Status(.invalidCommand) }
            for setpoint in setpoints { setSetpoint(setpoint, to: (number(setpoint.attribute) ?? 0) + shift, by: .external) }
        default: throw Status(.invalidCommand, "the mode is not supported")
        }
        control()
    }

    private func shift(_ setpoint: Setpoint, by amount: Int) throws(Status) {
        var value = ((number(setpoint.attribute) ?? 0) + amount).clamped(to: limits(setpoint))
        // Where the other setpoint cannot be pushed any further, this one stops a dead band from it.
        if let deadBand, has(setpoint.opposite.attribute) {
            let other = limits(setpoint.opposite)
            value = setpoint.isHeating ? min(value, other.upperBound - deadBand) : max(value, other.lowerBound + deadBand)
        }
        try pushOpposite(of: setpoint.attribute, to: value)
        setSetpoint(setpoint, to: value, by: .external)
    }

    private func setSetpoint(_ setpoint: Setpoint, to value: Int, by source: Thermostat.SetpointChangeSourceEnum) {
        let old = self.value(setpoint.attribute)
        let new = TLVValue.signed(Int64(value))
        guard old != new else { return }
        set(setpoint.attribute, new)
        changed(setpoint.attribute, from: old, to: new, by: source)
    }

    /// Sets the setpoints that a preset or a schedule asks for; what is out of the limits is brought into them.
    func applySetpoints(heating: Int?, cooling: Int?, occupied: Bool = true, by source: Thermostat.SetpointChangeSourceEnum) {
        for (isHeating, wanted) in [(true, heating), (false, cooling)] {
            let setpoint = Setpoint(heating: isHeating, occupied: occupied)
            guard let wanted, has(setpoint.attribute) else { continue }
            let old = value(setpoint.attribute)
            let new = TLVValue.signed(Int64(wanted.clamped(to: limits(setpoint))))
            set(setpoint.attribute, new)
            if old != new { noteSetpointChange(by: Int((new.signed ?? 0) - (old.signed ?? 0)), source) }
        }
        settle(occupied: occupied)
        control()
    }

    func noteSetpointChange(by amount: Int, _ source: Thermostat.SetpointChangeSourceEnum) {
        guard amount != 0 else { return }
        set(Attributes.setpointChangeSource, source.tlv)
        set(Attributes.setpointChangeAmount, .signed(Int64(amount)))
        set(Attributes.setpointChangeSourceTimestamp, .unsigned(UInt64(epochSeconds)))
    }

    /// Seconds since 2000-01-01 UTC as the device believes it; 0 before that.
    var epochSeconds: UInt32 {
        let seconds = node.environment.wall.wholeNanoseconds / 1_000_000_000
        return UInt32(clamping: seconds - Self.unixSecondsOf2000)
    }
    static var unixSecondsOf2000: Int64 { 946_684_800 }
}

extension Int {
    func clamped(to range: ClosedRange<Int>) -> Int { Swift.min(Swift.max(self, range.lowerBound), range.upperBound) }
}
