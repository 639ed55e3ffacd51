/// Reads the notation of conformance, by recursive descent.
enum ConformanceParser {
    static func parse(_ text: String) throws(NotationError) -> [Conformance.Term] {
        var cursor = try NotationCursor(text)
        var terms = [try term(&cursor)]
        while cursor.take(",") { terms.append(try term(&cursor)) }
        try cursor.expectEnd()
        return terms
    }

    private static func term(_ cursor: inout NotationCursor) throws(NotationError) -> Conformance.Term {
        if cursor.take("[") {
            let condition = try disjunction(&cursor)
            try cursor.expect("]")
            return .optional(condition, try choice(&cursor))
        }
        // A lone letter is a keyword; inside a condition it is a name.
        let start = cursor
        if case .word(let word)? = cursor.take(),
            cursor.next == nil || cursor.next == .sign(",") || (word == "O" && cursor.next == .sign("."))
        {
            switch word {
            case "M": return .mandatory(nil)
            case "O": return .optional(nil, try choice(&cursor))
            case "P": return .provisional
            case "D": return .deprecated
            case "X": return .disallowed
            case "desc": return .described
            default: return .mandatory(.name(word))
            }
        }
        cursor = start
        return .mandatory(try disjunction(&cursor))
    }

    /// `.a`, `.a+`, `.a2`, `.a2+`, `.a2-`
    private static func choice(_ cursor: inout NotationCursor) throws(NotationError) -> Conformance.Choice? {
        guard cursor.take(".") else { return nil }
        guard case .word(let word)? = cursor.take() else { throw NotationError(message: "a letter is wanted after the point") }
        let letter = String(word.prefix { $0.isLetter })
        let digits = word.dropFirst(letter.count)
        guard letter.count == 1, digits.isEmpty || Int(digits) != nil else { throw NotationError(message: "choice \(word)") }
        let count = Int(digits) ?? 1
        if cursor.take("+") { return Conformance.Choice(letter: letter, minimum: count, maximum: nil) }
        if cursor.take("-") { return Conformance.Choice(letter: letter, minimum: 0, maximum: count) }
        return Conformance.Choice(letter: letter, minimum: count, maximum: count)
    }

    private static func disjunction(_ cursor: inout NotationCursor) throws(NotationError) -> Conformance.Condition {
        var condition = try conjunction(&cursor)
        while cursor.take("|") { condition = .or(condition, try conjunction(&cursor)) }
        return condition
    }

    private static func conjunction(_ cursor: inout NotationCursor) throws(NotationError) -> Conformance.Condition {
        var condition = try factor(&cursor)
        while cursor.take("&") { condition = .and(condition, try factor(&cursor)) }
        return condition
    }

    private static func factor(_ cursor: inout NotationCursor) throws(NotationError) -> Conformance.Condition {
        if cursor.take("!") { return .not(try factor(&cursor)) }
        if cursor.take("(") {
            let inner = try disjunction(&cursor)
            try cursor.expect(")")
            return inner
        }
        let left = try operand(&cursor)
        for comparison in Conformance.Comparison.allCases where cursor.take(comparison.rawValue) {
            return .compare(left, comparison, try operand(&cursor))
        }
        guard case .name(let name) = left else { throw NotationError(message: "a number alone is no condition") }
        return .name(name)
    }

    private static func operand(_ cursor: inout NotationCursor) throws(NotationError) -> Conformance.Operand {
        if let count = cursor.takeCount() { return .number(Int64(count)) }
        guard case .word(let word)? = cursor.take() else { throw NotationError(message: "a name is wanted") }
        // `v2` is a revision.
        if word.first == "v", let revision = Int64(word.dropFirst()) { return .number(revision) }
        return .name(word)
    }
}
