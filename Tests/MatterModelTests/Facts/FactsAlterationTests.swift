import MatterModel
import MatterTLV
import Testing

/// The comparison with the facts itself: whatever is altered, in the facts or in the model, is reported. Needs no facts but the
/// specimen's.
@Suite struct FactsAlterationTests {
    /// Something altered in a copy, and the difference that must be reported.
    struct Alteration: Sendable, CustomTestStringConvertible {
        var what: String
        var difference: String
        var make: @Sendable (inout Facts, inout OwnModel) throws -> Void
        var testDescription: String { what }

        /// In the facts: at `path` (see `JSONValue.steps`) stands `value`, or nothing.
        init(_ what: String, _ part: FactsPart, _ path: String, to value: JSONValue?, _ difference: String) {
            self.init(what, difference) { facts, _ in
                let steps = try #require(facts[part].steps(path))
                #expect(facts[part][steps] != value)
                facts[part].set(steps, to: value)
            }
        }

        init(_ what: String, _ difference: String, _ make: @escaping @Sendable (inout Facts, inout OwnModel) throws -> Void) {
            (self.what, self.difference, self.make) = (what, difference, make)
        }
    }

    @Test func theSpecimenHasNoDifference() throws {
        #expect(FactsComparison.differences(of: Specimen.model, from: try Specimen.facts()) == [])
    }

    @Test(arguments: Self.elements + Self.types + Self.devices + Self.extras + Self.missing)
    func anAlterationIsReported(alteration: Alteration) throws {
        var (facts, model) = (try Specimen.facts(), Specimen.model)
        try alteration.make(&facts, &model)
        let differences = FactsComparison.differences(of: model, from: facts)
        #expect(differences.contains { $0.hasPrefix(alteration.difference) }, "\(differences)")
    }

    private static let cluster = FactsPart.cluster(Specimen.cluster)

