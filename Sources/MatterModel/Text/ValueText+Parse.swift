import MatterTLV

extension ValueText {
    /// The value that somebody wrote. Only its form is judged: whether the value is allowed is the device's business.
    public func parse(_ text: String) throws(ValueError) -> TLVValue {
        let text = text.trimmed
        if text == "null" { return .null }
        switch type.base {
        case .boolean: return .boolean(try boolean(text))
        case .unsigned, .signed: return try integer(text)
        case .single, .double: return try fraction(text)
        case .utf8: return .utf8(try unquoted(text))
        case .octets: return .octets(try octets(text))
        case .enumeration(let definition): return try item(text, definition)
        case .bitmap(let definition): return try bits(text, definition)
        case .structure, .list: return try container(text)
        case .any: return try anything(text)
        }
    }

    /// What the element takes, in a few words, for help and completion: the names of items and bits, `on` and `off`.
    public var words: [String] {
        switch type.base {
        case .boolean: isSwitch ? ["on", "off"] : ["true", "false"]
        case .enumeration(let definition): definition.items.map(\.name)
        case .bitmap(let definition): definition.fields.map(\.name)
        default: []
        }
    }

    private var label: String { name.isEmpty ? type.name : name }

    private func boolean(_ text: String) throws(ValueError) -> Bool {
        switch text.lowercased() {
        case "on", "true", "yes", "1": return true
        case "off", "false", "no", "0": return false
        default: throw ValueError("\(label) is on or off (true or false), not \(text)")
        }
    }

    private func number(_ value: Int64) -> TLVValue {
        if case .signed = type.base { return .signed(value) }
        return UInt64(exactly: value).map(TLVValue.unsigned) ?? .signed(value)
    }

    private func integer(_ text: String) throws(ValueError) -> TLVValue {
        if let value = Int64(text) { return number(value) }
        if let value = UInt64(text) { return .unsigned(value) }
        if text.lowercased().hasPrefix("0x"), let value = Hexadecimal.number(text) {
            return Int64(exactly: value).map(number) ?? .unsigned(value)
        }
        if let value = measured(text) { return number(value) }
        if let value = withMeaning(text) { return .unsigned(value) }
        if let value = named(text) { return .unsigned(value) }
        let example = (unit?.decimals ?? 0) > 0 ? "1.5" : "1"
        let hint = (unit?.symbol ?? gauge?.symbol).map { $0.isEmpty ? "" : " (in \($0), as \(example)\($0))" } ?? ""
        throw ValueError("\(label) is an integer\(hint), not \(text.isEmpty ? "an empty text" : text)")
    }

    /// A cluster or device type by its name.
    private func named(_ text: String) -> UInt64? {
        switch type.name {
        case "cluster-id": DataModel.cluster(named: text).map { UInt64($0.id.rawValue) }
        case "devtype-id": DataModel.deviceType(named: text).map { UInt64($0.id.rawValue) }
        default: nil
        }
    }

    /// `127 (50 %)`, as it is shown: the number counts, and must have the meaning that it is said to have.
    private func withMeaning(_ text: String) -> UInt64? {
        guard let gauge, text.hasSuffix(")"), let open = text.firstIndex(of: "("), let value = UInt64(text[..<open].trimmed),
            let meaning = gauge.text(value)
        else { return nil }
        let said = text[text.index(after: open)...].dropLast()
        func bare(_ text: some StringProtocol) -> String { String(text.filter { !$0.isWhitespace }).lowercased() }
        return bare(said) == bare(meaning) ? value : nil
    }

    /// A number with a unit or a point, in the element's own steps; nil when it is none, or the unit is not the element's.
    private func measured(_ text: String) -> Int64? {
        let digits = text.prefix { "0123456789.+-−".contains($0) }
        let symbol = text.dropFirst(digits.count).trimmed.lowercased()
        guard let fraction = Decimal.parse(digits) else { return nil }
        if let gauge {
            // Of a scale without a symbol, a coordinate's, only what has a point is a meaning.
            let isMeaning = symbol.isEmpty ? gauge.symbol.isEmpty && digits.contains(".") : symbol == gauge.symbol.lowercased()
            return isMeaning ? gauge.number(fraction) : nil
        }
        guard let unit else { return nil }
        let own = unit.symbol.lowercased()
        switch symbol {
        case "", own: return Decimal.scaled(fraction, by: unit.steps)
        case "c" where own == "°c": return Decimal.scaled(fraction, by: unit.steps)
        case "f" where own == "°c", "°f" where own == "°c": return celsius(fraction, unit)
        default: return Self.multiple(symbol, of: own).flatMap { multiple in scaled(fraction, multiple, unit) }
        }
    }

    private func celsius(_ fraction: (numerator: Int64, denominator: Int64), _ unit: Unit) -> Int64? {
        // Of the types with a unit only `temperature` is a point of the scale; the others are differences.
        let offset: Int64 = type.name == "temperature" ? 32 : 0
        guard fraction.numerator.magnitude < 1_000_000_000_000, fraction.denominator < 10_000_000 else { return nil }
        let numerator = (fraction.numerator - offset * fraction.denominator) * 5
        return Decimal.scaled((numerator, fraction.denominator * 9), by: unit.steps)
    }

