import MatterModel
import MatterTLV
import Testing

@Suite struct LookupTests {
    @Test(arguments: ["OnOff", "on-off", "On/Off", "on off", "onoff", "ON_OFF"])
    func aClusterHasOneNameInManySpellings(name: String) {
        #expect(DataModel.cluster(named: name)?.id == 0x0006)
    }

    @Test func elementsAreFoundByNameAndId() throws {
        let level = try #require(DataModel.cluster(id: 0x0008))
        #expect(level.name == "LevelControl")
        #expect(level.title == "Level Control")
        #expect(level.attribute(named: "current-level")?.id == 0)
        #expect(level.attribute(id: 0xFFFC)?.name == "FeatureMap")
        #expect(
            level.command(named: "moveToLevel")?.fields.map(\.name) == [
                "Level", "TransitionTime", "OptionsMask", "OptionsOverride",
            ])
        #expect(level.command(named: "MoveToLevel", direction: .response) == nil)
        #expect(level.featureMap(["OO", "LT"]) == 3)
    }

    @Test func namesAreTheSpecifications() throws {
        let credentials = try #require(DataModel.cluster(named: "OperationalCredentials"))
        let addNOC = try #require(credentials.command(id: 6))
        #expect(addNOC.name == "AddNOC")
        #expect(addNOC.fields.map(\.name) == ["NOCValue", "ICACValue", "IPKValue", "CaseAdminSubject", "AdminVendorId"])
        #expect(credentials.response(to: addNOC)?.name == "NOCResponse")
        #expect(credentials.attribute(id: 0)?.name == "NOCs")
        #expect(DataModel.cluster(id: 0x001F)?.attribute(id: 0)?.name == "ACL")
    }

    @Test func everyEntryOfTheIndexDefinesWhatItNames() {
        #expect(DataModel.index.count == 45)
        for entry in DataModel.index {
            #expect(entry.definition.id == entry.id)
            #expect(entry.definition.name == entry.name)
            #expect(DataModel.cluster(named: entry.title)?.id == entry.id)
        }
    }

    @Test func aLightMeansItsLevels() throws {
        let light = try #require(DataModel.deviceType(named: "dimmable light"))
        #expect(light.id == 0x0101)
        let level = try #require(light.server(0x0008))
        #expect(level.conformance == .mandatory)
        #expect(level.element(.attribute, "MinLevel")?.constraint == Constraint("1"))
        #expect(light.server(0x001D)?.element(.feature, "TAGLIST")?.conformance == Conformance("Duplicate"))
        #expect(light.client(0x0406)?.conformance == .optional)
    }
}
