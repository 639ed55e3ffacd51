import MatterModel

/// Compares what a device says with what a case expects.
enum Expectation {
    /// What is wrong with `value`; nil when nothing is. Objects are compared member by member: an expected member must be there, others
    /// may be. Lists must match in length and order.
    static func problem(_ value: JSONValue?, _ expected: JSONValue, at path: String = "it") -> String? {
        guard let value else { return "\(path) is absent" }
        switch expected {
        case .object(let members) where members["hex"] == nil:
            guard value.object != nil else { return "\(path) is \(value.text()), not an object" }
            for (name, member) in members.sorted(by: { $0.key < $1.key }) {
                if let problem = problem(value[name], member, at: "\(path).\(name)") { return problem }
            }
            return nil
        case .array(let items):
            guard let found = value.array else { return "\(path) is \(value.text()), not a list" }
            guard found.count == items.count else {
                return "\(path) has \(found.count) entries, not \(items.count): \(value.text())"
            }
            for (index, item) in items.enumerated() {
                if let problem = problem(found[index], item, at: "\(path)[\(index)]") { return problem }
            }
            return nil
        default:
            return isSame(value, expected) ? nil : "\(path) is \(value.text()), not \(expected.text())"
        }
    }

    private static func isSame(_ value: JSONValue, _ expected: JSONValue) -> Bool {
        if let a = value.integer, let b = expected.integer { return a == b }
        if let a = value.unsigned, let b = expected.unsigned { return a == b }
        if let a = value.number, let b = expected.number { return a == b }
        return value == expected
    }

    /// The same for a number within two others, both included.
    static func problem(_ value: JSONValue?, within bounds: JSONValue, at path: String = "it") -> String? {
        guard let low = bounds[0]?.number, let high = bounds[1]?.number, bounds.array?.count == 2 else {
            return "\(path): 'in' wants two numbers"
        }
        guard let number = value?.number else { return "\(path) is \(value?.text() ?? "absent"), not a number" }
        return (low...max(low, high)).contains(number) ? nil : "\(path) is \(value?.text() ?? ""), not in \(bounds.text())"
    }

    /// Puts saved values where `$name` or `$name+5` stands.
    static func resolve(_ json: JSONValue, _ saved: [String: JSONValue]) -> JSONValue {
        switch json {
        case .string(let text) where text.hasPrefix("$"):
            let body = text.dropFirst()
            guard let sign = body.firstIndex(where: { $0 == "+" || $0 == "-" }) else { return saved[String(body)] ?? json }
            guard let base = saved[String(body[..<sign])]?.integer, let offset = Int64(body[sign...]) else { return json }
            return .integer(base &+ offset)
        case .array(let items): return .array(items.map { resolve($0, saved) })
        case .object(let members): return .object(members.mapValues { resolve($0, saved) })
        default: return json
        }
    }
}
