extension String {
    /// True for a name that people can see and type: not empty, not only spaces, and without control characters (C0, C1, line and
    /// paragraph separators).
    public var isVisibleName: Bool {
        unicodeScalars.contains { !$0.properties.isWhitespace } && !unicodeScalars.contains(where: \.isControl)
    }

    /// What is left of a name without its control characters, at most `count` bytes of it; nil when nothing is.
    public func visibleName(toBytes count: Int) -> String? {
        // Cut first, by scalars: the rest may be long.
        var kept = String.UnicodeScalarView()
        var bytes = 0
        for scalar in unicodeScalars.lazy.filter({ !$0.isControl }) {
            bytes += UTF8.width(scalar)
            if bytes > count { break }
            kept.append(scalar)
        }
        let name = String(kept)
        return name.isVisibleName ? name : nil
    }
}

extension Unicode.Scalar {
    fileprivate var isControl: Bool {
        switch value {
        case 0..<0x20, 0x7F...0x9F, 0x2028, 0x2029: true
        default: false
        }
    }
}
