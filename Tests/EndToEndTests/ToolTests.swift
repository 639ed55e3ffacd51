import MatterModel
import Testing

/// Commands that need no home.
@Suite struct ToolTests {
    @Test func setupCodes() throws {
        let encoded = try Program.run("setup-code", "encode", "--passcode", "20202021", "--discriminator", "3840")
        #expect(encoded == Program.Result(code: 0, output: "34970112332\n", errors: ""))
        let decoded = try Program.run("setup-code", "decode", "3497-011-2332", "--json").json
        #expect(decoded?["passcode"] == 20_202_021)
        #expect(decoded?["shortDiscriminator"] == 15)
        let qr = try Program.run(
            "setup-code", "encode", "--passcode", "20202021", "--discriminator", "3840", "--vendor", "0xFFF1", "--product",
            "0x8000", "--qr")
        let back = try Program.run("setup-code", "decode", String(qr.output.dropLast()), "--json").json
        #expect(back?["discriminator"] == 3840)
        #expect(back?["vendorId"] == 0xFFF1)
        #expect(back?["productId"] == 0x8000)
        #expect(try Program.run("setup-code", "encode", "--passcode", "11111111", "--discriminator", "3840").code == 2)
        #expect(try Program.run("setup-code", "decode", "34970112331").code == 2)
    }

