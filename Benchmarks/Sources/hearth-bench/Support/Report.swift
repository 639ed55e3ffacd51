import MatterModel

/// What was measured, for people as it comes and for programs at the end.
struct Report {
    struct Line {
        var suite: String
        var name: String
        var value: Double
        var unit: String
        /// The most that is expected, when something is.
        var limit: Double?
        /// Other numbers of the same measurement.
        var details: [(String, Double)] = []
        var isMet: Bool { limit.map { value <= $0 } ?? true }
    }

    let isJSON: Bool
    private(set) var lines: [Line] = []
    /// What could not be measured, and why.
    private(set) var missing: [String] = []

    init(isJSON: Bool) { self.isJSON = isJSON }

    mutating func add(
        _ suite: String, _ name: String, _ value: Double, _ unit: String, limit: Double? = nil,
        _ details: [(String, Double)] = []
    ) {
        let line = Line(suite: suite, name: name, value: value, unit: unit, limit: limit, details: details)
        lines.append(line)
        if !isJSON { say(text(line)) }
    }

    /// A remark for people.
    func note(_ text: String) { if !isJSON { say("    \(text)") } }

    /// Something cannot be measured here; what can be is measured nevertheless.
    mutating func miss(_ text: String) {
        missing.append(text)
        if !isJSON { say("NOT MEASURED  \(text)") }
    }

    private func text(_ line: Line) -> String {
        let name = line.name + String(repeating: " ", count: max(1, 52 - line.name.count))
        var text = "\(line.suite)  \(name)\(rounded(line.value)) \(line.unit)"
        if let limit = line.limit { text += "  (at most \(rounded(limit)): \(line.isMet ? "met" : "NOT MET"))" }
        if !line.details.isEmpty { text += "   " + line.details.map { "\($0.0) \(rounded($0.1))" }.joined(separator: ", ") }
        return text
    }

    /// All lines as one JSON document.
    var json: JSONValue {
        .object([
            "version": 1,
            "missing": .array(missing.map { .string($0) }),
            "measurements": .array(
                lines.map { line in
                    var members: [String: JSONValue] = [
                        "suite": .string(line.suite), "name": .string(line.name), "value": .number(line.value), "unit": .string(line.unit),
                        "details": .object(Dictionary(line.details.map { ($0.0, .number($0.1)) }) { first, _ in first }),
                    ]
                    if let limit = line.limit { (members["limit"], members["met"]) = (.number(limit), .boolean(line.isMet)) }
                    return .object(members)
                }),
        ])
    }
}

/// Three digits that mean something.
func rounded(_ value: Double) -> String {
    let digits = abs(value) >= 100 ? 0.0 : abs(value) >= 10 ? 1.0 : abs(value) >= 1 ? 2.0 : 4.0
    var factor = 1.0
    for _ in 0..<Int(digits) { factor *= 10 }
    let scaled = (value * factor).rounded() / factor
    return digits == 0 ? String(Int(scaled)) : String(scaled)
}
