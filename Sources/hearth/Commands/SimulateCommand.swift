import CommandLineKit
import Glibc
import HearthIO
import HearthTime
import MatterController
import MatterModel
import MatterSimulator
import MatterTransport

let simulateCommand = Command(
    "simulate", summary: "Launch virtual devices",
    discussion: """
        PROFILE is a file, or the name of one of the ready profiles (see 'hearth profiles'). The devices run until Ctrl-C. With \
        --state they keep what they know: whose they are, their settings, their setup codes.
        """,
    examples: [
        Example("hearth simulate on-off-light door-lock", "Two devices, each with its setup code."),
        Example("hearth simulate --fleet apartment --state ~/apartment", "A dozen devices that remember."),
        Example("hearth simulate dimmable-light --count 100 --port 20000 --mdns builtin", "A hundred lamps from port 20000 up."),
        Example("hearth simulate on-off-light --json --clock virtual", "For a test: a line of JSON when all is ready."),
    ],
    arguments: [
        .positional(
            "profile", help: "A profile", arity: .any,
            completion: .dynamic { context in SimulatorProfiles.candidates(context.word) }),
        .option("fleet", "FILE", help: "A fleet: devices with names and rooms", completion: .files),
        .option("count", short: "n", "N", help: "How many of each profile", kind: .unsigned(1...10_000), default: "1"),
        .option("state", "DIR", help: "Where the devices keep their state; without it they forget", kind: .folder),
        .option(
            "port", "BASE", help: "The first device's port, the next ones follow; without it free ones",
            kind: .unsigned(1...65535)),
        HomeOptions.interface, HomeOptions.mdns,
        .option(
            "seed", "N", help: "What every chance in the devices derives from (default: 0, but discriminators by chance)",
            kind: .unsigned(0...UInt64.max)),
        .option(
            "clock", help: "Real time, or one that stands until it is told to go on", kind: .choice(["real", "virtual"]),
            default: "real"),
        .option("speed", "X", help: "How many times as fast real time goes", kind: .number(0.001...100_000), default: "1"),
        .option(
            "control", "PATH", help: "A socket for 'hearth sim' and test programs; its folder is made when it is not there", kind: .file),
        .flag("durable", help: "Lose nothing in a power cut either, at the price of speed"),
        .flag("qr", help: "Show QR codes; without it on a terminal and for up to five devices", negatable: true),
        HomeOptions.json,
    ],
    run: { arguments, terminal in
        let stop = try StopSignal()
        let members = try SimulatorProfiles.members(arguments, terminal)
        try await stop.whileWatching {
            let simulation = try await Simulation.open(arguments, members.count)
            do {
                try await simulation.openControl(arguments)
                let devices = try await simulation.start(members, arguments, terminal, stop)
                if stop.code == nil { try await simulation.run(devices, arguments, terminal, stop) }
            } catch {
                await simulation.close()
                throw error
            }
            await simulation.close()
        }
        // Being stopped is what the user wanted: Ctrl-C and SIGTERM are how this command ends.
        if !arguments.flag("json") { terminal.note("stopped") }
    })

/// What the arguments name.
enum SimulatorProfiles {
    /// A device to be.
    struct Member: Sendable {
        var profile: DeviceProfile
        /// Nil gives it its profile's name, with a number when that is taken.
        var name: String?
        /// Where a fleet says that it is.
        var room: String?
    }

    /// Every device that can be launched. Mistakes in files are told and leave out only what they are in.
    static func members(_ arguments: ParsedArguments, _ terminal: Terminal) throws -> [Member] {
        let library = ProfileLibrary.standard()
        let count = Int(clamping: arguments.unsigned("count") ?? 1)
        var members: [Member] = []
        var mistakes: [ProfileError] = []
        for reference in arguments.texts("profile") {
            do throws(ProfileErrors) {
                let profile = try library.profile(reference)
                members += (0..<count).map { _ in Member(profile: profile) }
            } catch {
                mistakes += error.errors
            }
        }
        if let reference = arguments.text("fleet") {
            do throws(ProfileErrors) {
                let fleet = try library.fleet(reference)
                mistakes += fleet.errors
                // Copies of a fleet are numbered as a whole; the first keeps the names.
                for copy in 0..<count {
                    members += fleet.members.map {
                        Member(profile: $0.profile, name: copy == 0 ? $0.name : "\($0.name)-\(copy + 1)", room: $0.room)
                    }
                }
            } catch {
                mistakes += error.errors
            }
        }
        if members.isEmpty, mistakes.isEmpty {
            throw UsageError("say what to launch: a PROFILE or --fleet FILE", hint: "see 'hearth profiles'")
        }
        // With --json the error is a document and holds them all.
        if members.isEmpty, arguments.flag("json") { throw UsageError(ProfileErrors(errors: mistakes).description) }
        terminal.tell(mistakes)
        if members.isEmpty { throw Quiet(exitCode: .badArguments, message: "no device is left to launch") }
        if !mistakes.isEmpty { terminal.note("note: what has a mistake is left out") }
        return members
    }

