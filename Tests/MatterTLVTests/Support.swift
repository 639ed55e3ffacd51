import MatterTLV

/// The bytes that hexadecimal digits spell; spaces do not count.
func hex(_ text: String) -> [UInt8] {
    let digits = text.compactMap(\.hexDigitValue)
    return stride(from: 0, to: digits.count - 1, by: 2).map { UInt8(digits[$0] << 4 | digits[$0 + 1]) }
}

func hex(_ bytes: [UInt8]) -> String {
    bytes.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
}

func decodingError(_ bytes: [UInt8], limits: TLVLimits = .standard) -> TLVError? {
    do throws(TLVError) {
        _ = try TLVElement(decoding: bytes, limits: limits)
        return nil
    } catch {
        return error
    }
}

/// A small generator of numbers with a seed, the same in every run (SplitMix64).
struct Seeded: RandomNumberGenerator {
    private var state: UInt64

    init(_ seed: UInt64) { state = seed }

    mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var mixed = state
        mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
        mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
        return mixed ^ (mixed >> 31)
    }
}

/// Elements of every type, with every form of tag, favouring what lies at the limits of a width.
struct ElementGenerator {
    private var random: Seeded

    init(seed: UInt64) { random = Seeded(seed) }

    mutating func element() -> TLVElement { TLVElement(profileTag(orAnonymous: true), value(depth: 0)) }

    private mutating func pick(_ count: Int) -> Int { Int.random(in: 0..<count, using: &random) }

    /// A number with a random count of significant bits, often all ones or just above.
    private mutating func number() -> UInt64 {
        let bits = pick(65)
        let mask: UInt64 = bits == 64 ? .max : (1 << UInt64(bits)) - 1
        switch pick(4) {
        case 0: return mask
        case 1: return mask &+ 1
        default: return random.next() & mask
        }
    }

    private mutating func profileTag(orAnonymous: Bool) -> TLVTag {
        let number = UInt32(truncatingIfNeeded: number())
        switch pick(orAnonymous ? 4 : 3) {
        case 0: return .commonProfile(number)
        case 1: return .implicitProfile(number)
        case 2:
            return .fullyQualified(
                vendor: UInt16(truncatingIfNeeded: random.next()), profile: UInt16(truncatingIfNeeded: random.next()), tag: number
            )
        default: return .anonymous
        }
    }

    private mutating func memberTag(anonymous: Bool) -> TLVTag {
        pick(4) > 0 ? .context(UInt8(truncatingIfNeeded: random.next())) : profileTag(orAnonymous: anonymous)
    }

    private mutating func members(depth: Int, anonymous: Bool) -> [TLVElement] {
        (0..<pick(5)).map { _ in TLVElement(memberTag(anonymous: anonymous), value(depth: depth + 1)) }
    }

    private mutating func value(depth: Int) -> TLVValue {
        switch pick(depth < 6 ? 11 : 8) {
        case 0: return .signed(Int64(bitPattern: number()))
        case 1: return .unsigned(number())
        case 2: return .boolean(pick(2) == 0)
        case 3: return .float(Float(bitPattern: UInt32(truncatingIfNeeded: random.next())))
        case 4: return .double(Double(bitPattern: random.next()))
        case 5: return .utf8(text())
        case 6: return .octets((0..<length()).map { _ in UInt8(truncatingIfNeeded: random.next()) })
        case 7: return .null
        case 8: return .structure(members(depth: depth, anonymous: false))
        case 9: return .list(members(depth: depth, anonymous: true))
        default: return .array((0..<pick(5)).map { _ in value(depth: depth + 1) })
        }
    }

    private mutating func length() -> Int {
        switch pick(40) {
        case 0: 255 + pick(3)
        case 1: 65_534 + pick(3)
        default: pick(20)
        }
    }

    private mutating func text() -> String {
        let scalars: [Unicode.Scalar] = ["a", "\u{0}", "é", "灯", "💡", "\u{10FFFF}", "\u{308}", "Z"]
        var text = String.UnicodeScalarView()
        for _ in 0..<(pick(30) == 0 ? 16_000 + pick(400) : pick(12)) { text.append(scalars[pick(scalars.count)]) }
        return String(text)
    }
}

/// The fewest bytes that an element can take, counted here without the writer.
func shortestLength(_ element: TLVElement) -> Int {
    let tag: Int
    switch element.tag {
    case .anonymous: tag = 0
    case .context: tag = 1
    case .commonProfile(let number), .implicitProfile(let number): tag = number < 65_536 ? 2 : 4
    case .fullyQualified(_, _, let number): tag = number < 65_536 ? 6 : 8
    }
    return 1 + tag + shortestBody(element.value)
}

private func shortestBody(_ value: TLVValue) -> Int {
    func string(_ count: Int) -> Int { count + (count < 256 ? 1 : count < 65_536 ? 2 : 4) }
    switch value {
    case .signed(let number):
        if (-128...127).contains(number) { return 1 }
        if (-32_768...32_767).contains(number) { return 2 }
        return (-2_147_483_648...2_147_483_647).contains(number) ? 4 : 8
    case .unsigned(let number): return number < 256 ? 1 : number < 65_536 ? 2 : number < 4_294_967_296 ? 4 : 8
    case .boolean, .null: return 0
    case .float: return 4
    case .double: return 8
    case .utf8(let text): return string(text.utf8.count)
    case .octets(let bytes): return string(bytes.count)
    case .structure(let members), .list(let members): return members.reduce(1) { $0 + shortestLength($1) }
    case .array(let members): return members.reduce(1) { $0 + 1 + shortestBody($1) }
    }
}
