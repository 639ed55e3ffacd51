/// What a number counts, and in what steps.
public struct Unit: Sendable, Hashable {
    /// Such as `°C`; empty for a mere number.
    public var symbol: String
    /// How many of the integer's steps make one of the unit, as 100 for hundredths of a degree.
    public var steps: Int64

    public init(_ symbol: String, steps: Int64 = 1) { (self.symbol, self.steps) = (symbol, steps) }

    /// How many decimal digits the steps need.
    public var decimals: Int { steps >= 1000 ? 3 : steps >= 100 ? 2 : steps >= 2 ? 1 : 0 }
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
        if let unit { return unit }
        guard let cluster, case .unsigned = base else { return signedUnit(of: element, in: cluster) }
        switch cluster {
        case Identify.id where element == "IdentifyTime": return Unit("s")
        case OnOff.id where ["OnTime", "OffWaitTime"].contains(element): return Unit("s", steps: 10)
        case LevelControl.id, ColorControl.id:
            return element.hasSuffix("TransitionTime") || element == "RemainingTime" ? Unit("s", steps: 10) : nil
        case RelativeHumidityMeasurement.id: return Unit("%", steps: 100)
        case FlowMeasurement.id: return Unit("m³/h", steps: 10)
        case PowerSource.id where element == "BatPercentRemaining": return Unit("%", steps: 2)
        case PowerSource.id where element == "BatVoltage": return Unit("V", steps: 1000)
        case Thermostat.id where ["PICoolingDemand", "PIHeatingDemand"].contains(element): return Unit("%")
        case DoorLock.id where element == "AutoRelockTime": return Unit("s")
        case OccupancySensing.id where element.hasSuffix("Delay") || element == "HoldTime": return Unit("s")
        default: return nil
        }
    }

    private func signedUnit(of element: String, in cluster: ClusterID?) -> Unit? {
        switch cluster {
        case PressureMeasurement.id where !element.contains("Scale"): Unit("kPa", steps: 10)
        case Thermostat.id where element == "Amount": Unit("°C", steps: 10)
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
