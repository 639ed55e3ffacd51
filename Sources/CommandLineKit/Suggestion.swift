/// 'Did you mean'.
public enum Suggestion {
    /// The name closest to `text`, without regard to case; nil when none is close. A name that begins with what was typed is close.
    public static func nearest(to text: String, in names: [String]) -> String? {
        let typed = Array(text.lowercased())
        guard !typed.isEmpty else { return nil }
        let allowed = max(1, typed.count / 3)
        var best: (name: String, distance: Int)?
        for name in names {
            let candidate = Array(name.lowercased())
            var distance = distance(typed, candidate)
            if typed.count >= 3, candidate.starts(with: typed) { distance = min(distance, 1) }
            if distance <= allowed, distance < best?.distance ?? .max { best = (name, distance) }
        }
        return best?.name
    }

    /// Insertions, deletions, replacements and swaps of neighbours between the two.
    static func distance(_ a: [Character], _ b: [Character]) -> Int {
        // Nothing that long is a slip of the keyboard, and the table below is quadratic.
        guard a.count <= 64, b.count <= 64 else { return a == b ? 0 : .max }
        if a.isEmpty || b.isEmpty { return max(a.count, b.count) }
        var before = [Int](repeating: 0, count: b.count + 1)
        var previous = Array(0...b.count)
        for i in 1...a.count {
            var current = [i] + [Int](repeating: 0, count: b.count)
            for j in 1...b.count {
                let cost = a[i - 1] == b[j - 1] ? 0 : 1
                current[j] = min(previous[j] + 1, current[j - 1] + 1, previous[j - 1] + cost)
                if i > 1, j > 1, a[i - 1] == b[j - 2], a[i - 2] == b[j - 1] { current[j] = min(current[j], before[j - 2] + 1) }
            }
            (before, previous) = (previous, current)
        }
        return previous[b.count]
    }
}
