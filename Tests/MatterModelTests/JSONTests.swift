import MatterModel
import MatterTLV
import Testing

@Suite struct JSONTests {
    @Test func integersKeepAll64Bits() throws {
        let text = "[-9223372036854775808,9223372036854775807,9223372036854775808,18446744073709551615]"
        let value = try JSONValue(parsing: text)
        #expect(value == [.integer(.min), .integer(.max), .unsigned(1 << 63), .unsigned(.max)])
        #expect(value.text() == text)
        #expect(value[3]?.unsigned == .max)
        #expect(value[2]?.integer == nil)
        #expect(try JSONValue(parsing: "1e3").integer == 1000)
        #expect(try JSONValue(parsing: "18446744073709551616") == .number(18446744073709551616))
        for lossy in ["18446744073709551616", "-9223372036854775809", "{\"0\":1,\"0\":2}"] {
            #expect(throws: JSONError.self) { try JSONValue(parsing: lossy, losesNothing: true) }
        }
    }

    @Test func keysAreSortedAndLinesAreOne() throws {
        let value: JSONValue = ["b": 1, "a": ["\n\u{2028}\"\\": nil], "ä": false, "Z": 1.5]
        #expect(value.text() == #"{"Z":1.5,"a":{"\n\u2028\"\\":null},"b":1,"ä":false}"#)
        #expect(try JSONValue(parsing: value.text()) == value)
        #expect(try JSONValue(parsing: value.text(indented: true)) == value)
        #expect(JSONValue.array([]).text(indented: true) == "[]")
        #expect(JSONValue.object(["a": [1]]).text(indented: true) == "{\n  \"a\": [\n    1\n  ]\n}")
        #expect(JSONValue.number(.nan).text() == "null")
    }

    @Test func escapesAreRead() throws {
        #expect(try JSONValue(parsing: #""\u00e9\ud83d\ude00\/\b""#) == "é😀/\u{8}")
    }

    @Test(arguments: [
        "", "{", "[1,]", "{\"a\":1,}", "01", "1.", "1e", "+1", ".5", "tru", "nul", "\"", "\"\\x\"", "\"\u{1}\"", "[1] 2", "{a:1}",
        "'a'",
        "\"\\ud800\"", "\"\\ud800\\u0041\"", "\"\\u12g4\"", "1e999", "-", "{\"a\" 1}", "NaN", "[1 2]",
    ])
    func whatIsNotJSONIsRefused(text: String) {
        #expect(throws: JSONError.self) { try JSONValue(parsing: text) }
    }

    @Test func mistakesHaveAPlace() {
        let mistake = #expect(throws: JSONError.self) { try JSONValue(parsing: "{\n\"a\":x}") }
        #expect(mistake?.description == "line 2, column 5: a value is wanted")
        #expect(throws: JSONError.self) { try JSONValue(parsing: [0x22, 0xFF, 0x22]) }
        #expect(throws: JSONError.self) { try JSONValue(parsing: String(repeating: "[", count: 100_000)) }
    }
}

@Suite struct ValueJSONTests {
    private func type(_ cluster: String, _ attribute: String) throws -> TypeReference {
        try #require(DataModel.cluster(named: cluster)?.attribute(named: attribute)).type
    }

    @Test func valuesGoBothWays() throws {
        let entry = TLVValue.structure([
            TLVElement(1, .unsigned(5)), TLVElement(2, .unsigned(2)), TLVElement(3, .array([.unsigned(.max)])),
            TLVElement(4, .null),
            TLVElement(254, .unsigned(1)),
        ])
        let acl = try type("AccessControl", "ACL")
        let json = ValueJSON.json(.array([entry]), type: acl)
        #expect(
            json.text()
                == #"[{"AuthMode":2,"FabricIndex":1,"Privilege":5,"Subjects":[18446744073709551615],"Targets":null}]"#)
        #expect(try ValueJSON.value(json, type: acl) == .array([entry]))
    }

