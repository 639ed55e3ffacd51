import MatterModel
import MatterTLV

/// What a profile may not say of setpoints and their limits: the data model leaves it to the specification's text (4.3.6).
extension ThermostatCluster {
    func setpointProblems(_ given: Set<AttributeID>) -> [ConfigurationProblem] {
        var problems: [ConfigurationProblem] = []
        for isHeating in [true, false] where supports(isHeating ? .heating : .cooling) {
            problems += limitProblems(Limits(heating: isHeating), given)
        }
        if problems.isEmpty { problems += limitsInDeadBand(given) }
        guard problems.isEmpty else { return problems }
        let pairs = [
            (Attributes.occupiedHeatingSetpoint, Attributes.occupiedCoolingSetpoint),
            (Attributes.unoccupiedHeatingSetpoint, Attributes.unoccupiedCoolingSetpoint),
        ]
        for (heating, cooling) in pairs {
            let found = [(heating, true), (cooling, false)].compactMap { beyondLimits($0, Limits(heating: $1), given) }
            problems += found.isEmpty ? setpointsInDeadBand(heating, cooling, given) : found
        }
        return problems + presetProblems(given)
    }

    /// The four limits of heating or of cooling.
    private struct Limits {
        let absoluteMinimum, minimum, maximum, absoluteMaximum: AttributeID

        init(heating: Bool) {
            (absoluteMinimum, absoluteMaximum) =
                heating
                ? (Attributes.absMinHeatSetpointLimit, Attributes.absMaxHeatSetpointLimit)
                : (Attributes.absMinCoolSetpointLimit, Attributes.absMaxCoolSetpointLimit)
            (minimum, maximum) =
                heating
                ? (Attributes.minHeatSetpointLimit, Attributes.maxHeatSetpointLimit)
                : (Attributes.minCoolSetpointLimit, Attributes.maxCoolSetpointLimit)
        }
    }

    private func name(_ attribute: AttributeID) -> String { elements.attributes[attribute]?.name ?? "" }

    /// `MinHeatSetpointLimit = 7.00 °C`.
    private func bound(_ attribute: AttributeID) -> String { "\(name(attribute)) = \(degrees(number(attribute) ?? 0))" }

    private func degrees(_ hundredths: Int) -> String {
        ValueText("", TypeReference("temperature", .signed(bytes: 2)), in: Spec.id).format(.signed(Int64(hundredths)))
    }

    private func problem(_ attribute: AttributeID, _ expected: String, _ limits: Set<AttributeID>) -> ConfigurationProblem {
        ConfigurationProblem(.attribute(attribute), "\(text(of: attribute)) is not allowed: \(expected) is expected", limits: limits)
    }

    /// AbsMin ≤ Min ≤ Max ≤ AbsMax. Of two that are out of order one is told, the wider limit only when it alone was given.
    private func limitProblems(_ limits: Limits, _ given: Set<AttributeID>) -> [ConfigurationProblem] {
        let pairs: [(low: AttributeID, high: AttributeID, first: AttributeID)] = [
            (limits.absoluteMinimum, limits.absoluteMaximum, limits.absoluteMinimum),
            (limits.minimum, limits.maximum, limits.minimum),
            (limits.absoluteMinimum, limits.minimum, limits.minimum),
            (limits.maximum, limits.absoluteMaximum, limits.maximum),
        ]
        for (low, high, first) in pairs {
            guard let least = number(low), let most = number(high), least > most else { continue }
            guard let culprit = [first, first == low ? high : low].first(where: given.contains) else { continue }
            // What follows from it would be told as well.
            return [problem(culprit, culprit == low ? "at most \(bound(high))" : "at least \(bound(low))", [low, high])]
        }
        return []
    }

    /// With automatic mode the limits of heating stay a dead band below those of cooling.
    private func limitsInDeadBand(_ given: Set<AttributeID>) -> [ConfigurationProblem] {
        guard let deadBand else { return [] }
        let (heating, cooling) = (Limits(heating: true), Limits(heating: false))
        for (heat, cool) in [(heating.minimum, cooling.minimum), (heating.maximum, cooling.maximum)] {
            guard let low = number(heat), let high = number(cool), low + deadBand > high else { continue }
            let limits: Set<AttributeID> = [Attributes.minSetpointDeadBand, heat, cool]
            if given.contains(heat) { return [problem(heat, "at most \(degrees(high - deadBand)), \(apart(deadBand, cool))", limits)] }
            if given.contains(cool) { return [problem(cool, "at least \(degrees(low + deadBand)), \(apart(deadBand, heat))", limits)] }
        }
        return []
    }

    /// `MinSetpointDeadBand = 2.50 °C from MaxCoolSetpointLimit = 32.00 °C`.
    private func apart(_ deadBand: Int, _ other: AttributeID) -> String {
        "MinSetpointDeadBand = \(degrees(deadBand)) from \(bound(other)),"
    }

    private func beyondLimits(_ setpoint: AttributeID, _ limits: Limits, _ given: Set<AttributeID>) -> ConfigurationProblem? {
        guard given.contains(setpoint), let value = number(setpoint), let low = number(limits.minimum), let high = number(limits.maximum),
            value < low || value > high
        else { return nil }
        return problem(setpoint, "\(bound(limits.minimum)) to \(bound(limits.maximum))", [limits.minimum, limits.maximum])
    }

    /// A setpoint that was not given moves out of the way of the other one.
    private func setpointsInDeadBand(
        _ heating: AttributeID, _ cooling: AttributeID, _ given: Set<AttributeID>
    ) -> [ConfigurationProblem] {
        guard let deadBand, given.isSuperset(of: [heating, cooling]), let low = number(heating), let high = number(cooling),
            low + deadBand > high
        else { return [] }
        return [problem(heating, "at most \(degrees(high - deadBand)), \(apart(deadBand, cooling))", [Attributes.minSetpointDeadBand])]
    }

    private func presetProblems(_ given: Set<AttributeID>) -> [ConfigurationProblem] {
        guard given.contains(Attributes.presets) else { return [] }
        do throws(Status) { try checkPresets(presets) } catch {
            return [ConfigurationProblem(.attribute(Attributes.presets), error.reason ?? "\(error)")]
        }
        return []
    }
}
