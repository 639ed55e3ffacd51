import MatterTLV

/// Values as people read and write them.
///
/// What is read: `21.50 °C`, `50 %`, `127 (50 %)`, `on`, the names of items and bits, `null`; structures as `{Field: value}` and lists as `[value]`.
/// What may be written: the same, with or without the space and in any case; a bare integer is the value as it is encoded
/// (`2000` is 20 °C), one with a point or a unit is in the unit (`20.0`, `20C`, `68F`, `50%`); `0x…`; JSON for structures and lists.
public struct ValueText {
    /// The element whose value it is: units and words hang on it.
    public var name: String
    public var type: TypeReference
    public var cluster: ClusterID?

    public init(_ name: String = "", _ type: TypeReference, in cluster: ClusterID? = nil) {
        (self.name, self.type, self.cluster) = (name, type, cluster)
    }
    public init(_ attribute: AttributeDefinition, in cluster: ClusterID) {
        self.init(attribute.name, attribute.type, in: cluster)
    }
    public init(_ field: FieldDefinition, in cluster: ClusterID) { self.init(field.name, field.type, in: cluster) }

    /// What the integer counts; nil for a mere number and for what is no integer.
    public var unit: Unit? { type.unit(of: name, in: cluster) }
    /// The scale on which the integer has a meaning; an element has a unit, or a scale, or neither.
    public var gauge: Gauge? { type.gauge(of: name, in: cluster) }

    /// The value for people.
    public func format(_ value: TLVValue) -> String {
        switch value {
        case .null: return "null"
        case .boolean(let value): return isSwitch ? (value ? "on" : "off") : (value ? "true" : "false")
        case .signed(let number): return format(number)
        case .unsigned(let number): return format(number)
        case .float(let number): return number.description
        case .double(let number): return number.description
        case .utf8(let text): return text
        case .octets(let bytes): return Hexadecimal.text(bytes)
        case .structure(let members): return format(members)
        case .array(let values): return "[" + values.map { entry.format(quoting: $0) }.joined(separator: ", ") + "]"
        case .list(let members): return "[" + members.map { entry.format(quoting: $0.value) }.joined(separator: ", ") + "]"
        }
    }

    /// Whether a boolean is a state of power, for which there are better words.
    var isSwitch: Bool { cluster == OnOff.id && name == "OnOff" }

    private var entry: ValueText {
        ValueText(name, type.entry ?? TypeReference("any", .any), in: cluster)
    }

    /// A string stands in quotes inside something else.
    private func format(quoting value: TLVValue) -> String {
        if case .utf8(let text) = value { return JSONValue.string(text).text() }
        return format(value)
    }

    private func format(_ members: [TLVElement]) -> String {
        var fields: [FieldDefinition] = []
        if case .structure(let definition) = type.base { fields = definition.fields }
        let parts = members.map { member in
            if let field = fields.first(where: { member.tag == .context($0.id.rawValue) }) {
                return field.name + ": " + ValueText(field.name, field.type, in: cluster).format(quoting: member.value)
            }
            let plain = ValueText("", TypeReference("any", .any), in: cluster).format(quoting: member.value)
            if case .context(let number) = member.tag { return "\(number): \(plain)" }
            return "\(member.tag): \(plain)"
        }
        return "{" + parts.joined(separator: ", ") + "}"
    }

    private func format(_ number: Int64) -> String {
        guard let unit else { return String(number) }
        return Decimal.text(number, steps: unit.steps, trimming: unit.symbol == "%") + " " + unit.symbol
    }

    private func format(_ number: UInt64) -> String {
        switch type.base {
        case .enumeration(let definition):
            if type.name == "status", number <= UInt8.max { return StatusCode(rawValue: UInt8(number)).name }
            return definition.item(value: number)?.name ?? String(number)
        case .bitmap(let definition): return definition.text(number)
        default: break
        }
        if unit != nil, let small = Int64(exactly: number) { return format(small) }
        if let meaning = gauge?.text(number) { return "\(number) (\(meaning))" }
        switch type.name {
        case "cluster-id":
            let id = "0x" + Hexadecimal.text(UInt32(truncatingIfNeeded: number)).drop { $0 == "0" }.leftPadded(to: 4)
            return UInt32(exactly: number).flatMap { DataModel.clusterName(ClusterID($0)) }.map { "\($0) (\(id))" } ?? id
        case "devtype-id":
            let id = "0x" + Hexadecimal.text(UInt32(truncatingIfNeeded: number)).drop { $0 == "0" }.leftPadded(to: 4)
            return UInt32(exactly: number).flatMap { DataModel.deviceType(id: DeviceTypeID($0)) }.map { "\($0.title) (\(id))" }
                ?? id
        case "attrib-id", "command-id", "event-id", "vendor-id", "group-id":
            return "0x" + String(number, radix: 16, uppercase: true)[...].leftPadded(to: 4)
        case "node-id", "fabric-id", "subject-id": return "0x" + Hexadecimal.text(number)
        case "epoch-s": return number == 0 ? "0" : CalendarText.text(seconds: number, since2000: true)
        case "epoch-us": return number == 0 ? "0" : CalendarText.text(seconds: number / 1_000_000, since2000: true)
        case "posix-ms": return number == 0 ? "0" : CalendarText.text(seconds: number / 1000, since2000: false)
        default: return String(number)
        }
    }
}

