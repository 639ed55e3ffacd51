import MatterDevice
import MatterModel

/// The JSON schema of profiles and fleets, for editors: `device-profiles/schema.json`. Made from the data model and the parameters of
/// the behaviours, so that it never says something else than the reader.
public enum ProfileSchema {
    public static var json: JSONValue {
        [
            "$schema": "https://json-schema.org/draft/2020-12/schema",
            "title": "A Hearth device profile, or a fleet of devices",
            "oneOf": [["$ref": "#/$defs/profile"], ["$ref": "#/$defs/fleet"]],
            "$defs": [
                "profile": profile, "fleet": fleet, "endpoint": endpoint, "clusters": clusters,
                "deviceType": ["enum": .array(DataModel.deviceTypes.map(\.name).sorted().map { .string($0) })],
            ],
        ]
    }

    private static func object(_ properties: [String: JSONValue], required: [String] = [], _ description: String? = nil) -> JSONValue {
        var object: [String: JSONValue] = ["type": "object", "additionalProperties": false, "properties": .object(properties)]
        if !required.isEmpty { object["required"] = .array(required.map { .string($0) }) }
        if let description { object["description"] = .string(description) }
        return .object(object)
    }

    private static func text(_ description: String, _ maximum: Int? = nil) -> JSONValue {
        var object: [String: JSONValue] = ["type": "string", "description": .string(description)]
        if let maximum { object["maxLength"] = JSONValue(maximum) }
        return .object(object)
    }

    private static func number(_ description: String, _ range: ClosedRange<Int64>) -> JSONValue {
        [
            // Hexadecimal numbers are texts to a JSON schema.
            "type": ["integer", "string"], "minimum": .integer(range.lowerBound), "maximum": .integer(range.upperBound),
            "description": .string(description),
        ]
    }

    private static var profile: JSONValue {
        object(
            [
                "name": text("what the device is called when nobody gives it another name", 64),
                "product": object([
                    "vendorId": number("a test vendor", 0xFFF1...0xFFF4), "vendorName": text("the maker", 32),
                    "productId": number("the product", 1...0xFFFF), "productName": text("the product's name", 32),
                    "serialNumber": text("made from the device's name when absent", 32),
                ]),
                "setup": object([
                    "passcode": number("drawn at the first start when absent", 1...99_999_998),
                    "discriminator": number("different for each device of a fleet when absent", 0...4095),
                ]),
                "maximumPathsPerInvoke": number("commands in one invoke request", 1...100),
                "root": object(["clusters": ["$ref": "#/$defs/clusters"]], "what is said of the root endpoint's clusters"),
                "endpoints": ["type": "array", "minItems": 1, "items": ["$ref": "#/$defs/endpoint"]],
            ], required: ["endpoints"])
    }

    private static func object(_ properties: [String: JSONValue], _ description: String) -> JSONValue {
        object(properties, required: [], description)
    }

    private static var fleet: JSONValue {
        object(
            [
                "name": text("the fleet's name", 64),
                "devices": [
                    "type": "array",
                    "items": object(
                        [
                            "profile": text("a profile's name, or its file"), "name": text("the device's name", 64),
                            "room": text("where it is", 64), "count": number("how many of it", 1...10_000),
                        ], required: ["profile"]),
                ],
            ], required: ["devices"])
    }

    private static var endpoint: JSONValue {
        object(
            [
                "id": number("1 when absent", 1...0xFFFE),
                "labels": [
                    "type": "object", "additionalProperties": ["type": "string", "maxLength": 16],
                    "description": "what the maker has put on: the list of Fixed Label",
                ],
                "repeat": number("how many endpoints like this one, numbered from its id on", 1...1000),
                "parent": number("the endpoint that this one belongs to", 1...0xFFFE),
                "deviceTypes": ["type": "array", "minItems": 1, "items": ["$ref": "#/$defs/deviceType"]],
                "clusters": ["$ref": "#/$defs/clusters"],
            ], required: ["deviceTypes"])
    }