    static func candidates(_ word: String) -> [Candidate] {
        ProfileLibrary.standard().files().compactMap { file in
            let name = file.split(separator: "/").last.map(String.init) ?? file
            return Candidate(name.hasSuffix(".yaml") ? String(name.dropLast(5)) : name)
        }
    }
}

/// A simulator with its clock and its network, as one process runs it.
struct Simulation: Sendable {
    let runtime: Runtime
    let simulator: Simulator
    private let stopDiscovery: @Sendable () async -> Void

    static func open(_ arguments: ParsedArguments, _ count: Int) async throws -> Simulation {
        let mode: Timeline.Mode =
            arguments.text("clock") == "virtual" ? .manual : .real(speed: arguments.number("speed") ?? 1)
        let seed = arguments.unsigned("seed") ?? 0
        // The controller is another process, with the system's time: a day that is fixed would make its certificates invalid.
        let runtime = try Runtime(mode: mode, seed: seed, epoch: Timeline.systemEpoch())
        do {
            let discovery = try HomeOptions.discovery(arguments, runtime, services: count)
            var configuration = Simulator.Configuration()
            configuration.seed = seed
            // Two simulators on one host are not to have the same discriminators, unless that is asked for.
            if arguments.unsigned("seed") == nil { configuration.discriminatorSeed = Simulator.randomSeed() }
            if let folder = arguments.text("state") { configuration.store = .folder(folder, durable: arguments.flag("durable")) }
            let simulator = try await Simulator.open(configuration, transport: TLSTransport(runtime), discovery: discovery)
            let timeline = runtime.timeline
            return Simulation(runtime: runtime, simulator: simulator) {
                try? await timeline.call("close discovery") { discovery.shutdown() }
            }
        } catch {
            runtime.shutdown()
            await runtime.ended()
            throw error
        }
    }

    private init(runtime: Runtime, simulator: Simulator, stopDiscovery: @escaping @Sendable () async -> Void) {
        (self.runtime, self.simulator, self.stopDiscovery) = (runtime, simulator, stopDiscovery)
    }

    func close() async {
        await simulator.close()
        await stopDiscovery()
        runtime.shutdown()
        await runtime.ended()
    }

    /// Opens the control socket, if one is wanted, in a folder that only its owner may enter.
    func openControl(_ arguments: ParsedArguments) async throws {
        guard let path = arguments.text("control") else { return }
        if let slash = path.lastIndex(of: "/"), slash > path.startIndex {
            let folder = String(path[..<slash])
            if mkdir(folder, 0o700) != 0, errno != EEXIST {
                throw Failure(.failure, "the folder '\(folder)' cannot be made: \(String(cString: strerror(errno)))")
            }
        }
        do {
            try await simulator.openControl(path: path, loop: runtime.loop)
        } catch let error as IOError where error.code == EADDRINUSE {
            throw Failure(
                .failure,
                "the control socket '\(path)' cannot be opened: another simulator listens there, or something else has that name: "
                    + "stop it, or name another path")
        } catch let error as IOError {
            throw Failure(.failure, "the control socket '\(path)' cannot be opened: \(error)")
        }
    }

    /// Says that all is ready, then runs until it is to stop. With `--json` every entry of the journal is a line.
    func run(_ devices: [DeviceInfo], _ arguments: ParsedArguments, _ terminal: Terminal, _ stop: StopSignal) async throws {
        let loop = runtime.loop
        // What cannot be watched, such as a file, has no reader that could go.
        try? await runtime.timeline.call("watch output") { try loop.register(STDOUT_FILENO, [], OutputWatch(loop, stop)) }
        guard arguments.flag("json") else {
            show(devices, arguments, terminal)
            terminal.flush()
            let listener = try await simulator.listen { tell($0, terminal) }
            _ = await stop.wait()
            try? await simulator.stopListening(listener)
            return
        }
        let writer = LineWriter(STDOUT_FILENO) {}
        writer.add(
            ["ready": true, "control": JSONValue(arguments.text("control")), "devices": .array(devices.map(\.json))], .answer)
        let listener = try await simulator.listen { writer.add($0.json(redacted: true), .unasked) }
        _ = await stop.wait()
        try? await simulator.stopListening(listener)
        writer.finish()
    }

