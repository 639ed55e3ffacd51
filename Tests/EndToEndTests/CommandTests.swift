import Glibc
import MatterModel
import Testing

/// The commands on a home, over TLS on the loopback.
@Suite struct CommandTests {
    @Test func aDeviceIsPairedReadWrittenCommandedAndLetGo() throws {
        let bench = try Bench("on-off-light")
        let paired = try bench.run(
            "pair", bench.code("on-off-light"), "--name", "lamp", "--address", bench.address("on-off-light"), "--json")
        #expect(paired.code == 0)
        #expect(paired.json?["device"] == "lamp")
        #expect(paired.json?["nodeId"]?.unsigned == 2)
        #expect(paired.json?["endpoints"]?[1]?["deviceTypes"]?[0] == ["id": 0x100, "name": "OnOffLight"])

        #expect(try bench.run("read", "lamp", "Identify.IdentifyTime").output == "0 s\n")
        #expect(
            try bench.run("invoke", "lamp", "identify.identify", "IdentifyTime=90s").output == "lamp: identify.identify done\n")
        let time = try bench.run("read", "lamp", "Identify.IdentifyTime", "--json")
        let value = try #require(time.json?["values"]?[0])
        #expect(value["cluster"] == "Identify")
        #expect(value["clusterId"] == 3)
        #expect(value["endpoint"] == 1)
        // It counts down while the test goes on.
        #expect((60...90).contains(try #require(value["value"]?.integer)))

        #expect(try bench.run("write", "lamp/0", "BasicInformation.NodeLabel=in the hall").code == 0)
        #expect(try bench.run("read", "lamp", "basic-information.node-label").output == "in the hall\n")

        let devices = try bench.run("devices", "--json")
        #expect(devices.json?["devices"]?[0]?["reachable"] == true)
        #expect(try bench.run("unpair", "lamp").output == "lamp has left the home\n")
        #expect(try bench.run("devices", "--json").json?["devices"] == [])
        #expect(try bench.stop().code == 0)
    }

    @Test func everyKindOfFailureHasItsExitCode() throws {
        let bench = try Bench("on-off-light")
        try bench.pair("on-off-light")
        func failure(_ words: String..., code: Int32, status: String, number: JSONValue = .null) throws {
            let plain = try bench.run(words)
            #expect(plain.code == code, "\(words)")
            #expect(plain.errors.hasPrefix("error: "), "\(words)")
            #expect(plain.output == "", "\(words)")
            let json = try bench.run(words + ["--json"])
            #expect(json.code == code, "\(words)")
            #expect(json.json?["ok"] == false, "\(words)")
            #expect(json.json?["error"]?["status"] == .string(status), "\(words): \(json.output)")
            #expect(json.json?["error"]?["code"] == number, "\(words)")
            #expect(json.errors == "", "\(words)")
        }
        try failure("read", "nobody", "OnOff.OnOff", code: 3, status: "UNKNOWN_DEVICE")
        try failure("read", "on-off-light", "OnOf.OnOff", code: 2, status: "BAD_REQUEST")
        try failure("read", "on-off-light", "DoorLock.LockState", code: 2, status: "BAD_REQUEST")
        try failure("read", code: 2, status: "BAD_REQUEST")
        try failure("invoke", "on-off-light", "Identify.Identify", "IdentifyTime=tomorrow", code: 2, status: "BAD_REQUEST")
        try failure("invoke", "on-off-light", "Identify.Identify", code: 2, status: "BAD_REQUEST")
        try failure("write", "on-off-light/0", "BasicInformation.VendorID=1", code: 5, status: "UNSUPPORTED_WRITE", number: 0x88)
        try failure("invoke", "on-off-light/7", "OnOff.On", code: 5, status: "UNSUPPORTED_ENDPOINT", number: 0x7F)
        try failure("pair", "34970112333", code: 2, status: "BAD_REQUEST")
        let wrong = try Program.run("setup-code", "encode", "--passcode", "20202021", "--discriminator", "1").output
        let address = try bench.address("on-off-light")
        let code = String(wrong.dropLast())
        let refused = try bench.run("pair", code, "--address", address, "--json")
        #expect(refused.code == 6)
        #expect(refused.json?["error"]?["stage"]?.string == "connection")
        let reason = refused.json?["error"]?["message"]?.string ?? ""
        #expect(reason.contains("takes no pairing now"), "\(reason)")

        let part = try bench.run("read", "on-off-light/1", "OnOff.OnOff", "0xFFF1FC05.0", "--json")
        #expect(part.code == 5)
        #expect(part.json?["ok"] == true)
        #expect(part.json?["values"]?[1]?["error"]?["status"] == "UNSUPPORTED_CLUSTER")
        _ = try bench.stop()
        try failure("read", "on-off-light", "OnOff.OnOff", code: 4, status: "UNREACHABLE")
    }

    @Test func namesThatAreNearlyRightAreSuggested() throws {
        let bench = try Bench("on-off-light")
        try bench.pair("on-off-light")
        #expect(try bench.run("read", "on-off-light", "OnOf.OnOff").errors.contains("did you mean OnOff?"))
        #expect(try bench.run("read", "on-off-light", "OnOff.Onof").errors.contains("did you mean OnOff?"))
        #expect(try bench.run("raed", "on-off-light").errors.contains("did you mean 'read'?"))
        #expect(try bench.run("invoke", "on-off-light", "Identify.Identify", "IdentifyTim=3").errors.contains("IdentifyTime"))
    }

    @Test func devicesKeepTheirStateAndTheirCodesOverARestart() throws {
        let bench = try Bench("on-off-light", state: true)
        let code = try bench.code("on-off-light")
        try bench.pair("on-off-light")
        #expect(try bench.run("write", "on-off-light/0", "BasicInformation.NodeLabel=kept").code == 0)
        #expect(try bench.stop().code == 0)
        try bench.start()
        #expect(try bench.device("on-off-light")["paired"] == true)
        #expect(try bench.code("on-off-light") == code)
    }

    @Test func completionKnowsDevicesAndClusters() throws {
        let bench = try Bench("on-off-light")
        try bench.pair("on-off-light")
        func complete(_ words: String...) throws -> [String] {
            try Program.run(["__complete", "--words", "--"] + words, environment: bench.environment).output
                .split(separator: "\n").dropFirst().map { String($0.prefix { $0 != "\t" }) }
        }
        #expect(try complete("read", "on") == ["on-off-light"])
        #expect(try complete("read", "on-off-light", "OnOff.OnT") == ["OnOff.OnTime"])
        #expect(try complete("read", "on-off-light", "Door") == [])
        #expect(try complete("invoke", "on-off-light", "Identify.Id") == ["Identify.Identify"])
        #expect(try complete("invoke", "on-off-light", "Identify.Identify", "Id") == ["IdentifyTime="])
        let stranger = try Program.run(
            ["__complete", "--words", "--", "read", ""], environment: ["HEARTH_HOME": bench.scratch.folder + "/none"])
        #expect(stranger.output == "words \n")
        #expect(access(bench.scratch.folder + "/none", F_OK) != 0, "completion must not make a home")
    }
}
