import MatterModel
import MatterTLV

/// A small model and facts of it, both made up for tests of the comparison: every kind of element, and no difference.
enum Specimen {
    static let cluster: ClusterID = 0xFFF1_FC77

    static func facts() throws -> Facts {
        var facts = Facts()
        facts.clusters[cluster] = try JSONValue(parsing: Array(clusterFacts.utf8))
        facts.deviceTypes = try JSONValue(parsing: Array(deviceFacts.utf8)).array ?? []
        facts.globalTypes = try JSONValue(parsing: Array(globalFacts.utf8)).array ?? []
        facts.spelling = try JSONValue(parsing: Array(spellingFacts.utf8))
        return facts
    }

    static var model: OwnModel {
        OwnModel(
            clusters: [definition], deviceTypes: [thing, gadget], globalTypes: [resultEnum, flagsBitmap, tagStruct],
            derivedTypes: ["share": "uint16"],
            globalAttributes: [AttributeDefinition(0xFFFD, "ClusterRevision", uint16, quality: [.fixed], conformance: .mandatory)])
    }

    // MARK: - The model

    private static let uint8 = TypeReference("uint8", .unsigned(bytes: 1))
    private static let uint16 = TypeReference("uint16", .unsigned(bytes: 2))
    private static let share = TypeReference("share", .unsigned(bytes: 2))
    private static let resultEnum = TypeReference(
        "ResultEnum", .enumeration(EnumDefinition("ResultEnum", bytes: 1, items: [.init(0, "Done"), .init(1, "Refused")])))
    private static let flagsBitmap = TypeReference(
        "FlagsBitmap", .bitmap(BitmapDefinition("FlagsBitmap", bytes: 2, fields: [.init(0...0, "First")])))
    private static let tagStruct = TypeReference(
        "TagStruct", .structure(StructDefinition("TagStruct", fields: [FieldDefinition(0, "Tag", uint8, conformance: .mandatory)])))
    private static let modeEnum = EnumDefinition(
        "ModeEnum", bytes: 1, items: [.init(0, "Slow"), .init(1, "Fast", Conformance("AA"))])
    private static let optionsBitmap = BitmapDefinition(
        "OptionsBitmap", bytes: 1, fields: [.init(0...0, "Quiet"), .init(1...2, "Pace", Conformance("AA"))])
    private static let placeStruct = StructDefinition(
        "PlaceStruct", fabricScoped: true,
        fields: [
            FieldDefinition(
                1, "Where", share, quality: [.nullable], fabricSensitive: true, conformance: .mandatory,
                constraint: Constraint("max 100"), default: .null),
            .fabricIndex,
        ])

    private static let definition = ClusterDefinition(
        id: cluster, name: "Specimen", revision: 3, picsCode: "SPC",
        features: [FeatureDefinition(bit: 0, code: "AA", name: "Ability", conformance: Conformance("[BB]"))],
        attributes: [
            AttributeDefinition(
                0, "Level", uint8, quality: [.nonVolatile, .scene], write: .manage, conformance: .mandatory,
                constraint: Constraint("1 to 254"), default: .unsigned(1)),
            AttributeDefinition(
                1, "Places", TypeReference(list: TypeReference("PlaceStruct", .structure(placeStruct))), quality: [.fixed],
                read: .administer, write: .administer, fabricScoped: true, conformance: Conformance("[AA]"),
                constraint: Constraint("max 8"), default: .array([])),
            AttributeDefinition(
                2, "Mode", TypeReference("ModeEnum", .enumeration(modeEnum)), quality: [.nullable, .quieter], write: .operate,
                writeIsOptional: true, conformance: Conformance("AA, O"), defaultAttribute: "Level"),
        ],
        commands: [
            CommandDefinition(
                0, "Move", .request, response: .command(1), invoke: .manage, timed: true, fabricScoped: true, conformance: .mandatory,
                fields: [
                    FieldDefinition(0, "Level", uint8, conformance: .mandatory, constraint: Constraint("min 1"), default: .unsigned(9)),
                    FieldDefinition(
                        1, "Options", TypeReference("OptionsBitmap", .bitmap(optionsBitmap)), quality: [.nullable],
                        conformance: .optional),
                ]),
            CommandDefinition(
                1, "MoveResponse", .response, response: .none, conformance: .mandatory,
                fields: [FieldDefinition(0, "Result", resultEnum, conformance: .mandatory)]),
        ],
        events: [
            EventDefinition(
                0, "Moved", .critical, read: .administer, fabricSensitive: true, conformance: .optional,
                fields: [FieldDefinition(0, "Level", uint8, conformance: .mandatory), .fabricIndex])
        ],
        enums: [modeEnum], bitmaps: [optionsBitmap], structs: [placeStruct])