    /// Says when a device has been taken into a home, and when it has left its last one: then its setup code is wanted again.
    private func tell(_ entry: JournalEntry, _ terminal: Terminal) {
        let isDone = entry.kind == .invoke && entry.status?.isSuccess == true
        if isDone, entry.cluster == GeneralCommissioning.id, entry.node != nil,
            entry.command == GeneralCommissioning.Commands.commissioningComplete
        {
            terminal.line("\(TextWidth.harmless(entry.device)) is paired")
            terminal.flush()
        }
        let mayHaveLeft =
            isDone && entry.cluster == OperationalCredentials.id && entry.command == OperationalCredentials.Commands.removeFabric
            || entry.kind == .control && entry.note == "factory-reset"
        guard mayHaveLeft else { return }
        runtime.timeline.spawn("setup code") {
            guard let device = try await simulator.allDevices().first(where: { $0.name == entry.device }), !device.isPaired else { return }
            terminal.line("\(TextWidth.harmless(device.name)) belongs to no home now: setup code \(device.setupCode)")
            terminal.flush()
        }
    }

    /// Launches the devices and returns when all can be reached. A device that cannot start is told and leaves the others alone.
    func start(
        _ members: [SimulatorProfiles.Member], _ arguments: ParsedArguments, _ terminal: Terminal, _ stop: StopSignal
    ) async throws -> [DeviceInfo] {
        if let recovery = await simulator.storeRecovery() { terminal.note("note: \(recovery)") }
        let base = arguments.unsigned("port")
        let progress = members.count > 10 ? Progress(terminal, "starting devices", total: members.count) : nil
        var started = 0
        var lastError: SimulatorError?
        for (index, member) in members.enumerated() {
            if stop.code != nil { return [] }
            do {
                let port = try base.map { try self.port($0, index) } ?? 0
                _ = try await simulator.add(member.profile, name: member.name, room: member.room, port: port)
                started += 1
            } catch let error as SimulatorError {
                terminal.note("\(error) (left out)")
                lastError = error
            }
            progress?.advance(to: index + 1)
        }
        if started == 0, let lastError { throw lastError }
        try await simulator.advertised()
        progress?.finish()
        return try await simulator.allDevices()
    }

    private func port(_ base: UInt64, _ index: Int) throws -> UInt16 {
        guard let port = UInt16(exactly: base + UInt64(index)) else {
            throw SimulatorError(
                .badRequest, "there are not enough ports from \(base) up for device \(index + 1): choose a lower --port")
        }
        return port
    }

    private func show(_ devices: [DeviceInfo], _ arguments: ParsedArguments, _ terminal: Terminal) {
        let showsCodes = arguments.choice("qr") ?? (terminal.isInteractive && devices.count <= 5)
        for device in devices {
            let types = device.deviceTypes.map(\.title).joined(separator: ", ")
            terminal.line("\(terminal.styled(TextWidth.harmless(device.name), .bold)): \(types), port \(device.port)")
            if device.isPaired {
                terminal.line("  paired")
                continue
            }
            terminal.line("  setup code \(device.setupCode), QR code \(device.qrCode)")
            if showsCodes, let lines = QRCode.lines(device.qrCode) { for line in lines { terminal.line("  " + line) } }
        }
        terminal.line("\(devices.count) \(devices.count == 1 ? "device is" : "devices are") running. Ctrl-C stops.")
    }
}

/// Ends the devices when nobody reads what they say any more, as in `hearth simulate … | head -1`.
private final class OutputWatch: LoopHandler {
    private let loop: EventLoop
    private let stop: StopSignal

    init(_ loop: EventLoop, _ stop: StopSignal) { (self.loop, self.stop) = (loop, stop) }

    func ready(_ events: ReadyEvents) {
        loop.unregister(STDOUT_FILENO)
        if !events.isDisjoint(with: .failed) { stop.give(.ok) }
    }

    func loopStops() {}
}
