/// How text fills a terminal's cells.
public enum TextWidth {
    /// The cells that `text` takes on a terminal: 2 for East Asian wide characters and emoji, 0 for what only modifies.
    public static func of(_ text: some StringProtocol) -> Int { text.reduce(0) { $0 + of($1) } }

    static func of(_ character: Character) -> Int {
        // Most text is ASCII.
        if let ascii = character.asciiValue { return ascii >= 0x20 && ascii != 0x7F ? 1 : 0 }
        var width = 0
        for scalar in character.unicodeScalars {
            // Variation selector 16 asks for the emoji, which is wide.
            if scalar.value == 0xFE0F, width == 1 { width = 2 }
            width = max(width, of(scalar))
        }
        // Two regional indicators are one flag.
        return character.unicodeScalars.count > 1 && (0x1F1E6...0x1F1FF).contains(character.unicodeScalars.first?.value ?? 0)
            ? 2 : width
    }

    private static func of(_ scalar: Unicode.Scalar) -> Int {
        switch scalar.properties.generalCategory {
        case .nonspacingMark, .enclosingMark, .format, .control, .lineSeparator, .paragraphSeparator, .surrogate: return 0
        default: break
        }
        // A Korean syllable's later parts join the first.
        if (0x1160...0x11FF).contains(scalar.value) { return 0 }
        return scalar.properties.isEmojiPresentation || wide.contains { $0.contains(scalar.value) } ? 2 : 1
    }

    /// Blocks whose characters are wide (Unicode, East Asian Width W and F).
    private static let wide: [ClosedRange<UInt32>] = [
        0x1100...0x115F, 0x2329...0x232A, 0x2E80...0x303E, 0x3041...0x4DBF, 0x4E00...0xA4CF, 0xA960...0xA97F, 0xAC00...0xD7A3,
        0xF900...0xFAFF, 0xFE10...0xFE19, 0xFE30...0xFE6F, 0xFF00...0xFF60, 0xFFE0...0xFFE6, 0x16FE0...0x18CFF, 0x1AFF0...0x1B2FF,
        0x1F200...0x1F2FF, 0x20000...0x3FFFD,
    ]

    /// `text` cut to `width` cells, with an ellipsis in the last one when something is missing.
    public static func truncated(_ text: String, to width: Int) -> String {
        guard of(text) > width else { return text }
        guard width > 0 else { return "" }
        var result = ""
        var used = 0
        for character in text {
            let next = of(character)
            if used + next > width - 1 { break }
            result.append(character)
            used += next
        }
        return result + "…"
    }

    /// `text` filled up to `width` cells.
    public static func padded(_ text: String, to width: Int, alignRight: Bool = false) -> String {
        let missing = String(repeating: " ", count: max(0, width - of(text)))
        return alignRight ? missing + text : text + missing
    }

    /// Text from somewhere else (a device's name, a peer's message) without what could command the terminal: control characters
    /// become their escapes, line breaks and tabs a space.
    public static func harmless(_ text: String) -> String {
        guard text.unicodeScalars.contains(where: isHarmful) else { return text }
        var result = ""
        for scalar in text.unicodeScalars {
            if !isHarmful(scalar) {
                result.unicodeScalars.append(scalar)
            } else if scalar == "\n" || scalar == "\t" || scalar == "\r" {
                result += " "
            } else {
                result += "\\u{\(String(scalar.value, radix: 16))}"
            }
        }
        return result
    }

    private static func isHarmful(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.value {
        case 0..<0x20, 0x7F...0x9F: true
        // Overrides of the writing direction make a line read otherwise than it is.
        case 0x202A...0x202E, 0x2066...0x2069, 0x2028, 0x2029: true
        default: false
        }
    }

    /// `text` in lines of at most `width` cells, broken at spaces; a longer word has a line of its own. Empty lines separate
    /// paragraphs; an indented line stays as it is.
    public static func wrapped(_ text: String, to width: Int, indent: Int = 0, hanging: Int? = nil) -> [String] {
        let first = String(repeating: " ", count: indent)
        let later = String(repeating: " ", count: hanging ?? indent)
        var lines: [String] = []
        for source in text.split(separator: "\n", omittingEmptySubsequences: false) {
            if source.first == " " {
                lines.append(first + source)
                continue
            }
            var line = lines.isEmpty ? first : later
            var used = of(line)
            var isEmpty = true
            for word in source.split(separator: " ") {
                let length = of(word)
                if !isEmpty, used + 1 + length > width {
                    lines.append(line)
                    line = later
                    used = of(line)
                    isEmpty = true
                }
                if !isEmpty {
                    line += " "
                    used += 1
                }
                line += word
                used += length
                isEmpty = false
            }
            lines.append(isEmpty ? "" : line)
        }
        return lines
    }
}