    private static let thing = DeviceTypeDefinition(
        0xFFF1_0001, "Thing", title: "Thing", .simple, revision: 2,
        clusters: [
            ClusterRequirement(
                cluster, "Specimen", .server, conformance: Conformance("O"), quality: [.singleton],
                elements: [
                    ElementRequirement(.feature, "AA", conformance: .mandatory),
                    ElementRequirement(.command, "Move", conformance: Conformance("P, M")),
                    ElementRequirement(.attribute, "Level", constraint: Constraint("1 to 9"), access: "R V"),
                    ElementRequirement(.event, "Moved", conformance: .mandatory),
                ])
        ])
    private static let gadget: DeviceTypeDefinition = {
        var gadget = thing
        (gadget.id, gadget.name, gadget.superset) = (0xFFF1_0002, "Gadget", "Thing")
        gadget.clusters[0].conformance = .mandatory
        gadget.clusters.append(ClusterRequirement(cluster, "Specimen", .client, conformance: .optional))
        return gadget
    }()

    // MARK: - The facts

    private static let clusterFacts = """
        {"id": "0xFFF1FC77", "name": "Specimen", "revision": 3, "picsCode": "SPC", "baseCluster": null,
        "features": [{"bit": 0, "code": "AA", "name": "Ability", "conformance": {"text": "[BB]"}}],
        "attributes": [
        {"id": "0x0000", "name": "Level", "type": "uint8", "resolvedType": "uint8", "nullable": false, "readable": true,
        "readPrivilege": "view", "writable": true, "writePrivilege": "manage", "conformance": {"text": "M"}, "default": 1,
        "constraint": {"text": "1 to 254", "min": 1, "max": 254}, "quality": {"persistence": "nonVolatile", "scene": true},
        "qualityCode": "N S"},
        {"id": "0x0001", "name": "Places", "type": "list", "resolvedType": "list", "entryType": "PlaceStruct",
        "resolvedEntryType": "struct", "nullable": false, "readable": true, "readPrivilege": "administer", "writable": true,
        "writePrivilege": "administer", "fabricScoped": true, "conformance": {"text": "[AA]"}, "default": [],
        "constraint": {"text": "max 8", "maxCount": 8}, "quality": {"persistence": "fixed"}, "qualityCode": "F"},
        {"id": "0x0002", "name": "Mode", "type": "ModeEnum", "resolvedType": "enum8", "nullable": true, "readable": true,
        "readPrivilege": "view", "writable": "optional", "writePrivilege": "operate", "conformance": {"text": "AA, O"},
        "default": {"attribute": "Level"}, "quality": {"quieterReporting": true}, "qualityCode": "X Q"}],
        "commands": [
        {"id": "0x00", "name": "Move", "direction": "request", "response": "MoveResponse", "invokePrivilege": "manage", "timed": true,
        "fabricScoped": true, "conformance": {"text": "M"}, "fields": [
        {"id": 0, "name": "Level", "type": "uint8", "resolvedType": "uint8", "nullable": false, "conformance": {"text": "M"},
        "constraint": {"text": "min 1", "min": 1}, "default": 9, "quality": {}, "qualityCode": ""},
        {"id": 1, "name": "Options", "type": "OptionsBitmap", "resolvedType": "map8", "nullable": true, "conformance": {"text": "O"},
        "quality": {}, "qualityCode": "X"}]},
        {"id": "0x01", "name": "MoveResponse", "direction": "response", "response": null, "timed": false, "fabricScoped": false,
        "conformance": {"text": "M"}, "fields": [
        {"id": 0, "name": "Result", "type": "ResultEnum", "resolvedType": "enum8", "nullable": false, "conformance": {"text": "M"},
        "quality": {}, "qualityCode": ""}]}],
        "events": [
        {"id": "0x00", "name": "Moved", "priority": "critical", "readPrivilege": "administer", "fabricSensitive": true,
        "conformance": {"text": "O"}, "fields": [
        {"id": 0, "name": "Level", "type": "uint8", "resolvedType": "uint8", "nullable": false, "conformance": {"text": "M"},
        "quality": {}, "qualityCode": ""},
        {"id": 254, "name": "FabricIndex", "type": "FabricIndex", "resolvedType": "uint8", "nullable": false, "conformance": null,
        "quality": {}, "qualityCode": ""}]}],
        "enums": [{"name": "ModeEnum", "base": "enum8", "items": [
        {"value": 0, "name": "Slow", "conformance": "M"}, {"value": 1, "name": "Fast", "conformance": "AA"}]}],
        "bitmaps": [{"name": "OptionsBitmap", "base": "map8", "fields": [
        {"name": "Quiet", "bit": 0, "from": 0, "to": 0, "conformance": null},
        {"name": "Pace", "bit": null, "from": 1, "to": 2, "conformance": "AA"}]}],
        "structs": [{"name": "PlaceStruct", "fields": [
        {"id": 1, "name": "Where", "type": "share", "resolvedType": "uint16", "nullable": true, "fabricSensitive": true,
        "conformance": {"text": "M"}, "constraint": {"text": "max 100", "max": 100}, "default": {"null": true}, "quality": {},
        "qualityCode": "X"},
        {"id": 254, "name": "FabricIndex", "type": "FabricIndex", "resolvedType": "uint8", "nullable": false, "conformance": null,
        "quality": {}, "qualityCode": ""}]}],
        "typedefs": []}
        """

