import CommandLineKit
import Glibc
import MachineInterface
import MatterController
import MatterModel
import MatterSimulator
import MatterTLV

let simCommand = Command(
    "sim", summary: "Talk to a running simulator: its devices, clock, faults and journal",
    discussion: """
        The simulator must have been started with --control PATH. What is done here is done at the device itself, as by a hand on it, \
        and not over the network.
        """,
    examples: [
        Example("hearth sim devices --control run/control", "What is running there."),
        Example("hearth sim set lamp OnOff.OnOff=on", "A hand on the switch; the socket is in HEARTH_CONTROL."),
    ],
    arguments: ControlClient.arguments,
    subcommands: [
        simDevices, simClock, simReboot,
        power("factory-reset", "Make a device as it left the factory"), power("stop", "Switch a device off"),
        power("start", "Switch a device on"), simSet, simTrigger, simFault, simFaults, simClearFault, simOpenWindow, simJournal, simPlay,
        simReplay,
    ])

let simulatedDeviceNames = Completion.dynamic { context in
    let answer = try? ControlClient.ask(["do": "devices"], context.arguments)
    return (answer?["devices"]?.array ?? []).compactMap { $0["device"]?.string.map { Candidate($0) } }
}
private let device = Argument.positional("device", help: "The device's name in the simulator", completion: simulatedDeviceNames)
private let target = Argument.positional(
    "device", "DEVICE[/EP]", help: "The device's name in the simulator, and the endpoint (else the only one with the cluster)",
    completion: simulatedDeviceNames)

private func power(_ verb: String, _ summary: String) -> Command {
    Command(verb, summary: summary, examples: [Example("hearth sim \(verb) lamp", "")], arguments: [device]) { arguments, terminal in
        let name = try arguments.required("device")
        try finish(ControlClient.ask(["do": .string(verb), "device": .string(name)], arguments), arguments, terminal)
    }
}

private let simReboot = Command(
    "reboot", summary: "Cut a device's power and give it back",
    examples: [
        Example("hearth sim reboot lamp", ""),
        Example("hearth sim reboot lamp --reason SoftwareUpdateCompleted", "As after an update: StartUpOnOff does not count."),
    ],
    arguments: [
        device,
        .option(
            "reason", "REASON", help: "What the device says of it; PowerOnReboot if not given",
            kind: .choice(GeneralDiagnostics.BootReasonEnum.definition.items.map(\.name).filter { $0 != "Unspecified" })),
    ]
) { arguments, terminal in
    var request: [String: JSONValue] = ["do": "reboot", "device": .string(try arguments.required("device"))]
    request["reason"] = arguments.text("reason").map { .string($0) }
    try finish(ControlClient.ask(request, arguments), arguments, terminal)
}

/// Ends a verb that has nothing to show for people.
private func finish(_ answer: JSONValue, _ arguments: ParsedArguments, _ terminal: Terminal, _ text: String = "done") {
    terminal.line(arguments.flag("json") ? answer.text() : text)
}

private let simDevices = Command(
    "devices", summary: "List the simulator's devices", examples: [Example("hearth sim devices", "Names, ports, setup codes.")],
    run: { arguments, terminal in
        let answer = try ControlClient.ask(["do": "devices"], arguments)
        if arguments.flag("json") { return terminal.line(answer.text()) }
        var table = Table([
            Table.Column("NAME", minimumWidth: 8), Table.Column("PROFILE", minimumWidth: 8), Table.Column("PORT", alignsRight: true),
            Table.Column("SETUP CODE"), Table.Column("STATE"), Table.Column("ROOM"),
        ])
        for device in answer["devices"]?.array ?? [] {
            let state = device["running"] == false ? "off" : device["paired"] == true ? "paired" : "not paired"
            table.add([
                .init(device["device"]?.string ?? ""), .init(device["profile"]?.string ?? ""),
                .init(device["port"]?.integer.map { String($0) } ?? ""), .init(device["setupCode"]?.string ?? ""), .init(state),
                .init(device["room"]?.string ?? ""),
            ])
        }
        table.write(to: terminal)
    })

