import HearthTime
import MatterModel
import MatterTLV

/// What exists of a cluster's definition in one instance: by its features, and by what is optional and was asked for
/// (Matter Core, 7.3 and 7.13). Shared by all instances that are alike, since a process may hold thousands of them.
public final class ClusterElements: Sendable {
    public let definition: ClusterDefinition
    public let features: UInt32
    public let attributes: [AttributeID: AttributeDefinition]
    /// In the order of their ids, global attributes included.
    public let attributeIDs: [AttributeID]
    public let acceptedCommands: [CommandID: CommandDefinition]
    public let acceptedCommandIDs: [CommandID]
    public let generatedCommandIDs: [CommandID]
    public let events: [EventID: EventDefinition]
    public let eventIDs: [EventID]

    private struct Key: Hashable, Sendable {
        let cluster: ClusterID
        let features: UInt32
        let attributes: Set<AttributeID>
        let commands: Set<CommandID>
    }
    private static let known = Locked<[Key: ClusterElements]>([:])

    /// The elements of an instance with these features, and these optional attributes and commands where conformance allows them.
    public static func of(
        _ definition: ClusterDefinition, features: UInt32, attributes: Set<AttributeID> = [], commands: Set<CommandID> = []
    ) -> ClusterElements {
        let key = Key(cluster: definition.id, features: features, attributes: attributes, commands: commands)
        if let elements = known.withLock({ $0[key] }) { return elements }
        let made = ClusterElements(definition, features: features, attributes: attributes, commands: commands)
        known.withLock { $0[key] = made }
        return made
    }

    private init(
        _ definition: ClusterDefinition, features: UInt32, attributes wantedAttributes: Set<AttributeID>,
        commands wantedCommands: Set<CommandID>
    ) {
        (self.definition, self.features) = (definition, features)
        let wantedNames = Set(definition.attributes.filter { wantedAttributes.contains($0.id) }.map(\.name))
            .union(definition.commands.filter { wantedCommands.contains($0.id) }.map(\.name))
        /// Mandatory elements exist; what the conformance leaves open exists when it was asked for.
        func exists(_ conformance: Conformance, wanted: Bool) -> Bool {
            switch conformance.evaluate(features: features, of: definition, has: { wantedNames.contains($0) }) {
            case .mandatory: true
            case .disallowed: false
            default: wanted
            }
        }

        var attributes: [AttributeID: AttributeDefinition] = [:]
        for attribute in definition.attributes where exists(attribute.conformance, wanted: wantedAttributes.contains(attribute.id)) {
            attributes[attribute.id] = attribute
        }
        for attribute in DataModel.globalAttributes where exists(attribute.conformance, wanted: false) {
            attributes[attribute.id] = attribute
        }
        self.attributes = attributes
        attributeIDs = attributes.keys.sorted()

        var accepted: [CommandID: CommandDefinition] = [:]
        var generated: Set<CommandID> = []
        for command in definition.commands
        where command.direction == .request && exists(command.conformance, wanted: wantedCommands.contains(command.id)) {
            accepted[command.id] = command
            if case .command(let response) = command.response { generated.insert(response) }
        }
        acceptedCommands = accepted
        acceptedCommandIDs = accepted.keys.sorted()
        generatedCommandIDs = generated.sorted()

        var events: [EventID: EventDefinition] = [:]
        for event in definition.events where exists(event.conformance, wanted: true) { events[event.id] = event }
        self.events = events
        eventIDs = events.keys.sorted()
    }

    /// ClusterRevision, FeatureMap and the lists of what exists; they are never stored.
    static func isGlobal(_ id: AttributeID) -> Bool { id.rawValue >= 0xFFF8 && id.rawValue <= 0xFFFF }

    func globalValue(_ id: AttributeID) -> TLVValue? {
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