    @Test func tlvBothWays() throws {
        // MoveToLevel(128, 10, 0, 0) as another hand's codec writes it.
        #expect(
            try Program.run("tlv", "decode", "1524008024010a24020024030018", "--json").output
                == "{\"0\":128,\"1\":10,\"2\":0,\"3\":0}\n")
        #expect(
            try Program.run("tlv", "decode", "15 30 00 04 31 32 33 34 18").output == "structure\n  0: octets 31323334\n")
        #expect(
            try Program.run("tlv", "encode", "{\"0\": 128, \"1\": 10, \"2\": 0, \"3\": 0}").output
                == "1524008024010a24020024030018\n")
        #expect(try Program.run("tlv", "encode", "{\"0\": {\"hex\": \"31323334\"}}").output == "153000043132333418\n")
        let truncated = try Program.run("tlv", "decode", "1524", "--json")
        #expect(truncated.code == 2)
        #expect(truncated.json?["error"]?["status"] == "BAD_REQUEST")
        #expect(try Program.run("tlv", "encode", "{").code == 2)
    }

    @Test func theModelIsShown() throws {
        let toggle = try Program.run("model", "on-off.toggle", "--json").json
        #expect(toggle?["command"]?["id"] == 2)
        #expect(toggle?["clusterId"] == 6)
        let cluster = try Program.run("model", "0x0101", "--json").json
        #expect(cluster?["name"] == "DoorLock")
        #expect(try Program.run("model", "LevelControl").output.contains("MoveToLevel"))
        #expect(try Program.run("model").output.contains("WindowCovering"))
        #expect(try Program.run("model", "LevelControl.MoveToLevl").errors.contains("did you mean MoveToLevel"))
    }

    @Test func deviceTypesAreShown() throws {
        let light = try Program.run("model", "Dimmable Light", "--json").json
        #expect(light?["kind"] == "deviceType" && light?["id"] == 0x0101 && light?["revision"] == 3)
        let level = light?["clusters"]?.array?.first { $0["name"] == "LevelControl" && $0["side"] == "server" }
        #expect(level?["conformance"] == "M" && level?["id"] == 8)
        let elements = level?["elements"]?.array ?? []
        #expect(elements.contains { $0["kind"] == "feature" && $0["name"] == "LT" && $0["conformance"] == "M" })
        #expect(elements.contains { $0["name"] == "MinLevel" && $0["constraint"] == "1" })
        #expect(try Program.run("model", "dimmable-light", "--json").json == light)
        let text = try Program.run("model", "dimmable-light").output
        #expect(text.contains("id 0x0101, revision 3") && text.contains("Servers, mandatory"))

        let all = try Program.run("model", "--device-types", "--json").json?["deviceTypes"]?.array
        #expect(all?.count == DataModel.deviceTypes.count)
        #expect(all?.contains { $0["name"] == "RootNode" && $0["class"] == "node" } == true)
        #expect(try Program.run("model", "--device-types").output.contains("Extended Color Light"))

        // Door Lock is a cluster and a device type: the cluster's, unless a device type is asked for.
        #expect(try Program.run("model", "DoorLock", "--json").json?["attributes"] != nil)
        for word in ["DoorLock", "10", "0x000A"] {
            #expect(try Program.run("model", word, "--device-types", "--json").json?["kind"] == "deviceType")
        }
        let unknown = try Program.run("model", "dimable-light", "--device-types")
        #expect(unknown.code == 2 && unknown.errors.contains("did you mean DimmableLight"))
        let misspelt = try Program.run("model", "Dimable Light")
        #expect(misspelt.code == 2 && misspelt.errors.contains("did you mean DimmableLight"))
    }

    @Test func everyCommandHasHelpWithExamples() throws {
        let commands = [
            ["simulate"], ["profiles"], ["discover"], ["pair"], ["unpair"], ["devices"], ["show"], ["read"], ["write"],
            ["invoke"],
            ["watch"], ["shell"], ["model"], ["tlv", "decode"], ["tlv", "encode"], ["setup-code", "decode"],
            ["setup-code", "encode"],
            ["credentials", "export"],
        ]
        for command in commands {
            let help = try Program.run(command + ["--help"])
            #expect(help.code == 0)
            #expect(help.output.contains("Examples:"), "\(command)")
            #expect(help.output.contains("--json"), "\(command)")
        }
    }

    @Test func readyProfilesAreListedAndMistakesAreShown() throws {
        let list = try Program.run("profiles", "--json")
        #expect(list.code == 0)
        let names = list.json?["profiles"]?.array?.compactMap { $0["name"]?.string } ?? []
        for name in ["on-off-light", "dimmable-light", "window-covering", "door-lock", "thermostat", "apartment"] {
            #expect(names.contains(name))
        }
        let scratch = Scratch()
        let bad = scratch.write("name: lamp\nendpoints:\n  - deviceType: OnOffLigt\n", to: "bad.yaml")
        let checked = try Program.run("profiles", bad)
        #expect(checked.code == 2)
        #expect(checked.errors.contains("bad.yaml:3"), "\(checked.errors)")
    }

    @Test func aMistakeInOneProfileLeavesTheOthersAlone() throws {
        let scratch = Scratch()
        let bad = scratch.write("name: lamp\nendpoints:\n  - deviceType: OnOffLigt\n", to: "bad.yaml")
        let alone = try Program.run("simulate", bad, "--mdns", "off", "--json")
        #expect(alone.code == 2)
        #expect(alone.json?["error"]?["status"] == "BAD_REQUEST")
        let simulator = try Program(["simulate", bad, "on-off-light", "--mdns", "off", "--json"])
        let ready = try simulator.json()
        #expect(ready["devices"]?.array?.count == 1)
        simulator.signal(15)
        let end = try simulator.finish()
        #expect(end.code == 0)
        #expect(end.errors.contains("bad.yaml:3"))
    }

    @Test func eachMistakeHasALineOfItsOwnWhereverItIsTold() throws {
        let scratch = Scratch()
        let bad = scratch.write("endpoints:\n  - deviceTypes: [OnOffLigt]\nsetup: {discriminator: 4096}\n", to: "bad.yaml")
        let mistakes = try Program.run("profiles", bad).errors.split(separator: "\n").filter { $0.hasPrefix(bad) }
        #expect(mistakes.count == 2, "\(mistakes)")
        for command in [["simulate", bad, "--mdns", "off"], ["lab", bad, "--control", scratch.folder + "/control"]] {
            let told = try Program.run(command)
            #expect(told.code == 2)
            #expect(told.errors.split(separator: "\n").filter { $0.hasPrefix(bad) } == mistakes, "\(told.errors)")
        }
        let document = try Program.run("simulate", bad, "--json").json?["error"]?["message"]?.string
        #expect(document?.split(separator: "\n").map { Substring($0) } == mistakes)
    }

    @Test func anEmptyNameIsSaidToBeEmpty() throws {
        for words in [["simulate", ""], ["simulate", "--fleet", ""], ["profiles", ""]] {
            let told = try Program.run(words)
            #expect(told.code == 2)
            #expect(told.errors.hasPrefix("the name of the "), "\(told.errors)")
        }
    }

    @Test func copiesOfAFleetAndOtherDevicesAllHaveNames() throws {
        let scratch = Scratch()
        let fleet = scratch.write(
            "devices: [{profile: on-off-light}, {profile: on-off-light}, {profile: door-lock, name: door}]\n", to: "f.yaml")
        let simulator = try Program(["simulate", "on-off-light", "--fleet", fleet, "--count", "2", "--mdns", "off", "--json"])
        let names = try simulator.json()["devices"]?.array?.compactMap { $0["device"]?.string }
        simulator.signal(15)
        #expect(try simulator.finish().errors.contains("left out") == false)
        #expect(names?.count == 8 && Set(names ?? []).count == 8, "\(names ?? [])")
        #expect(Set(names ?? []).isSuperset(of: ["on-off-light", "on-off-light-2", "door", "door-2"]), "\(names ?? [])")
    }
}
