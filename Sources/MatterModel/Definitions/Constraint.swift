/// What values an element takes beyond its type (Matter Core, 7.6). `Model/README.md` lists the notation. Two constraints are equal
/// when their text is.
public struct Constraint: Sendable {
    /// A limit, or a value that is allowed.
    public enum Bound: Sendable, Hashable {
        /// In hundredths of a unit (`°C`, `%`), or of 1 when the unit is empty.
        case number(hundredths: Int64, unit: String)
        /// The value of an attribute, a field of the same structure or an item of the enumeration, plus a number.
        case name(String, plus: Int64)
    }

    /// What a value may be. Integers are measured by their value, strings by their bytes, lists by their entries.
    public enum Alternative: Sendable, Hashable {
        case range(minimum: Bound?, maximum: Bound?)
        /// One of the entries of the list attribute of that name.
        case entry(of: String)
        /// The specification's text decides.
        case described
    }

    /// In the specification's notation, such as `1 to 254`.
    public let text: String
    /// One must hold in each of these; empty when anything goes.
    public let requirements: [[Alternative]]
    /// For strings: how many characters at most, beside the limit in bytes.
    public let maximumCharacters: Int?
    /// What the entries of a list must meet.
    private let entryConstraint: [Constraint]
    /// Why the text cannot be parsed; such a constraint allows everything.
    public let parseError: String?

    public var entry: Constraint? { entryConstraint.first }

    public init(_ text: String) {
        self.text = text
        do throws(NotationError) {
            let parsed = try ConstraintParser.parse(text)
            (requirements, maximumCharacters, parseError) = (parsed.requirements, parsed.maximumCharacters, nil)
            entryConstraint = parsed.entry.map { [$0] } ?? []
        } catch {
            (requirements, maximumCharacters, entryConstraint, parseError) = ([], nil, [], error.message)
        }
    }

    public static let none = Constraint("")
}

extension Constraint: Hashable {
    public static func == (left: Self, right: Self) -> Bool { left.text == right.text }
    public func hash(into hasher: inout Hasher) { hasher.combine(text) }
}

extension Constraint {
    /// Whether `value` (an integer's value, a string's bytes, a list's entries) is allowed. `resolve` gives the value of a named
    /// attribute, field or item; a bound that it does not know, or that is null, is no bound. `decimals` is how many decimal digits
    /// the type's unit has, as 2 for a temperature in hundredths of a degree.
    public func check(_ value: Int64, decimals: Int = 0, resolve: (String) -> Int64? = { _ in nil }) -> Bool {
        requirements.allSatisfy { alternatives in
            alternatives.contains { alternative in
                switch alternative {
                case .described, .entry: return true
                case .range(let minimum, let maximum):
                    if let minimum = minimum?.value(decimals, resolve), value < minimum { return false }
                    if let maximum = maximum?.value(decimals, resolve), value > maximum { return false }
                    return true
                }
            }
        }
    }

    /// The lowest and highest value that the constraint allows in all, as far as known.
    public func limits(decimals: Int = 0, resolve: (String) -> Int64? = { _ in nil }) -> (minimum: Int64?, maximum: Int64?) {
        var limits: (minimum: Int64?, maximum: Int64?) = (nil, nil)
        for alternatives in requirements {
            var lows: [Int64?] = []
            var highs: [Int64?] = []
            for alternative in alternatives {
                guard case .range(let minimum, let maximum) = alternative else { return (nil, nil) }
                lows.append(minimum?.value(decimals, resolve))
                highs.append(maximum?.value(decimals, resolve))
            }
            // Between alternatives the widest counts, between requirements the narrowest.
            if let low = lows.contains(nil) ? nil : lows.compactMap({ $0 }).min() {
                limits.minimum = max(limits.minimum ?? low, low)
            }
            if let high = highs.contains(nil) ? nil : highs.compactMap({ $0 }).max() {
                limits.maximum = min(limits.maximum ?? high, high)
            }
        }
        return limits
    }
}

extension Constraint.Bound {
    func value(_ decimals: Int, _ resolve: (String) -> Int64?) -> Int64? {
        switch self {
        case .number(let hundredths, let unit):
            if unit.isEmpty || decimals == 0 { return hundredths / 100 }
            return decimals >= 2 ? hundredths : hundredths / 10
        case .name(let name, let plus):
            guard let value = resolve(name) else { return nil }
            let (sum, overflow) = value.addingReportingOverflow(plus)
            return overflow ? nil : sum
        }
    }
}
