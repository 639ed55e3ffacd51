import Glibc
import Testing

/// A page of the documentation as the tests read it: its fenced blocks in order.
struct Document: Sendable, CustomTestStringConvertible {
    struct Block: Sendable {
        /// What stands behind the opening fence: `sh`, `yaml`, `swift`, `hex`, `output` …
        var language: String
        /// Of the first line within the fence, from 1.
        var line: Int
        var lines: [String]
    }

    /// From the package's folder: `README.md`, `docs/protocol.md`.
    var name: String
    var text: String
    var blocks: [Block]

    var testDescription: String { name }

    /// README.md and every page in docs.
    static let all: [Document] = {
        let pages = files(in: "docs").filter { $0.hasSuffix(".md") }.map { "docs/" + $0 }
        return (["README.md"] + pages.sorted()).map(Document.init(name:))
    }()

    static func named(_ name: String) throws -> Document { try #require(all.first { $0.name == name }, "there is no \(name)") }

    private init(name: String) {
        self.name = name
        text = Self.contents(of: name)
        blocks = []
        var open: Block?
        for (index, line) in text.split(separator: "\n", omittingEmptySubsequences: false).enumerated() {
            if let fence = line.firstRange(of: "```"), line[..<fence.lowerBound].allSatisfy({ $0 == " " }) {
                if let block = open {
                    blocks.append(block)
                    open = nil
                } else {
                    open = Block(language: line[fence.upperBound...].trimmed, line: index + 2, lines: [])
                }
            } else {
                open?.lines.append(String(line))
            }
        }
        precondition(open == nil, "\(name): a block is not closed")
    }

    // MARK: Files

    /// The text of a file of the package; empty when there is none.
    static func contents(of name: String) -> String {
        let descriptor = open("\(Program.package)/\(name)", O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { return "" }
        defer { close(descriptor) }
        var bytes: [UInt8] = []
        var chunk = [UInt8](repeating: 0, count: 65_536)
        while true {
            let count = read(descriptor, &chunk, chunk.count)
            if count <= 0 { return String(decoding: bytes, as: UTF8.self) }
            bytes += chunk[..<count]
        }
    }

    /// The names in a folder of the package.
    static func files(in folder: String) -> [String] {
        guard let directory = opendir("\(Program.package)/\(folder)") else { return [] }
        defer { closedir(directory) }
        var names: [String] = []
        while let entry = readdir(directory) {
            let name = withUnsafeBytes(of: &entry.pointee.d_name) { bytes in
                String(decoding: bytes.prefix { $0 != 0 }, as: UTF8.self)
            }
            if !name.hasPrefix(".") { names.append(name) }
        }
        return names.sorted()
    }
}

extension StringProtocol {
    /// Without blanks at either end.
    var trimmed: String {
        var rest = Substring(self)
        while rest.first?.isWhitespace == true { rest.removeFirst() }
        while rest.last?.isWhitespace == true { rest.removeLast() }
        return String(rest)
    }
}