    private static let deviceFacts = """
        [{"id": null, "name": "Base", "classification": "base", "superset": null, "requirements": [
        {"name": "Specimen", "element": "serverCluster", "id": "0xFFF1FC77", "conformance": "O", "quality": "I"}]},
        {"id": "0xFFF10001", "name": "Thing", "classification": "simple", "superset": null, "revision": 2, "requirements": [
        {"name": "Specimen", "element": "serverCluster", "id": "0xFFF1FC77", "requirements": [
        {"name": "ABILITY", "element": "feature", "conformance": "M"},
        {"name": "Move", "element": "command", "conformance": "P, M"},
        {"name": "Level", "element": "attribute", "constraint": "1 to 9", "access": "R V"},
        {"name": "Moved", "element": "event", "conformance": "M"}]}]},
        {"id": "0xFFF10002", "name": "Gadget", "classification": "simple", "superset": "Thing", "revision": 2, "requirements": [
        {"name": "Specimen", "element": "serverCluster", "id": "0xFFF1FC77", "conformance": "M", "requirements": [
        {"name": "Level", "element": "attribute"}]},
        {"name": "Specimen", "element": "clientCluster", "id": "0xFFF1FC77", "conformance": "O"}]}]
        """

    private static let globalFacts = """
        [{"name": "uint8", "base": null, "resolved": "uint8"}, {"name": "uint16", "base": null, "resolved": "uint16"},
        {"name": "fabric-idx", "base": null, "resolved": "uint8"}, {"name": "share", "base": "uint16", "resolved": "uint16"},
        {"name": "ResultEnum", "base": "enum8", "resolved": "enum8", "items": [
        {"value": 0, "name": "Done"}, {"value": 1, "name": "Refused"}]},
        {"name": "FlagsBitmap", "base": "map16", "resolved": "map16", "bits": [{"name": "First", "bit": "0"}]},
        {"name": "TagStruct", "base": "struct", "resolved": "struct", "fields": [
        {"id": 0, "name": "Tag", "type": "uint8", "resolvedType": "uint8", "nullable": false, "conformance": {"text": "M"},
        "quality": {}, "qualityCode": ""}]}]
        """

    private static let spellingFacts = """
        {"clusters": [{"id": "0xFFF1FC77", "name": "Specimen", "attributes": [{"name": "Level", "id": 0}],
        "commands": [{"name": "Move", "id": 0, "timed": true}]}],
        "globalAttributes": [{"name": "ClusterRevision", "id": 65533}]}
        """
}