    static let elements: [Alteration] = [
        Alteration("cluster's name", cluster, "name", to: "Other", "Specimen: the name"),
        Alteration("cluster's revision", cluster, "revision", to: 4, "Specimen: the revision 3, in the facts 4"),
        Alteration("PICS code", cluster, "picsCode", to: "S", "Specimen: the PICS code"),
        Alteration("feature's bit", cluster, "features/AA/bit", to: 1, "Specimen.AA: the bit"),
        Alteration("feature's code", cluster, "features/AA/code", to: "AB", "Specimen: feature AA is not in the facts"),
        Alteration("feature's name", cluster, "features/AA/name", to: "Gift", "Specimen.AA: the name"),
        Alteration("feature's conformance", cluster, "features/AA/conformance/text", to: "O", "Specimen.AA: conformance"),
        Alteration("attribute's id", cluster, "attributes/Level/id", to: "0x0009", "Specimen: attribute Level is missing"),
        Alteration("attribute's name", cluster, "attributes/Level/name", to: "Height", "Specimen.Level: the name"),
        Alteration("attribute's type", cluster, "attributes/Mode/type", to: "PaceEnum", "Specimen.Mode: the type"),
        Alteration("attribute's encoding", cluster, "attributes/Level/resolvedType", to: "uint16", "Specimen.Level: encoding"),
        Alteration("type of entries", cluster, "attributes/Places/entryType", to: "TagStruct", "Specimen.Places: the type of an entry"),
        Alteration("encoding of entries", cluster, "attributes/Places/resolvedEntryType", to: "map8", "Specimen.Places: encoding of"),
        Alteration("attribute's quality", cluster, "attributes/Level/qualityCode", to: "N", "Specimen.Level: quality N S, in"),
        Alteration("quality C", cluster, "attributes/Level/qualityCode", to: "N S C", "Specimen.Level: quality"),
        Alteration("persistence", cluster, "attributes/Level/quality/persistence", to: "fixed", "Specimen.Level: persistence"),
        Alteration("scene", cluster, "attributes/Level/quality/scene", to: nil, "Specimen.Level: scene"),
        Alteration("quieter", cluster, "attributes/Mode/quality/quieterReporting", to: false, "Specimen.Mode: quieterReporting"),
        Alteration("nullable", cluster, "attributes/Mode/nullable", to: false, "Specimen.Mode: nullable"),
        Alteration("readable", cluster, "attributes/Level/readable", to: false, "Specimen.Level: readable"),
        Alteration("read privilege", cluster, "attributes/Places/readPrivilege", to: "view", "Specimen.Places: the privilege to read"),
        Alteration("writable", cluster, "attributes/Level/writable", to: false, "Specimen.Level: writable true, in the facts false"),
        Alteration("optional write", cluster, "attributes/Mode/writable", to: true, "Specimen.Mode: writable optional, in"),
        Alteration("write privilege", cluster, "attributes/Level/writePrivilege", to: "operate", "Specimen.Level: the privilege to write"),
        Alteration("timed write", cluster, "attributes/Level/timed", to: true, "Specimen.Level: a timed write"),
        Alteration("fabric-scoped", cluster, "attributes/Places/fabricScoped", to: false, "Specimen.Places: fabric-scoped"),
        Alteration("fabric-sensitive", cluster, "attributes/Places/fabricSensitive", to: true, "Specimen.Places: fabric-sensitive"),
        Alteration("attribute's conformance", cluster, "attributes/Mode/conformance/text", to: "[AA]", "Specimen.Mode: conformance"),
        Alteration("constraint", cluster, "attributes/Level/constraint/text", to: "1 to 9", "Specimen.Level: constraint"),
        Alteration("constraint's bound", cluster, "attributes/Level/constraint/max", to: 253, "Specimen.Level: at most 254"),
        Alteration("lower bound", cluster, "attributes/Level/constraint/min", to: 0, "Specimen.Level: at least 1"),
        Alteration("bound of entries", cluster, "attributes/Places/constraint/maxCount", to: 9, "Specimen.Places: at most 8"),
        Alteration("no constraint", cluster, "attributes/Level/constraint", to: nil, "Specimen.Level: constraint"),
        Alteration("default", cluster, "attributes/Level/default", to: 2, "Specimen.Level: default 1, in the facts 2"),
        Alteration("no default", cluster, "attributes/Places/default", to: nil, "Specimen.Places: default [], in the facts none"),
        Alteration("null default", cluster, "attributes/Level/default", to: ["null": true], "Specimen.Level: default 1, in the facts null"),
        Alteration("default elsewhere", cluster, "attributes/Mode/default/attribute", to: "Places", "Specimen.Mode: the attribute that is"),
        Alteration("command's id", cluster, "commands/Move/id", to: "0x07", "Specimen: command Move is missing"),
        Alteration("command's name", cluster, "commands/Move/name", to: "Go", "Specimen.Move: the name"),
        Alteration("direction", cluster, "commands/Move/direction", to: "response", "Specimen: command Move is not in the facts"),
        Alteration("response", cluster, "commands/Move/response", to: "status", "Specimen.Move: the response"),
        Alteration("no response", cluster, "commands/Move/response", to: .null, "Specimen.Move: the response"),
        Alteration("invoke privilege", cluster, "commands/Move/invokePrivilege", to: "operate", "Specimen.Move: the privilege"),
        Alteration("timed", cluster, "commands/Move/timed", to: false, "Specimen.Move: timed"),
        Alteration("fabric-scoped command", cluster, "commands/Move/fabricScoped", to: false, "Specimen.Move: fabric-scoped"),
        Alteration("command's conformance", cluster, "commands/MoveResponse/conformance/text", to: "O", "Specimen.MoveResponse: conf"),
        Alteration("command's field", cluster, "commands/Move/fields/Level/id", to: 5, "Specimen.Move: field Level is missing"),
        Alteration("field's name", cluster, "commands/Move/fields/Level/name", to: "Height", "Specimen.Move.Level: the name"),
        Alteration("field's type", cluster, "commands/Move/fields/Options/type", to: "map8", "Specimen.Move.Options: the type"),
        Alteration("field's quality", cluster, "commands/Move/fields/Options/qualityCode", to: "", "Specimen.Move.Options: quality"),
        Alteration("field's conformance", cluster, "commands/Move/fields/Options/conformance/text", to: "M", "Specimen.Move.Options: conf"),
        Alteration("field's constraint", cluster, "commands/Move/fields/Level/constraint/text", to: "min 2", "Specimen.Move.Level: constr"),
        Alteration("field's default", cluster, "commands/Move/fields/Level/default", to: 0, "Specimen.Move.Level: default"),
        Alteration(
            "response's field", cluster, "commands/MoveResponse/fields/Result/type", to: "status", "Specimen.MoveResponse.Result: the"),
        Alteration("event's id", cluster, "events/Moved/id", to: "0x01", "Specimen: event Moved is missing"),
        Alteration("event's name", cluster, "events/Moved/name", to: "Gone", "Specimen.Moved: the name"),
        Alteration("priority", cluster, "events/Moved/priority", to: "info", "Specimen.Moved: the priority"),
        Alteration("event's privilege", cluster, "events/Moved/readPrivilege", to: "view", "Specimen.Moved: the privilege to read"),
        Alteration("event's fabric", cluster, "events/Moved/fabricSensitive", to: false, "Specimen.Moved: fabric-sensitive"),
        Alteration("event's conformance", cluster, "events/Moved/conformance/text", to: "M", "Specimen.Moved: conformance"),
        Alteration("event's field", cluster, "events/Moved/fields/Level/resolvedType", to: "uint16", "Specimen.Moved.Level: encoding"),
        Alteration(
            "spelling of an attribute", .spelling, "clusters/Specimen/attributes/Level/name", to: "LEVEL", "Specimen.Level: the spelling"),
        Alteration("spelling of a command", .spelling, "clusters/Specimen/commands/Move/name", to: "MOVE", "Specimen.Move: the spelling"),
        Alteration("timed, second source", .spelling, "clusters/Specimen/commands/Move/timed", to: false, "Specimen.Move: timed, by"),
        Alteration("global attribute", .spelling, "globalAttributes/ClusterRevision/id", to: 65532, "every cluster: attribute"),
        Alteration("its name", .spelling, "globalAttributes/ClusterRevision/name", to: "Clusterrevision", "every cluster.ClusterRevision:"),
    ]

