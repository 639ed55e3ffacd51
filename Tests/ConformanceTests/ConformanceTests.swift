import HearthTime
import HomeTestKit
import MatterModel
import MatterSimulator
import Testing

/// Devices against cases that are kept as data, in virtual time.
@Suite struct ConformanceTests {
    static let files = Result { try CaseFile.all() }
    static let cases: [CaseFile.Case] = ((try? files.get()) ?? []).flatMap(\.cases)
    /// The package's own profiles.
    static let library: ProfileLibrary = {
        var path = #filePath
        for _ in 0..<3 { path = String(path[..<(path.lastIndex(of: "/") ?? path.startIndex)]) }
        return ProfileLibrary(folders: [path + "/device-profiles"])
    }()

    @Test func everyFileIsUnderstood() throws {
        let files = try Self.files.get()
        #expect(files.count >= 10)
        let names = files.flatMap(\.cases).map(\.description)
        #expect(Set(names).count == names.count, "two cases have the same name")
    }

    /// Waiting and switching the power are means, not checks, and do not count.
    @Test func thereAreEnoughSteps() {
        let steps = Self.cases.flatMap(\.steps).filter { !["wait", "power", "fault", "clearFaults", "set", "trigger"].contains($0.verb) }
        #expect(steps.count >= 600, "\(steps.count) steps")
    }

    /// A runner that never complains would pass everything.
    @Test(arguments: [
        #"{"read": "OnOff.OnOff", "is": true}"#, #"{"read": "LevelControl.CurrentLevel", "in": [1, 2]}"#,
        #"{"read": "OnOff.OnOff", "oneOf": [null, 1]}"#, #"{"read": "Descriptor.ServerList", "contains": [4711]}"#,
        #"{"read": "OnOff.FeatureMap", "has": 64}"#, #"{"read": "OnOff.0x7777"}"#, #"{"read": "OnOff.OnOff", "status": "FAILURE"}"#,
        #"{"write": "OnOff.OnOff", "value": true}"#, #"{"invoke": "OnOff.On", "status": "BUSY"}"#, #"{"invoke": "DoorLock.LockDoor"}"#,
        #"{"invoke": "Groups.ViewGroup", "fields": {"GroupID": 1}, "response": {"Status": 0}}"#,
        #"{"events": "0/BasicInformation.StartUp", "count": 2}"#, #"{"events": "0/BasicInformation.StartUp", "are": []}"#,
        #"{"subscribe": ["OnOff.OnOff"], "primed": [true]}"#, #"{"reports": "nobody"}"#, #"{"set": "OnOff.OnOff", "value": 7}"#,
        #"{"trigger": "OnOff.0x77"}"#, #"{"power": "dance"}"#, #"{"fault": {"kind": "earthquake"}}"#,
    ])
    func whatGoesOtherwiseFails(_ step: String) async throws {
        let json = #"{"profile": "conformance-light", "cases": [{"name": "wrong", "follows": "nothing", "steps": [\#(step)]}]}"#
        let test = try #require(try CaseFile(name: "inline", json: JSONValue(parsing: json)).cases.first)
        var profile = try Self.library.profile(test.profile)
        profile.name = "device"
        try await VirtualHome.run(profile) { home in
            try await home.pair("device")
            await #expect(throws: CaseRunner.Failed.self) {
                try await CaseRunner(test, home: home, device: "device").run()
            }
        }
    }

    @Test(arguments: [#"{"reed": "OnOff.OnOff"}"#, #"{"read": "OnOff.OnOff", "iss": true}"#, #"{"read": "A.B", "write": "A.B"}"#, "[]"])
    func whatNobodyUnderstandsIsRefused(_ step: String) throws {
        let json = #"{"profile": "conformance-light", "cases": [{"name": "wrong", "follows": "nothing", "steps": [\#(step)]}]}"#
        #expect(throws: CaseFile.Malformed.self) { _ = try CaseFile(name: "inline", json: JSONValue(parsing: json)) }
    }

    @Test(arguments: cases) func theDeviceBehaves(_ test: CaseFile.Case) async throws {
        var profile = try Self.library.profile(test.profile)
        profile.name = "device"
        try await VirtualHome.run(profile) { home in
            try await home.pair("device")
            try await CaseRunner(test, home: home, device: "device").run()
        }
    }
}
