import Glibc
import MatterModel
import Testing

/// `hearth shell --json`: the machine interface on standard input and output.
@Suite struct ShellTests {
    @Test func requestsAreAnsweredInTheContractsForm() throws {
        let bench = try Bench("on-off-light")
        let shell = try bench.shell()
        let paired = try shell.answer(
            1, ["do": "pair", "code": .string(bench.code("on-off-light")), "address": .string(bench.address("on-off-light"))])
        #expect(paired["ok"] == true)
        // Without a name and without discovery it is called what it calls itself.
        let device = try #require(paired["device"])
        #expect(device == "on-off-light")
        let node = try #require(paired["nodeId"])

        // Any case style, ids as numbers or text, wildcards, failing paths in their place.
        let paths: JSONValue = [
            ["endpoint": 1, "cluster": "identify", "attribute": "identify-time"], ["cluster": "0x0003", "attribute": 0],
            ["endpoint": 9, "cluster": 3, "attribute": 0], ["endpoint": 1, "cluster": 0xFFF1_FC05, "attribute": 0],
        ]
        let read = try shell.answer(2, ["do": "read", "device": device, "paths": paths])
        #expect(read["ok"] == true)
        let values = try #require(read["values"]?.array)
        #expect(values.count == 4)
        for value in values.prefix(2) {
            #expect(
                value == [
                    "endpoint": 1, "cluster": "Identify", "clusterId": 3, "attribute": "IdentifyTime", "attributeId": 0,
                    "value": 0,
                ])
        }
        #expect(values[2]["error"]?["status"] == "UNSUPPORTED_ENDPOINT")
        #expect(values[2]["error"]?["code"] == 0x7F)
        #expect(values[2]["error"]?["clusterStatus"] == .null)
        #expect(values[3]["error"]?["status"] == "UNSUPPORTED_CLUSTER")
        #expect(values[3]["clusterId"] == 0xFFF1_FC05)

        let write: [String: JSONValue] = [
            "do": "write", "device": node, "endpoint": 0, "cluster": "BasicInformation", "attribute": "NodeLabel",
            "value": "shelf",
        ]
        #expect(try shell.answer(3, write) == ["id": 3, "ok": true])
        var wrong = write
        wrong["value"] = 7
        let refused = try shell.answer(4, wrong)
        #expect(refused["ok"] == false)
        #expect(refused["error"]?["code"]?.integer != nil)

        let invoke: [String: JSONValue] = [
            "do": "invoke", "device": device, "endpoint": 1, "cluster": "Identify", "command": "Identify", "fields": ["0": 60],
        ]
        #expect(try shell.answer(5, invoke) == ["id": 5, "ok": true, "response": .null])
        let armed = try shell.answer(
            6,
            [
                "do": "invoke", "device": device, "endpoint": 0, "cluster": "GeneralCommissioning", "command": "ArmFailSafe",
                "fields": ["ExpiryLengthSeconds": 0, "Breadcrumb": 0],
            ])
        #expect(armed["response"]?["command"] == "ArmFailSafeResponse")
        #expect(armed["response"]?["commandId"] == 1)
        #expect(armed["response"]?["fields"]?["ErrorCode"] == 0)

        // Sent timed or not exactly as the caller says.
        var window: [String: JSONValue] = [
            "do": "invoke", "device": device, "endpoint": 0, "cluster": "AdministratorCommissioning",
            "command": "OpenBasicCommissioningWindow",
            "fields": ["CommissioningTimeout": 180],
        ]
        #expect(try shell.answer(7, window)["error"]?["status"] == "NEEDS_TIMED_INTERACTION")
        window["timedMs"] = 5000
        #expect(try shell.answer(8, window)["ok"] == true)

