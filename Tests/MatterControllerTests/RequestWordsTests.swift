import MachineInterface
import MatterController
import MatterModel
import MatterTLV
import Testing

/// Requests as people write them.
@Suite struct RequestWordsTests {
    private let device = PairedDevice(
        nodeID: 7, name: "lamp",
        endpoints: [
            .init(0, deviceTypes: [0x16], clusters: [Descriptor.id, BasicInformation.id, AdministratorCommissioning.id]),
            .init(1, deviceTypes: [0x0101], clusters: [Descriptor.id, OnOff.id, LevelControl.id]),
            .init(2, deviceTypes: [0x0100], clusters: [Descriptor.id, OnOff.id, DoorLock.id]),
        ])

    @Test func targets() {
        #expect(RequestWords.target("lamp") == ("lamp", nil))
        #expect(RequestWords.target("lamp/2") == ("lamp", 2))
        #expect(RequestWords.target("a/b") == ("a/b", nil))
        #expect(RequestWords.target("a/b/3") == ("a/b", 3))
        #expect(RequestWords.target("/3") == ("/3", nil))
    }

    @Test func pathsFindTheirEndpoint() throws {
        func paths(_ words: String..., endpoint: EndpointID? = nil) throws(MachineError) -> [AttributePathPattern] {
            try RequestWords.attributePaths(words, endpoint: endpoint, of: device)
        }
        #expect(try paths("level-control.current-level") == [AttributePathPattern(1, LevelControl.id, 0)])
        #expect(try paths("OnOff.OnOff") == [AttributePathPattern(nil, OnOff.id, 0)])
        #expect(try paths("OnOff.OnOff", endpoint: 2) == [AttributePathPattern(2, OnOff.id, 0)])
        #expect(try paths("6.0x4001", "*.0xFFFD") == [AttributePathPattern(nil, 6, 0x4001), AttributePathPattern(nil, nil, 0xFFFD)])
        #expect(try paths("*.ClusterRevision") == [AttributePathPattern(nil, nil, 0xFFFD)])
        #expect(try paths() == [AttributePathPattern()])
        #expect(throws: MachineError.self) { try paths("Thermostat") }
        // Whoever says the endpoint may ask for anything.
        #expect(try paths("Thermostat", endpoint: 1) == [AttributePathPattern(1, Thermostat.id)])
        #expect(throws: MachineError.self) { try paths("*.OnOff") }
    }

    @Test func watchesTellAttributesFromEvents() throws {
        let paths = try RequestWords.watchPaths(["DoorLock.LockOperation", "DoorLock.LockState", "OnOff"], endpoint: nil, of: device)
        #expect(paths.attributes == [AttributePathPattern(2, DoorLock.id, 0), AttributePathPattern(nil, OnOff.id)])
        #expect(paths.events == [EventPathPattern(2, DoorLock.id, 2, isUrgent: true), EventPathPattern(nil, OnOff.id, isUrgent: true)])
    }

    @Test func writesAndCommandsNeedOneEndpointAndAreTimedWhereTheyMustBe() throws {
        guard
            case .write(let to, let path, let value, let timing) = try RequestWords.write(
                "LevelControl.OnLevel=50%", endpoint: nil, of: device, timed: nil)
        else {
            Issue.record("no write")
            return
        }
        #expect(to == "0x7")
        #expect(path == AttributePath(1, LevelControl.id, 0x11))
        #expect(value == .unsigned(127))
        #expect(timing == .untimed)
        #expect(throws: MachineError.self) { try RequestWords.write("OnOff.OnTime=1s", endpoint: nil, of: device, timed: nil) }

        guard
            case .invoke(_, let command, let fields, let lockTiming) = try RequestWords.invoke(
                "DoorLock.LockDoor", ["PINCode=1234"], endpoint: nil, of: device, timed: nil)
        else {
            Issue.record("no command")
            return
        }
        #expect(command == CommandPath(2, DoorLock.id, 0))
        #expect(fields == .structure([TLVElement(0, .octets(Array("1234".utf8)))]))
        #expect(lockTiming.limit == RequestWords.timedLimit)
    }

    @Test func fieldsThatMustBeThereAreCompleted() throws {
        guard
            case .invoke(_, _, let fields, _) = try RequestWords.invoke(
                "LevelControl.MoveToLevel", ["Level=254"], endpoint: nil, of: device, timed: nil)
        else {
            Issue.record("no command")
            return
        }
        #expect(
            fields
                == .structure([
                    TLVElement(0, .unsigned(254)), TLVElement(1, .null), TLVElement(2, .unsigned(0)), TLVElement(3, .unsigned(0)),
                ]))
        #expect(throws: MachineError.badRequest("MoveToLevel needs Level: write it as Level=VALUE")) {
            try RequestWords.invoke("LevelControl.MoveToLevel", [], endpoint: nil, of: device, timed: nil)
        }
        #expect(throws: MachineError.self) {
            try RequestWords.invoke("LevelControl.MoveToLevel", ["Level=1", "0=2"], endpoint: nil, of: device, timed: nil)
        }
    }

    @Test func requestsAreReadStrictly() throws {
        func fails(_ json: JSONValue) -> Bool {
            do throws(MachineError) {
                _ = try ControllerRequest(json)
                return false
            } catch {
                return error.status == MachineError.badRequestStatus
            }
        }
        #expect(fails(["do": "read", "device": "lamp"]))
        #expect(fails(["do": "read", "device": "lamp", "paths": [["endpoint": 70_000]]]))
        #expect(fails(["do": "read", "device": "lamp", "paths": [["endpoint": 1, "attribute": "OnOff"]]]))
        #expect(fails(["do": "write", "device": "lamp", "endpoint": 1, "cluster": 6, "attribute": 0]))
        #expect(fails(["do": "invoke", "device": "lamp", "endpoint": 1, "cluster": 6, "command": 0, "timedMs": 70_000]))
        #expect(fails(["do": "invoke", "device": "lamp", "endpoint": 1, "cluster": 6, "command": 0, "fields": ["x": 1]]))
        #expect(fails(["do": "pair", "code": "1", "address": "lamp.local:1"]))
        #expect(fails(["do": "reed", "device": "lamp"]))
        #expect(fails([1]))
        // Null is a value to write; an unknown cluster's value goes as it is.
        guard
            case .write(_, _, let null, _) = try ControllerRequest([
                "do": "write", "device": 7, "endpoint": 1, "cluster": "0xFFF1FC05", "attribute": 3, "value": nil,
            ])
        else {
            Issue.record("no write")
            return
        }
        #expect(null == .null)
        guard
            case .invoke(let device, _, let fields, _) = try ControllerRequest([
                "do": "invoke", "device": 7, "endpoint": 1, "cluster": 0xFFF1_FC05, "command": 3, "fields": ["1": -5, "0": 5],
            ])
        else {
            Issue.record("no command")
            return
        }
        #expect(device == "7")
        #expect(fields == .structure([TLVElement(0, .unsigned(5)), TLVElement(1, .signed(-5))]))
    }
}
