import MatterModel
import MatterSimulator
import Testing

/// The package's own `device-profiles`.
let profileFolder: String = {
    var path = #filePath
    for _ in 0..<3 { path = String(path[..<(path.lastIndex(of: "/") ?? path.startIndex)]) }
    return path + "/device-profiles"
}()

@Suite struct ProfileTests {
    private let library = ProfileLibrary(folders: [profileFolder])

    private func mistakes(_ yaml: String) -> [ProfileError] {
        do {
            _ = try ProfileReader.read(Array(yaml.utf8), file: "test.yaml")
            return []
        } catch {
            return error.errors
        }
    }

    @Test func everyReadyProfileIsRight() throws {
        let files = library.files()
        #expect(files.count >= 8)
        for file in files where !file.hasSuffix("apartment.yaml") {
            let profile = try library.profile(file)
            #expect(!profile.endpoints.isEmpty, "\(file)")
        }
    }

    @Test func theApartmentHasADozenDevicesInRooms() throws {
        let fleet = try library.fleet("apartment")
        #expect(fleet.errors.isEmpty)
        #expect(fleet.members.count == 12)
        #expect(Set(fleet.members.map(\.name)).count == 12)
        #expect(fleet.members.allSatisfy { $0.room != nil })
    }

    @Test func valuesAreReadByTheirTypes() throws {
        let profile = try library.profile("thermostat")
        let thermostat = try #require(profile.endpoints.first?.clusters[Thermostat.id])
        #expect(thermostat.attributes[Thermostat.Attributes.occupiedHeatingSetpoint]?.signed == 2000)
        #expect(thermostat.attributes[Thermostat.Attributes.systemMode]?.unsigned == 1)
        let lock = try #require(try library.profile("door-lock").endpoints.first?.clusters[DoorLock.id])
        #expect(lock.parameters["users"]?.array?.first?[1]?.array?.first?.text == "1234")
        let covering = try #require(try library.profile("window-covering").endpoints.first?.clusters[WindowCovering.id])
        #expect(covering.parameters["travelTime"]?.unsigned == 20_000)
    }