    static let types: [Alteration] = [
        Alteration("enum's name", cluster, "enums/ModeEnum/name", to: "PaceEnum", "Specimen: enum ModeEnum is not in the facts"),
        Alteration("enum's encoding", cluster, "enums/ModeEnum/base", to: "enum16", "Specimen.ModeEnum: encoding"),
        Alteration("enum's value", cluster, "enums/ModeEnum/items/Fast/value", to: 2, "Specimen.ModeEnum: value Fast is missing"),
        Alteration("value's name", cluster, "enums/ModeEnum/items/Fast/name", to: "Quick", "Specimen.ModeEnum.Fast: the name"),
        Alteration("value's conformance", cluster, "enums/ModeEnum/items/Fast/conformance", to: "M", "Specimen.ModeEnum.Fast: conformance"),
        Alteration(
            "bitmap's name", cluster, "bitmaps/OptionsBitmap/name", to: "Bits", "Specimen: bitmap OptionsBitmap is not in the facts"),
        Alteration("bitmap's encoding", cluster, "bitmaps/OptionsBitmap/base", to: "map16", "Specimen.OptionsBitmap: encoding"),
        Alteration("bit", cluster, "bitmaps/OptionsBitmap/fields/Quiet/from", to: 3, "Specimen.OptionsBitmap: bit Quiet is missing"),
        Alteration("last bit", cluster, "bitmaps/OptionsBitmap/fields/Pace/to", to: 3, "Specimen.OptionsBitmap.Pace: the last bit"),
        Alteration("bit's name", cluster, "bitmaps/OptionsBitmap/fields/Quiet/name", to: "Loud", "Specimen.OptionsBitmap.Quiet: the name"),
        Alteration(
            "bit's conformance", cluster, "bitmaps/OptionsBitmap/fields/Pace/conformance", to: "M", "Specimen.OptionsBitmap.Pace: conf"),
        Alteration(
            "no conformance", cluster, "bitmaps/OptionsBitmap/fields/Pace/conformance", to: .null, "Specimen.OptionsBitmap.Pace: conf"),
        Alteration(
            "a conformance", cluster, "bitmaps/OptionsBitmap/fields/Quiet/conformance", to: "O", "Specimen.OptionsBitmap.Quiet: conf"),
        Alteration("struct's name", cluster, "structs/PlaceStruct/name", to: "Spot", "Specimen: struct PlaceStruct is not in the facts"),
        Alteration("struct's field", cluster, "structs/PlaceStruct/fields/Where/id", to: 0, "Specimen.PlaceStruct: field Where is missing"),
        Alteration("field's type", cluster, "structs/PlaceStruct/fields/Where/type", to: "uint16", "Specimen.PlaceStruct.Where: the type"),
        Alteration("sensitive", cluster, "structs/PlaceStruct/fields/Where/fabricSensitive", to: nil, "Specimen.PlaceStruct.Where: fabric"),
        Alteration("null default", cluster, "structs/PlaceStruct/fields/Where/default", to: 0, "Specimen.PlaceStruct.Where: default"),
        Alteration("no fabric", cluster, "structs/PlaceStruct/fields/FabricIndex", to: nil, "Specimen.PlaceStruct: fabric-scoped"),
        Alteration("global enum", .globalTypes, "ResultEnum/items/Refused/value", to: 2, "ResultEnum: value Refused is missing"),
        Alteration("global bitmap", .globalTypes, "FlagsBitmap/bits/First/bit", to: "1", "FlagsBitmap: bit First is missing"),
        Alteration("global struct", .globalTypes, "TagStruct/fields/Tag/type", to: "uint16", "TagStruct.Tag: the type"),
        Alteration("derived type", .globalTypes, "share/base", to: "uint8", "share: derived from uint16, in the facts uint8"),
        Alteration("its encoding", .globalTypes, "share/resolved", to: "uint8", "share: encoding uint16, in the facts uint8"),
    ]

