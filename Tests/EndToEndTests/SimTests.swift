import Glibc
import MatterModel
import Testing

/// `hearth simulate` and `hearth sim`.
@Suite struct SimTests {
    @Test func aHandOnTheDeviceAndItsJournal() throws {
        let bench = try Bench("on-off-light", control: true)
        #expect(bench.ready["control"] == .string(bench.control))
        var status = stat()
        #expect(stat(bench.scratch.folder + "/run", &status) == 0 && status.st_mode & 0o777 == 0o700)
        try bench.pair("on-off-light")
        #expect(try bench.run("sim", "set", "on-off-light", "OnOff.OnOff=on").output == "on-off-light: OnOff.OnOff=on\n")
        #expect(try bench.run("read", "on-off-light", "OnOff.OnOff").output == "on\n")
        let journal = try bench.run("sim", "journal", "--json").json
        let kinds = journal?["entries"]?.array?.compactMap { $0["kind"]?.string } ?? []
        #expect(kinds.contains("set"))
        #expect(kinds.contains("invoke"))
        // The same on standard output, as it happens.
        let entry = try bench.simulator.json { $0["kind"] == "set" }
        #expect(entry["attribute"] == "OnOff")
        #expect(try bench.run("sim", "devices", "--json").json?["devices"]?[0]?["paired"] == true)
        #expect(try bench.run("sim", "factory-reset", "on-off-light").code == 0)
        #expect(try bench.run("sim", "devices", "--json").json?["devices"]?[0]?["paired"] == false)
        #expect(try bench.stop().code == 0)
        #expect(access(bench.control, F_OK) != 0, "the socket must be gone")
    }

    @Test func aVirtualClockStandsUntilItIsMoved() throws {
        let bench = try Bench("on-off-light", "--clock", "virtual", control: true)
        try bench.pair("on-off-light")
        #expect(try bench.run("invoke", "on-off-light", "Identify.Identify", "IdentifyTime=90s").code == 0)
        let before = try bench.run("sim", "clock", "--json").json
        #expect(before?["mode"] == "virtual")
        #expect(try bench.run("read", "on-off-light", "Identify.IdentifyTime").output == "90 s\n")
        let after = try bench.run("sim", "clock", "--advance", "30000", "--json").json
        #expect(try #require(after?["nowMs"]?.integer) - #require(before?["nowMs"]?.integer) == 30_000)
        #expect(try bench.run("read", "on-off-light", "Identify.IdentifyTime").output == "60 s\n")
    }

