import CommandLineKit
import Glibc
import MatterModel

let simReplay = Command(
    "replay", summary: "Do again what a journal says was done, and show the first difference",
    discussion: """
        JOURNAL is a file of JSON Lines from its first entry, as a program gets them from the verb 'journal'. A fresh simulator in \
        virtual time does it again; the running one only lends its profiles, unless --fleet names others.
        """,
    examples: [Example("hearth sim replay run.jsonl", "Says that it is the same, or what is not and when.")],
    arguments: [
        .positional("journal", help: "A journal", kind: .file),
        .option("fleet", "FILE", help: "The fleet whose devices the journal is of", completion: .files),
        .option("seed", "N", help: "The seed of that run; without it this simulator's", kind: .unsigned(0...UInt64.max)),
    ],
    run: { arguments, terminal in
        var request: [String: JSONValue] = ["do": "replay", "journal": .string(absolutePath(try arguments.required("journal")))]
        if let fleet = arguments.text("fleet") { request["profiles"] = .string(absolutePath(fleet)) }
        if let seed = arguments.unsigned("seed") { request["seed"] = JSONValue(seed) }
        let answer = try ControlClient.ask(request, arguments)
        let inputs = answer["inputs"]?.integer ?? 0
        if arguments.flag("json") {
            terminal.line(answer.text())
        } else if let difference = answer["difference"] {
            let seconds = Double(difference["atNs"]?.integer ?? 0) / 1e9
            terminal.line("\(TextWidth.harmless(difference["device"]?.string ?? "")), after \(seconds) s:")
            terminal.line("  journal: \(TextWidth.harmless(difference["expected"]?.text() ?? ""))")
            terminal.line("  replay:  \(TextWidth.harmless(difference["actual"]?.text() ?? ""))")
        } else {
            terminal.line("the same: \(inputs) inputs, \(answer["compared"]?.integer ?? 0) entries compared")
        }
        if answer["same"] != true { throw Quiet(exitCode: .failure, message: "the replay went another way") }
    })

/// A file of this process's folder, for a simulator that was started in another; a name stays one.
private func absolutePath(_ path: String) -> String {
    guard let found = realpath(path, nil) else { return path }
    defer { free(found) }
    return String(cString: found)
}
