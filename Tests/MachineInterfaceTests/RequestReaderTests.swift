import MachineInterface
import MatterModel
import Testing

@Suite struct RequestReaderTests {
    private func reader(_ text: String) throws -> RequestReader { try RequestReader(JSONValue(parsing: Array(text.utf8))) }

    @Test func elementsGoByAnyNameOrNumber() throws {
        for cluster in ["\"OnOff\"", "\"on-off\"", "\"onOff\"", "6", "\"6\"", "\"0x0006\""] {
            #expect(try reader("{\"cluster\": \(cluster)}").cluster() == OnOff.id, "\(cluster)")
        }
        #expect(try reader("{\"attribute\": \"on-time\"}").attribute(in: OnOff.id) == OnOff.Attributes.onTime)
        #expect(try reader("{\"attribute\": \"FeatureMap\"}").attribute(in: nil) == AttributeID(0xFFFC))
        #expect(try reader("{}").cluster() == nil)
        // What nobody knows is passed on.
        #expect(try reader("{\"cluster\": \"0xFFF1FC05\"}").cluster() == ClusterID(0xFFF1_FC05))
    }

    @Test func nullCountsAsAbsent() throws {
        let reader = try RequestReader(["device": nil, "endpoint": nil, "cluster": nil, "text": nil, "flag": nil, "number": nil])
        #expect(reader.present("device").map { _ in true } == .none)
        #expect(try reader.endpoint() == nil)
        #expect(try reader.cluster() == nil)
        #expect(try reader.optionalText("text") == nil)
        #expect(try reader.boolean("flag", default: true))
        #expect(try reader.integer("number", as: UInt32.self) == nil)
        #expect(throws: MachineError.badRequest("device is missing")) { try reader.device() }
    }

    @Test func aMistakeNamesTheMemberAndWhatItMayHaveMeant() throws {
        #expect(throws: MachineError.badRequest("there is no cluster 'OnOf'; did you mean OnOff?")) {
            try reader("{\"cluster\": \"OnOf\"}").cluster()
        }
        #expect(throws: MachineError.badRequest("there is no cluster 'CurrentLevel'; did you mean LevelControl.CurrentLevel?")) {
            try reader("{\"cluster\": \"CurrentLevel\"}").cluster()
        }
        #expect(throws: MachineError.self) { try reader("{\"endpoint\": 65536}").endpoint() }
        #expect(throws: MachineError.self) { try reader("{\"endpoint\": \"one\"}").endpoint() }
        #expect(throws: MachineError.self) { try reader("[]") }
        #expect(throws: MachineError.self) { try reader("{}").device() }
    }

    @Test func anIdIsANumberOrAString() throws {
        for id: JSONValue in [1, 1.5, "a", .null] { #expect(try MachineInterface.id(of: ["id": id]) == id) }
        #expect(try MachineInterface.id(of: ["do": "devices"]) == .null)
        for id: JSONValue in [[1], ["a": 1], true] {
            #expect(throws: MachineError.self) { try MachineInterface.id(of: ["id": id]) }
        }
    }

    @Test func theEnvelopeKeepsTheId() {
        #expect(MachineInterface.answer(.string("a"), ["x": 1]).text() == #"{"id":"a","ok":true,"x":1}"#)
        let failure = MachineInterface.failure(.integer(7), MachineError(Status(.constraintError), "no"))
        #expect(failure["error"]?["code"]?.integer == 135)
        #expect(failure["error"]?["status"]?.string == "CONSTRAINT_ERROR")
        #expect(MachineInterface.hello(.simulator)["role"]?.string == "simulator")
    }
}
