/// What a number counts, and in what steps.
public struct Unit: Sendable, Hashable {
    /// Such as `°C`; empty for a mere number.
    public var symbol: String
    /// How many of the integer's steps make one of the unit, as 100 for hundredths of a degree.
    public var steps: Int64

    /// A unit of which an integer counts `steps`, at least 1.
    public init(_ symbol: String, steps: Int64 = 1) { (self.symbol, self.steps) = (symbol, steps) }

    /// How many decimal digits the steps need.
    public var decimals: Int { steps >= 10000 ? 4 : steps >= 1000 ? 3 : steps >= 100 ? 2 : steps >= 2 ? 1 : 0 }
}

extension TypeReference {
    /// The unit of a type that has one (Matter Core, 7.19.2; Thermostat's own types).
    public var unit: Unit? {
        switch name {
        case "temperature", "TemperatureDifference": Unit("°C", steps: 100)
        case "SignedTemperature", "UnsignedTemperature": Unit("°C", steps: 10)
        case "percent": Unit("%")
        case "percent100ths": Unit("%", steps: 100)
        case "elapsed-s": Unit("s")
        case "power-mW": Unit("W", steps: 1000)
        case "energy-mWh": Unit("Wh", steps: 1000)
        case "amperage-mA": Unit("A", steps: 1000)
        case "voltage-mV": Unit("V", steps: 1000)
        default: nil
        }
    }

    /// The unit of an element: its type's, or for a plain integer what the cluster's text says of that element.
    public func unit(of element: String, in cluster: ClusterID?) -> Unit? {
        if let unit {
            // Reactive and apparent power share the type of active power.
            guard cluster == ElectricalPowerMeasurement.id, name == "power-mW" else { return unit }
            return switch element {
            case "ReactivePower": Unit("var", steps: 1000)
            case "ApparentPower": Unit("VA", steps: 1000)
            default: unit
            }
        }
        guard let cluster else { return nil }
        return switch base {
        case .unsigned: unsignedUnit(of: element, in: cluster)
        case .signed: signedUnit(of: element, in: cluster)
        default: nil
        }
    }

    private func unsignedUnit(of element: String, in cluster: ClusterID) -> Unit? {
        switch cluster {
        case Identify.id where element == "IdentifyTime": Unit("s")
        case OnOff.id where ["OnTime", "OffWaitTime"].contains(element): Unit("s", steps: 10)
        case LevelControl.id, ColorControl.id: lightUnit(of: element)
        case ScenesManagement.id where element == "TransitionTime": Unit("s", steps: 1000)
        case Actions.id where element == "TransitionTime": Unit("s", steps: 10)
        case Actions.id where element == "Duration": Unit("s")
        case TemperatureMeasurement.id: Unit("°C", steps: 100)
        case PressureMeasurement.id where element == "Tolerance": Unit("kPa", steps: 10)
        case RelativeHumidityMeasurement.id: Unit("%", steps: 100)
        case FlowMeasurement.id: Unit("m³/h", steps: 10)
        case PowerSource.id: powerSourceUnit(of: element)
        case Thermostat.id where ["PICoolingDemand", "PIHeatingDemand"].contains(element): Unit("%")
        case Thermostat.id where ["TemperatureSetpointHoldDuration", "TransitionTime"].contains(element): Unit("min")
        case DoorLock.id where ["AutoRelockTime", "UserCodeTemporaryDisableTime", "Timeout"].contains(element): Unit("s")
        case DoorLock.id where element == "ExpiringUserTimeout": Unit("min")
        case WindowCovering.id where element.hasSuffix("Lift") && !element.hasPrefix("Number"): Unit("cm")
        case WindowCovering.id where element.hasSuffix("Tilt") && !element.hasPrefix("Number"): Unit("°", steps: 10)
        case OccupancySensing.id where element.hasSuffix("Delay") || element.hasPrefix("HoldTime"): Unit("s")
        case GeneralCommissioning.id where element.hasSuffix("Seconds"): Unit("s")
        case NetworkCommissioning.id where element.hasSuffix("Seconds"): Unit("s")
        case AdministratorCommissioning.id where element == "CommissioningTimeout": Unit("s")
        case GeneralDiagnostics.id where element == "UpTime": Unit("s")
        case GeneralDiagnostics.id where element == "TotalOperationalHours": Unit("h")
        case SoftwareDiagnostics.id where element.contains("Heap") || element.hasPrefix("Stack"): Unit("B")
        default: nil
        }
    }

    private func lightUnit(of element: String) -> Unit? {
        if element.hasSuffix("TransitionTime") || element == "RemainingTime" { return Unit("s", steps: 10) }
        return ["ColorLoopTime", "Time"].contains(element) ? Unit("s") : nil
    }

    private func powerSourceUnit(of element: String) -> Unit? {
        switch element {
        case "BatPercentRemaining": Unit("%", steps: 2)
        case "BatTimeRemaining", "BatTimeToFullCharge": Unit("s")
        case "BatCapacity": Unit("Ah", steps: 1000)
        case "BatVoltage", "WiredAssessedInputVoltage", "WiredNominalVoltage": Unit("V", steps: 1000)
        case "BatChargingCurrent", "WiredAssessedCurrent", "WiredMaximumCurrent": Unit("A", steps: 1000)
        case "WiredAssessedInputFrequency": Unit("Hz")
        default: nil
        }
    }

    private func signedUnit(of element: String, in cluster: ClusterID) -> Unit? {
        switch cluster {
        case PressureMeasurement.id where !element.contains("Scale"): Unit("kPa", steps: 10)
        case Thermostat.id where element == "Amount": Unit("°C", steps: 10)
        case ElectricalPowerMeasurement.id where element == "Frequency": Unit("Hz", steps: 1000)
        case ElectricalPowerMeasurement.id where element == "PowerFactor": Unit("%", steps: 100)
        case TimeSynchronization.id where element == "Offset": Unit("s")
        case NetworkCommissioning.id where element == "RSSI": Unit("dBm")
        default: nil
        }
    }
}

extension TypeReference {
    /// The type of a list's entries; nil for others.
    public var entry: TypeReference? { if case .list(let entry) = base { entry } else { nil } }

    /// The lowest and highest integer that the type encodes; one value at the end is null when the element is nullable (Matter
    /// Core, 7.19.1). Nil for types that are no integers, and for bitmaps.
    public func integerRange(isNullable: Bool) -> (minimum: Int64, maximum: UInt64)? {
        let reserved: UInt64 = isNullable ? 1 : 0
        switch base {
        case .unsigned(let bytes) where name.hasPrefix("map"): return (0, Self.unsignedMaximum(bytes))
        case .unsigned(let bytes): return (0, Self.unsignedMaximum(bytes) - reserved)
        case .enumeration(let definition): return (0, Self.unsignedMaximum(definition.bytes) - reserved)
        case .signed(let bytes):
            let maximum = Int64(Self.unsignedMaximum(bytes) >> 1)
            return (-maximum - (isNullable ? 0 : 1), UInt64(maximum))
        default: return nil
        }
    }

    private static func unsignedMaximum(_ bytes: UInt8) -> UInt64 {
        bytes >= 8 ? UInt64.max : (UInt64(1) << (UInt64(bytes) * 8)) - 1
    }
}
