/// A word that may stand where the cursor is.
public struct Candidate: Hashable, Sendable {
    public let text: String
    public let explanation: String

    public init(_ text: String, _ explanation: String = "") {
        self.text = text
        self.explanation = explanation
    }
}

/// What the words before the cursor say.
public struct CompletionContext: Sendable {
    /// The word at the cursor, as far as it is typed.
    public let word: String
    /// What the words before it amount to; nothing is checked.
    public let arguments: ParsedArguments
}

/// What may stand in a place.
public enum Completion: Sendable {
    case none
    case values([Candidate])
    case files
    case folders
    /// Asked when somebody completes: names of devices, for example. It must be quick and must not throw; candidates that do not
    /// begin with the word are dropped.
    case dynamic(@Sendable (CompletionContext) async -> [Candidate])
}

/// Answers a shell's question.
struct Completer {
    enum Answer: Equatable, Sendable {
        case words([Candidate])
        case files
        case folders
    }

    private var path: [Command]
    private var arguments: ParsedArguments
    private var positionals: [String] = []
    private var optionsEnded = false
    /// The option whose value the next word is.
    private var waiting: Argument?

    private var command: Command { path[path.count - 1] }
    private var options: [Argument] { path.reversed().flatMap(\.options) }

    /// - Parameter words: what follows the program's name; the last one is at the cursor.
    static func complete(_ words: [String], root: Command) async -> Answer {
        var completer = Completer(path: [root], arguments: ParsedArguments(commandPath: [root.name]))
        for word in words.dropLast() { completer.pass(word) }
        return await completer.answer(words.last ?? "")
    }

    private init(path: [Command], arguments: ParsedArguments) {
        self.path = path
        self.arguments = arguments
    }

    private mutating func pass(_ word: String) {
        if let option = waiting {
            arguments.values[option.name, default: []].append(word)
            waiting = nil
        } else if optionsEnded || !word.hasPrefix("-") || word == "-" {
            if positionals.isEmpty, !optionsEnded, let next = command.subcommands.first(where: { $0.name == word }) {
                path.append(next)
                arguments.commandPath.append(next.name)
                return
            }
            if let argument = positional { arguments.values[argument.name, default: []].append(word) }
            positionals.append(word)
        } else if word == "--" {
            optionsEnded = true
        } else if let equals = word.firstIndex(of: "="), word.hasPrefix("--") {
            let name = word[..<equals].dropFirst(2)
            arguments.values[String(name), default: []].append(String(word[word.index(after: equals)...]))
        } else if let option = option(word) {
            if option.takesValue { waiting = option } else { arguments.flags[option.name] = true }
        }
    }

    private func option(_ word: String) -> Argument? {
        if word.hasPrefix("--") { return options.first { $0.name == word.dropFirst(2) } }
        return options.first { $0.short == word.last }
    }

    /// The positional that the next word belongs to.
    private var positional: Argument? {
        let declared = command.positionals
        if positionals.count < declared.count { return declared[positionals.count] }
        return declared.last.flatMap { $0.arity.takesSeveral ? $0 : nil }
    }

    private func answer(_ word: String) async -> Answer {
        if let waiting { return await values(waiting, word) }
        if !optionsEnded, word.hasPrefix("--"), let equals = word.firstIndex(of: "=") {
            guard let option = option(String(word[..<equals])), option.takesValue else { return .words([]) }
            let start = String(word[...equals])
            let answer = await values(option, String(word[word.index(after: equals)...]))
            guard case .words(let candidates) = answer else { return answer }
            return .words(candidates.map { Candidate(start + $0.text, $0.explanation) })
        }
        if !optionsEnded, word.hasPrefix("-") { return .words(optionNames().filter { $0.text.hasPrefix(word) }) }
        var candidates: [Candidate] = []
        if positionals.isEmpty, !optionsEnded {
            let names = command.subcommands.filter { !$0.isHidden && $0.name.hasPrefix(word) }
            candidates = names.map { Candidate($0.name, $0.summary) }
        }
        guard let positional else { return .words(candidates) }
        let answer = await values(positional, word)
        guard case .words(let more) = answer else { return candidates.isEmpty ? answer : .words(candidates) }
        return .words(candidates + more)
    }

    private func optionNames() -> [Candidate] {
        var names: [Candidate] = []
        for option in options {
            let isUsedUp = option.form != .option(repeats: true) && arguments.isGiven(option.name)
            guard !isUsedUp else { continue }
            names.append(Candidate("--\(option.name)", option.help))
            if option.isNegatable { names.append(Candidate("--no-\(option.name)", "not: \(option.help)")) }
        }
        return names + [Candidate("--help", "Show this help")]
    }

    private func values(_ argument: Argument, _ word: String) async -> Answer {
        switch argument.completion {
        case .none: return .words([])
        case .files: return .files
        case .folders: return .folders
        case .values(let candidates): return .words(matching(candidates, word))
        case .dynamic(let find):
            return .words(matching(await find(CompletionContext(word: word, arguments: arguments)), word))
        }
    }

    private func matching(_ candidates: [Candidate], _ word: String) -> [Candidate] {
        let typed = word.lowercased()
        return candidates.filter { $0.text.lowercased().hasPrefix(typed) }
    }
}

extension Completer.Answer {
    /// The lines that the shells' functions read: what follows, then a candidate a line, with its explanation behind a tab.
    func lines(word: String) -> [String] {
        switch self {
        case .files: return ["files \(word)"]
        case .folders: return ["folders \(word)"]
        case .words(let candidates):
            // After these the word goes on, so the shell must not add a space.
            let goesOn = !candidates.isEmpty && candidates.allSatisfy { "=/.:".contains($0.text.last ?? " ") }
            let lines = candidates.map { candidate in
                let explanation = TextWidth.harmless(candidate.explanation)
                return TextWidth.harmless(candidate.text) + (explanation.isEmpty ? "" : "\t\(explanation)")
            }
            return [(goesOn ? "open " : "words ") + word] + lines
        }
    }
}
