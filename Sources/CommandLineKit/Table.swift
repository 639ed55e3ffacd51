/// Rows in aligned columns.
public struct Table: Sendable {
    /// A column's heading and how it takes its room.
    public struct Column: Sendable {
        public let title: String
        public let alignsRight: Bool
        /// The cells that it keeps when the table is too wide; nil: it is never cut.
        public let minimumWidth: Int?

        public init(_ title: String, alignsRight: Bool = false, minimumWidth: Int? = 8) {
            self.title = title
            self.alignsRight = alignsRight
            self.minimumWidth = minimumWidth
        }
    }

    /// What stands in one place; harmless to a terminal, whatever it was made from.
    public struct Cell: Sendable, ExpressibleByStringInterpolation {
        public let text: String
        public let style: Style?

        /// Control characters in `text` are made harmless.
        public init(_ text: String, _ style: Style? = nil) {
            self.text = TextWidth.harmless(text)
            self.style = style
        }

        public init(stringLiteral value: String) { self.init(value) }
    }

    public let columns: [Column]
    public private(set) var rows: [[Cell]] = []

    public init(_ columns: [Column]) { self.columns = columns }
    public init(_ titles: String...) { self.init(titles.map { Column($0) }) }

    /// Adds a row; cells that are missing are empty, cells too many are dropped.
    public mutating func add(_ cells: [Cell]) {
        rows.append((0..<columns.count).map { $0 < cells.count ? cells[$0] : Cell("") })
    }

    /// Adds a row.
    public mutating func add(_ cells: Cell...) { add(cells) }

    /// Writes it to `terminal`, cut to its width when it is one.
    public func write(to terminal: Terminal) {
        for line in lines(width: terminal.tableWidth, style: { terminal.styled($0, $1) }) { terminal.line(line) }
    }

    /// Its lines, titles first.
    public func lines(width: Int? = nil, style: (String, Style) -> String = { text, _ in text }) -> [String] {
        let widths = widths(fitting: width)
        func line(_ cells: [Cell]) -> String {
            var result = ""
            for (index, cell) in cells.enumerated() {
                if index > 0 { result += "  " }
                let cut = TextWidth.truncated(cell.text, to: widths[index])
                let isLast = index == cells.count - 1 && !columns[index].alignsRight
                let filled = isLast ? cut : TextWidth.padded(cut, to: widths[index], alignRight: columns[index].alignsRight)
                result += cell.style.map { style(filled, $0) } ?? filled
            }
            // Without styles a line ends with its text.
            while result.last == " " { result.removeLast() }
            return result
        }
        return [line(columns.map { Cell($0.title, .bold) })] + rows.map(line)
    }

    private func widths(fitting width: Int?) -> [Int] {
        var widths = columns.indices.map { index in
            max(TextWidth.of(columns[index].title), rows.map { TextWidth.of($0[index].text) }.max() ?? 0)
        }
        guard let width else { return widths }
        var surplus = widths.reduce(0, +) + 2 * max(0, widths.count - 1) - width
        // Take from the widest column that may be cut, one cell after the other.
        while surplus > 0 {
            let candidates = columns.indices.filter { widths[$0] > columns[$0].minimumWidth ?? .max }
            guard let widest = candidates.max(by: { widths[$0] < widths[$1] }) else { break }
            widths[widest] -= 1
            surplus -= 1
        }
        return widths
    }
}
