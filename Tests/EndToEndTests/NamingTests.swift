import Glibc
import MatterModel
import Testing

/// What the command line says when something is not what was asked for.
@Suite struct NamingTests {
    /// Two devices are taken in under one name at the same time: nobody ends with another name without being told.
    @Test func aNameThatWasTakenMeanwhileIsTold() throws {
        let bench = try Bench("on-off-light", "door-lock")
        let names = ["on-off-light", "door-lock"]
        let programs = try names.map { name in
            try Program(
                ["pair", bench.code(name), "--name", "mine", "--address", bench.address(name), "--mdns", "off"],
                environment: bench.environment)
        }
        let results = try programs.map { try $0.finish() }
        let paired = try #require(bench.run("devices", "--json").json?["devices"]?.array).compactMap { $0["device"]?.string }
        if results.allSatisfy({ $0.code == 0 }) {
            #expect(Set(paired) == ["mine", "mine 2"])
            #expect(results.count { $0.errors.contains("'mine' was taken meanwhile: the device is called 'mine 2'") } == 1)
        } else {
            // The one was through before the other had begun.
            #expect(paired == ["mine"])
            #expect(results.count { $0.code == 2 && $0.errors.contains("'mine' is") } == 1, "\(results)")
        }
    }

    @Test func anEndpointThatIsNotThereIsNamed() throws {
        let bench = try Bench("on-off-light")
        try bench.pair("on-off-light")
        #expect(try bench.run("show", "on-off-light/1").code == 0)
        let missing = try bench.run("show", "on-off-light/99")
        #expect(missing.code == 2)
        #expect(missing.errors == "error: on-off-light has no endpoint 99; it has 0, 1\n")
        let json = try bench.run("show", "on-off-light/99", "--json")
        #expect(json.code == 2)
        #expect(json.json?["error"]?["status"] == "BAD_REQUEST")
    }

    @Test func aCommandThatLacksAVerbIsAnsweredInJSON() throws {
        let result = try Program.run("sim", "--json")
        #expect(result.code == 2)
        #expect(result.json?["error"]?["message"]?.string?.hasPrefix("say what to do: one of devices, clock") == true)
        #expect(try Program.run("sim").output.contains("Usage"))
    }

    @Test func mistakesAreSingleInJSON() throws {
        let scratch = Scratch()
        let file = scratch.write("name: x\nendpoints:\n  - id: 1\n    deviceTypes: [Nonsense, More Nonsense]\n", to: "x.yaml")
        let result = try Program.run("simulate", file, "--json")
        #expect(result.code == 2)
        let mistakes = try #require(result.json?["error"]?["mistakes"]?.array)
        #expect(mistakes.count == 2, "\(result.output)")
        for mistake in mistakes {
            #expect(mistake["file"] == .string(file))
            #expect(mistake["line"] == 4)
            #expect(mistake["message"]?.string?.contains("onsense") == true)
            #expect(mistake["path"] != nil)
        }
    }

    @Test func tooManyDevicesForTheProcessAreCounted() throws {
        // Needs a limit of its own, which a shell sets.
        let simulator = try Program(
            ["-c", "ulimit -n 64 && exec \(Program.hearth) simulate on-off-light --count 100 --json --mdns off"], path: "/bin/sh")
        let ready = try simulator.json { $0["ready"] != nil }
        #expect(try #require(ready["devices"]?.array?.count) < 64)
        simulator.signal(SIGTERM)
        let result = try simulator.finish()
        #expect(result.code == 0)
        let lines = result.errors.split(separator: "\n")
        #expect(lines.count { $0.contains("raise the limit with 'ulimit -n'") } == 3, "\(result.errors)")
        #expect(lines.contains { $0.hasSuffix("more devices are left out") })
    }
}
