import Glibc
import Testing

/// Runs the commands of one page in a folder of their own, in their order, as a reader would: simulators go on running, the setup codes
/// that they show are the ones that are typed, and what is shown until Ctrl-C gets a Ctrl-C.
final class CommandRunner {
    private let scratch = Scratch()
    private let page: String
    private var simulators: [Program] = []
    /// Setup codes that simulators have shown and nobody has typed.
    private var codes: [String] = []
    private var last: Program.Result?

    init(page: String) throws {
        self.page = page
        precondition(mkdir(scratch.folder + "/bin", 0o700) == 0, "no folder for the commands")
        // The commands stand in the page as people type them on a network of their own. Here they share a machine with other tests, so
        // that discovery stays on its loopback.
        let wrapper = scratch.write(
            """
            #!/bin/sh
            case "$1 $* " in
            *" --help "* | *" --mdns "*) exec \(Program.hearth) "$@" ;;
            simulate\\ * | discover\\ * | pair\\ * | unpair\\ * | devices\\ * | show\\ * | read\\ * | write\\ * | invoke\\ * | watch\\ * | shell\\ *)
                exec \(Program.hearth) "$@" --mdns builtin --interface lo ;;
            *) exec \(Program.hearth) "$@" ;;
            esac

            """, to: "bin/hearth")
        precondition(chmod(wrapper, 0o700) == 0, "the wrapper cannot be made executable")
    }

    /// A YAML block whose first line is a comment with a file's name becomes that file.
    func file(_ block: Document.Block) {
        guard let first = block.lines.first, first.hasPrefix("# "), first.hasSuffix(".yaml") else { return }
        scratch.write(block.lines.joined(separator: "\n") + "\n", to: String(first.dropFirst(2)))
    }

    /// The lines of a block stand somewhere in what the command before it has said.
    func output(_ block: Document.Block) {
        let said = (last?.output ?? "") + (last?.errors ?? "")
        let lines = Set(said.split(separator: "\n").map { $0.trimmed })
        for line in block.lines where !line.trimmed.isEmpty && !lines.contains(line.trimmed) {
            Issue.record("\(page):\(block.line): the command does not say '\(line)', but:\n\(said)")
        }
    }

    /// Runs a command, which is to end with the exit code.
    func run(_ command: String, code: Int32, at line: Int) throws {
        var words = command.split(separator: " ").map(String.init)
        if words.last == "&" { words.removeLast() }
        let isHearth = words.first == "hearth"
        if isHearth, words.count > 1, words[1] == "simulate", code == 0, !words.contains("--help") {
            return try simulate(words.joined(separator: " "), at: line)
        }
        var typed = words.joined(separator: " ")
        if isHearth, words.count > 2, words[1] == "pair", !codes.isEmpty, words[2].hasPrefix("MT:") || words[2].allSatisfy(\.isNumber) {
            words[2] = codes.removeFirst()
            typed = words.joined(separator: " ")
        }
        let program = try start(typed)
        if isHearth, words.count > 1, words[1] == "watch", code == 0 {
            #expect(try program.line() != nil, "\(page):\(line): nothing is shown")
            program.signal(SIGINT)
            let result = try program.finish()
            #expect(result.code == 130, "\(page):\(line): \(typed): \(result.errors)")
            return
        }
        let result = try program.finish()
        last = result
        #expect(result.code == code, "\(page):\(line): \(typed)\n\(result.output)\(result.errors)")
    }

    /// Ends what is still running, as Ctrl-C does.
    func finish() throws {
        for simulator in simulators {
            simulator.signal(SIGINT)
            let result = try simulator.finish()
            #expect(result.code == 0, "\(page): a simulator ends with \(result.code): \(result.errors)")
        }
        simulators = []
    }

    private func simulate(_ command: String, at line: Int) throws {
        let program = try start(command)
        simulators.append(program)
        while let shown = try program.line() {
            if let code = Self.word(after: "setup code ", in: shown) { codes.append(code) }
            if shown.contains("running. Ctrl-C stops.") || shown.contains("\"ready\":true") { return }
        }
        Issue.record("\(page):\(line): \(command) does not start: \(try program.finish().errors)")
        simulators.removeLast()
    }

    private func start(_ command: String) throws -> Program {
        let environment = [
            "PATH": "\(scratch.folder)/bin:/usr/bin:/bin", "HOME": scratch.folder, "HEARTH_HOME": scratch.folder + "/home",
        ]
        // `exec`, so that a signal reaches the command itself.
        let isPlain = !command.contains { "|;&<>$`".contains($0) }
        let script = "cd '\(scratch.folder)' && " + (isPlain ? "exec \(command)" : command)
        return try Program(["-c", script], environment: environment, path: "/bin/sh")
    }

    private static func word(after mark: String, in text: String) -> String? {
        guard let range = text.firstRange(of: mark) else { return nil }
        return String(text[range.upperBound...].prefix { $0.isNumber })
    }
}