    @Test func theTypeGivesTheSign() throws {
        let temperature = try type("Thermostat", "OccupiedHeatingSetpoint")
        #expect(try ValueJSON.value(2000, type: temperature) == .signed(2000))
        #expect(try ValueJSON.value(2000) == .unsigned(2000))
        #expect(try ValueJSON.value(-1) == .signed(-1))
        #expect(try ValueJSON.value(-1, type: try type("LevelControl", "OnLevel")) == .signed(-1))
        #expect(try ValueJSON.value(70000, type: try type("LevelControl", "OnLevel")) == .unsigned(70000))
        #expect(throws: ValueError.self) { try ValueJSON.value(1.5, type: temperature) }
    }

    @Test func namesOfItemsAndHexadecimalAreUnderstood() throws {
        let mode = try type("Thermostat", "SystemMode")
        #expect(try ValueJSON.value("heat", type: mode) == .unsigned(4))
        #expect(try ValueJSON.value("0x06", type: mode) == .unsigned(6))
        #expect(try ValueJSON.value("warm", type: mode) == .utf8("warm"))
        #expect(try ValueJSON.value(["hex": "0A0b"]) == .octets([10, 11]))
        #expect(throws: ValueError.self) { try ValueJSON.value(["hex": "0a0"]) }
        #expect(throws: ValueError.self) { try ValueJSON.value(["hex": "zz"]) }
    }

    @Test func unknownFieldsAreKeyedByTag() throws {
        let value = TLVValue.structure([
            TLVElement(0, .unsigned(5)), TLVElement(7, .octets([1])),
            TLVElement(.fullyQualified(vendor: 0xFFF1, profile: 1, tag: 7), .null),
        ])
        let json = ValueJSON.json(value)
        #expect(json.text() == #"{"0":5,"0xFFF1:0x0001:7":null,"7":{"hex":"01"}}"#)
        #expect(try ValueJSON.value(json) == value)
    }

    @Test func fieldsHaveNamesInAnyCaseAndStandInTheOrderOfTags() throws {
        let command = try #require(DataModel.cluster(named: "DoorLock")?.command(named: "SetCredential"))
        let json: JSONValue = [
            "userindex": nil, "operation-type": 0, "Credential": ["CredentialType": "PIN", "CredentialIndex": 1], "2": "1234",
            "UserStatus": nil, "UserType": nil,
        ]
        let fields = try ValueJSON.fields(json, of: command.fields, in: command.name)
        #expect(
            Hexadecimal.text(fields.encoded())
                == "152400003501240001240101183002043132333434033404340518")
        #expect(throws: ValueError("SetCredential has no field UserIndx; did you mean UserIndex?")) {
            try ValueJSON.fields(["UserIndx": 1], of: command.fields, in: command.name)
        }
        #expect(throws: ValueError.self) { try ValueJSON.fields(["3": 1, "UserIndex": 1], of: command.fields, in: command.name) }
    }

    @Test func namesAreSuggested() {
        let names = DataModel.index.map(\.name)
        #expect(DataModel.suggestions(for: "levelcontol", among: names).first == "LevelControl")
        #expect(DataModel.suggestions(for: "thermo", among: names) == ["Thermostat", "ThermostatUserInterfaceConfiguration"])
        #expect(DataModel.suggestions(for: "qqqqqqq", among: names).isEmpty)
        #expect(DataModel.didYouMean("grups", among: names) == "; did you mean Groups?")
    }

    @Test func anUnknownNameIsToldWithWhatThereIs() {
        func said(_ names: [String]) -> String { DataModel.unknownName("lamp", "device", among: names, none: "none is paired yet") }
        #expect(said([]) == "there is no device 'lamp': none is paired yet")
        #expect(said(["lamps", "door"]) == "there is no device 'lamp'; did you mean lamps?")
        #expect(said(["door", "fan"]) == "there is no device 'lamp': there are door, fan")
        #expect(said((1...14).map { "x\($0)y" }).hasSuffix("x11y, x12y and 2 more"))
    }
}
