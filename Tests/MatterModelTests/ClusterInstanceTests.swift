import MatterModel
import Testing

@Suite struct ClusterInstanceTests {
    @Test func mandatoryElementsComeByThemselves() throws {
        let onOff = try #require(DataModel.cluster(named: "OnOff"))
        #expect(onOff.elements(features: 0).attributes == [0])
        #expect(onOff.elements(features: 0).acceptedCommands == [0, 1, 2])
        #expect(onOff.elements(features: 1).attributes == [0, 0x4000, 0x4001, 0x4002, 0x4003])
        #expect(onOff.elements(features: 4).acceptedCommands == [0])
        let level = try #require(DataModel.cluster(named: "LevelControl"))
        #expect(level.elements(features: 3, optional: ["MinLevel"]).attributes == [0, 1, 2, 0xF, 0x11, 0x4000])
        // Deprecated and disallowed elements do not come back by being asked for.
        #expect(!level.elements(features: 0, optional: ["StartUpCurrentLevel"]).attributes.contains(0x4000))
    }

    @Test func oneElementBringsInAnother() throws {
        let occupancy = try #require(DataModel.cluster(named: "OccupancySensing"))
        #expect(!occupancy.elements(features: 2).attributes.contains(4))
        #expect(occupancy.elements(features: 2, optional: ["HoldTime"]).attributes.isSuperset(of: [3, 4]))
    }

    @Test func responsesComeWithTheirRequests() throws {
        let groups = try #require(DataModel.cluster(named: "Groups"))
        #expect(groups.elements(features: 0).generatedCommands == [0, 1, 2, 3])
    }

    @Test func whatIsMissingOrTooMuchIsNamed() throws {
        let onOff = try #require(DataModel.cluster(named: "OnOff"))
        var elements = onOff.elements(features: 1)
        #expect(onOff.conformanceProblems(features: 1, elements: elements).isEmpty)
        elements.attributes.remove(0x4001)
        #expect(onOff.conformanceProblems(features: 1, elements: elements) == ["OnOff: attribute OnTime is missing (LT)"])
        #expect(onOff.conformanceProblems(features: 0, elements: elements).count == 6)
    }

    @Test func choicesAreCounted() throws {
        let thermostat = try #require(DataModel.cluster(named: "Thermostat"))
        let none = thermostat.conformanceProblems(features: 0, elements: thermostat.elements(features: 0))
        #expect(none == ["Thermostat: 0 of the elements with choice a"])
        #expect(thermostat.conformanceProblems(features: 1, elements: thermostat.elements(features: 1)).isEmpty)
        let power = try #require(DataModel.cluster(named: "PowerSource"))
        let both = power.featureMap(["WIRED", "BAT"])
        #expect(!power.conformanceProblems(features: both, elements: power.elements(features: both)).isEmpty)
    }

    @Test func theMinimalInstanceOfEveryClusterConformsButForItsChoices() {
        for cluster in DataModel.index.map(\.definition) {
            let problems = cluster.conformanceProblems(features: 0, elements: cluster.elements(features: 0))
            #expect(problems.allSatisfy { $0.contains("choice") || $0.contains("feature") }, "\(problems)")
        }
    }

    @Test func featureMapsHaveNames() throws {
        let level = try #require(DataModel.cluster(named: "LevelControl"))
        #expect(level.featureCodes(of: 0x203) == ["OO", "LT", "bit 9"])
        #expect(level.feature(named: "lighting")?.bit == 1)
    }

    @Test func featuresThatDoNotGoTogetherAreTold() {
        func told(_ cluster: ClusterDefinition, _ codes: String...) -> [String] {
            cluster.featureProblems(of: cluster.features.filter { codes.contains($0.code) }.reduce(0) { $0 | 1 << UInt32($1.bit) })
        }
        #expect(told(OnOff.definition, "LT", "DF").isEmpty)
        #expect(told(OnOff.definition, "LT", "OFFONLY") == ["the feature LT is disallowed beside OFFONLY ([!OFFONLY])"])
        #expect(told(ColorControl.definition, "HS", "CL") == ["the feature EHUE is missing beside HS, CL (CL, O)"])
        #expect(told(Switch.definition, "LS", "MS") == ["of the features LS, MS 1 is expected, not 2"])
        #expect(told(Switch.definition) == ["of the features LS, MS 1 is expected, not 0"])
        #expect(told(Thermostat.definition).first == "of the features HEAT, COOL at least 1 is expected, not 0")
    }
}
