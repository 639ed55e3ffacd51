/// When an element exists (Matter Core, 7.3).
///
/// The notation is the specification's; `Model/README.md` lists it. Two conformances are equal when their text is.
public struct Conformance: Sendable {
    /// What a conformance says in a given place.
    public enum Outcome: Sendable, Hashable {
        case mandatory
        /// It may be there. With a choice, the choice counts too; see `Choice`.
        case optional
        /// It may be there, but is not yet certified.
        case provisional
        /// It was there in earlier revisions and should not be used.
        case deprecated
        case disallowed
        /// The specification's text decides, or a condition that the caller cannot judge.
        case described

        /// Whether an element that is there is in its right.
        public var allowsPresence: Bool { self != .disallowed }
    }

    /// How many of the elements with the same letter a cluster has.
    public struct Choice: Sendable, Hashable {
        public var letter: String
        public var minimum: Int
        /// Nil when there is no limit.
        public var maximum: Int?

        public init(letter: String, minimum: Int, maximum: Int?) {
            (self.letter, self.minimum, self.maximum) = (letter, minimum, maximum)
        }
    }

    /// A part of a chain such as `LT, [OO], D`.
    public enum Term: Sendable, Hashable {
        case mandatory(Condition?)
        case optional(Condition?, Choice?)
        case provisional
        case deprecated
        case disallowed
        case described
    }

    /// What makes a term apply.
    public indirect enum Condition: Sendable, Hashable {
        /// A feature by its code, an element by its name, or a condition of the Device Library.
        case name(String)
        case not(Condition)
        case and(Condition, Condition)
        case or(Condition, Condition)
        case compare(Operand, Comparison, Operand)
    }

    /// One side of a comparison: a number, or the value of an element.
    public enum Operand: Sendable, Hashable {
        case number(Int64)
        case name(String)
    }

    /// As the specification writes it.
    public enum Comparison: String, Sendable, Hashable, CaseIterable {
        case equal = "=="
        case notEqual = "!="
        case lessOrEqual = "<="
        case greaterOrEqual = ">="
        case less = "<"
        case greater = ">"
    }

    /// In the specification's notation, such as `LT & OO`.
    public let text: String
    /// The first that applies decides. Empty when the text cannot be parsed.
    public let terms: [Term]
    /// Why the text cannot be parsed; such a conformance is `described`.
    public let parseError: String?

    public init(_ text: String) {
        self.text = text
        do throws(NotationError) {
            (terms, parseError) = (try ConformanceParser.parse(text), nil)
        } catch {
            (terms, parseError) = ([], error.message)
        }
    }

    public static let mandatory = Conformance("M")
    public static let optional = Conformance("O")
}

extension Conformance: Hashable {
    public static func == (left: Self, right: Self) -> Bool { left.text == right.text }
    public func hash(into hasher: inout Hasher) { hasher.combine(text) }
}

extension Conformance {
    /// The choice that the element takes part in, if any.
    public var choice: Choice? {
        for case .optional(_, let choice?) in terms { return choice }
        return nil
    }

    /// What the conformance says where `isTrue` tells whether a feature, an element or a condition of that name is there (nil when
    /// that is not known) and `value` gives the number that an element of that name has.
    public func evaluate(isTrue: (String) -> Bool?, value: (String) -> Int64? = { _ in nil }) -> Outcome {
        if parseError != nil { return .described }
        for term in terms {
            switch term {
            case .mandatory(let condition):
                guard let holds = condition.map({ $0.holds(isTrue, value) }) ?? true else { return .described }
                if holds { return .mandatory }
            case .optional(let condition, _):
                guard let holds = condition.map({ $0.holds(isTrue, value) }) ?? true else { return .described }
                if holds { return .optional }
            case .provisional: return .provisional
            case .deprecated: return .deprecated
            case .disallowed: return .disallowed
            case .described: return .described
            }
        }
        return .disallowed
    }

    /// What the conformance says in an instance of `cluster` with that FeatureMap, where `has` tells whether it has the attribute,
    /// command or event of that name.
    public func evaluate(
        features: UInt32, of cluster: ClusterDefinition, has: (String) -> Bool = { _ in false },
        value: (String) -> Int64? = { _ in nil }
    ) -> Outcome {
        evaluate(
            isTrue: { name in
                if let feature = cluster.features.first(where: { $0.code == name }) {
                    return features >> UInt32(feature.bit) & 1 == 1
                }
                return has(name)
            }, value: value)
    }
}

extension Conformance.Condition {
    /// Nil when it hangs on something that is not known.
    func holds(_ isTrue: (String) -> Bool?, _ value: (String) -> Int64?) -> Bool? {
        switch self {
        case .name(let name): return isTrue(name)
        case .not(let inner): return inner.holds(isTrue, value).map { !$0 }
        case .and(let left, let right):
            let (first, second) = (left.holds(isTrue, value), right.holds(isTrue, value))
            if first == false || second == false { return false }
            return first == nil || second == nil ? nil : true
        case .or(let left, let right):
            let (first, second) = (left.holds(isTrue, value), right.holds(isTrue, value))
            if first == true || second == true { return true }
            return first == nil || second == nil ? nil : false
        case .compare(let left, let comparison, let right):
            guard let first = left.number(value), let second = right.number(value) else { return nil }
            return comparison.holds(first, second)
        }
    }
}

extension Conformance.Operand {
    func number(_ value: (String) -> Int64?) -> Int64? {
        switch self {
        case .number(let number): number
        case .name(let name): value(name)
        }
    }
}

extension Conformance.Comparison {
    func holds(_ left: Int64, _ right: Int64) -> Bool {
        switch self {
        case .equal: left == right
        case .notEqual: left != right
        case .lessOrEqual: left <= right
        case .greaterOrEqual: left >= right
        case .less: left < right
        case .greater: left > right
        }
    }
}
