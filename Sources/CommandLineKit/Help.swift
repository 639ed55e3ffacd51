/// The text of `--help`, from a command's declaration.
struct Help {
    /// From the program down.
    let path: [Command]
    let width: Int
    let hasVersion: Bool
    var bold: (String) -> String = { $0 }

    private var command: Command { path[path.count - 1] }
    private var name: String { path.map(\.name).joined(separator: " ") }

    func text() -> String {
        var lines = usage()
        lines.append("")
        lines += TextWidth.wrapped(command.summary + ".", to: width)
        if !command.discussion.isEmpty { lines += [""] + TextWidth.wrapped(command.discussion, to: width) }
        let commands = command.subcommands.filter { !$0.isHidden }
        lines += section("Commands", commands.map { ($0.name, $0.summary) })
        lines += section("Arguments", command.positionals.map { ($0.valueName, explain($0)) })
        var options = command.options.map { (spelling($0), explain($0)) }
        options.append(("-h, --help", "Show this help"))
        if hasVersion, path.count == 1 { options.append(("    --version", "Show the version")) }
        lines += section("Options", options)
        for above in path.dropLast().reversed() where !above.options.isEmpty {
            lines += section("Options of \(above.name)", above.options.map { (spelling($0), explain($0)) })
        }
        if !command.examples.isEmpty {
            lines += ["", bold("Examples:")]
            for example in command.examples {
                lines.append("  " + example.command)
                lines += TextWidth.wrapped(example.explanation, to: width, indent: 6)
            }
        }
        if !commands.isEmpty {
            lines += [""] + TextWidth.wrapped("'\(name) COMMAND --help' says more about a command.", to: width)
        }
        return lines.joined(separator: "\n") + "\n"
    }

    private func usage() -> [String] {
        var words: [String] = []
        for argument in command.options where argument.isRequired { words.append("--\(argument.name) \(argument.valueName)") }
        words.append("[OPTION…]")
        if !command.subcommands.isEmpty {
            words.append(command.run == nil || command.positionals.contains(where: \.isRequired) ? "COMMAND" : "[COMMAND]")
        }
        for argument in command.positionals {
            let word = argument.valueName + (argument.arity.takesSeveral ? "…" : "")
            words.append(argument.isRequired ? word : "[\(word)]")
        }
        let start = "Usage: \(name) "
        return TextWidth.wrapped(
            start + words.joined(separator: " "), to: width, indent: 0, hanging: min(TextWidth.of(start), 20))
    }

    private func spelling(_ argument: Argument) -> String {
        let short = argument.short.map { "-\($0), " } ?? "    "
        let name = argument.isNegatable ? "--[no-]\(argument.name)" : "--\(argument.name)"
        return short + name + (argument.takesValue ? " \(argument.valueName)" : "")
    }

    private func explain(_ argument: Argument) -> String {
        var notes: [String] = []
        switch argument.kind {
        case .choice(let names): notes.append(names.joined(separator: ", "))
        case .integer(let range): notes.append("\(range.lowerBound) to \(range.upperBound)")
        case .unsigned(let range): notes.append("\(range.lowerBound) to \(range.upperBound)")
        case .number(let range):
            if range.upperBound < .greatestFiniteMagnitude { notes.append("\(range.lowerBound) to \(range.upperBound)") }
        default: break
        }
        if let value = argument.defaultValue { notes.append("default: \(value)") }
        if case .option(repeats: true) = argument.form { notes.append("may be repeated") }
        return argument.help + (notes.isEmpty ? "" : " (\(notes.joined(separator: "; ")))")
    }

    private func section(_ title: String, _ entries: [(String, String)]) -> [String] {
        guard !entries.isEmpty else { return [] }
        let column = min(entries.map { TextWidth.of($0.0) }.max() ?? 0, 26) + 4
        var lines = ["", bold(title + ":")]
        for (name, text) in entries {
            let start = "  " + TextWidth.padded(name, to: column - 4) + "  "
            var body = TextWidth.wrapped(text, to: width, indent: column)
            if TextWidth.of(start) > column {
                lines.append("  " + name)
            } else if !body.isEmpty {
                body[0] = start + body[0].drop { $0 == " " }
            }
            lines += body
        }
        return lines
    }
}