private let simClock = Command(
    "clock", summary: "Show the simulator's clock, or move it on",
    examples: [Example("hearth sim clock --advance 60000", "A minute passes; with --clock virtual only.")],
    arguments: [.option("advance", "MS", help: "Milliseconds to move on", kind: .unsigned(0...1_000_000_000_000))],
    run: { arguments, terminal in
        var request: [String: JSONValue] = ["do": "clock"]
        if let span = arguments.unsigned("advance") { request["advanceMs"] = JSONValue(span) }
        let answer = try ControlClient.ask(request, arguments)
        let now = answer["nowMs"]?.integer ?? 0
        finish(answer, arguments, terminal, "\(answer["mode"]?.string ?? "") clock, \(now) ms")
    })

private let simSet = Command(
    "set", summary: "Change an attribute at the device itself",
    examples: [Example("hearth sim set thermostat Thermostat.LocalTemperature=19.5C", "The room cools down.")],
    arguments: [target, .positional("assignment", "CLUSTER.ATTR=VALUE", help: "What to set, written as in 'hearth write'")],
    run: { arguments, terminal in
        let (name, endpoint) = RequestWords.target(try arguments.required("device"))
        let (path, value) = try RequestWords.assignment(arguments.required("assignment"))
        let type = DataModel.cluster(id: path.cluster)?.attribute(id: path.attribute)?.type
        var request: [String: JSONValue] = [
            "do": "set", "device": .string(name), "cluster": JSONValue(path.cluster.rawValue),
            "attribute": JSONValue(path.attribute.rawValue), "value": ValueJSON.json(value, type: type),
        ]
        if let endpoint { request["endpoint"] = JSONValue(endpoint.rawValue) }
        finish(try ControlClient.ask(request, arguments), arguments, terminal, "\(name): \(try arguments.required("assignment"))")
    })

private let simTrigger = Command(
    "trigger", summary: "Raise an event at the device itself",
    examples: [Example("hearth sim trigger front-door DoorLock.DoorLockAlarm AlarmCode=LockJammed", "The bolt is stuck.")],
    arguments: [
        target, .positional("event", "CLUSTER.EVENT", help: "The event"),
        .positional("field", "FIELD=VALUE", help: "The event's fields", arity: .any),
    ],
    run: { arguments, terminal in
        let (name, endpoint) = RequestWords.target(try arguments.required("device"))
        let (cluster, event, fields) = try RequestWords.event(arguments.required("event"), arguments.texts("field"))
        let definition = DataModel.cluster(id: cluster)?.event(id: event)
        var request: [String: JSONValue] = [
            "do": "trigger", "device": .string(name), "cluster": JSONValue(cluster.rawValue), "event": JSONValue(event.rawValue),
            "fields": ValueJSON.json(fields: fields, of: definition?.fields ?? []),
        ]
        if let endpoint { request["endpoint"] = JSONValue(endpoint.rawValue) }
        let answer = try ControlClient.ask(request, arguments)
        finish(answer, arguments, terminal, "event \(answer["number"]?.integer ?? 0)")
    })

private let simFault = Command(
    "fault", summary: "Set a fault",
    discussion: "The kinds of faults and their parameters are in docs/machine-interface.md. A wrong one is answered with what is known.",
    examples: [
        Example("hearth sim fault delay --device lamp delayMs=500", "Every message of the lamp takes half a second."),
        Example("hearth sim fault drop-reports --device lamp count=1", "The next report is lost."),
    ],
    arguments: [
        .positional(
            "kind", help: "The kind of fault",
            completion: .values(Simulator.faultKinds.map { Candidate($0) })),
        .positional("parameter", "NAME=VALUE", help: "Its parameters, and skip, count, probability", arity: .any),
        .option("device", "DEVICE", help: "The device; without it all", completion: simulatedDeviceNames),
    ],
    run: { arguments, terminal in
        var request: [String: JSONValue] = ["do": "fault", "kind": .string(try arguments.required("kind"))]
        if let device = arguments.text("device") { request["device"] = .string(device) }
        for word in arguments.texts("parameter") {
            guard let equals = word.firstIndex(of: "=") else { throw UsageError("'\(word)' says no value: write NAME=VALUE") }
            let (name, text) = (String(word[..<equals]), String(word[word.index(after: equals)...]))
            if name == "device" { throw UsageError("the device is no parameter: write --device \(text)") }
            guard !["do", "id", "kind"].contains(name) else { throw UsageError("'\(name)' is no parameter of a fault") }
            guard request[name] == nil else { throw UsageError("'\(name)' is given twice") }
            // Numbers are numbers; everything else is text, quoted or not.
            request[name] = (try? JSONValue(parsing: text)) ?? .string(text)
        }
        let answer = try ControlClient.ask(request, arguments)
        finish(answer, arguments, terminal, "fault \(answer["fault"]?.integer ?? 0)")
    })