    /// How many of the unit `symbol` is, as a fraction.
    private static func multiple(_ symbol: String, of unit: String) -> (Int64, Int64)? {
        switch (unit, symbol) {
        case ("s", "ms"): (1, 1000)
        case ("s", "min"), ("s", "m"): (60, 1)
        case ("s", "h"): (3600, 1)
        case ("min", "h"): (60, 1)
        case ("w", "mw"), ("wh", "mwh"), ("a", "ma"), ("v", "mv"): (1, 1000)
        case ("w", "kw"), ("wh", "kwh"), ("v", "kv"): (1000, 1)
        case ("kpa", "hpa"), ("kpa", "mbar"): (1, 10)
        default: nil
        }
    }

    private func scaled(
        _ fraction: (numerator: Int64, denominator: Int64), _ multiple: (numerator: Int64, denominator: Int64), _ unit: Unit
    ) -> Int64? {
        let (numerator, overflow) = fraction.numerator.multipliedReportingOverflow(by: multiple.numerator)
        if overflow { return nil }
        return Decimal.scaled((numerator, fraction.denominator * multiple.denominator), by: unit.steps)
    }

    private func fraction(_ text: String) throws(ValueError) -> TLVValue {
        guard let value = Double(text) else { throw ValueError("\(label) is a number, not \(text)") }
        if case .single = type.base { return .float(Float(value)) }
        return .double(value)
    }

    /// Quotes around the whole are JSON's, for text that has spaces at its ends or is `null`.
    private func unquoted(_ text: String) throws(ValueError) -> String {
        guard text.count >= 2, text.hasPrefix("\""), text.hasSuffix("\"") else { return text }
        guard let value = (try? JSONValue(parsing: text))?.string else {
            throw ValueError("\(label): the text in quotes is not JSON")
        }
        return value
    }

    /// `hex:0a0b`, `0x0a0b`, or text.
    private func octets(_ text: String) throws(ValueError) -> [UInt8] {
        for prefix in ["hex:", "0x"] where text.lowercased().hasPrefix(prefix) {
            return try Hexadecimal.bytes(String(text.dropFirst(prefix.count)))
        }
        if text.hasPrefix("{"), let json = try? JSONValue(parsing: text),
            case .octets(let bytes) = try ValueJSON.value(json, type: type)
        {
            return bytes
        }
        return Array(try unquoted(text).utf8)
    }

    private func item(_ text: String, _ definition: EnumDefinition) throws(ValueError) -> TLVValue {
        if let item = definition.item(named: text) { return .unsigned(UInt64(item.value)) }
        if let number = UInt64(text) { return .unsigned(number) }
        if text.lowercased().hasPrefix("0x"), let number = Hexadecimal.number(text) { return .unsigned(number) }
        if type.name == "status", let status = StatusCode(name: text) { return .unsigned(UInt64(status.rawValue)) }
        let names = definition.items.map(\.name)
        let hint = DataModel.didYouMean(text, among: names)
        throw ValueError(
            "\(label) has no value \(text)" + (hint.isEmpty ? ": it is one of " + names.joined(separator: ", ") : hint))
    }

    /// Names joined by `,`, `|` or `+`, `Name=2` for numbers in bits, a number, or `none`.
    private func bits(_ text: String, _ definition: BitmapDefinition) throws(ValueError) -> TLVValue {
        if let number = UInt64(text) { return .unsigned(number) }
        if text.isEmpty || text.lowercased() == "none" { return .unsigned(0) }
        var number: UInt64 = 0
        for part in text.split(whereSeparator: { ",|+".contains($0) }) {
            let words = part.split(separator: "=", maxSplits: 1).map { String($0.trimmed) }
            if words.count == 1, words[0].lowercased().hasPrefix("0x"), let bits = Hexadecimal.number(words[0]) {
                number |= bits
                continue
            }
            guard let word = words.first, let field = definition.field(named: word) else {
                let names = definition.fields.map(\.name)
                let hint = DataModel.didYouMean(String(part.trimmed), among: names)
                throw ValueError(
                    "\(label) has no bit \(part.trimmed)"
                        + (hint.isEmpty ? ": the bits are " + names.joined(separator: ", ") : hint))
            }
            guard let value = words.count == 2 ? UInt64(words[1]) : 1,
                value >> (UInt64(field.bits.upperBound - field.bits.lowerBound) + 1) == 0
            else { throw ValueError("\(label): \(words[words.count - 1]) does not fit into \(field.name)") }
            number |= value << UInt64(field.bits.lowerBound)
        }
        return .unsigned(number)
    }

    private func container(_ text: String) throws(ValueError) -> TLVValue {
        let json: JSONValue
        do throws(JSONError) {
            json = try JSONValue(parsing: text)
        } catch {
            let what = type.entry == nil ? "a structure, written as a JSON object" : "a list, written as a JSON array"
            throw ValueError("\(label) is \(what) (\(error))")
        }
        switch (type.base, json) {
        case (.structure, .object), (.list, .array): return try ValueJSON.value(json, type: type)
        case (.structure, _): throw ValueError("\(label) is a structure, written as a JSON object")
        default: throw ValueError("\(label) is a list, written as a JSON array")
        }
    }

    private func anything(_ text: String) throws(ValueError) -> TLVValue {
        if let json = try? JSONValue(parsing: text) { return try ValueJSON.value(json) }
        if text.lowercased().hasPrefix("0x"), let number = Hexadecimal.number(text) { return .unsigned(number) }
        return .utf8(text)
    }
}

extension StringProtocol {
    /// Without white space at the ends.
    fileprivate var trimmed: String {
        String(self.drop { $0.isWhitespace }.reversed().drop { $0.isWhitespace }.reversed())
    }
}