extension BitmapDefinition {
    /// The names of the bits that are set, numbers in several bits as `Name=2`, unknown bits as a hexadecimal rest; `none`.
    public func text(_ number: UInt64) -> String {
        var parts: [String] = []
        for field in fields {
            let width = UInt64(field.bits.upperBound - field.bits.lowerBound) + 1
            let value = (number >> UInt64(field.bits.lowerBound)) & (width >= 64 ? .max : (1 << width) - 1)
            if value != 0 { parts.append(width == 1 ? field.name : "\(field.name)=\(value)") }
        }
        let rest = number & ~definedBits
        if rest != 0 { parts.append("0x" + String(rest, radix: 16, uppercase: true)) }
        return parts.isEmpty ? "none" : parts.joined(separator: ", ")
    }
}

extension Substring {
    fileprivate func leftPadded(to count: Int) -> String {
        String(repeating: "0", count: Swift.max(0, count - self.count)) + self
    }
}

/// Decimal fractions, exact.
enum Decimal {
    /// `number` in steps, as 2150 of 100 a unit is `21.50`. Trimming leaves out zeros at the end.
    static func text(_ number: Int64, steps: Int64, trimming: Bool = false) -> String {
        if steps <= 1 { return String(number) }
        let decimals = Unit("", steps: steps).decimals
        let power: Int64 = decimals == 4 ? 10000 : decimals == 3 ? 1000 : decimals == 2 ? 100 : 10
        let (whole, part) = number.quotientAndRemainder(dividingBy: steps)
        let digits = String((part.magnitude * UInt64(power)) / UInt64(steps))
        var fraction = String(repeating: "0", count: decimals - digits.count) + digits
        if trimming { while fraction.last == "0" { fraction.removeLast() } }
        return (number < 0 && whole == 0 ? "-" : "") + String(whole) + (fraction.isEmpty ? "" : "." + fraction)
    }

    /// A decimal number as a fraction; nil when the text is none, or has more digits than fit.
    static func parse(_ text: some StringProtocol) -> (numerator: Int64, denominator: Int64)? {
        let isNegative = text.hasPrefix("-") || text.hasPrefix("−")
        let digits = String(isNegative || text.hasPrefix("+") ? text.dropFirst() : text[...])
        let parts = digits.split(separator: ".", omittingEmptySubsequences: false)
        guard parts.count <= 2, let whole = parts.first, !whole.isEmpty, whole.allSatisfy(isDigit) else { return nil }
        let fraction = parts.count == 2 ? parts[1] : ""
        guard fraction.allSatisfy(isDigit), parts.count == 1 || !fraction.isEmpty, fraction.count <= 6,
            let number = Int64(String(whole) + String(fraction))
        else { return nil }
        var denominator: Int64 = 1
        for _ in fraction { denominator *= 10 }
        return (isNegative ? -number : number, denominator)
    }

    private static func isDigit(_ character: Character) -> Bool { ("0"..."9").contains(character) }

    /// The fraction times `factor`, rounded half away from zero; nil when it does not fit.
    static func scaled(_ fraction: (numerator: Int64, denominator: Int64), by factor: Int64) -> Int64? {
        let (product, overflow) = fraction.numerator.multipliedReportingOverflow(by: factor)
        if overflow { return nil }
        let (quotient, rest) = product.quotientAndRemainder(dividingBy: fraction.denominator)
        guard rest.magnitude * 2 >= fraction.denominator.magnitude else { return quotient }
        return quotient + (product < 0 ? -1 : 1)
    }
}

/// Dates in UTC, without the help of a calendar library.
enum CalendarText {
    /// `2026-11-30T02:31:00Z`. Seconds since 2000 or since 1970.
    static func text(seconds: UInt64, since2000: Bool) -> String {
        // Years beyond 9999 are no dates that anybody means.
        guard seconds < 252_000_000_000 else { return String(seconds) }
        let total = Int(seconds) + (since2000 ? 946_684_800 : 0)
        let (days, rest) = total.quotientAndRemainder(dividingBy: 86400)
        // Days are counted from the first of March of year 0, so that a leap day is the last of a year.
        let shifted = days + 719_468
        let era = shifted / 146_097
        let dayOfEra = shifted % 146_097
        let yearOfEra = (dayOfEra - dayOfEra / 1460 + dayOfEra / 36524 - dayOfEra / 146_096) / 365
        let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
        let month = (5 * dayOfYear + 2) / 153
        let day = dayOfYear - (153 * month + 2) / 5 + 1
        let calendarMonth = month < 10 ? month + 3 : month - 9
        let year = yearOfEra + era * 400 + (calendarMonth <= 2 ? 1 : 0)
        func two(_ number: Int) -> String { (number < 10 ? "0" : "") + String(number) }
        let date = "\(String(repeating: "0", count: max(0, 4 - String(year).count)))\(year)-\(two(calendarMonth))-\(two(day))"
        return "\(date)T\(two(rest / 3600)):\(two(rest / 60 % 60)):\(two(rest % 60))Z"
    }
}
