import CommandLineKit
import Glibc
import HearthTime
import HomeTestKit
import MatterController
import MatterModel
import MatterSimulator

let labCommand = Command(
    "lab", summary: "Run virtual devices and a controller on one clock, for scripts",
    discussion: """
        Devices and controller are in one process, so that virtual time holds for both. The control socket, --control or else \
        $HEARTH_CONTROL, takes the verbs of both: see docs/machine-interface.md. Without --clock time stands still until the verb 'clock' moves it.
        """,
    examples: [
        Example("hearth lab dimmable-light --pair --control lab/control", "A lamp that is paired already."),
        Example("hearth lab --fleet apartment --control lab/control --json", "A dozen devices; the journal on standard output."),
    ],
    arguments: SimulatorOptions.all + [
        .option(
            "clock", help: "Virtual time, by command or jumping on whenever an answer waits for it; or the real time",
            kind: .choice(["virtual", "automatic", "real"]), default: "virtual"),
        .option("link", help: "How the two are connected", kind: .choice(["memory", "loopback"]), default: "memory"),
        .flag("pair", help: "Take every device into the controller's home at the start"),
    ],
    run: { arguments, terminal in
        let stop = try StopSignal()
        let members = try SimulatorOptions.members(arguments, terminal)
        guard let path = arguments.text("control") ?? HomeOptions.variable("HEARTH_CONTROL") else {
            throw UsageError("say where scripts reach the lab: --control PATH, or HEARTH_CONTROL in the environment")
        }
        var options = Lab.Options()
        switch arguments.text("clock") {
        case "automatic": options.mode = .automatic
        case "real": options.mode = SimulatorOptions.realTime(arguments)
        default: break
        }
        options.link = arguments.text("link").flatMap { VirtualHome.Link(rawValue: $0) } ?? .memory
        (options.seed, options.folder) = (arguments.unsigned("seed") ?? 0, arguments.text("state"))
        let settings = options
        try await stop.whileWatching {
            let lab = try await Lab.open(settings)
            do {
                try await lab.start(members, path, arguments.flag("pair"), terminal, stop)
                if stop.code == nil { try await lab.run(path, arguments, terminal, stop) }
            } catch {
                await lab.close()
                throw error
            }
            await lab.close()
        }
        if !arguments.flag("json") { terminal.note("stopped") }
    })

extension Lab {
    fileprivate func start(
        _ members: [SimulatorOptions.Member], _ path: String, _ pairs: Bool, _ terminal: Terminal, _ stop: StopSignal
    ) async throws {
        try await SimulatorOptions.launch(members, on: simulator, terminal, stop)
        if pairs {
            for device in try await simulator.allDevices() where !device.isPaired && stop.code == nil {
                try await controller.pair(device.qrCode, name: device.name)
            }
        }
        if stop.code == nil { try await openControl(path: path) }
    }

    fileprivate func run(_ path: String, _ arguments: ParsedArguments, _ terminal: Terminal, _ stop: StopSignal) async throws {
        let devices = try await simulator.allDevices()
        guard arguments.flag("json") else {
            for device in devices {
                let state = device.isPaired ? "paired" : "setup code \(device.setupCode)"
                terminal.line("\(TextWidth.harmless(device.name)): \(device.deviceTypes.map(\.title).joined(separator: ", ")), \(state)")
            }
            terminal.line("the lab is open on \(path). Ctrl-C ends it.")
            terminal.flush()
            _ = await stop.wait()
            return
        }
        let writer = LineWriter(STDOUT_FILENO) {}
        writer.add(["ready": true, "control": .string(path), "devices": .array(devices.map(\.json))], .answer)
        let listener = try await simulator.listen(earlier: { writer.add($0.json(redacted: true), .answer) }) {
            writer.add($0.json(redacted: true), .unasked)
        }
        _ = await stop.wait()
        try? await simulator.stopListening(listener)
        writer.finish()
    }
}
