import CommandLineKit
import Glibc
import MachineInterface
import MatterModel
import MatterSimulator

let simJournal = Command(
    "journal", summary: "Show what happened to the devices",
    discussion: """
        PINs are left out unless --secrets asks for them. A journal that is to be replayed is got whole, from its first entry: \
        hearth sim journal --from 1 --limit 1000000 --secrets --json > FILE
        """,
    examples: [
        Example("hearth sim journal --device lamp --limit 20", "The last twenty entries."),
        Example("hearth sim journal --kind invoke --kind write --path OnOff --json", "Who did what to the switches."),
        Example("hearth sim journal --path OnOff.Toggle --follow", "Who toggles from now on, until Ctrl-C."),
    ],
    arguments: [
        .option("device", "DEVICE", help: "Of one device; without it all", completion: simulatedDeviceNames),
        .option(
            "kind", "KIND", help: "Of a kind, as write, invoke, attribute, event, report, session-open, fault",
            repeats: true, completion: .values(JournalEntry.Kind.allCases.map { Candidate($0.rawValue) })),
        .option("endpoint", "EP", help: "Of one endpoint", kind: .unsigned(0...65535)),
        .option("cluster", "CLUSTER", help: "Of one cluster"),
        .option("path", "CLUSTER[.ELEMENT]", help: "Of a cluster, or of one attribute, command or event of it"),
        .option("from", "N", help: "From this number on", kind: .unsigned(0...UInt64.max)),
        .option("limit", "N", help: "The last N; with --from the first N from there on", kind: .unsigned(1...1_000_000), default: "1000"),
        .flag("secrets", help: "With PINs, which a replay needs"),
        .flag("follow", short: "f", help: "Go on with what happens, an entry a line, until Ctrl-C"),
    ],
    run: { arguments, terminal in
        var request: [String: JSONValue] = ["do": "journal"]
        request[arguments.unsigned("from") == nil ? "last" : "limit"] = JSONValue(arguments.unsigned("limit") ?? 1000)
        if let device = arguments.text("device") { request["device"] = .string(device) }
        if let number = arguments.unsigned("from") { request["fromNumber"] = JSONValue(number) }
        if let endpoint = arguments.unsigned("endpoint") { request["endpoint"] = JSONValue(endpoint) }
        if let cluster = arguments.text("cluster") { request["cluster"] = .string(cluster) }
        if let path = arguments.text("path") {
            guard arguments.text("cluster") == nil else { throw UsageError("--path names the cluster already: leave --cluster out") }
            request.merge(try element(path)) { $1 }
        }
        if arguments.flag("secrets") { request["secrets"] = true }
        let kinds = arguments.texts("kind")
        if !kinds.isEmpty { request["kinds"] = .array(kinds.map { .string($0) }) }
        if arguments.flag("follow") { return try await follow(request, arguments, terminal) }
        let answer = try ControlClient.ask(request, arguments)
        if arguments.flag("json") { return terminal.line(answer.text()) }
        for entry in answer["entries"]?.array ?? [] { terminal.line(TextWidth.harmless(describe(entry))) }
    })

/// The members of a request that stand for a path. An attribute, a command and an event may have one name; a number may be any of them.
private func element(_ path: String) throws -> [String: JSONValue] {
    let parts = path.split(separator: ".", maxSplits: 1, omittingEmptySubsequences: false).map { String($0) }
    let cluster = try ElementNames.cluster(parts[0])
    var members: [String: JSONValue] = ["cluster": JSONValue(cluster.rawValue)]
    guard let name = parts.dropFirst().first else { return members }
    members["attribute"] = (try? ElementNames.attribute(name, in: cluster)).map { JSONValue($0.rawValue) }
    members["command"] = (try? ElementNames.command(name, in: cluster)).map { JSONValue($0.rawValue) }
    members["event"] = (try? ElementNames.event(name, in: cluster)).map { JSONValue($0.rawValue) }
    guard members.count > 1 else {
        let definition = DataModel.cluster(id: cluster)
        let (attributes, commands) = (definition?.attributes.map(\.name) ?? [], definition?.commands.map(\.name) ?? [])
        let names = attributes + commands + (definition?.events.map(\.name) ?? [])
        throw UsageError(
            "\(ElementNames.name(cluster)) has no attribute, command or event '\(name)'" + DataModel.didYouMean(name, among: names))
    }
    return members
}

/// Asks again and again for what is new: the simulator keeps enough entries for a reader that comes back four times a second.
private func follow(_ request: [String: JSONValue], _ arguments: ParsedArguments, _ terminal: Terminal) async throws {
    let stop = try StopSignal()
    try await stop.whileWatching {
        var request = request
        while stop.code == nil, !terminal.isBroken {
            let answer = try ControlClient.ask(request, arguments)
            let entries = answer["entries"]?.array ?? []
            for entry in entries { terminal.line(arguments.flag("json") ? entry.text() : TextWidth.harmless(describe(entry))) }
            terminal.flush()
            if let next = answer["next"] {
                request["fromNumber"] = next
                request["last"] = nil
            }
            var wanted = pollfd(fd: stop.descriptor, events: Int16(POLLIN), revents: 0)
            poll(&wanted, 1, 250)
        }
    }
    if let code = stop.code, code != .ok { throw Quiet(exitCode: code, message: "") }
}

/// An entry of the journal in a line.
private func describe(_ entry: JSONValue) -> String {
    let milliseconds = (entry["atNs"]?.integer ?? 0) / 1_000_000
    let kind = entry["kind"]?.string ?? ""
    var text = "\(entry["number"]?.integer ?? 0)  \(milliseconds) ms  \(entry["device"]?.string ?? "")  \(kind)"
    if let cluster = entry["cluster"]?.string {
        let element = (entry["attribute"] ?? entry["command"] ?? entry["event"])?.string ?? ""
        text += "  \(entry["endpoint"]?.integer ?? 0)/\(cluster).\(element)"
    }
    if let value = entry["value"] ?? entry["fields"] { text += "  \(value.text())" }
    if let status = entry["status"]?.string {
        let detail = entry["clusterStatus"]?.integer.map { " (\($0))" } ?? ""
        text += "  \(status)\(detail)"
    }
    if let node = entry["node"]?.unsigned { text += "  by node \(node) of fabric \(entry["fabric"]?.integer ?? 0)" }
    if let note = entry["note"]?.string { text += "  \(note)" }
    return text
}