    private static var clusters: JSONValue {
        var properties: [String: JSONValue] = [:]
        for entry in DataModel.index { properties[entry.name] = cluster(entry.definition) }
        return object(properties, "by name; what the device types demand is there without being named")
    }

    private static func cluster(_ definition: ClusterDefinition) -> JSONValue {
        var attributes: [String: JSONValue] = [:]
        for attribute in definition.attributes { attributes[attribute.name] = value(attribute.type, isNullable: attribute.isNullable) }
        let optional = definition.attributes.map(\.name) + definition.commands.filter { $0.direction == .request }.map(\.name)
        var properties: [String: JSONValue] = [
            "attributes": object(attributes, "first values"),
            "optional": [
                "type": "array", "items": ["enum": .array(Set(optional).sorted().map { .string($0) })],
                "description": "optional attributes and commands that are there without a first value",
            ],
        ]
        if !definition.features.isEmpty {
            let names = definition.features.flatMap { [$0.name, $0.code] }
            properties["features"] = ["type": "array", "items": ["enum": .array(Set(names).sorted().map { .string($0) })]]
        }
        for parameter in ClusterFactory.parameters(of: definition.id) { properties[parameter.name] = self.parameter(parameter) }
        guard case .object(var schema) = object(properties) else { return .null }
        schema["type"] = ["object", "null"]
        return .object(schema)
    }

    /// Scalars may be written in several ways (`50%`, `0x7F`, `on`), so that the schema names the words and leaves the rest to the reader.
    private static func value(_ type: TypeReference, isNullable: Bool) -> JSONValue {
        var schema: [String: JSONValue]
        switch type.base {
        case .boolean: schema = ["type": ["boolean", "string"]]
        case .unsigned, .signed, .single, .double: schema = ["type": ["number", "string"]]
        case .utf8, .octets: schema = ["type": "string"]
        case .enumeration(let definition):
            schema = ["anyOf": [["enum": .array(definition.items.map { .string($0.name) })], ["type": ["integer", "string"]]]]
        case .bitmap(let definition):
            schema = [
                "anyOf": [
                    ["type": "array", "items": ["enum": .array(definition.fields.map { .string($0.name) })]],
                    ["type": ["integer", "string"]],
                ]
            ]
        case .structure(let definition):
            let fields = Dictionary(
                definition.fields.map { ($0.name, value($0.type, isNullable: $0.isNullable)) }, uniquingKeysWith: { first, _ in first })
            schema = ["type": "object", "properties": .object(fields)]
        case .list(let entry): schema = ["type": "array", "items": value(entry, isNullable: false)]
        case .any: schema = [:]
        }
        guard isNullable else { return .object(schema) }
        return ["anyOf": [.object(schema), ["type": "null"]]]
    }

    private static func parameter(_ parameter: ClusterParameter) -> JSONValue {
        var schema = kind(parameter.kind).object ?? [:]
        schema["description"] = .string(parameter.summary)
        return .object(schema)
    }

    private static func kind(_ kind: ClusterParameter.Kind) -> JSONValue {
        switch kind {
        case .boolean: return ["type": "boolean"]
        case .unsigned(let range):
            return ["type": "integer", "minimum": JSONValue(range.lowerBound), "maximum": JSONValue(range.upperBound)]
        case .signed(let range): return ["type": "integer", "minimum": JSONValue(range.lowerBound), "maximum": JSONValue(range.upperBound)]
        case .number(let range), .seconds(let range):
            return ["type": "number", "minimum": .number(range.lowerBound), "maximum": .number(range.upperBound)]
        case .text: return ["type": "string"]
        case .octets: return ["type": "string", "pattern": "^([0-9A-Fa-f]{2})*$"]
        case .list(let entry): return ["type": "array", "items": self.kind(entry)]
        case .structure(let members):
            return object(Dictionary(members.map { ($0.name, parameter($0)) }, uniquingKeysWith: { first, _ in first }))
        }
    }
}
