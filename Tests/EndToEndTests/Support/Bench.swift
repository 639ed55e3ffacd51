import Glibc
import MatterModel
import Testing

/// A running simulator and a home beside it, both of the test's own.
final class Bench {
    let scratch = Scratch()
    private(set) var simulator: Program
    /// The ready line.
    private(set) var ready: JSONValue
    private let words: [String]

    var home: String { scratch.folder + "/home" }
    var control: String { scratch.folder + "/run/control" }
    var environment: [String: String] { ["HEARTH_HOME": home, "HEARTH_CONTROL": control] }

    /// Launches devices on free ports, without any mDNS, and waits until they can be reached.
    init(_ words: String..., state: Bool = false, control: Bool = false) throws {
        var all = ["simulate"] + words + ["--json", "--mdns", "off"]
        if state { all += ["--state", scratch.folder + "/state"] }
        if control { all += ["--control", scratch.folder + "/run/control"] }
        self.words = all
        simulator = try Program(all)
        ready = try simulator.json { $0["ready"] != nil }
    }

    var devices: [JSONValue] { ready["devices"]?.array ?? [] }

    func device(_ name: String) throws -> JSONValue {
        try #require(devices.first { $0["device"]?.string == name }, "the simulator has no \(name)")
    }

    func code(_ name: String) throws -> String { try #require(device(name)["setupCode"]?.string) }
    func address(_ name: String) throws -> String { "127.0.0.1:\(try #require(device(name)["port"]?.unsigned))" }

    /// Runs `hearth` on the home, without mDNS.
    func run(_ words: String...) throws -> Program.Result { try run(words) }

    func run(_ words: [String]) throws -> Program.Result {
        // A client of the control socket has no network.
        try Program.run(words.first == "sim" ? words : words + ["--mdns", "off"], environment: environment)
    }

    /// Takes a device into the home under its own name.
    func pair(_ name: String) throws {
        let result = try run("pair", code(name), "--name", name, "--address", address(name))
        #expect(result.code == 0, "pairing \(name): \(result.errors)")
    }

    /// Starts a shell of the machine interface on the home and reads its first line.
    func shell() throws -> Program {
        let shell = try Program(["shell", "--json", "--mdns", "off"], environment: environment)
        #expect(try shell.json() == ["hello": "hearth", "interface": 1, "role": "controller"])
        return shell
    }

    /// Stops the simulator as a user does. Returns its exit code.
    func stop() throws -> Program.Result {
        simulator.signal(SIGTERM)
        return try simulator.finish()
    }

    /// Starts it again with the same words.
    func start() throws {
        simulator = try Program(words)
        ready = try simulator.json { $0["ready"] != nil }
    }
}
