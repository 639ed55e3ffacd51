import Glibc
import MatterModel
import Testing

@testable import MatterSimulator

/// What is told of a fleet's mistakes, and that the devices without one are there.
@Suite struct FleetTests {
    private let library = ProfileLibrary(folders: [profileFolder])

    private func fleet(_ yaml: String, file: String = "flat.yaml") throws -> Fleet {
        try Fleet.read(Array(yaml.utf8), file: file, library: library)
    }

    private func refusal(_ yaml: String) -> [String] {
        do {
            _ = try fleet(yaml)
            return []
        } catch {
            return (error as? ProfileErrors)?.errors.map(\.description) ?? ["\(error)"]
        }
    }

    @Test func aNameThatIsGivenTwiceIsAMistakeOfTheSecond() throws {
        let fleet = try fleet(
            """
            devices:
              - {profile: on-off-light, name: lamp}
              - profile: dimmable-light
                name: lamp
              - {profile: door-lock, name: door}
            """)
        #expect(fleet.members.map(\.name) == ["lamp", "door"])
        #expect(
            fleet.errors.map(\.description) == [
                "flat.yaml:4:11: devices[1].name: 'lamp' is the name of devices[0] in line 2 already: a name of its own is expected"
            ])
    }

    @Test func numberedDevicesMayNotTakeAGivenNameEither() throws {
        let fleet = try fleet(
            """
            devices:
              - {profile: on-off-light, name: spot-2}
              - {profile: dimmable-light, name: spot, count: 3}
            """)
        #expect(fleet.members.map(\.name) == ["spot-2", "spot-1", "spot-3"])
        #expect(fleet.errors.map(\.line) == [3] && fleet.errors.map(\.path) == ["devices[1].name"])
        #expect(fleet.errors.first?.message.hasPrefix("'spot-2' is the name of devices[0]") == true, "\(fleet.errors)")
    }

    @Test func devicesWithoutANameAreNumberedAndLeaveGivenNamesToTheirOwners() throws {
        let fleet = try fleet(
            """
            devices:
              - {profile: on-off-light}
              - {profile: on-off-light}
              - {profile: dimmable-light, name: on-off-light}
              - {profile: door-lock, count: 2}
            """)
        #expect(fleet.errors.isEmpty, "\(fleet.errors)")
        #expect(fleet.members.map(\.name) == ["on-off-light-2", "on-off-light-3", "on-off-light", "door-lock-1", "door-lock-2"])
    }

    @Test func aMissingProfileIsToldWhereTheFleetNamesIt() throws {
        let fleet = try fleet(
            """
            devices:
              - profile: dimable-light
                name: lamp
              - {profile: door-lock, name: door}
              - {profile: "", name: nothing}
            """)
        #expect(fleet.members.map(\.name) == ["door"])
        #expect(
            fleet.errors.map(\.description) == [
                "flat.yaml:2:14: devices[0].profile: dimable-light: there is no such profile; did you mean dimmable-light?",
                "flat.yaml:5:15: devices[2].profile: the name of the profile is empty",
            ])
    }

    @Test func theMistakesOfAProfileAreToldOnceWithItsOwnLines() throws {
        var template = Array("/tmp/hearth-fleet-XXXXXX".utf8CString)
        let folder = try #require(mkdtemp(&template).map { String(cString: $0) })
        defer { rmdir(folder) }
        let file = folder + "/lamp.yaml"
        let text = "endpoints: [{deviceTypes: [OnOffLight]}]\nsetup: {discriminator: 5000}\ncolour: red\n"
        let stream = try #require(fopen(file, "w"))
        defer { unlink(file) }
        #expect(fputs(text, stream) >= 0)
        fclose(stream)
        let fleet = try fleet(
            """
            devices:
              - {profile: lamp.yaml, name: one}
              - {profile: lamp.yaml, name: two}
              - {profile: door-lock, name: door}
            """, file: folder + "/flat.yaml")
        #expect(fleet.members.map(\.name) == ["door"])
        #expect(fleet.errors.map(\.file) == [file, file])
        #expect(fleet.errors.map(\.line) == [2, 3])
    }

    @Test func aDeviceWithAMistakeIsLeftOut() throws {
        let fleet = try fleet(
            """
            nmae: flat
            devices:
              - {profile: on-off-light, name: "a\\u001b"}
              - {profil: on-off-light}
              - {profile: on-off-light, count: 0}
              - {profile: door-lock, rom: Hall}
              - {name: lamp}
              - {profile: on-off-light, name: last}
            """)
        #expect(fleet.members.map(\.name) == ["last"])
        #expect(fleet.errors.map(\.line) == [1, 3, 4, 5, 6, 7])
        #expect(fleet.errors.first { $0.line == 4 }?.message.contains("did you mean profile?") == true)
    }

    @Test func whatIsNoFleetIsToldOnce() {
        #expect(refusal("device: []\n").count == 1)
        #expect(refusal("device: []\n").first?.contains("did you mean devices?") == true)
        #expect(refusal("name: flat\n") == ["flat.yaml:1:1: 'devices' is missing: a list of devices is expected"])
        #expect(refusal("devices: lamp\n") == ["flat.yaml:1:10: devices: a list is expected, and this is a value"])
        let profile = refusal("product: {}\nendpoints: [{deviceTypes: [OnOffLight]}]\n")
        #expect(profile == ["flat.yaml:1:1: this is a profile and no fleet: hearth simulate flat.yaml"])
    }

    @Test func anEmptyNameIsSaidToBeEmpty() {
        func told(_ body: () throws(ProfileErrors) -> Void) -> String? {
            do throws(ProfileErrors) {
                try body()
                return nil
            } catch { return error.description }
        }
        #expect(told { () throws(ProfileErrors) in _ = try library.profile("") } == "the name of the profile is empty")
        #expect(told { () throws(ProfileErrors) in _ = try library.fleet("") } == "the name of the fleet is empty")
        #expect(
            told { () throws(ProfileErrors) in _ = try library.profile("/tmp") } == "/tmp: this is no regular file, and a profile is one")
        #expect(
            told { () throws(ProfileErrors) in _ = try ScenarioReader.read("", library: library) } == "the name of the scenario is empty")
    }

    /// In the journal it stands for every device.
    @Test func aStarIsNoName() throws {
        let fleet = try fleet("devices:\n  - {profile: on-off-light, name: \"*\"}\n  - {profile: on-off-light, name: lamp}\n")
        #expect(fleet.members.map(\.name) == ["lamp"])
        #expect(fleet.errors.first?.message == "'*' stands for every device: another name is expected")
    }

    @Test func whatHasAMistakeIsLeftOut() throws {
        let fleet = try fleet(
            """
            devices:
              - {profile: on-off-light, name: none, count: 0}
              - {profile: on-off-light, name: "a\\x07b"}
              - {profile: on-off-light, name: hall, room: [hall]}
              - {profile: on-off-light, name: lamp}
            """)
        #expect(fleet.members.map(\.name) == ["lamp"])
        #expect(fleet.errors.map(\.line) == [2, 3, 4])
    }

    @Test func aFleetIsNoLargerThanTheNumberOfPorts() throws {
        let many = (0..<100).map { "  - {profile: on-off-light, name: a\($0), count: 10000}\n" }.joined()
        let fleet = try fleet("devices:\n" + many)
        #expect(fleet.members.count == 60_000)
        #expect(fleet.errors.map(\.line) == Array(8...101))
        #expect(fleet.errors.first?.message == "a fleet has at most 60000 devices, and with 10000 more there would be 70000")
    }

    /// Each mistake is looked at for what was meant, which takes a while: not for more than anybody reads.
    @Test(arguments: [("deviceTypes: [", "OnOfLight", "]"), ("deviceTypes: [OnOffLight]\n    clusters: {", "OnOf", "}")])
    func ofVeryManyMistakesTheFirstThousandAreTold(_ before: String, _ name: String, _ after: String) throws {
        let words = (0..<5000).map { after == "]" ? "\(name)\($0)" : "\(name)\($0): {}" }.joined(separator: ",\n      ")
        let text = "name: c\nendpoints:\n  - id: 1\n    \(before)\(words)\(after)\n"
        let failure = #expect(throws: ProfileErrors.self) { _ = try ProfileReader.read(Array(text.utf8), file: "p.yaml") }
        let errors = failure?.errors ?? []
        #expect(errors.count == 1001)
        #expect(errors.first?.message.contains("\(name)0") == true)
        #expect(errors.last?.message == "and 4000 mistakes more" && errors.last?.line == errors.dropLast().last?.line)
    }

    @Test func circlesOfEndpointsAreFoundHoweverLargeTheyAre() throws {
        // 2001… and 3001… hang on each other; 1…1000 hang on them, and are none; 4001… hang on the root.
        let text = """
            name: c
            endpoints:
              - {id: 1, deviceTypes: [OnOffLight], parent: 2500, repeat: 1000}
              - {id: 2001, deviceTypes: [OnOffLight], parent: 3999, repeat: 1000}
              - {id: 3001, deviceTypes: [OnOffLight], parent: 2001, repeat: 1000}
              - {id: 4001, deviceTypes: [OnOffLight], parent: 5001, repeat: 1000}
              - {id: 5001, deviceTypes: [OnOffLight], repeat: 1000}
              - {id: 6001, deviceTypes: [OnOffLight], parent: 6001}
            """
        let failure = #expect(throws: ProfileErrors.self) { _ = try ProfileReader.read(Array(text.utf8), file: "p.yaml") }
        #expect(failure?.errors.map(\.line) == [4, 5, 8])
        #expect(failure?.errors.allSatisfy { $0.message.contains("would belong to itself") } == true)
    }
}
