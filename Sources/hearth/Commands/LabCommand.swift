import CommandLineKit
import Glibc
import HearthIO
import HearthTime
import HomeTestKit
import MatterController
import MatterModel
import MatterSimulator

let labCommand = Command(
    "lab", summary: "Run virtual devices and a controller on one clock, for scripts",
    discussion: """
        Devices and controller are in one process, so that virtual time holds for both. The control socket takes the verbs of both: \
        see docs/machine-interface.md. Without --clock time stands still until the verb 'clock' moves it.
        """,
    examples: [
        Example("hearth lab dimmable-light --pair --control lab/control", "A lamp that is paired already."),
        Example("hearth lab --fleet apartment --control lab/control --json", "A dozen devices; the journal on standard output."),
    ],
    arguments: [
        .positional(
            "profile", help: "A profile", arity: .any,
            completion: .dynamic { context in SimulatorProfiles.candidates(context.word) }),
        .option("fleet", "FILE", help: "A fleet: devices with names and rooms", completion: .files),
        .option("count", short: "n", "N", help: "How many of each profile", kind: .unsigned(1...10_000), default: "1"),
        .option("control", "PATH", help: "The control socket to open; without it $HEARTH_CONTROL", kind: .file),
        .option("state", "DIR", help: "Where both keep their state; without it they forget", kind: .folder),
        .option("seed", "N", help: "What every chance derives from", kind: .unsigned(0...UInt64.max), default: "0"),
        .option(
            "clock", help: "Virtual time, by command or jumping on whenever an answer waits for it; or the real time",
            kind: .choice(["virtual", "automatic", "real"]), default: "virtual"),
        .option("speed", "X", help: "How many times as fast real time goes", kind: .number(0.001...100_000), default: "1"),
        .option("link", help: "How the two are connected", kind: .choice(["memory", "loopback"]), default: "memory"),
        .flag("pair", help: "Take every device into the controller's home at the start"), HomeOptions.json,
    ],
    run: { arguments, terminal in
        let stop = try StopSignal()
        let members = try SimulatorProfiles.members(arguments, terminal)
        guard let path = arguments.text("control") ?? HomeOptions.variable("HEARTH_CONTROL") else {
            throw UsageError("say where scripts reach the lab: --control PATH, or HEARTH_CONTROL in the environment")
        }
        var options = Lab.Options()
        switch arguments.text("clock") {
        case "automatic": options.mode = .automatic
        case "real": options.mode = .real(speed: arguments.number("speed") ?? 1)
        default: break
        }
        options.link = arguments.text("link").flatMap { VirtualHome.Link(rawValue: $0) } ?? .memory
        (options.seed, options.folder) = (arguments.unsigned("seed") ?? 0, arguments.text("state"))
        let settings = options
        try await stop.whileWatching {
            let lab = try await Lab.open(settings)
            do {
                try await lab.start(members, path, arguments.flag("pair"), terminal)
                try await lab.run(path, arguments, terminal, stop)
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
        _ members: [SimulatorProfiles.Member], _ path: String, _ pairs: Bool, _ terminal: Terminal
    ) async throws {
        var started = 0
        var lastError: SimulatorError?
        for member in members {
            do {
                _ = try await simulator.add(member.profile, name: member.name, room: member.room)
                started += 1
            } catch let error as SimulatorError {
                terminal.note("\(error) (left out)")
                lastError = error
            }
        }
        if started == 0, let lastError { throw lastError }
        try await simulator.advertised()
        if pairs {
            for device in try await simulator.allDevices() where !device.isPaired {
                try await controller.pair(device.qrCode, name: device.name)
            }
        }
        do {
            try ControlFolder.make(for: path)
            try await openControl(path: path)
        } catch let error as IOError {
            throw Failure(.failure, "the control socket '\(path)' cannot be opened: \(error)")
        }
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
        let listener = try await simulator.listen { writer.add($0.json(redacted: true), .unasked) }
        _ = await stop.wait()
        try? await simulator.stopListening(listener)
        writer.finish()
    }
}

/// The folder of a control socket, which only its owner may enter.
private enum ControlFolder {
    static func make(for path: String) throws {
        guard let slash = path.lastIndex(of: "/"), slash > path.startIndex else { return }
        let folder = String(path[..<slash])
        if mkdir(folder, 0o700) != 0, errno != EEXIST {
            throw Failure(.failure, "the folder '\(folder)' cannot be made: \(String(cString: strerror(errno)))")
        }
    }
}
