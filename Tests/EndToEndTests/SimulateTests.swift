import Glibc
import MatterModel
import Testing

/// What `hearth simulate` and `hearth lab` say to people, and when they end.
@Suite struct SimulateTests {
    /// A simulator as a person sees it, with a control socket.
    private final class Shown {
        let scratch = Scratch()
        let program: Program
        private(set) var code = ""
        private(set) var address = ""
        var environment: [String: String] { ["HEARTH_HOME": scratch.folder + "/home", "HEARTH_CONTROL": scratch.folder + "/run/control"] }

        init() throws {
            program = try Program(["simulate", "on-off-light", "--mdns", "off", "--control", scratch.folder + "/run/control"])
            address = "127.0.0.1:\(try #require(program.line()?.split(separator: " ").last))"
            code = try #require(program.line()?.split(separator: ",").first?.split(separator: " ").last.map { String($0) })
            #expect(try program.line() == "1 device is running. Ctrl-C stops.")
        }

        /// Runs `hearth` on one of several homes.
        func run(_ words: String..., home: String = "home") throws -> Program.Result {
            var environment = environment
            environment["HEARTH_HOME"] = "\(scratch.folder)/\(home)"
            return try Program.run(words.first == "sim" ? words : words + ["--mdns", "off"], environment: environment)
        }
    }

    @Test func theSetupCodeIsShownAgainWhenADeviceHasLeftItsLastHome() throws {
        let simulator = try Shown()
        #expect(try simulator.run("pair", simulator.code, "--name", "lamp", "--address", simulator.address).code == 0)
        #expect(try simulator.program.line() == "on-off-light is paired")
        let again = "on-off-light belongs to no home now: setup code \(simulator.code)"

        // Of two homes it leaves one, and nobody needs its code.
        let window = try #require(try simulator.run("sim", "open-window", "on-off-light", "--json").json?["code"]?.string)
        #expect(try simulator.run("pair", window, "--name", "lamp", "--address", simulator.address, home: "other").code == 0)
        #expect(try simulator.program.line() == "on-off-light is paired")
        #expect(try simulator.run("unpair", "lamp").code == 0)
        #expect(try simulator.run("unpair", "lamp", home: "other").code == 0)
        #expect(try simulator.program.line() == again)

        // By a reset it leaves all, which a home learns when it asks.
        #expect(try simulator.run("pair", simulator.code, "--name", "lamp", "--address", simulator.address).code == 0)
        #expect(try simulator.program.line() == "on-off-light is paired")
        #expect(try simulator.run("sim", "factory-reset", "on-off-light").code == 0)
        #expect(try simulator.program.line() == again)
        let read = try simulator.run("read", "lamp", "OnOff")
        #expect(read.code == 4)
        #expect(read.errors.contains("was it reset? Then unpair it and pair it again"), "\(read.errors)")
        simulator.program.signal(SIGTERM)
        #expect(try simulator.program.finish() == Program.Result(code: 0, output: "", errors: "stopped\n"))
    }

    /// `hearth simulate … | head -1` gives the prompt back.
    @Test(arguments: [[], ["--json"]]) func itEndsWhenNobodyReadsWhatItSays(_ words: [String]) throws {
        let program = try Program(["simulate", "on-off-light", "--mdns", "off"] + words)
        let last = words.isEmpty ? "1 device is running. Ctrl-C stops." : "\"ready\":true"
        while let line = try program.line() { if line.contains(last) { break } }
        program.closeOutput()
        let result = try program.finish()
        #expect(result.code == 0)
        #expect(result.errors == (words.isEmpty ? "stopped\n" : ""))
    }

    @Test func listsThatEveryClusterHasAreShownToWhoAsksForThem() throws {
        let bench = try Bench("on-off-light")
        try bench.pair("on-off-light")
        let all = try bench.run("read", "on-off-light", "OnOff").output
        #expect(all.contains("OnTime") && !all.contains("AttributeList") && !all.contains("FeatureMap"), "\(all)")
        #expect(try bench.run("read", "on-off-light", "OnOff.AttributeList").code == 0)
        // A program gets everything.
        #expect(try bench.run("read", "on-off-light", "OnOff", "--json").output.contains("AttributeList"))
        let watch = try Program(["watch", "on-off-light", "OnOff", "--mdns", "off"], environment: bench.environment)
        var shown: [String] = []
        while let line = try watch.line() {
            shown.append(line)
            if line.contains("StartUpOnOff") { break }
        }
        watch.signal(SIGINT)
        shown.append(try watch.finish().output)
        #expect(shown.contains { $0.contains("OnTime") } && !shown.contains { $0.contains("AttributeList") }, "\(shown)")
    }

    /// Both commands open their socket in one way.
    @Test(arguments: [["simulate", "--mdns", "off"], ["lab"]]) func theControlSocketIsForItsOwnerAlone(_ command: [String]) throws {
        let scratch = Scratch()
        let words = command + ["on-off-light", "--json", "--control"]
        let control = scratch.folder + "/run/control"
        let first = try Program(words + [control])
        #expect(try first.json()["control"] == .string(control))
        var status = stat()
        #expect(stat(scratch.folder + "/run", &status) == 0 && status.st_mode & 0o777 == 0o700)
        #expect(stat(control, &status) == 0 && status.st_mode & 0o777 == 0o600)

        func refusal(_ path: String) throws -> String {
            let result = try Program.run(words + [path])
            #expect(result.code == 1)
            #expect(result.json?["error"]?["status"] == "NETWORK_UNUSABLE")
            return result.json?["error"]?["message"]?.string ?? ""
        }
        let taken = try refusal(control)
        #expect(taken.hasPrefix("the control socket '\(control)' cannot be opened: another simulator listens there"), "\(taken)")
        let open = scratch.folder + "/open"
        #expect(mkdir(open, 0o700) == 0 && chmod(open, 0o775) == 0)
        let lax = try refusal(open + "/control")
        #expect(lax.contains("others may change its folder '\(open)' (mode 775)"), "\(lax)")
        first.signal(SIGTERM)
        #expect(try first.finish().code == 0)
        #expect(access(control, F_OK) != 0, "the socket must be gone")
    }

    /// As its help says: nobody has to move the clock of such a lab for an answer that waits for it.
    @Test func theLabsAutomaticClockGoesOnForWhoWaits() throws {
        let scratch = Scratch()
        let control = scratch.folder + "/run/control"
        let lab = try Program(["lab", "dimmable-light", "--pair", "--clock", "automatic", "--json", "--control", control])
        let qr = try #require(try lab.json()["devices"]?[0]?["qr"]?.string)
        let socket = try ControlSocket(control)
        let fault: JSONValue = ["do": "fault", "device": "dimmable-light", "kind": "slow-answer", "delayMs": 3000, "count": 1]
        #expect(try socket.ask(fault)["ok"] == true)
        let before = try #require(try socket.ask(["do": "clock"])["nowMs"]?.integer)
        let answer = try socket.ask([
            "id": 1, "do": "invoke", "device": "dimmable-light", "endpoint": 1, "cluster": "OnOff", "command": "On",
        ])
        #expect(answer["ok"] == true, "\(answer)")
        #expect(try #require(try ControlSocket(control).ask(["do": "clock"])["nowMs"]?.integer) - before == 3000)
        // It is paired already and does not answer to its code any more.
        #expect(try socket.ask(["do": "pair", "code": .string(qr), "name": "again"])["error"]?["status"] == "PAIRING_FAILED")
        lab.signal(SIGTERM)
        #expect(try lab.finish().code == 0)
    }
}