    @Test(arguments: ["\"\"", "\"  \"", #""a\u001b[31mb""#, #""two\nlines""#, #""nul\0""#]) func aNameThatNobodyCanTypeIsAMistake(
        _ name: String
    ) {
        let found = mistakes("name: \(name)\nendpoints: [{id: 1, deviceTypes: [OnOffLight]}]\n")
        #expect(found.count == 1)
        #expect(found.first?.description.hasPrefix("test.yaml:1:7: name: the name ") == true, "\(found)")
    }

    @Test func aMistakeNamesItsPlaceAndWhatWasExpected() throws {
        let found = mistakes(
            """
            name: lamp
            endpoints:
              - id: 1
                deviceTypes: [DimableLight]
                clusters:
                  LevelControll: {}
                  OnOff:
                    features: [Lightning]
                    attributes:
                      OnTime: soon
            setup:
              passcode: 12345678
            colour: red
            """)
        let places = found.map { "\($0.line):\($0.column) \($0.path)" }
        #expect(places.contains("4:19 endpoints[0].deviceTypes[0]"))
        #expect(places.contains("6:7 endpoints[0].clusters"))
        #expect(places.contains("8:20 endpoints[0].clusters.OnOff.features[0]"))
        #expect(places.contains("10:19 endpoints[0].clusters.OnOff.attributes.OnTime"))
        #expect(places.contains("12:13 setup.passcode"))
        #expect(places.contains("13:1 "))
        #expect(found.first { $0.line == 4 }?.message.contains("DimmableLight") == true)
        #expect(found.first { $0.line == 6 }?.message.contains("LevelControl") == true)
        #expect(found.first { $0.line == 8 }?.message.contains("Lighting") == true)
    }

    @Test(arguments: [
        (
            "endpoints:\n  - deviceType: [OnOffLight]\n",
            "test.yaml:2:5: endpoints[0]: there is no 'deviceType' here; did you mean deviceTypes?"
        ),
        ("endpoints:\n  - deviceTypes: [OnOfLight]\n", "test.yaml:2:19: endpoints[0].deviceTypes[0]: there is no device type 'OnOfLight'"),
        ("endpoints:\n  - deviceTypes: []\n", "test.yaml:2:18: endpoints[0].deviceTypes: an endpoint needs at least one device type"),
        ("endpoints:\n  - id: 1\n", "test.yaml:2:5: endpoints[0]: 'deviceTypes' is missing"),
        ("endpoint:\n  - deviceTypes: [OnOffLight]\n", "test.yaml:1:1: there is no 'endpoint' here; did you mean endpoints?"),
        ("device:\n  - profile: lamp\n", "test.yaml:1:1: there is no 'device' here; did you mean devices?"),
    ]) func oneMistakeIsToldOnce(_ yaml: String, _ told: String) {
        let found = mistakes(yaml)
        #expect(found.count == 1, "\(found)")
        #expect(found.first?.description.hasPrefix(told) == true, "\(found)")
    }

    @Test(arguments: [
        ("{id: 1, parent: 1}", ["endpoint 1 would belong to itself"]), ("{id: 1, parent: 9}", ["endpoint 1 belongs to endpoint 9, which"]),
        ("{id: 1, parent: 2}, {id: 2, parent: 3}, {id: 3, parent: 1}", Array(repeating: "would belong to itself", count: 3)),
        ("{id: 65530, repeat: 6}", ["at most 5 from 65530 on are expected, not 6"]), ("{id: 65530, repeat: 5}", []),
        ("{id: 1, repeat: 9}, {id: 5, repeat: 9}", ["endpoint 5 stands twice"]), ("{id: 1}, {repeat: 2}", ["endpoint 1 stands twice"]),
        ("{id: one}, {id: 1}, {id: 2, parent: 7}", ["'one' is not an endpoint"]),
        ("{id: 1}, {id: 2, parent: 1}, {id: 3, parent: 2, repeat: 3}", []),
    ]) func endpointsStandOnceAndBelongToOthers(_ endpoints: String, _ told: [String]) {
        let found = mistakes("endpoints: [" + endpoints.replacing("{", with: "{deviceTypes: [OnOffLight], ") + "]\n")
        #expect(found.count == told.count, "\(found)")
        for (found, told) in zip(found, told) { #expect(found.message.contains(told), "\(found)") }
    }

    @Test func aMetersSourceIsAnEndpoint() {
        func meter(_ source: Int) -> [String] {
            mistakes(
                "endpoints: [{deviceTypes: [OnOffPlugInUnit], clusters: {ElectricalPowerMeasurement: {source: \(source)}}},"
                    + " {id: 2, deviceTypes: [OnOffLight]}]\n"
            ).map(\.description)
        }
        #expect(meter(2).isEmpty, "\(meter(2))")
        #expect(
            meter(3).contains {
                $0.contains("clusters.ElectricalPowerMeasurement.source: there is no endpoint 3 whose On/Off could switch the appliance")
            }, "\(meter(3))")
    }

    @Test func aDeviceTypeStandsOnce() {
        let found = mistakes("endpoints: [{deviceTypes: [OnOffLight, on-off-light]}]\n")
        #expect(found.map(\.message) == ["the device type OnOffLight stands twice"])
    }

    @Test func namesAreFreeOnce() {
        var names = DeviceNames()
        names.insert("lamp-3")
        #expect((0..<4).map { _ in names.free("lamp") } == ["lamp", "lamp-2", "lamp-4", "lamp-5"])
        #expect(names.numbered("door", from: 2) == "door-2" && names.numbered("door", from: 2) == "door-3")
        #expect(names.contains("door-3") && !names.contains("door"))
    }

    @Test func mistakesComeInTheOrderOfTheFile() {
        let found = mistakes("colour: red\nendpoints:\n  - shape: round\n    deviceTypes: [Lamp]\nname: ''\n")
        #expect(found.map(\.line) == [1, 3, 4, 5], "\(found)")
    }

    @Test(arguments: ["", "[", "a: b: c", "- just a list", "endpoints: {}", "x: &a 1\ny: *a", "!!binary aGk=", "endpoints: []"])
    func whatIsNoProfileIsRefused(_ yaml: String) { #expect(!mistakes(yaml).isEmpty) }

    @Test func labelsBecomeFixedLabels() throws {
        let text = "endpoints: [{deviceTypes: [OnOffLight], labels: {room: Kitchen, floor: '2'}}]"
        let profile = try ProfileReader.read(Array(text.utf8), file: "test.yaml")
        let list = profile.endpoints.first?.clusters[FixedLabel.id]?.attributes[FixedLabel.Attributes.labelList]?.array
        #expect(list?.map { $0[0]?.text } == ["room", "floor"])
        #expect(list?.map { $0[1]?.text } == ["Kitchen", "2"])
        #expect(mistakes("endpoints: [{deviceTypes: [OnOffLight], labels: {room: a room with a long name}}]").count == 1)
    }

    @Test func deepNestingIsRefused() {
        #expect(!mistakes(String(repeating: "[", count: 10_000)).isEmpty)
    }

    @Test func aValueThatBreaksAConstraintIsRefused() {
        let found = mistakes(
            """
            endpoints:
              - deviceTypes: [DimmableLight]
                clusters:
                  LevelControl:
                    features: [Lighting]
                    attributes: {MinLevel: 0}
            """)
        #expect(found.count == 1)
    }
}
