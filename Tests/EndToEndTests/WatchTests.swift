import Glibc
import MatterModel
import Testing

/// What goes on until it is stopped.
@Suite struct WatchTests {
    @Test func aWatchShowsChangesAndEndsAfterEnough() throws {
        let bench = try Bench("on-off-light")
        try bench.pair("on-off-light")
        let watch = try Program(
            ["watch", "on-off-light", "OnOff.OnOff", "--count", "2", "--mdns", "off"], environment: bench.environment)
        #expect(try watch.line() == "on-off-light/1 OnOff.OnOff = off")
        #expect(try bench.run("invoke", "on-off-light", "OnOff.On").code == 0)
        #expect(try watch.line() == "on-off-light/1 OnOff.OnOff = on")
        #expect(try bench.run("invoke", "on-off-light", "OnOff.Off").code == 0)
        #expect(try watch.line() == "on-off-light/1 OnOff.OnOff = off")
        let end = try watch.finish()
        #expect(end == Program.Result(code: 0, output: "", errors: ""))
    }

    @Test func asJSONItIsWhatTheShellSays() throws {
        let bench = try Bench("on-off-light")
        try bench.pair("on-off-light")
        let watch = try Program(
            ["watch", "on-off-light", "OnOff.OnOff", "--json", "--mdns", "off"], environment: bench.environment)
        let first = try watch.json()
        #expect(first["ok"] == true)
        #expect(first["values"]?[0]?["value"] == false)
        #expect(try bench.run("invoke", "on-off-light", "OnOff.Toggle").code == 0)
        let report = try watch.json()
        #expect(report["report"] == first["subscription"])
        #expect(report["values"]?[0]?["value"] == true)
        watch.signal(SIGINT)
        #expect(try watch.finish() == Program.Result(code: 130, output: "", errors: ""))
    }

    @Test func itComesBackAfterARestartWithoutAWord() throws {
        let bench = try Bench("on-off-light", control: true)
        try bench.pair("on-off-light")
        let watch = try Program(["watch", "on-off-light", "OnOff.OnOff", "--mdns", "off"], environment: bench.environment)
        #expect(try watch.line() == "on-off-light/1 OnOff.OnOff = off")
        #expect(try bench.run("sim", "reboot", "on-off-light").code == 0)
        // What is as it was is not said again.
        #expect(try bench.run("sim", "set", "on-off-light", "OnOff.OnOff=on").code == 0)
        #expect(try watch.line() == "on-off-light/1 OnOff.OnOff = on")
        watch.signal(SIGTERM)
        #expect(try watch.finish() == Program.Result(code: 143, output: "", errors: ""))
    }

    /// By another process of the same home.
    @Test func itEndsWhenTheDeviceLeavesTheHome() throws {
        let bench = try Bench("on-off-light", control: true)
        try bench.pair("on-off-light")
        let shell = try bench.shell()
        let subscribed = try shell.answer(
            1, ["do": "subscribe", "device": "on-off-light", "paths": [["cluster": "OnOff"]], "minIntervalS": 0, "maxIntervalS": 60])
        #expect(subscribed["ok"] == true)
        let watch = try Program(["watch", "on-off-light", "OnOff.OnOff", "--mdns", "off"], environment: bench.environment)
        #expect(try watch.line() == "on-off-light/1 OnOff.OnOff = off")
        #expect(try bench.run("unpair", "on-off-light").code == 0)
        #expect(try watch.finish() == Program.Result(code: 3, output: "", errors: "error: on-off-light has left the home\n"))
        let end = try shell.json { $0["state"] != "lost" }
        #expect(end["subscription"] == subscribed["subscription"])
        #expect(end["state"] == "ended")
        #expect(end["reason"] == "on-off-light has left the home")
        #expect(try shell.answer(2, ["do": "unsubscribe", "subscription": subscribed["subscription"] ?? .null])["ok"] == false)
    }

    @Test func itEndsWhenTheDeviceWasReset() throws {
        let bench = try Bench("on-off-light", control: true)
        try bench.pair("on-off-light")
        let watch = try Program(["watch", "on-off-light", "OnOff.OnOff", "--mdns", "off"], environment: bench.environment)
        #expect(try watch.line() == "on-off-light/1 OnOff.OnOff = off")
        #expect(try bench.run("sim", "factory-reset", "on-off-light").code == 0)
        let end = try watch.finish()
        #expect(end.code == 4)
        #expect(end.errors.hasPrefix("error: on-off-light cannot be reached") && end.errors.contains("does not know this home"))
    }

    @Test func aReaderThatIsTooSlowLosesReportsAndNoAnswers() throws {
        let bench = try Bench("on-off-light")
        try bench.pair("on-off-light")
        let shell = try bench.shell()
        let answer = try shell.answer(
            -1,
            [
                "do": "subscribe", "device": "on-off-light", "paths": [["cluster": 40, "attribute": 5]], "minIntervalS": 0,
                "maxIntervalS": 60,
            ])
        #expect(answer["ok"] == true)
        let count: Int64 = 4000
        for index in 0..<count {
            shell.send([
                "id": .integer(index), "do": "write", "device": "on-off-light", "endpoint": 0, "cluster": 40, "attribute": 5,
                "value": .string("label \(index)"),
            ])
        }
        shell.closeInput()
        var answers: Int64 = 0
        var reports: Int64 = 0
        var dropped: Int64 = 0
        while let line = try shell.line() {
            let value = try JSONValue(parsing: line)
            if value["id"] == .integer(answers) { answers += 1 }
            if value["report"] != nil { reports += 1 }
            dropped += value["dropped"]?.integer ?? 0
        }
        #expect(answers == count)
        #expect(dropped > 0)
        #expect(reports > 0)
        #expect(reports + dropped <= count)
        #expect(try shell.finish().code == 0)
    }
}
