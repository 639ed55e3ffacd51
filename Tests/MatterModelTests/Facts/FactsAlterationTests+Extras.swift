import MatterModel

/// What only one side has, of each kind.
extension FactsAlterationTests {
    private static let uint8 = TypeReference("uint8", .unsigned(bytes: 1))
    private static let field = FieldDefinition(7, "Extra", uint8, conformance: .optional)

    /// Something that the model has more.
    private static func extra(_ what: String, _ difference: String, _ add: @escaping @Sendable (inout OwnModel) -> Void) -> Alteration {
        Alteration("extra \(what)", difference + " is not in the facts") { _, model in add(&model) }
    }

    static let extras: [Alteration] = [
        extra("cluster", "Other: the cluster") {
            $0.clusters.append(ClusterDefinition(id: 0xFFF1_FC78, name: "Other", revision: 1, picsCode: "OTH"))
        },
        extra("feature", "Specimen: feature EX") {
            $0.clusters[0].features.append(FeatureDefinition(bit: 9, code: "EX", name: "Extra", conformance: .optional))
        },
        extra("attribute", "Specimen: attribute Extra") {
            $0.clusters[0].attributes.append(AttributeDefinition(9, "Extra", uint8, conformance: .optional))
        },
        extra("attribute of the same id", "Specimen: attribute Level") {
            $0.clusters[0].attributes.append(AttributeDefinition(0, "Level", uint8, conformance: .optional))
        },
        extra("command", "Specimen: command Extra") {
            $0.clusters[0].commands.append(CommandDefinition(9, "Extra", .request, response: .status, conformance: .optional))
        },
        extra("command's field", "Specimen.Move: field Extra") { $0.clusters[0].commands[0].fields.append(field) },
        extra("event", "Specimen: event Extra") {
            $0.clusters[0].events.append(EventDefinition(9, "Extra", .info, conformance: .optional))
        },
        extra("event's field", "Specimen.Moved: field Extra") { $0.clusters[0].events[0].fields.append(field) },
        extra("enum", "Specimen: enum ExtraEnum") { $0.clusters[0].enums.append(EnumDefinition("ExtraEnum", bytes: 1, items: [])) },
        extra("value", "Specimen.ModeEnum: value 9 Extra") { $0.clusters[0].enums[0].items.append(.init(9, "Extra")) },
        extra("value of the same number", "Specimen.ModeEnum: value 0 Extra") { $0.clusters[0].enums[0].items.append(.init(0, "Extra")) },
        extra("bitmap", "Specimen: bitmap ExtraBitmap") {
            $0.clusters[0].bitmaps.append(BitmapDefinition("ExtraBitmap", bytes: 1, fields: []))
        },
        extra("bit", "Specimen.OptionsBitmap: bit 5 Extra") { $0.clusters[0].bitmaps[0].fields.append(.init(5...5, "Extra")) },
        extra("struct", "Specimen: struct ExtraStruct") { $0.clusters[0].structs.append(StructDefinition("ExtraStruct")) },
        extra("struct's field", "Specimen.PlaceStruct: field Extra") { $0.clusters[0].structs[0].fields.append(field) },
        extra("derived type", "Specimen: type heat") {
            $0.clusters[0].attributes[0].type = TypeReference("heat", .unsigned(bytes: 1))
        },
        extra("global type", "every cluster: type ExtraStruct") {
            $0.globalTypes.append(TypeReference("ExtraStruct", .structure(StructDefinition("ExtraStruct"))))
        },
        extra("global derived type", "every cluster: type heat") { $0.derivedTypes["heat"] = "int16" },
        extra("global attribute", "every cluster: attribute Extra") {
            $0.globalAttributes.append(AttributeDefinition(0xFFFE, "Extra", uint8, conformance: .mandatory))
        },
        extra("device type", "Other: the device type") {
            $0.deviceTypes.append(DeviceTypeDefinition(0xFFF1_0009, "Other", title: "Other", .simple, revision: 1, clusters: []))
        },
        extra("cluster of a device type", "Thing: cluster Identify (server)") {
            $0.deviceTypes[0].clusters.append(ClusterRequirement(Identify.id, "Identify", .server, conformance: .optional))
        },
        extra("client of a device type", "Thing: cluster Specimen (client)") {
            $0.deviceTypes[0].clusters.append(ClusterRequirement(Specimen.cluster, "Specimen", .client, conformance: .optional))
        },
        extra("feature of a device type", "Thing.Specimen (server): element feature EX") {
            $0.deviceTypes[0].clusters[0].elements.append(ElementRequirement(.feature, "EX", conformance: .mandatory))
        },
        extra("attribute of a device type", "Thing.Specimen (server): element attribute Mode") {
            $0.deviceTypes[0].clusters[0].elements.append(ElementRequirement(.attribute, "Mode", conformance: .mandatory))
        },
        extra("command of a device type", "Thing.Specimen (server): element command Stop") {
            $0.deviceTypes[0].clusters[0].elements.append(ElementRequirement(.command, "Stop", conformance: .mandatory))
        },
        extra("event of a device type", "Thing.Specimen (server): element event Stopped") {
            $0.deviceTypes[0].clusters[0].elements.append(ElementRequirement(.event, "Stopped", conformance: .mandatory))
        },
    ]

    /// Something that the model has no longer.
    private static func lost(_ what: String, _ difference: String, _ remove: @escaping @Sendable (inout OwnModel) -> Void) -> Alteration {
        Alteration("missing \(what)", difference + " is missing") { _, model in remove(&model) }
    }

    static let missing: [Alteration] = [
        lost("feature", "Specimen: feature Ability") { $0.clusters[0].features.removeAll() },
        lost("attribute", "Specimen: attribute Mode") { $0.clusters[0].attributes.removeLast() },
        lost("command", "Specimen: command MoveResponse") { $0.clusters[0].commands.removeLast() },
        lost("command's field", "Specimen.Move: field Options") { $0.clusters[0].commands[0].fields.removeLast() },
        lost("event", "Specimen: event Moved") { $0.clusters[0].events.removeLast() },
        lost("event's field", "Specimen.Moved: field FabricIndex") { $0.clusters[0].events[0].fields.removeLast() },
        lost("enum", "Specimen: enum ModeEnum") { $0.clusters[0].enums.removeLast() },
        lost("value", "Specimen.ModeEnum: value Fast") { $0.clusters[0].enums[0].items.removeLast() },
        lost("bitmap", "Specimen: bitmap OptionsBitmap") { $0.clusters[0].bitmaps.removeLast() },
        lost("bit", "Specimen.OptionsBitmap: bit Pace") { $0.clusters[0].bitmaps[0].fields.removeLast() },
        lost("struct", "Specimen: struct PlaceStruct") { $0.clusters[0].structs.removeLast() },
        lost("struct's field", "Specimen.PlaceStruct: field FabricIndex") { $0.clusters[0].structs[0].fields.removeLast() },
        lost("global type", "every cluster: type TagStruct") { $0.globalTypes.removeLast() },
        lost("global derived type", "every cluster: type share") { $0.derivedTypes = [:] },
        lost("global attribute", "every cluster: attribute ClusterRevision") { $0.globalAttributes.removeLast() },
        lost("cluster of a device type", "Gadget: cluster Specimen") { $0.deviceTypes[1].clusters.removeLast() },
        lost("element of a device type", "Thing.Specimen (server): element Moved") { $0.deviceTypes[0].clusters[0].elements.removeLast() },
    ]
}