private let simFaults = Command(
    "faults", summary: "List the faults that are set", examples: [Example("hearth sim faults", "Numbers, kinds, devices.")],
    run: { arguments, terminal in
        let answer = try ControlClient.ask(["do": "faults"], arguments)
        if arguments.flag("json") { return terminal.line(answer.text()) }
        var table = Table([
            Table.Column("FAULT", alignsRight: true), Table.Column("KIND"), Table.Column("DEVICE"),
            Table.Column("PARAMETERS", minimumWidth: 8),
        ])
        for fault in answer["faults"]?.array ?? [] {
            let rest = (fault.object ?? [:]).filter { !["fault", "kind", "device"].contains($0.key) }
            table.add([
                .init(fault["fault"]?.integer.map { String($0) } ?? ""), .init(fault["kind"]?.string ?? ""),
                .init(fault["device"]?.string ?? "all"), .init(rest.isEmpty ? "" : JSONValue(rest).text()),
            ])
        }
        table.write(to: terminal)
    })

private let simClearFault = Command(
    "clear-fault", summary: "Clear a fault, or all",
    examples: [Example("hearth sim clear-fault 1", "The first."), Example("hearth sim clear-fault --all", "Everything is well again.")],
    arguments: [
        .positional("fault", help: "Its number", arity: .optional, kind: .unsigned(0...UInt64(UInt32.max))),
        .flag("all", help: "All of them"),
    ],
    run: { arguments, terminal in
        guard arguments.unsigned("fault") != nil || arguments.flag("all") else {
            throw UsageError("say which fault, by its number in 'hearth sim faults', or --all")
        }
        var request: [String: JSONValue] = ["do": "clear-fault"]
        if let number = arguments.unsigned("fault") { request["fault"] = JSONValue(number) }
        if arguments.flag("all") { request["all"] = true }
        finish(try ControlClient.ask(request, arguments), arguments, terminal)
    })

private let simOpenWindow = Command(
    "open-window", summary: "Press a device's pairing button",
    examples: [Example("hearth sim open-window lamp --timeout 300", "It can be paired for five minutes.")],
    arguments: [device, .option("timeout", "S", help: "For how many seconds", kind: .unsigned(1...65535), default: "900")],
    run: { arguments, terminal in
        let answer = try ControlClient.ask(
            [
                "do": "open-window", "device": .string(try arguments.required("device")),
                "timeoutS": JSONValue(arguments.unsigned("timeout") ?? 900),
            ], arguments)
        finish(answer, arguments, terminal, "setup code \(answer["code"]?.string ?? ""), QR code \(answer["qr"]?.string ?? "")")
    })

private let simPlay = Command(
    "play", summary: "Play a scenario: a file of timed steps",
    examples: [
        Example("hearth sim play evening", "A ready scenario, or a file; every step is told at its end, and a failed one is the exit code.")
    ],
    arguments: [.positional("file", help: "A scenario, or the name of a ready one", kind: .file)],
    run: { arguments, terminal in
        if !arguments.flag("json"), try ControlClient.ask(["do": "clock"], arguments)["mode"] == "real" {
            terminal.note(
                "the simulator's clock is the real one, so that this takes as long as the scenario's times say; "
                    + "with 'simulate --clock virtual' it takes a moment")
        }
        let answer = try ControlClient.ask(["do": "play", "file": .string(absolute(try arguments.required("file")))], arguments)
        let steps = answer["steps"]?.array ?? []
        let failed = steps.count { $0["ok"] != true }
        if arguments.flag("json") {
            terminal.line(answer.text())
        } else {
            for step in steps {
                let mark = step["ok"] == true ? terminal.styled("✓", .green) : terminal.styled("✗", .red)
                let name = "\(step["step"]?.integer ?? 0)  \(step["what"]?.string ?? "")"
                terminal.line("\(mark) \(TextWidth.harmless(name))" + (step["message"]?.string.map { ": " + TextWidth.harmless($0) } ?? ""))
            }
        }
        if failed > 0 { throw Quiet(exitCode: .failure, message: "\(failed) of \(steps.count) steps failed") }
    })

/// A file of this process's folder, for a simulator that was started in another.
private func absolute(_ path: String) -> String {
    guard let found = realpath(path, nil) else { return path }
    defer { free(found) }
    return String(cString: found)
}
