import Glibc
import MatterModel
import Testing

/// Runs every command that README and docs show, in the order in which they stand there, in a home like the reader's.
@Suite struct DocumentationTests {
    @Test(arguments: ["README.md", "docs/cli.md", "docs/machine-interface.md"])
    func everyCommandShownWorks(_ document: String) throws {
        let text = try Program.contents(Program.package + "/" + document)
        let tour = try Tour()
        let commands = Self.commands(text)
        #expect(!commands.isEmpty)
        for command in commands { try tour.run(command, document) }
        #expect(try tour.stop() == 0)
    }

    /// The lines of `sh` blocks that run `hearth`.
    private static func commands(_ text: String) -> [String] {
        var commands: [String] = []
        var isShell = false
        for line in text.split(separator: "\n", omittingEmptySubsequences: false) {
            if line.hasPrefix("```") {
                isShell = line == "```sh"
            } else if isShell, line.hasPrefix("hearth ") || line.contains("| hearth ") {
                commands.append(String(line))
            }
        }
        return commands
    }
}

/// The devices of the documentation, launched; `lamp` waits to be paired with the code that the documentation uses.
private final class Tour {
    private let scratch = Scratch()
    private let simulator: Program
    private let addresses: [String: String]
    private var isLampPaired = false

    init() throws {
        // The profile of the example, with the code of the example.
        let lamp = """
            name: lamp
            setup: {passcode: 20202021, discriminator: 3840}
            endpoints:
              - id: 1
                deviceTypes: [DimmableLight]
                clusters:
                  OnOff: {features: [Lighting]}
                  LevelControl: {features: [OnOff, Lighting]}
            """
        let profile = scratch.write(lamp, to: "lamp.yaml")
        let fleet = scratch.write(
            """
            name: tour
            devices:
              - {profile: \(profile), name: lamp}
              - {profile: thermostat, name: thermostat}
              - {profile: door-lock, name: front-door}
            """, to: "tour.yaml")
        simulator = try Program(["simulate", "--fleet", fleet, "--mdns", "off", "--json", "--control", scratch.folder + "/run/control"])
        let ready = try simulator.json()
        var addresses: [String: String] = [:]
        for device in ready["devices"]?.array ?? [] {
            guard let name = device["device"]?.string, let port = device["port"]?.unsigned, let code = device["setupCode"]?.string
            else { continue }
            addresses[name] = "127.0.0.1:\(port)"
            if name == "lamp" { continue }
            let paired = try Program.run(
                ["pair", code, "--name", name, "--address", "127.0.0.1:\(port)"],
                environment: ["HEARTH_HOME": scratch.folder + "/home", "HEARTH_MDNS": "off"])
            #expect(paired.code == 0, "\(paired.errors)")
        }
        self.addresses = addresses
    }

    func stop() throws -> Int32 {
        simulator.signal(SIGTERM)
        return try simulator.finish().code
    }

    /// Runs a line of documentation as a shell would. What goes on until it is stopped is stopped once it has said something.
    func run(_ line: String, _ document: String) throws {
        var line = line
        if let comment = line.firstRange(of: "  #") { line = String(line[..<comment.lowerBound]) }
        let goesOn = line.hasPrefix("hearth simulate") || (line.hasPrefix("hearth watch") && !line.contains("--count"))
        // Without mDNS the test says where the lamp is; nothing else of the line changes.
        if line.hasPrefix("hearth pair "), !line.contains("--address") { line += " --address \(addresses["lamp"] ?? "")" }
        if needsLamp(line) { try pairLamp() }
        // Discovery has to be something that can be asked, also where there is no multicast.
        let mdns = line.hasPrefix("hearth discover") ? "builtin" : "off"
        let program = try Program(
            ["-c", "cd \(scratch.folder) && PATH=\(folder):$PATH && \(goesOn ? "exec " : "")\(line)"],
            environment: [
                "HEARTH_HOME": scratch.folder + "/home", "HEARTH_MDNS": mdns, "HEARTH_CONTROL": scratch.folder + "/run/control",
            ], path: "/bin/sh")
        var first: String?
        if goesOn {
            first = try program.line()
            program.signal(SIGTERM)
        }
        let result = try program.finish()
        let wanted: Set<Int32> = goesOn ? [0, 143] : [0]
        #expect(wanted.contains(result.code), "\(document): '\(line)' ended with \(result.code): \(result.errors)")
        if goesOn { #expect(first != nil, "\(document): '\(line)' said nothing: \(result.errors)") }
        if line.hasPrefix("hearth pair 34970112332") { isLampPaired = true }
    }

    /// Whether a line talks to a lamp that its document has not paired itself.
    private func needsLamp(_ line: String) -> Bool {
        !isLampPaired && line.contains(" lamp") && !["hearth pair", "hearth simulate", "hearth sim "].contains { line.hasPrefix($0) }
    }

    private func pairLamp() throws {
        isLampPaired = true
        let paired = try Program.run(
            ["pair", "34970112332", "--name", "lamp", "--address", addresses["lamp"] ?? ""],
            environment: ["HEARTH_HOME": scratch.folder + "/home", "HEARTH_MDNS": "off"])
        #expect(paired.code == 0, "\(paired.errors)")
    }

    private var folder: String { String(Program.hearth[..<(Program.hearth.lastIndex(of: "/") ?? Program.hearth.endIndex)]) }
}
