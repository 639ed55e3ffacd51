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
    arguments: SimulatorOptions.all + [
        .option(
            "port", "BASE", help: "The first device's port, the next ones follow; without it free ones",
            kind: .unsigned(1...65535)),
        HomeOptions.interface, HomeOptions.mdns,
        .option(
            "clock", help: "Real time, or one that stands until it is told to go on", kind: .choice(["real", "virtual"]),
            default: "real"),
        .flag("record-reads", help: "Note every attribute that is read in the journal; it makes reads slower"),
        .flag("durable", help: "Lose nothing in a power cut either, at the price of speed"),
        .flag("qr", help: "Show QR codes; without it on a terminal and for up to five devices", negatable: true),
    ],
    run: { arguments, terminal in
        let stop = try StopSignal()
        let members = try SimulatorOptions.members(arguments, terminal)
        try await stop.whileWatching {
            let simulation = try await Simulation.open(arguments, members.count)
            do {
                if let path = arguments.text("control") {
                    try await simulation.simulator.openControl(path: path, loop: simulation.runtime.loop)
                }
                let devices = try await simulation.start(members, arguments, terminal, stop)
                if stop.code == nil { try await simulation.run(devices, arguments, terminal, stop) }
            } catch {
                await simulation.close()
                throw error
            }
            if let lost = await simulation.close() { throw lost }
        }
        // Being stopped is what the user wanted: Ctrl-C and SIGTERM are how this command ends.
        if !arguments.flag("json") { terminal.note("stopped") }
    })

/// A simulator with its clock and its network, as one process runs it.
struct Simulation: Sendable {
    let runtime: Runtime
    let simulator: Simulator
    private let stopDiscovery: @Sendable () async -> Void

    static func open(_ arguments: ParsedArguments, _ count: Int) async throws -> Simulation {
        let mode = arguments.text("clock") == "virtual" ? .manual : SimulatorOptions.realTime(arguments)
        let seed = arguments.unsigned("seed") ?? 0
        // The controller is another process, with the system's time: a day that is fixed would make its certificates invalid.
        let runtime = try Runtime(mode: mode, seed: seed, epoch: Timeline.systemEpoch())
        do {
            let discovery = try HomeOptions.discovery(arguments, runtime, services: count)
            var configuration = Simulator.Configuration()
            (configuration.seed, configuration.recordsReads) = (seed, arguments.flag("record-reads"))
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

    /// - Returns: what could not be stored.
    @discardableResult
    func close() async -> SimulatorError? {
        let lost = await simulator.close()
        await stopDiscovery()
        runtime.shutdown()
        await runtime.ended()
        return lost
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
        // From the first: what the devices did before they could be reached too.
        let listener = try await simulator.listen(earlier: { writer.add($0.json(redacted: true), .answer) }) {
            writer.add($0.json(redacted: true), .unasked)
        }
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
        _ members: [SimulatorOptions.Member], _ arguments: ParsedArguments, _ terminal: Terminal, _ stop: StopSignal
    ) async throws -> [DeviceInfo] {
        if let recovery = await simulator.storeRecovery() { terminal.note("note: \(recovery)") }
        let base = arguments.unsigned("port")
        try await SimulatorOptions.launch(members, on: simulator, terminal, stop) { index in try base.map { try port($0, index) } ?? 0 }
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
