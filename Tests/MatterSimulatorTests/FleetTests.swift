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
            told { () throws(ProfileErrors) in _ = try ScenarioReader.read("", library: library) } == "the name of the scenario is empty")
    }
}
