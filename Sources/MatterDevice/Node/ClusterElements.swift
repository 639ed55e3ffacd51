import MatterModel
import MatterTLV

/// What exists of a cluster's definition in one instance: by its features, and by what is optional and was asked for
/// (Matter Core, 7.3 and 7.13).
public struct ClusterElements: Sendable {
    public let attributes: [AttributeID: AttributeDefinition]
    /// In the order of their ids, global attributes included.
    public let attributeIDs: [AttributeID]
    public let acceptedCommands: [CommandID: CommandDefinition]
    public let acceptedCommandIDs: [CommandID]
    public let generatedCommandIDs: [CommandID]
    public let events: [EventID: EventDefinition]
    public let eventIDs: [EventID]

    init(
        _ definition: ClusterDefinition, features: UInt32, attributes wantedAttributes: Set<AttributeID>, commands wantedCommands: Set<CommandID>
    ) {
        let codes = Set(definition.features.filter { features & (1 << UInt32($0.bit)) != 0 }.map(\.code))
        let wantedNames = Set(definition.attributes.filter { wantedAttributes.contains($0.id) }.map(\.name))
            .union(definition.commands.filter { wantedCommands.contains($0.id) }.map(\.name))
        let isTrue = { (name: String) in codes.contains(name) || wantedNames.contains(name) }

        var attributes: [AttributeID: AttributeDefinition] = [:]
        for attribute in definition.attributes {
            switch attribute.conformance.presence(isTrue) {
            case .mandatory: attributes[attribute.id] = attribute
            case .optional: if wantedAttributes.contains(attribute.id) { attributes[attribute.id] = attribute }
            case .disallowed: break
            }
        }
        for attribute in DataModel.globalAttributes where attribute.conformance.presence(isTrue) == .mandatory {
            attributes[attribute.id] = attribute
        }
        self.attributes = attributes
        attributeIDs = attributes.keys.sorted()

        var accepted: [CommandID: CommandDefinition] = [:]
        var generated: Set<CommandID> = []
        for command in definition.commands where command.direction == .request {
            switch command.conformance.presence(isTrue) {
            case .mandatory: accepted[command.id] = command
            case .optional: if wantedCommands.contains(command.id) { accepted[command.id] = command }
            case .disallowed: break
            }
            if accepted[command.id] != nil, case .command(let response) = command.response { generated.insert(response) }
        }
        acceptedCommands = accepted
        acceptedCommandIDs = accepted.keys.sorted()
        generatedCommandIDs = generated.sorted()

        var events: [EventID: EventDefinition] = [:]
        for event in definition.events where event.conformance.presence(isTrue) != .disallowed { events[event.id] = event }
        self.events = events
        eventIDs = events.keys.sorted()
    }

    /// ClusterRevision, FeatureMap and the lists of what exists; they are never stored.
    static func isGlobal(_ id: AttributeID) -> Bool { id.rawValue >= 0xFFF8 && id.rawValue <= 0xFFFF }

    func globalValue(_ id: AttributeID, of definition: ClusterDefinition, features: UInt32) -> TLVValue? {
        switch id.rawValue {
        case 0xFFFD: .unsigned(UInt64(definition.revision))
        case 0xFFFC: .unsigned(UInt64(features))
        case 0xFFFB: .array(attributeIDs.map { .unsigned($0.unsigned) })
        case 0xFFF9: .array(acceptedCommandIDs.map { .unsigned($0.unsigned) })
        case 0xFFF8: .array(generatedCommandIDs.map { .unsigned($0.unsigned) })
        default: nil
        }
    }
}

extension AttributeDefinition {
    /// The value of an attribute for which neither the profile nor the specification gives one: null, or nothing.
    var zero: TLVValue {
        if isNullable { return .null }
        switch type.base {
        case .boolean: return .boolean(false)
        case .unsigned, .enumeration, .bitmap: return .unsigned(0)
        case .signed: return .signed(0)
        case .single: return .float(0)
        case .double: return .double(0)
        case .utf8: return .utf8("")
        case .octets: return .octets([])
        case .structure: return .structure([])
        case .list: return .array([])
        case .any: return .null
        }
    }
}
