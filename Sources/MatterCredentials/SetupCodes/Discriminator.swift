/// What tells apart the devices that wait to be paired: 12 bits, of which a manual code carries the upper 4 (Matter Core, 5.4.2.4.1).
public enum Discriminator: Hashable, Sendable {
    /// All 12 bits, 0 to 4095: from a QR code or a device's own configuration.
    case long(UInt16)
    /// The upper 4 bits, 0 to 15: from a manual code.
    case short(UInt8)

    /// - Throws: `outOfRange` beyond 4095.
    public init(long value: UInt16) throws(CredentialsError) {
        guard value <= 0xFFF else {
            throw CredentialsError(.outOfRange, "a discriminator lies between 0 and 4095, and this one is \(value)")
        }
        self = .long(value)
    }

    /// The upper 4 bits.
    public var upper: UInt8 {
        switch self {
        case .long(let value): UInt8(truncatingIfNeeded: value >> 8) & 0xF
        case .short(let value): value & 0xF
        }
    }

    /// All 12 bits, or nil when only the upper 4 are known.
    public var all: UInt16? { if case .long(let value) = self { value & 0xFFF } else { nil } }

    /// Whether a device with `discriminator` (12 bits) may be the one that is meant.
    public func matches(_ discriminator: UInt16) -> Bool {
        switch self {
        case .long(let value): value & 0xFFF == discriminator
        case .short(let value): UInt16(value & 0xF) == discriminator >> 8
        }
    }

    /// The discriminator of device `index` of a fleet: any 16 neighbours differ in the upper 4 bits, which are all that a manual code
    /// carries; 4096 neighbours are all different. The same index and seed give the same discriminator.
    public static func ofFleet(index: Int, seed: UInt64 = 0) -> UInt16 {
        let position = UInt64(truncatingIfNeeded: index) & 0xFFF
        let (column, row) = (position & 0xF, position >> 4)
        // The low byte is a permutation of the rows (an odd factor), another one in each column.
        let mixed = mix(seed)
        let upper = (column &+ mixed) & 0xF
        let lower = (row &* (mixed >> 8 | 1) &+ mixed >> 16 &+ column &* 0x67) & 0xFF
        return UInt16(truncatingIfNeeded: upper << 8 | lower)
    }

    /// The finaliser of SplitMix64: spreads a small seed over all bits.
    private static func mix(_ seed: UInt64) -> UInt64 {
        var z = seed &+ 0x9E37_79B9_7F4A_7C15
        z = (z ^ (z >> 30)) &* 0xBF58_476D_1CE4_E5B9
        z = (z ^ (z >> 27)) &* 0x94D0_49BB_1331_11EB
        return z ^ (z >> 31)
    }
}
