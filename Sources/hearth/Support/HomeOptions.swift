import CommandLineKit
import Glibc
import HearthIO
import HearthTime
import MatterController
import MatterDiscovery
import MatterTransport

/// The options of every command that uses the home.
enum HomeOptions {
    static let home = Argument.option(
        "home", "DIR", help: "The home's folder; without it $HEARTH_HOME, else the XDG data folder", kind: .folder)
    static let json = Argument.flag("json", help: "Print JSON, for programs")
    static let mdns = Argument.option(
        "mdns", "BACKEND", help: "How devices are advertised and found; without it $HEARTH_MDNS, else auto", kind: .choice(backEnds))
    static let interface = Argument.option(
        "interface", "IF", help: "The one network interface to use for mDNS; without it all", completion: .dynamic { _ in interfaces() })
    private static let backEnds = ["auto", "avahi", "builtin", "off"]

    static let all = [json, home, mdns, interface]

    private static func interfaces() -> [Candidate] {
        guard let list = if_nameindex() else { return [] }
        defer { if_freenameindex(list) }
        var names: [Candidate] = []
        var entry = list
        while let name = entry.pointee.if_name {
            names.append(Candidate(String(cString: name)))
            entry += 1
        }
        return names
    }

    /// The folder of the home that the arguments mean.
    static func folder(_ arguments: ParsedArguments) throws -> String {
        if let given = arguments.text("home") { return given }
        if let variable = variable("HEARTH_HOME") { return variable }
        if let data = variable("XDG_DATA_HOME"), data.hasPrefix("/") { return data + "/hearth" }
        guard let user = variable("HOME") else {
            throw UsageError("there is no home folder here: say --home DIR, or set HEARTH_HOME")
        }
        return user + "/.local/share/hearth"
    }

    static func variable(_ name: String) -> String? {
        guard let value = getenv(name), value.pointee != 0 else { return nil }
        return String(cString: value)
    }

    /// The back end that the arguments choose.
    static func backEnd(_ arguments: ParsedArguments) throws -> Discovery.BackEnd {
        let name = arguments.text("mdns") ?? variable("HEARTH_MDNS") ?? "auto"
        guard backEnds.contains(name.lowercased()), let backEnd = Discovery.BackEnd(rawValue: name.lowercased()) else {
            throw UsageError("HEARTH_MDNS is '\(name)', which is none of \(backEnds.joined(separator: ", "))")
        }
        return backEnd
    }

    /// The discovery that the arguments choose; it is started when it is first used.
    static func discovery(_ arguments: ParsedArguments, _ runtime: Runtime, services: Int = 1) throws -> SharedDiscovery {
        let backEnd = try backEnd(arguments)
        let interface = arguments.text("interface")
        return SharedDiscovery(timeline: runtime.timeline) {
            try Discovery.make(
                backEnd: backEnd, interface: interface, loop: runtime.loop, timeline: runtime.timeline, expectedServices: services)
        }
    }
}

/// A controller of the home, open for one command or for a shell's whole life.
struct OpenHome: Sendable {
    let folder: String
    let runtime: Runtime
    let discovery: SharedDiscovery
    let controller: Controller
    let verbs: ControllerVerbs

    /// The shell's home, in which its commands run.
    @TaskLocal static var current: OpenHome?

    static func open(_ arguments: ParsedArguments) async throws -> OpenHome {
        let folder = try HomeOptions.folder(arguments)
        let runtime = try Runtime(mode: .real(speed: 1))
        do {
            let discovery = try HomeOptions.discovery(arguments, runtime)
            var settings = ControllerSettings()
            // For devices that go on with a subscription after a restart: only who subscribes listens.
            settings.listen = { .socket(SocketAddress(.any6, port: $0)) }
            let controller = try await Controller.open(
                store: .folder(folder), transport: TLSTransport(runtime), discovery: discovery, settings: settings)
            return OpenHome(
                folder: folder, runtime: runtime, discovery: discovery, controller: controller,
                verbs: ControllerVerbs(controller, discovery: discovery))
        } catch {
            runtime.shutdown()
            await runtime.ended()
            throw error
        }
    }

    func close() async {
        await controller.close()
        let discovery = discovery
        try? await runtime.timeline.call("close discovery") { discovery.shutdown() }
        runtime.shutdown()
        await runtime.ended()
    }

    /// Runs `body` with the home that the arguments mean, opened for it unless a shell has it open.
    static func with<Result>(
        _ arguments: ParsedArguments, _ terminal: Terminal, _ body: (OpenHome) async throws -> Result
    ) async throws -> Result {
        if let current { return try await body(current) }
        let home = try await open(arguments)
        do {
            if let recovery = await home.controller.storeRecovery() { terminal.note("note: \(recovery)") }
            let result = try await body(home)
            await home.close()
            return result
        } catch {
            await home.close()
            throw error
        }
    }
}
