/// Reads the notation of constraints.
enum ConstraintParser {
    struct Parsed {
        var requirements: [[Constraint.Alternative]] = []
        var maximumCharacters: Int?
        var entry: Constraint?
    }

    static func parse(_ text: String) throws(NotationError) -> Parsed {
        var parsed = Parsed()
        var rest = text[...]
        if rest.isEmpty { return parsed }
        // The entries' constraint stands in brackets at the end.
        if rest.hasSuffix("]") {
            guard let opening = rest.firstIndex(of: "[") else { throw NotationError(message: "[ is missing") }
            let entry = Constraint(String(rest[rest.index(after: opening)...].dropLast()))
            if let problem = entry.parseError { throw NotationError(message: problem) }
            parsed.entry = entry
            rest = rest[..<opening]
        }
        if rest == "all" { return parsed }
        var cursor = try NotationCursor(String(rest))
        repeat {
            var alternatives = [try alternative(&cursor)]
            while cursor.take(",") { alternatives.append(try alternative(&cursor)) }
            parsed.requirements.append(alternatives)
        } while cursor.take("&")
        if cursor.take("{") {
            guard let count = cursor.takeCount() else { throw NotationError(message: "a number of characters is wanted") }
            parsed.maximumCharacters = count
            try cursor.expect("}")
        }
        try cursor.expectEnd()
        return parsed
    }

    private static func alternative(_ cursor: inout NotationCursor) throws(NotationError) -> Constraint.Alternative {
        if cursor.take(word: "desc") { return .described }
        if cursor.take(word: "min") { return .range(minimum: try bound(&cursor), maximum: nil) }
        if cursor.take(word: "max") { return .range(minimum: nil, maximum: try bound(&cursor)) }
        if cursor.take(word: "in") {
            guard case .word(let name)? = cursor.take() else { throw NotationError(message: "a list's name is wanted") }
            return .entry(of: name)
        }
        let first = try bound(&cursor)
        if cursor.take(word: "to") { return .range(minimum: first, maximum: try bound(&cursor)) }
        return .range(minimum: first, maximum: first)
    }

    private static func bound(_ cursor: inout NotationCursor) throws(NotationError) -> Constraint.Bound {
        let isNegative = cursor.take("-")
        switch cursor.take() {
        case .number(let hundredths, let unit)?:
            return .number(hundredths: isNegative ? -hundredths : hundredths, unit: unit)
        case .word(let name)? where !isNegative:
            let isSum = cursor.take("+")
            guard isSum || cursor.take("-") else { return .name(name, plus: 0) }
            guard let count = cursor.takeCount() else { throw NotationError(message: "a number is wanted after \(name)") }
            return .name(name, plus: isSum ? Int64(count) : -Int64(count))
        default: throw NotationError(message: "a bound is wanted")
        }
    }
}
