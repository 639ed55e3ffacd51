import Glibc

/// A command tree with what every program has: `--help`, `help`, `--version`, `completion`, error messages, exit codes.
public struct Program: Sendable {
    public let root: Command
    public let version: String
    /// Gives an error that is not a `CommandLineError` its exit code and message; nil leaves it to `ExitCode.failure`.
    public let translate: @Sendable (any Error) -> (any CommandLineError)?
    /// Told of an error before it is printed; true when it has printed it itself (as JSON, where `--json` is among the words).
    public let report: @Sendable (any CommandLineError, _ words: [String], Terminal) -> Bool

    public init(
        _ root: Command, version: String, translate: @escaping @Sendable (any Error) -> (any CommandLineError)? = { _ in nil },
        report: @escaping @Sendable (any CommandLineError, _ words: [String], Terminal) -> Bool = { _, _, _ in false }
    ) {
        var root = root
        root.subcommands.append(Program.completionCommand(root.name))
        root.subcommands.append(Program.helpCommand)
        self.root = root
        self.version = version
        self.translate = translate
        self.report = report
    }

    /// Runs the command that `words` (without the program's own name) ask for, and tells its errors.
    ///
    /// It ignores SIGPIPE for the process, so that a reader that has gone ends in an error code and not in a signal.
    public func run(_ words: [String], on terminal: Terminal = .standard()) async -> ExitCode {
        let code = await runCommand(words, terminal)
        terminal.flush()
        guard code == .ok, let failure = terminal.outputFailure else { return code }
        // What was asked for is not where it was wanted: a script must not take it for done.
        terminal.note("error: standard output cannot be written: \(String(cString: strerror(failure)))")
        return .failure
    }

    private func runCommand(_ words: [String], _ terminal: Terminal) async -> ExitCode {
        signal(SIGPIPE, SIG_IGN)
        if words.first == "__complete" {
            await complete(Array(words.dropFirst()), terminal)
            return .ok
        }
        do {
            switch try Parser.parse(words, root: root) {
            case .help(let path): showHelp(path, terminal)
            case .incomplete(let path):
                let names = path.last?.subcommands.filter { !$0.isHidden }.map(\.name) ?? []
                // Whoever wants it in another form gets it in that; people get the help.
                let missing = UsageError("say what to do: one of \(names.joined(separator: ", "))")
                if !report(missing, words, terminal) { showHelp(path, terminal) }
                return .badArguments
            case .version: terminal.line("\(root.name) \(version)")
            case .run(let command, let arguments):
                if arguments.commandPath.count == 2, command.name == "help" {
                    try showHelp(resolve(arguments.texts("command")), terminal)
                } else {
                    try await command.run?(arguments, terminal)
                }
            }
            return .ok
        } catch {
            return tell(error, words, terminal)
        }
    }

    private func tell(_ error: any Error, _ words: [String], _ terminal: Terminal) -> ExitCode {
        let known: any CommandLineError
        if let error = error as? any CommandLineError {
            known = error
        } else if error is CancellationError {
            known = Failure(.interrupted, "interrupted")
        } else {
            known = translate(error) ?? Failure(.failure, "\(error)")
        }
        if !report(known, words, terminal) {
            // A device's words may be part of the message.
            terminal.note(terminal.styledForErrors("error:", .red) + " " + TextWidth.harmless(known.message))
            if let hint = known.hint { terminal.note("  " + TextWidth.harmless(hint)) }
        }
        return known.exitCode
    }

    private func showHelp(_ path: [Command], _ terminal: Terminal) {
        var help = Help(path: path, width: min(terminal.width, 110), hasVersion: true)
        help.bold = { terminal.styled($0, .bold) }
        terminal.write(help.text())
    }

    private func resolve(_ names: [String]) throws(UsageError) -> [Command] {
        var path = [root]
        for name in names {
            let commands = path[path.count - 1].subcommands
            guard let next = commands.first(where: { $0.name == name }) else {
                let nearest = Suggestion.nearest(to: name, in: commands.filter { !$0.isHidden }.map(\.name))
                throw UsageError(
                    "unknown command '\(name)'" + (nearest.map { "; did you mean '\($0)'?" } ?? ""),
                    hint: "see '\(path.map(\.name).joined(separator: " ")) --help'")
            }
            path.append(next)
        }
        return path
    }

    /// `__complete --line TEXT` or `__complete --words -- WORD…`; see `CompletionScripts`.
    private func complete(_ words: [String], _ terminal: Terminal) async {
        let asked: [String]
        if words.first == "--line", words.count == 2 {
            asked = Array(ShellWords.split(words[1]).dropFirst())
        } else {
            asked = Array(words.drop { $0 == "--words" }.drop { $0 == "--" })
        }
        for line in await Completer.complete(asked, root: root).lines(word: asked.last ?? "") { terminal.line(line) }
    }

    private static let helpCommand = Command(
        "help", summary: "Show the help of a command",
        arguments: [.positional("command", "COMMAND", help: "The command, with its subcommands", arity: .any)],
        // `run` above answers it: it needs the whole tree.
        run: { _, _ in })

    private static func completionCommand(_ program: String) -> Command {
        Command(
            "completion", summary: "Print the completion script of a shell",
            examples: [
                Example(
                    "source <(\(program) completion bash)", "Completion in this shell; put the line into ~/.bashrc to keep it."),
                Example("\(program) completion fish | source", "The same for fish."),
            ],
            arguments: [
                .positional("shell", help: "Your shell", kind: .choice(Shell.allCases.map(\.rawValue)))
            ],
            run: { arguments, terminal in
                guard let shell = Shell(rawValue: try arguments.required("shell")) else { return }
                terminal.write(CompletionScripts.script(shell, program: program))
            })
    }
}
