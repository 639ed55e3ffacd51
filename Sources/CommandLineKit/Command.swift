/// One command of a tree, with all that its parser, its help and its completion need to know.
public struct Command: Sendable {
    /// Does the work. It writes to the terminal and throws what goes wrong.
    public typealias Run = @Sendable (ParsedArguments, Terminal) async throws -> Void

    public var name: String
    /// One line, without a full stop.
    public var summary: String
    /// Paragraphs for `--help`, separated by empty lines. Indented lines stay as they are.
    public var discussion: String
    public var examples: [Example]
    /// Options and flags are also accepted after the name of any subcommand.
    public var arguments: [Argument]
    public var subcommands: [Command]
    /// True: works, and is not shown.
    public var isHidden: Bool
    /// Nil where a subcommand must be given.
    public var run: Run?

    public init(
        _ name: String, summary: String, discussion: String = "", examples: [Example] = [], arguments: [Argument] = [],
        subcommands: [Command] = [], isHidden: Bool = false, run: Run? = nil
    ) {
        self.name = name
        self.summary = summary
        self.discussion = discussion
        self.examples = examples
        self.arguments = arguments
        self.subcommands = subcommands
        self.isHidden = isHidden
        self.run = run
    }

    var positionals: [Argument] { arguments.filter(\.isPositional) }
    var options: [Argument] { arguments.filter { !$0.isPositional } }
}

/// A command line and what it does.
public struct Example: Sendable {
    public let command: String
    public let explanation: String

    public init(_ command: String, _ explanation: String) {
        self.command = command
        self.explanation = explanation
    }
}

/// A positional argument, an option with a value, or a flag.
public struct Argument: Sendable {
    /// How the argument is written.
    public enum Form: Hashable, Sendable {
        /// How many values it takes. Only the last positional takes several.
        case positional(Arity)
        /// `--name VALUE`; the last one counts unless it repeats.
        case option(repeats: Bool)
        /// `--name`; a negatable one also `--no-name`.
        case flag(negatable: Bool)
    }

    /// How many values a positional takes: exactly one, at most one, any number, or one and more.
    public enum Arity: Hashable, Sendable {
        case one, optional, any, atLeastOne

        var takesSeveral: Bool { self == .any || self == .atLeastOne }
        var isRequired: Bool { self == .one || self == .atLeastOne }
    }

    public let form: Form
    /// The key in `ParsedArguments`; of an option and a flag what follows the two dashes.
    public let name: String
    public let short: Character?
    /// What stands for the value in help: `HOST:PORT`.
    public let valueName: String
    public let help: String
    public let kind: ValueKind
    public let isRequired: Bool
    public let defaultValue: String?
    public let completion: Completion

    /// An argument known by its place, in the order of declaration.
    public static func positional(
        _ name: String, _ valueName: String? = nil, help: String, arity: Arity = .one, kind: ValueKind = .text,
        completion: Completion? = nil
    ) -> Argument {
        Argument(
            form: .positional(arity), name: name, short: nil, valueName: valueName ?? name.uppercased(), help: help, kind: kind,
            isRequired: arity.isRequired, defaultValue: nil, completion: completion ?? kind.completion)
    }

    /// `--name VALUE` or `--name=VALUE`.
    public static func option(
        _ name: String, short: Character? = nil, _ valueName: String? = nil, help: String, kind: ValueKind = .text,
        repeats: Bool = false, isRequired: Bool = false, default defaultValue: String? = nil, completion: Completion? = nil
    ) -> Argument {
        Argument(
            form: .option(repeats: repeats), name: name, short: short, valueName: valueName ?? name.uppercased(), help: help,
            kind: kind, isRequired: isRequired, defaultValue: defaultValue, completion: completion ?? kind.completion)
    }

    /// `--name`; with `negatable` also `--no-name`.
    public static func flag(_ name: String, short: Character? = nil, help: String, negatable: Bool = false) -> Argument {
        Argument(
            form: .flag(negatable: negatable), name: name, short: short, valueName: "", help: help, kind: .text,
            isRequired: false, defaultValue: nil, completion: .none)
    }

    var isPositional: Bool { if case .positional = form { true } else { false } }
    var takesValue: Bool { if case .option = form { true } else { false } }
    var isNegatable: Bool { form == .flag(negatable: true) }
    var arity: Arity { if case .positional(let arity) = form { arity } else { .optional } }

    /// What messages call it.
    var displayName: String { isPositional ? valueName : "--\(name)" }
}

/// What a value must be.
public enum ValueKind: Sendable {
    case text
    /// A whole number within the range, decimal or with `0x`.
    case integer(ClosedRange<Int64>)
    case unsigned(ClosedRange<UInt64>)
    case number(ClosedRange<Double>)
    /// One of these, in any case.
    case choice([String])
    case file
    case folder
    /// `check` returns what is wrong with the value, nil when it is right.
    case custom(check: @Sendable (String) -> String?)

    var completion: Completion {
        switch self {
        case .choice(let names): .values(names.map { Candidate($0) })
        case .file: .files
        case .folder: .folders
        default: .none
        }
    }

    /// What is wrong with `text`, nil when it is right. Follows the argument's name and a colon.
    func fault(in text: String) -> String? {
        switch self {
        case .text: return nil
        case .file, .folder: return text.isEmpty ? "the path is empty" : nil
        case .integer(let range):
            guard let value = Numbers.signed(text) else { return "'\(text)' is not a whole number" }
            return range.contains(value) ? nil : "\(text) is not in \(range.lowerBound) to \(range.upperBound)"
        case .unsigned(let range):
            guard let value = Numbers.unsigned(text) else { return "'\(text)' is not a whole number from 0 up" }
            return range.contains(value) ? nil : "\(text) is not in \(range.lowerBound) to \(range.upperBound)"
        case .number(let range):
            guard let value = Double(text), value.isFinite else { return "'\(text)' is not a number" }
            return range.contains(value) ? nil : "\(text) is not in \(range.lowerBound) to \(range.upperBound)"
        case .choice(let names):
            if names.contains(where: { $0.lowercased() == text.lowercased() }) { return nil }
            let nearest = Suggestion.nearest(to: text, in: names)
            return "'\(text)' is none of \(names.joined(separator: ", "))" + (nearest.map { "; did you mean '\($0)'?" } ?? "")
        case .custom(let check): return check(text)
        }
    }

    /// The value as later code compares it: a choice in its own spelling.
    func canonical(_ text: String) -> String {
        guard case .choice(let names) = self else { return text }
        return names.first { $0.lowercased() == text.lowercased() } ?? text
    }
}

enum Numbers {
    static func unsigned(_ text: String) -> UInt64? {
        if text.hasPrefix("0x") || text.hasPrefix("0X") {
            let digits = text.dropFirst(2)
            return digits.first?.isHexDigit == true ? UInt64(digits, radix: 16) : nil
        }
        return text.hasPrefix("+") ? nil : UInt64(text)
    }

    static func signed(_ text: String) -> Int64? {
        if text.hasPrefix("-") {
            guard let magnitude = unsigned(String(text.dropFirst())), magnitude <= UInt64(1) << 63 else { return nil }
            return Int64(truncatingIfNeeded: 0 &- magnitude)
        }
        return unsigned(text).flatMap { Int64(exactly: $0) }
    }
}
