extension DataModel {
    /// The names most like `name`, best first: those within a third of its length in edits, or that begin with it.
    public static func suggestions(for name: String, among names: some Sequence<String>, limit: Int = 3) -> [String] {
        let wanted = Array(normalizedName(name).utf8)
        guard !wanted.isEmpty else { return [] }
        var ranked: [(distance: Int, name: String)] = []
        for candidate in names {
            let other = Array(normalizedName(candidate).utf8)
            if other.starts(with: wanted) {
                ranked.append((0, candidate))
            } else {
                let distance = distance(wanted, other)
                if distance <= max(1, wanted.count / 3) { ranked.append((distance, candidate)) }
            }
        }
        return Array(ranked.sorted { ($0.distance, $0.name) < ($1.distance, $1.name) }.prefix(limit).map(\.name))
    }

    /// `; did you mean A, B or C?`, or nothing.
    public static func didYouMean(_ name: String, among names: some Sequence<String>) -> String {
        didYouMean(suggestions(for: name, among: names))
    }

    /// The same with what is known to be meant.
    public static func didYouMean(_ found: [String]) -> String {
        guard let last = found.last else { return "" }
        return "; did you mean " + (found.count == 1 ? last : found.dropLast().joined(separator: ", ") + " or " + last) + "?"
    }

    /// That there is no such name, with the nearest ones; without any that is near, with those that there are, a dozen at most.
    /// - Parameters:
    ///   - kind: what the name would be of: `device`.
    ///   - none: what to say when there are no names at all.
    public static func unknownName(_ name: String, _ kind: String, among names: [String], none: String) -> String {
        let said = "there is no \(kind) '\(name)'"
        if names.isEmpty { return said + ": " + none }
        let near = didYouMean(name, among: names)
        if !near.isEmpty { return said + near }
        return said + ": there are " + names.prefix(12).joined(separator: ", ") + (names.count > 12 ? " and \(names.count - 12) more" : "")
    }

    /// How many characters must be put in, taken out, changed or swapped with a neighbour.
    static func distance(_ left: [UInt8], _ right: [UInt8]) -> Int {
        if left.isEmpty || right.isEmpty { return left.count + right.count }
        var before: [Int] = []
        var last = Array(0...right.count)
        for row in 1...left.count {
            var current = [row]
            for column in 1...right.count {
                let change = last[column - 1] + (left[row - 1] == right[column - 1] ? 0 : 1)
                var best = min(change, last[column] + 1, current[column - 1] + 1)
                if row > 1, column > 1, left[row - 1] == right[column - 2], left[row - 2] == right[column - 1] {
                    best = min(best, before[column - 2] + 1)
                }
                current.append(best)
            }
            (before, last) = (last, current)
        }
        return last[right.count]
    }
}