        let who = try shell.answer(9, ["do": "whoami"])
        #expect(who["nodeId"] == 1)
        #expect(who["rootKey"]?["hex"]?.string?.count == 130)
        shell.closeInput()
        #expect(try shell.finish().code == 0)
    }

    @Test func whatCannotBeUnderstoodIsAnsweredAndTheSessionGoesOn() throws {
        let bench = try Bench("on-off-light")
        let shell = try bench.shell()
        shell.send("this is no JSON")
        let garbage = try shell.json()
        #expect(garbage["id"] == .null)
        #expect(garbage["ok"] == false)
        #expect(garbage["error"]?["status"] == "BAD_REQUEST")
        shell.send("[1, 2]")
        #expect(try shell.json()["error"]?["status"] == "BAD_REQUEST")
        #expect(try shell.answer(1, ["do": "dance"])["error"]?["status"] == "BAD_REQUEST")
        #expect(try shell.answer(2, ["do": "read", "device": "lamp"])["error"]?["message"]?.string?.contains("paths") == true)
        let unknown = try shell.answer(3, ["do": "read", "device": "lamp", "paths": []])
        #expect(unknown["error"]?["status"] == "UNKNOWN_DEVICE")
        #expect(unknown["error"]?["code"] == .null)
        shell.send("{\"id\": \"a string\", \"do\": \"whoami\"}")
        #expect(try shell.json()["id"] == "a string")
        shell.closeInput()
        let end = try shell.finish()
        #expect(end.code == 0)
        #expect(end.errors == "")
    }

    @Test func aSubscriptionReportsUntilItIsEnded() throws {
        let bench = try Bench("on-off-light")
        try bench.pair("on-off-light")
        let shell = try bench.shell()
        let priming = try shell.answer(
            1,
            [
                "do": "subscribe", "device": "on-off-light",
                "paths": [["cluster": "BasicInformation", "attribute": "NodeLabel"]],
                "minIntervalS": 0, "maxIntervalS": 60,
            ])
        #expect(priming["values"]?[0]?["value"] == "on-off-light")
        #expect(priming["events"] == [])
        let number = try #require(priming["subscription"])
        let write: [String: JSONValue] = [
            "do": "write", "device": "on-off-light", "endpoint": 0, "cluster": 40, "attribute": 5, "value": "new",
        ]
        shell.send(JSONValue(write))
        let report = try shell.json { $0["report"] == number }
        #expect(report["values"]?[0]?["value"] == "new")
        #expect(try shell.answer(3, ["do": "unsubscribe", "subscription": number]) == ["id": 3, "ok": true])
        #expect(try shell.answer(4, ["do": "unsubscribe", "subscription": number])["error"]?["status"] == "BAD_REQUEST")
        let nothing = try shell.answer(
            5,
            [
                "do": "subscribe", "device": "on-off-light", "paths": [["endpoint": 9, "cluster": 6, "attribute": 0]],
                "minIntervalS": 0,
                "maxIntervalS": 60,
            ])
        #expect(nothing["error"]?["status"] == "INVALID_ACTION")
    }

    @Test func requestsToOneDeviceKeepTheirOrder() throws {
        let bench = try Bench("on-off-light")
        try bench.pair("on-off-light")
        let shell = try bench.shell()
        for index in 0..<50 {
            let name: JSONValue = index % 2 == 0 ? "on-off-light" : 2
            shell.send([
                "id": .integer(Int64(index)), "do": "write", "device": name, "endpoint": 0, "cluster": 40, "attribute": 5,
                "value": .string("label \(index)"),
            ])
        }
        shell.send([
            "id": "last", "do": "read", "device": "on-off-light", "paths": [["endpoint": 0, "cluster": 40, "attribute": 5]],
        ])
        shell.closeInput()
        for index in 0..<50 { #expect(try shell.json() == ["id": .integer(Int64(index)), "ok": true]) }
        #expect(try shell.json()["values"]?[0]?["value"] == "label 49")
        #expect(try shell.finish().code == 0)
    }

    @Test func aPromptTakesTheWordsOfTheCommandLine() throws {
        let bench = try Bench("on-off-light")
        try bench.pair("on-off-light")
        let input = """
            write on-off-light/0 BasicInformation.NodeLabel='two words'
            read on-off-light BasicInformation.NodeLabel
            read nobody OnOff
            exit
            """
        let result = try Program.run("shell", "--mdns", "off", environment: bench.environment, input: input)
        #expect(result.code == 0)
        #expect(result.output == "on-off-light: BasicInformation.NodeLabel=two words\ntwo words\n")
        #expect(result.errors.contains("there is no device 'nobody'"))
    }
}
