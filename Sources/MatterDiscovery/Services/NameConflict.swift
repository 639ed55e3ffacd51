/// The next name to try when one is taken.
enum NameConflict {
    static func next(_ taken: String, _ policy: NameConflictPolicy) -> String? {
        switch policy {
        case .number: numbered(taken)
        case .replace(let replacement): replacement(taken).flatMap { (1...63).contains($0.utf8.count) && $0 != taken ? $0 : nil }
        case .fail: nil
        }
    }

    /// "Lamp" becomes "Lamp (2)", and that "Lamp (3)" (RFC 6762, 9), cut at a character so that it stays within 63 bytes.
    static func numbered(_ name: String) -> String {
        var stem = Substring(name)
        var number: UInt32 = 2
        if name.hasSuffix(")"), let open = name.lastIndex(of: "("), open > name.startIndex, name[name.index(before: open)] == " " {
            let digits = name[name.index(after: open)...].dropLast()
            if let last = DecimalField.parse(digits, digits: 6, to: UInt32(999_998)), last > 1 {
                number = last + 1
                stem = name[..<name.index(before: open)]
            }
        }
        let suffix = " (\(number))"
        while stem.utf8.count + suffix.utf8.count > 63 { stem = stem.dropLast() }
        return stem + suffix
    }

    static func error(_ name: ServiceName) -> DiscoveryError {
        DiscoveryError(.nameTaken, "another host on this network already advertises \(name)")
    }
}
