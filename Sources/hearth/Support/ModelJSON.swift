import MatterModel

/// The data model for programs.
enum ModelJSON {
    static func index() -> JSONValue {
        [
            "ok": true,
            "clusters": .array(
                DataModel.index.map {
                    ["id": .integer(Int64($0.id.rawValue)), "name": .string($0.name), "title": .string($0.title)]
                }),
        ]
    }

    static func json(_ cluster: ClusterDefinition) -> JSONValue {
        [
            "ok": true, "id": .integer(Int64(cluster.id.rawValue)), "name": .string(cluster.name),
            "title": .string(cluster.title),
            "revision": .integer(Int64(cluster.revision)), "pics": .string(cluster.picsCode),
            "features": .array(cluster.features.map(json)), "attributes": .array(cluster.attributes.map { json($0, cluster) }),
            "commands": .array(cluster.commands.map { json($0, cluster) }), "events": .array(cluster.events.map(json)),
            "enums": .array(cluster.enums.map(json)), "bitmaps": .array(cluster.bitmaps.map(json)),
            "structs": .array(cluster.structs.map(json)),
        ]
    }

    static func json(_ element: ModelElement, _ cluster: ClusterDefinition) -> JSONValue {
        let (kind, value): (String, JSONValue) =
            switch element {
            case .attribute(let attribute): ("attribute", json(attribute, cluster))
            case .command(let command): ("command", json(command, cluster))
            case .event(let event): ("event", json(event))
            case .enumeration(let definition): ("enum", json(definition))
            case .bitmap(let definition): ("bitmap", json(definition))
            case .structure(let definition): ("struct", json(definition))
            case .feature(let feature): ("feature", json(feature))
            }
        return [
            "ok": true, "cluster": .string(cluster.name), "clusterId": .integer(Int64(cluster.id.rawValue)),
            "kind": .string(kind),
            kind: value,
        ]
    }

    private static func json(_ feature: FeatureDefinition) -> JSONValue {
        [
            "bit": .integer(Int64(feature.bit)), "code": .string(feature.code), "name": .string(feature.name),
            "conformance": .string(feature.conformance.text),
        ]
    }

    private static func json(_ attribute: AttributeDefinition, _ cluster: ClusterDefinition) -> JSONValue {
        var members: [String: JSONValue] = [
            "id": .integer(Int64(attribute.id.rawValue)), "name": .string(attribute.name), "type": .string(attribute.type.name),
            "read": privilege(attribute.readPrivilege), "write": privilege(attribute.writePrivilege),
            "timed": .boolean(attribute.isTimed), "fabricScoped": .boolean(attribute.isFabricScoped),
            "fabricSensitive": .boolean(attribute.isFabricSensitive), "conformance": .string(attribute.conformance.text),
            "constraint": .string(attribute.constraint.text), "qualities": qualities(attribute.quality),
        ]
        if let value = attribute.defaultValue { members["default"] = ValueJSON.json(value, type: attribute.type) }
        if let unit = ValueText(attribute, in: cluster.id).unit {
            members["unit"] = ["symbol": .string(unit.symbol), "steps": .integer(unit.steps)]
        }
        return .object(members)
    }

    private static func json(_ command: CommandDefinition, _ cluster: ClusterDefinition) -> JSONValue {
        [
            "id": .integer(Int64(command.id.rawValue)), "name": .string(command.name),
            "direction": command.direction == .request ? "request" : "response",
            "response": JSONValue(cluster.response(to: command)?.name),
            "privilege": privilege(command.invokePrivilege), "timed": .boolean(command.isTimed),
            "fabricScoped": .boolean(command.isFabricScoped), "conformance": .string(command.conformance.text),
            "fields": .array(command.fields.map(json)),
        ]
    }

    private static func json(_ event: EventDefinition) -> JSONValue {
        [
            "id": .integer(Int64(event.id.rawValue)), "name": .string(event.name), "priority": .string("\(event.priority)"),
            "read": privilege(event.readPrivilege), "fabricSensitive": .boolean(event.isFabricSensitive),
            "conformance": .string(event.conformance.text), "fields": .array(event.fields.map(json)),
        ]
    }

    private static func json(_ field: FieldDefinition) -> JSONValue {
        [
            "id": .integer(Int64(field.id.rawValue)), "name": .string(field.name), "type": .string(field.type.name),
            "fabricSensitive": .boolean(field.isFabricSensitive), "conformance": .string(field.conformance.text),
            "constraint": .string(field.constraint.text), "qualities": qualities(field.quality),
        ]
    }

    private static func json(_ definition: EnumDefinition) -> JSONValue {
        [
            "name": .string(definition.name), "bytes": .integer(Int64(definition.bytes)),
            "items": .array(
                definition.items.map {
                    ["value": .integer(Int64($0.value)), "name": .string($0.name), "conformance": .string($0.conformance.text)]
                }),
        ]
    }

    private static func json(_ definition: BitmapDefinition) -> JSONValue {
        [
            "name": .string(definition.name), "bytes": .integer(Int64(definition.bytes)),
            "fields": .array(
                definition.fields.map {
                    [
                        "bits": [.integer(Int64($0.bits.lowerBound)), .integer(Int64($0.bits.upperBound))],
                        "name": .string($0.name),
                        "conformance": .string($0.conformance.text),
                    ]
                }),
        ]
    }

    private static func json(_ definition: StructDefinition) -> JSONValue {
        [
            "name": .string(definition.name), "fabricScoped": .boolean(definition.isFabricScoped),
            "fields": .array(definition.fields.map(json)),
        ]
    }

    private static func privilege(_ privilege: Privilege?) -> JSONValue { JSONValue(privilege.map { "\($0)" }) }
    private static func qualities(_ quality: Quality) -> JSONValue { .array(ModelText.names(of: quality).map { .string($0) }) }
}
