import Glibc
import MatterDevice
import MatterModel
import MatterTLV
import Testing

/// What README.md and docs/ tell people to type and to write is run, compiled or compared, from nothing but what the page itself says.
@Suite(.serialized) struct PageTests {
    /// Pages whose commands suppose a home that is there already; DocumentationTests makes it and runs them.
    private static let elsewhere = ["docs/cli.md", "docs/machine-interface.md"]

    private static let complete = Document.all.filter { !elsewhere.contains($0.name) }

    /// Commands that are not run here, by how they begin, and why.
    private static let exempt = [
        "scripts/demo": "installs packages and builds", "scripts/test": "runs this very test", "scripts/install-packages": "needs root",
        "scripts/fuzz": "takes as long as it is given",
        "scripts/lint": "a step of CI of its own", "scripts/generate-model": "a step of CI of its own", "swift ": "builds again",
        "sudo ": "needs root", "export PATH": "the tests have a path of their own",
        "Benchmarks/": "takes minutes, in release", "scripts/bench": "takes minutes, in release",
    ]

    @Test(arguments: complete) func everyCommandDoesWhatItSays(_ document: Document) throws {
        let runner = try CommandRunner(page: document.name)
        for block in document.blocks {
            switch block.language {
            case "yaml": runner.file(block)
            case "output": runner.output(block)
            case "sh": for command in Self.commands(block) { try runner.run(command.text, code: command.code, at: command.line) }
            default: break
            }
        }
        try runner.finish()
    }

    @Test(arguments: Document.all) func linksLeadSomewhere(_ document: Document) {
        let folder = document.name.hasPrefix("docs/") ? "docs/" : ""
        for part in document.text.split(separator: "](").dropFirst() {
            let target = part.prefix { $0 != ")" && $0 != "\n" }
            guard !target.contains("://") else { continue }
            let parts = target.split(separator: "#", maxSplits: 1, omittingEmptySubsequences: false)
            let page = parts[0].isEmpty ? document.name : folder + parts[0]
            #expect(access("\(Program.package)/\(page)", R_OK) == 0, "\(document.name): there is no \(target)")
            guard parts.count == 2 else { continue }
            let anchors = Document.contents(of: page).split(separator: "\n").filter { $0.hasPrefix("#") }.map(Self.anchor)
            #expect(anchors.contains(String(parts[1])), "\(document.name): \(page) has no heading for #\(parts[1])")
        }
    }

    /// What stands in a page as Swift stands line by line in a source that is compiled and run, too.
    @Test(arguments: Document.all) func everySwiftExampleIsCompiled(_ document: Document) {
        let folders = ["Tests/HomeTestKitTests", "Examples/SwiftTesting/Tests/LampTests", "Sources/MatterSimulator/Faults"]
        let sources = folders.flatMap { folder in
            Document.files(in: folder).filter { $0.hasSuffix(".swift") }.map { Self.lines(Document.contents(of: "\(folder)/\($0)")) }
        }
        for block in document.blocks where block.language == "swift" {
            let wanted = Self.lines(block.lines.joined(separator: "\n"))
            let isThere = sources.contains { source in
                source.indices.contains { source[$0...].starts(with: wanted) }
            }
            #expect(isThere, "\(document.name):\(block.line): this stands in no source of \(folders.joined(separator: ", "))")
        }
    }

    /// Frames in the protocol's page: length, header, and TLV in its shortest form.
    @Test func hexadecimalExamplesAreWhatTheyClaim() throws {
        var count = 0
        for block in try Document.named("docs/protocol.md").blocks where block.language == "hex" {
            for line in block.lines where !line.trimmed.isEmpty {
                let frame = line.split(separator: " ").compactMap { UInt8($0, radix: 16) }
                try #require(frame.count > 10, "\(line)")
                let length = frame[..<4].reversed().reduce(0) { $0 << 8 | Int($1) }
                #expect(length == frame.count - 4, "\(line)")
                #expect(frame[4] <= 1, "\(line)")
                count += 1
                guard frame[8...9] == [1, 0] else { continue }
                let payload = Array(frame[10...])
                let value = try TLVValue(decoding: payload)
                #expect(value.encoded() == payload, "\(line)")
                #expect(value[255] == .unsigned(12), "\(line)")
                #expect((1...10).contains(frame[5]), "\(line)")
            }
        }
        #expect(count > 15)
    }

    @Test func theTablesOfParametersAndFaultsAreComplete() throws {
        let profiles = try Document.named("docs/profiles.md").text
        for cluster in DataModel.index {
            for parameter in ClusterFactory.parameters(of: cluster.id) {
                let isThere = profiles.contains("`\(parameter.name)`")
                #expect(isThere, "docs/profiles.md needs a row for \(cluster.name)'s `\(parameter.name)`: \(parameter.summary)")
            }
        }
        let faults = try Document.named("docs/adding-a-fault.md").text
        let kinds = Document.files(in: "Sources/MatterSimulator/Faults").flatMap { file in
            Document.contents(of: "Sources/MatterSimulator/Faults/" + file).split(separator: "\n").compactMap { line -> String? in
                guard line.contains("override class var kind") else { return nil }
                let parts = line.split(separator: "\"", omittingEmptySubsequences: false)
                return parts.count > 1 ? String(parts[1]) : nil
            }
        }
        #expect(kinds.count >= 9)
        for kind in kinds {
            let isThere = faults.contains("| `\(kind)` |")
            #expect(isThere, "docs/adding-a-fault.md needs a row for \(kind)")
        }
    }

    // MARK: Parts

    /// The commands of a block: a line each, or several that end with a backslash. A comment behind one may say its exit code.
    private static func commands(_ block: Document.Block) -> [(text: String, code: Int32, line: Int)] {
        var commands: [(text: String, code: Int32, line: Int)] = []
        var begun = ""
        for (index, line) in block.lines.enumerated() {
            var text = begun + line.trimmed
            begun = ""
            if text.hasPrefix("$ ") { text = String(text.dropFirst(2)) }
            if text.hasSuffix("\\") {
                begun = text.dropLast().trimmed + " "
                continue
            }
            var code: Int32 = 0
            if text.hasPrefix("#") { continue }
            if let comment = text.firstRange(of: " #") {
                let words = text[comment.upperBound...].split(separator: " ")
                if let place = words.firstIndex(of: "code"), place > 0, words[place - 1] == "exit", place + 1 < words.count {
                    code = Int32(words[place + 1].prefix { $0.isNumber }) ?? 0
                }
                text = text[..<comment.lowerBound].trimmed
            }
            guard !text.isEmpty, !exempt.keys.contains(where: { text.hasPrefix($0) }) else { continue }
            commands.append((text, code, block.line + index))
        }
        return commands
    }

    /// Lines without indentation and blanks, so that only the code counts.
    private static func lines(_ text: String) -> [String] {
        text.split(separator: "\n").map { $0.trimmed }.filter { !$0.isEmpty }
    }

    /// The anchor that a heading gets.
    private static func anchor(_ heading: Substring) -> String {
        heading.drop { $0 == "#" || $0 == " " }.lowercased().compactMap { character -> Character? in
            if character == " " { return "-" }
            return character.isLetter || character.isNumber || character == "-" || character == "_" ? character : nil
        }.map(String.init).joined()
    }
}
