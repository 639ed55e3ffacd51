/// What the words on the command line ask for.
enum Request: Sendable {
    case run(Command, ParsedArguments)
    /// The commands from the program down to the one whose help is wanted.
    case help([Command])
    /// A command without the subcommand that it needs: shown the same, and not a success.
    case incomplete([Command])
    case version
}

/// Reads words by a command tree.
///
/// `--name value`, `--name=value`, `-n value`, `-nvalue`, `-abc` for flags, `--no-name` for negatable flags; `--` ends the options;
/// options and positionals may be mixed. What looks like a negative number is a positional.
struct Parser {
    private var path: [Command]
    private var parsed: ParsedArguments
    private var positionals: [String] = []
    private var rest: ArraySlice<String>
    private let hasVersion: Bool

    static func parse(_ words: [String], root: Command, hasVersion: Bool = true) throws(UsageError) -> Request {
        var parser = Parser(
            path: [root], parsed: ParsedArguments(commandPath: [root.name]), rest: words[...], hasVersion: hasVersion)
        return try parser.parse()
    }

    private init(path: [Command], parsed: ParsedArguments, rest: ArraySlice<String>, hasVersion: Bool) {
        self.path = path
        self.parsed = parsed
        self.rest = rest
        self.hasVersion = hasVersion
    }

    private var command: Command { path[path.count - 1] }
    private var hint: String { "see '\(path.map(\.name).joined(separator: " ")) --help'" }
    /// Its own options and those of the commands above.
    private var options: [Argument] { path.reversed().flatMap(\.options) }

    private mutating func parse() throws(UsageError) -> Request {
        var optionsEnded = false
        while let word = rest.popFirst() {
            if optionsEnded || word == "-" || !word.hasPrefix("-") || isNegativeNumber(word) {
                try positional(word, optionsEnded: optionsEnded)
            } else if word == "--" {
                optionsEnded = true
            } else if word == "--help" || (word == "-h" && option(short: "h") == nil) {
                return .help(path)
            } else if word == "--version", hasVersion, path.count == 1 {
                return .version
            } else if word.hasPrefix("--") {
                try long(word)
            } else {
                try short(word)
            }
        }
        return try finish()
    }

    private func isNegativeNumber(_ word: String) -> Bool {
        guard let digit = word.dropFirst().first, digit.isNumber, option(short: digit) == nil else { return false }
        return Double(word) != nil || Numbers.signed(word) != nil
    }

    private func option(short: Character) -> Argument? { options.first { $0.short == short } }

    private mutating func positional(_ word: String, optionsEnded: Bool) throws(UsageError) {
        if positionals.isEmpty, !optionsEnded, !command.subcommands.isEmpty {
            if let next = command.subcommands.first(where: { $0.name == word }) {
                path.append(next)
                parsed.commandPath.append(next.name)
                return
            }
            if command.positionals.isEmpty {
                let names = command.subcommands.filter { !$0.isHidden }.map(\.name)
                throw unknown("command", word, among: names)
            }
        }
        positionals.append(word)
    }

    private func unknown(_ what: String, _ word: String, among names: [String]) -> UsageError {
        let nearest = Suggestion.nearest(to: word, in: names)
        return UsageError("unknown \(what) '\(word)'" + (nearest.map { "; did you mean '\($0)'?" } ?? ""), hint: hint)
    }

    private mutating func long(_ word: String) throws(UsageError) {
        let body = word.dropFirst(2)
        let equals = body.firstIndex(of: "=")
        let name = String(equals.map { body[..<$0] } ?? body)
        let attached = equals.map { String(body[body.index(after: $0)...]) }
        if let argument = options.first(where: { $0.name == name }) {
            if argument.takesValue {
                if let attached { try set(argument, attached) } else { try set(argument, try value(for: argument)) }
            } else if attached != nil {
                throw UsageError("--\(name) takes no value", hint: hint)
            } else {
                parsed.flags[name] = true
            }
        } else if name.hasPrefix("no-"), let argument = options.first(where: { $0.isNegatable && "no-" + $0.name == name }) {
            if attached != nil { throw UsageError("--\(name) takes no value", hint: hint) }
            parsed.flags[argument.name] = false
        } else if let owner = command.subcommands.first(where: { $0.options.contains { $0.name == name } }) {
            throw UsageError(
                "--\(name) goes behind the command, as in '\(path.map(\.name).joined(separator: " ")) \(owner.name) --\(name)'", hint: hint)
        } else {
            let names = options.flatMap { $0.isNegatable ? ["--\($0.name)", "--no-\($0.name)"] : ["--\($0.name)"] }
            throw unknown("option", "--\(name)", among: names + ["--help"])
        }
    }

    private mutating func short(_ word: String) throws(UsageError) {
        var letters = word.dropFirst()
        while let letter = letters.popFirst() {
            guard let argument = option(short: letter) else {
                throw unknown("option", "-\(letter)", among: [])
            }
            guard argument.takesValue else {
                parsed.flags[argument.name] = true
                continue
            }
            if letters.first == "=" { letters = letters.dropFirst() }
            try set(argument, letters.isEmpty && !word.hasSuffix("=") ? try value(for: argument) : String(letters))
            return
        }
    }

    /// The next word. One that begins with two dashes is an option whose predecessor was forgotten; `--name=--x` can say it.
    private mutating func value(for argument: Argument) throws(UsageError) -> String {
        guard let word = rest.first, !word.hasPrefix("--") else {
            throw UsageError("--\(argument.name) needs a value \(argument.valueName)", hint: hint)
        }
        rest.removeFirst()
        return word
    }

    private mutating func set(_ argument: Argument, _ text: String) throws(UsageError) {
        if let fault = argument.kind.fault(in: text) { throw UsageError("\(argument.displayName): \(fault)", hint: hint) }
        parsed.values[argument.name, default: []].append(argument.kind.canonical(text))
    }

    private mutating func finish() throws(UsageError) -> Request {
        guard command.run != nil else {
            if positionals.isEmpty { return .incomplete(path) }
            throw UsageError("'\(command.name)' needs a command", hint: hint)
        }
        for argument in options { if let value = argument.defaultValue { parsed.defaults[argument.name] = value } }
        var words = positionals[...]
        for argument in command.positionals {
            if argument.arity.takesSeveral {
                if argument.isRequired, words.isEmpty { throw UsageError("\(argument.valueName) is missing", hint: hint) }
                while let word = words.popFirst() { try set(argument, word) }
            } else if let word = words.popFirst() {
                try set(argument, word)
            } else if argument.isRequired {
                throw UsageError("\(argument.valueName) is missing", hint: hint)
            }
        }
        if let extra = words.first {
            let pair = command.positionals.last { $0.valueName.contains("=") }
            let advice = pair.map { ". A name and its value are one word: \($0.valueName)" } ?? ""
            throw UsageError("one argument too many: '\(extra)'\(advice)", hint: hint)
        }
        for argument in options where argument.isRequired && parsed.values[argument.name] == nil {
            throw UsageError("--\(argument.name) \(argument.valueName) is missing", hint: hint)
        }
        return .run(command, parsed)
    }
}
