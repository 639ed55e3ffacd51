@testable import CommandLineKit

/// A small tree with one of everything.
func demoProgram(run: @escaping Command.Run = { _, _ in }) -> Program {
    let lamps = [Candidate("kitchen lamp", "On/Off Light"), Candidate("Kettle", ""), Candidate("hall", "Dimmable Light")]
    let device = Argument.positional(
        "device", "DEVICE", help: "The device's name",
        completion: .dynamic { context in
            context.arguments.text("home") == "/empty" ? [] : lamps
        })
    let root = Command(
        "demo", summary: "A home of devices", discussion: "Two paragraphs.\n\nThe second.",
        arguments: [
            .option("home", "DIR", help: "Where it keeps its state", kind: .folder),
            .flag("json", help: "Answer in JSON"),
        ],
        subcommands: [
            Command(
                "read", summary: "Read attributes", discussion: "Reads what you name.",
                examples: [Example("demo read hall OnOff.OnOff", "Whether the lamp in the hall is on.")],
                arguments: [
                    device,
                    .positional("path", "CLUSTER[.ATTRIBUTE]", help: "What to read", arity: .atLeastOne),
                    .option("timeout", short: "t", "MS", help: "How long to wait", kind: .integer(1...60_000), default: "5000"),
                    .option("filter", help: "Only these", repeats: true),
                    .option("format", help: "How to print", kind: .choice(["table", "lines", "tree"])),
                    .flag("color", short: "c", help: "Use colours", negatable: true),
                    .flag("verbose", short: "v", help: "Say more"),
                ], run: run),
            Command(
                "move", summary: "Move by a number",
                arguments: [
                    .positional("by", help: "Steps", kind: .number(-100...100)),
                    .positional("file", help: "A file", arity: .optional, kind: .file),
                    .option("id", help: "An id", kind: .unsigned(0...UInt64.max), isRequired: true),
                ], run: run),
            Command(
                "sim", summary: "Drive the simulator",
                subcommands: [
                    Command("clock", summary: "Show the clock", run: run),
                    Command("secret", summary: "", isHidden: true, run: run),
                ]),
        ])
    return Program(root, version: "1.2.3")
}

func parse(_ words: String...) throws -> ParsedArguments {
    guard case .run(_, let arguments) = try Parser.parse(words, root: demoProgram().root) else {
        throw UsageError("not a command to run")
    }
    return arguments
}

func usageError(_ words: String...) -> String? {
    do {
        _ = try Parser.parse(words, root: demoProgram().root)
        return nil
    } catch {
        return error.message
    }
}