    /// The controller is another process: the clock must wait for it, or the device would take its silence for a loss.
    @Test func aSubscriptionOutlivesAnAdvanceOfTheClock() throws {
        let bench = try Bench("dimmable-light", "--clock", "virtual", control: true)
        try bench.pair("dimmable-light")
        let shell = try bench.shell()
        let subscribed = try shell.answer(
            1,
            [
                "do": "subscribe", "device": "dimmable-light",
                "paths": [["endpoint": 1, "cluster": "LevelControl", "attribute": "CurrentLevel"]],
                "minIntervalS": 0, "maxIntervalS": 3,
            ])
        #expect(subscribed["ok"] == true)
        // Two hundred empty reports, each acknowledged.
        #expect(try bench.run("sim", "clock", "--advance", "600000").code == 0)
        #expect(try bench.run("invoke", "dimmable-light", "OnOff.On").code == 0)
        #expect(
            try bench.run("invoke", "dimmable-light", "LevelControl.MoveToLevel", "Level=54", "TransitionTime=10s").code == 0)
        #expect(try bench.run("sim", "clock", "--advance", "11000").code == 0)
        var levels: [Int64] = []
        while levels.last != 54 {
            let report = try shell.json { $0["report"] != nil && $0["values"]?.array?.isEmpty == false }
            levels += report["values"]?.array?.compactMap { $0["value"]?.integer } ?? []
        }
        #expect(levels.count >= 9, "\(levels)")
        #expect(levels == levels.sorted(by: >), "\(levels)")
    }

    @Test func faultsAreSetAndCleared() throws {
        let bench = try Bench("on-off-light", control: true)
        try bench.pair("on-off-light")
        let set = try bench.run(
            "sim", "fault", "wrong-status", "--device", "on-off-light", "status=BUSY", "cluster=OnOff", "--json")
        #expect(set.json?["fault"] == 1, "\(set.output)")
        let refused = try bench.run("invoke", "on-off-light", "OnOff.On", "--json")
        #expect(refused.code == 5)
        #expect(refused.json?["error"]?["status"] == "BUSY")
        #expect(try bench.run("sim", "faults", "--json").json?["faults"]?.array?.count == 1)
        #expect(try bench.run("sim", "clear-fault", "--all").code == 0)
        #expect(try bench.run("invoke", "on-off-light", "OnOff.On").code == 0)
        #expect(try bench.run("sim", "fault", "earthquake").code == 2)
        #expect(try bench.run("sim", "reboot", "nobody").code == 3)
    }

    @Test func everyKindOfFaultIsDocumented() throws {
        let bench = try Bench("on-off-light", control: true)
        let message = try bench.run("sim", "fault", "?").errors
        let list = try #require(message.components(after: "known are ")?.prefix { $0 != ")" }, "\(message)")
        let kinds = list.split(whereSeparator: { $0 == "," || $0 == " " || $0 == "\n" })
        #expect(kinds.count >= 9)
        let text = try Program.contents(Program.package + "/docs/machine-interface.md")
        for kind in kinds { #expect(text.contains("| `\(kind)` |"), "\(kind) is not in docs/machine-interface.md") }
    }

    @Test func aScenarioIsPlayedAndItsFailuresAreTold() throws {
        let bench = try Bench("on-off-light", "--clock", "virtual", control: true)
        let good = bench.scratch.write(
            """
            name: good
            steps:
              - set: {device: on-off-light, endpoint: 1, cluster: OnOff, attribute: OnOff, value: true}
              - at: 10s
                expect: {device: on-off-light, endpoint: 1, cluster: OnOff, attribute: OnOff, value: true}
            """, to: "good.yaml")
        let played = try bench.run("sim", "play", good, "--json")
        #expect(played.code == 0, "\(played.output)")
        #expect(played.json?["steps"]?.array?.count == 2)
        let bad = bench.scratch.write(
            """
            name: bad
            steps:
              - expect: {device: on-off-light, endpoint: 1, cluster: OnOff, attribute: OnOff, value: false}
            """, to: "bad.yaml")
        let failed = try bench.run("sim", "play", bad)
        #expect(failed.code == 1)
        #expect(failed.output.hasPrefix("✗"))
        #expect(try bench.run("sim", "play", bench.scratch.folder + "/none.yaml").code == 2)
        let wrong = bench.scratch.write("steps:\n  - rebot: lamp\n  - advance: soon\n", to: "wrong.yaml")
        let told = try bench.run("sim", "play", wrong)
        #expect(told.code == 2)
        #expect(told.errors.split(separator: "\n").filter { $0.hasPrefix(wrong) }.count == 2, "\(told.errors)")
    }

    @Test func theJournalIsFollowed() throws {
        let bench = try Bench("on-off-light", control: true)
        let follower = try Program(["sim", "journal", "--follow", "--kind", "set", "--json"], environment: bench.environment)
        #expect(try bench.run("sim", "set", "on-off-light", "OnOff.OnOff=on").code == 0)
        #expect(try follower.json()["value"] == true)
        #expect(try bench.run("sim", "set", "on-off-light", "OnOff.OnOff=off").code == 0)
        #expect(try follower.json()["value"] == false)
        follower.signal(SIGINT)
        #expect(try follower.finish() == Program.Result(code: 130, output: "", errors: ""))
        #expect(try bench.run("sim", "journal", "--kind", "nonsense").code == 2)
    }

    /// What people try: the whole output of `simulate --json`, and the journal as one document.
    @Test func journalsAreReplayedAsTheyWereExported() throws {
        let bench = try Bench("on-off-light", "--clock", "virtual", control: true)
        try bench.pair("on-off-light")
        #expect(try bench.run("invoke", "on-off-light", "OnOff.Toggle").code == 0)
        #expect(try bench.run("sim", "clock", "--advance", "5000").code == 0)
        #expect(try bench.run("sim", "set", "on-off-light", "OnOff.OnOff=off").code == 0)
        let document = bench.scratch.write(try bench.run("sim", "journal", "--json").output, to: "document.json")
        let asked = try bench.run("sim", "replay", document)
        #expect(asked.output == "the same: 2 inputs, \(asked.output.split(separator: " ").dropFirst(4).first ?? "") entries compared\n")
        let late = bench.scratch.write(try bench.run("sim", "journal", "--limit", "3", "--json").output, to: "late.json")
        #expect(try bench.run("sim", "replay", late).errors.contains("--from 1"))

        let rest = try bench.stop().output
        #expect(rest.split(separator: "\n").first.flatMap { try? JSONValue(parsing: Array($0.utf8)) }?["number"] == 1)
        let stream = bench.scratch.write(bench.ready.text() + "\n" + rest, to: "stream.jsonl")
        try bench.start()
        let replayed = try bench.run("sim", "replay", stream, "--json").json
        #expect(replayed?["same"] == true && replayed?["inputs"] == 2, "\(replayed?.text() ?? "")")
    }

    @Test func theJournalIsShownByPath() throws {
        let bench = try Bench("on-off-light", control: true)
        try bench.pair("on-off-light")
        #expect(try bench.run("invoke", "on-off-light", "OnOff.Toggle").code == 0)
        #expect(try bench.run("invoke", "on-off-light", "OnOff.On").code == 0)
        let lines = try bench.run("sim", "journal", "--path", "OnOff.Toggle").output.split(separator: "\n")
        #expect(lines.count == 1)
        #expect(lines.first?.hasSuffix("  on-off-light  invoke  1/OnOff.Toggle  {}  SUCCESS  by node 1 of fabric 1") == true, "\(lines)")
        let kinds = try bench.run("sim", "journal", "--path", "OnOff", "--kind", "invoke", "--json").json?["entries"]?.array
        #expect(kinds?.compactMap { $0["command"]?.string } == ["Toggle", "On"])
        #expect(try bench.run("sim", "journal", "--path", "OnOff.Togle").errors.contains("Toggle"))
        #expect(try bench.run("sim", "journal", "--device", "nobody").code == 3)
    }

    @Test func onlyParametersOfTheFaultAreItsParameters() throws {
        let bench = try Bench("on-off-light", control: true)
        for word in ["do=factory-reset", "id=7", "kind=offline", "device=on-off-light", "delayMs=2"] {
            let result = try bench.run("sim", "fault", "delay", "delayMs=1", word, "--device", "on-off-light")
            #expect(result.code == 2, "\(word): \(result.output)")
        }
        #expect(try bench.run("sim", "fault", "delay", "device=lamp").errors.contains("--device lamp"))
        #expect(try bench.run("sim", "faults", "--json").json?["faults"] == [])
    }

    @Test func problemsOfASimulatorAreTold() throws {
        let scratch = Scratch()
        let nobody = try Program.run("sim", "devices", "--control", scratch.folder + "/nobody", "--json")
        #expect(nobody.code == 4)
        #expect(nobody.json?["error"]?["status"] == "UNREACHABLE")
        #expect(try Program.run("sim", "devices").errors.contains("--control"))
        let long = scratch.folder + "/" + String(repeating: "x", count: 120)
        let tooLong = try Program.run("simulate", "on-off-light", "--mdns", "off", "--control", long)
        #expect(tooLong.code == 1)
        #expect(tooLong.errors.contains("107"), "\(tooLong.errors)")
        #expect(try Program.run("simulate").code == 2)
        #expect(try Program.run("simulate", "on-off-ligt", "--mdns", "off").code == 2)

        // One state folder, one simulator.
        let bench = try Bench("on-off-light", state: true)
        let second = try Program.run(
            "simulate", "on-off-light", "--mdns", "off", "--state", bench.scratch.folder + "/state", "--json")
        #expect(second.code == 8)
        #expect(second.json?["error"]?["message"]?.string?.contains("hearth simulate") == true, "\(second.output)")

        // A port that is taken is told once.
        let port = try #require(bench.device("on-off-light")["port"]?.unsigned)
        let alone = try Program.run("simulate", "on-off-light", "--mdns", "off", "--port", String(port), "--json")
        #expect(alone.code == 1)
        #expect(alone.json?["error"]?["message"]?.string?.contains("cannot listen on [::]:\(port)") == true, "\(alone.output)")
        #expect(alone.errors.isEmpty)
    }

    @Test func aFleetHasItsNames() throws {
        let bench = try Bench("--fleet", "apartment")
        #expect(bench.devices.count == 12)
        #expect(try bench.device("front-door")["profile"] == "door-lock")
        #expect(Set(bench.devices.compactMap { $0["setupCode"]?.string }).count == 12)
        #expect(Set(bench.devices.compactMap { $0["port"]?.unsigned }).count == 12)
    }

    @Test func peopleSeeCodesAndQRCodes() throws {
        let simulator = try Program(["simulate", "on-off-light", "--mdns", "off", "--qr"])
        #expect(try simulator.line()?.hasPrefix("on-off-light: On/Off Light, port ") == true)
        let codes = try #require(try simulator.line())
        #expect(codes.contains("QR code MT:"))
        // 19 characters fit version 1: 21 modules and a margin of 2 on each side, two rows a line.
        for _ in 0..<13 { #expect(try simulator.line()?.count == 27) }
        #expect(try simulator.line() == "1 device is running. Ctrl-C stops.")
        simulator.signal(SIGINT)
        #expect(try simulator.finish().code == 0)
    }

    /// With our own mDNS, on the loopback alone. The seed gives a discriminator that simulators beside this one hardly have.
    @Test func devicesAreFoundOnTheLoopback() throws {
        let seed = String(UInt32.random(in: 1_000...UInt32.max))
        let simulator = try Program([
            "simulate", "on-off-light", "--seed", seed, "--mdns", "builtin", "--interface", "lo", "--json",
        ])
        let ready = try simulator.json()
        let qr = try #require(ready["devices"]?[0]?["qr"]?.string)
        let scratch = Scratch()
        let environment = ["HEARTH_HOME": scratch.folder]
        let network = ["--mdns", "builtin", "--interface", "lo"]
        let found = try Program.run(["discover", "--timeout", "1", "--json"] + network, environment: environment).json
        let addresses = found?["devices"]?.array?.flatMap { $0["addresses"]?.array ?? [] }.compactMap(\.string) ?? []
        #expect(addresses.contains("127.0.0.1:\(try #require(ready["devices"]?[0]?["port"]?.unsigned))"))
        let paired = try Program.run(["pair", qr, "--name", "lamp", "--json"] + network, environment: environment)
        #expect(paired.code == 0, "\(paired.output)")
        #expect(try Program.run(["invoke", "lamp", "OnOff.On"] + network, environment: environment).code == 0)
        simulator.signal(SIGTERM)
        #expect(try simulator.finish().code == 0)
    }

    @Test func credentialsAreForTheirOwnerAlone() throws {
        let bench = try Bench("on-off-light")
        let folder = bench.scratch.folder + "/credentials"
        #expect(try bench.run("credentials", "export", "--out", folder).code == 0)
        var status = stat()
        for name in ["controller.pem", "key.pem", "root.pem", "identity.json"] {
            #expect(stat(folder + "/" + name, &status) == 0 && status.st_mode & 0o777 == 0o600, "\(name)")
        }
        // One that fails leaves what was there before, also where it has got further than that.
        func contents() throws -> [String] {
            try ["controller.pem", "key.pem", "root.pem"].map { try Program.contents("\(folder)/\($0)") }
        }
        let before = try contents()
        #expect(mkdir(folder + "/root.pem.new", 0o700) == 0)
        let failed = try bench.run("credentials", "export", "--out", folder, "--home", bench.scratch.folder + "/other")
        #expect(failed.code == 1 && failed.errors.contains("root.pem.new' cannot be written"), "\(failed)")
        #expect(try contents() == before)
        #expect(stat(folder + "/key.pem.new", &status) != 0)
        #expect(rmdir(folder + "/root.pem.new") == 0)
        #expect(try bench.run("credentials", "export", "--out", folder, "--home", bench.scratch.folder + "/other").code == 0)
        #expect(try zip(contents(), before).allSatisfy { $0 != $1 })
        let json = try bench.run("credentials", "export", "--json").json
        #expect(json?["privateKey"]?.string?.contains("PRIVATE KEY") == true)
        #expect(json?["certificate"]?.string?.contains("BEGIN CERTIFICATE") == true)
        #expect(json?["nodeId"] == 1)
    }
}

extension String {
    /// What follows the first occurrence of `text`.
    fileprivate func components(after text: String) -> Substring? { firstRange(of: text).map { self[$0.upperBound...] } }
}