    static let devices: [Alteration] = [
        Alteration("device type's id", .deviceTypes, "Thing/id", to: "0xFFF10009", "Thing: the device type is not in the facts"),
        Alteration("its name", .deviceTypes, "Gadget/name", to: "Tool", "Gadget: the name"),
        Alteration("its revision", .deviceTypes, "Thing/revision", to: 3, "Thing: the revision"),
        Alteration("its classification", .deviceTypes, "Thing/classification", to: "utility", "Thing: classification"),
        Alteration("its superset", .deviceTypes, "Gadget/superset", to: .null, "Gadget: the superset"),
        Alteration("base of all", .deviceTypes, "Base/requirements/Specimen/conformance", to: "P", "Thing.Specimen (server): conformance"),
        Alteration("cluster", .deviceTypes, "Thing/requirements/Specimen/id", to: "0x0006", "Thing: cluster Specimen is missing"),
        Alteration("side", .deviceTypes, "Thing/requirements/Specimen/element", to: "clientCluster", "Thing: cluster Specimen is missing"),
        Alteration("conformance", .deviceTypes, "Gadget/requirements/Specimen/conformance", to: "O", "Gadget.Specimen (server): conf"),
        Alteration("quality", .deviceTypes, "Base/requirements/Specimen/quality", to: nil, "Thing.Specimen (server): quality I, in"),
        Alteration(
            "feature", .deviceTypes, "Thing/requirements/Specimen/requirements/ABILITY/conformance", to: "O",
            "Thing.Specimen (server).AA: conf"),
        Alteration(
            "command", .deviceTypes, "Thing/requirements/Specimen/requirements/Move/conformance", to: "M",
            "Thing.Specimen (server).Move: conf"),
        Alteration(
            "attribute", .deviceTypes, "Thing/requirements/Specimen/requirements/Level/constraint", to: "1",
            "Thing.Specimen (server).Level: constr"),
        Alteration(
            "access", .deviceTypes, "Thing/requirements/Specimen/requirements/Level/access", to: nil,
            "Thing.Specimen (server).Level: access"),
        Alteration(
            "event", .deviceTypes, "Thing/requirements/Specimen/requirements/Moved/conformance", to: "X",
            "Thing.Specimen (server).Moved: conf"),
        Alteration(
            "inherited", .deviceTypes, "Thing/requirements/Specimen/requirements/Move/conformance", to: "M",
            "Gadget.Specimen (server).Move: conf"),
        Alteration(
            "nearer", .deviceTypes, "Gadget/requirements/Specimen/requirements/Level/constraint", to: "2",
            "Gadget.Specimen (server).Level: constr"),
    ]
}
