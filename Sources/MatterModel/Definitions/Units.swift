/// What a number counts, and in what steps.
public struct Unit: Sendable, Hashable {
    /// Such as `°C`; empty for a mere number.
    public var symbol: String
    /// The number of decimal digits that the integer holds, as 2 for hundredths of a degree.
    public var decimals: Int

    public init(_ symbol: String, decimals: Int = 0) { (self.symbol, self.decimals) = (symbol, decimals) }
}

extension TypeReference {
    /// The unit of a type that has one (Matter Core, 7.19.2; Thermostat's own types, 4.3.7 of the cluster library).
    public var unit: Unit? {
        switch name {
        case "temperature", "TemperatureDifference": Unit("°C", decimals: 2)
        case "SignedTemperature", "UnsignedTemperature": Unit("°C", decimals: 1)
        case "percent": Unit("%")
        case "percent100ths": Unit("%", decimals: 2)
        case "elapsed-s": Unit("s")
        case "power-mW": Unit("W", decimals: 3)
        case "energy-mWh": Unit("Wh", decimals: 3)
        case "amperage-mA": Unit("A", decimals: 3)
        case "voltage-mV": Unit("V", decimals: 3)
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
