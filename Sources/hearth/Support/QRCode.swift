import CQREncode

/// QR codes in a terminal.
enum QRCode {
    /// The code of `text` in half blocks, two rows of modules a line, with its quiet zone; nil when it does not fit into a code.
    /// Dark modules are spaces, so that it reads on a dark terminal as on paper; `isInverted` is for a light one.
    static func lines(_ text: String, isInverted: Bool = false) -> [String]? {
        guard let code = QRcode_encodeString(text, 0, QR_ECLEVEL_L, QR_MODE_8, 1) else { return nil }
        defer { QRcode_free(code) }
        let width = Int(code.pointee.width)
        guard width > 0, let modules = code.pointee.data else { return nil }
        // The standard wants a margin of 4; readers are content with 2.
        let margin = 2
        func isDark(_ row: Int, _ column: Int) -> Bool {
            guard (0..<width).contains(row), (0..<width).contains(column) else { return isInverted }
            return (modules[row * width + column] & 1 == 1) != isInverted
        }
        return stride(from: -margin, to: width + margin, by: 2).map { row in
            String(
                (-margin..<width + margin).map { column -> Character in
                    let below = row + 1 < width + margin ? isDark(row + 1, column) : true
                    switch (isDark(row, column), below) {
                    case (true, true): return " "
                    case (true, false): return "▄"
                    case (false, true): return "▀"
                    case (false, false): return "█"
                    }
                })
        }
    }
}
