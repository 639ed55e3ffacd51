import HearthTime
import MatterModel
import MatterTLV

/// What exists of a cluster's definition in one instance: by its features, and by what is optional and was asked for
/// (Matter Core, 7.3 and 7.13). Shared by all instances that are alike, since a process may hold thousands of them.
public final class ClusterShape: Sendable {
    public let definition: ClusterDefinition
    /// The definition's.
    public let id: ClusterID
    public let features: UInt32
    public let attributes: [AttributeID: AttributeDefinition]
    /// The attributes whose values an instance keeps, in the order of their ids: all but the global ones. Values lie in this order.
    let storedIDs: [AttributeID]
    let qualities: [Quality]
    /// What an instance begins with when its profile says nothing: shared by all until they change something.
    let firstValues: [TLVValue]
    /// In the order of their ids, global attributes included.
    public let attributeIDs: [AttributeID]
    public let acceptedCommands: [CommandID: CommandDefinition]
    public let acceptedCommandIDs: [CommandID]
    public let generatedCommandIDs: [CommandID]
    public let events: [EventID: EventDefinition]
    public let eventIDs: [EventID]
    private let elements: ClusterElements

    private struct Key: Hashable, Sendable {
        let cluster: ClusterID
        let features: UInt32
        let attributes: Set<AttributeID>
        let commands: Set<CommandID>
    }
    private static let known = Locked<[Key: ClusterShape]>([:])

    /// The elements of an instance with these features, and these optional attributes and commands where conformance allows them.
    public static func of(
        _ definition: ClusterDefinition, features: UInt32, attributes: Set<AttributeID> = [], commands: Set<CommandID> = []
    ) -> ClusterShape {
        let key = Key(cluster: definition.id, features: features, attributes: attributes, commands: commands)
        if let elements = known.withLock({ $0[key] }) { return elements }
        let made = ClusterShape(definition, features: features, attributes: attributes, commands: commands)
        known.withLock { $0[key] = made }
        return made
    }

    private init(
        _ definition: ClusterDefinition, features: UInt32, attributes wantedAttributes: Set<AttributeID>,
        commands wantedCommands: Set<CommandID>
    ) {
        (self.definition, id, self.features) = (definition, definition.id, features)
        // Events need not be asked for: a cluster that can generate one has it.
        let wanted = Set(definition.attributes.filter { wantedAttributes.contains($0.id) }.map(\.name))
            .union(definition.commands.filter { wantedCommands.contains($0.id) }.map(\.name))
            .union(definition.events.map(\.name))
        let elements = definition.elements(features: features, optional: wanted)

        var attributes: [AttributeID: AttributeDefinition] = [:]
        for id in elements.attributes { attributes[id] = definition.attribute(id: id, features: features) }
        for attribute in DataModel.globalAttributes {
            guard case .mandatory = attribute.conformance.evaluate(features: features, of: definition) else { continue }
            attributes[attribute.id] = attribute
        }
        self.attributes = attributes
        attributeIDs = attributes.keys.sorted()
        storedIDs = attributeIDs.filter { !Self.isGlobal($0) }
        let stored = storedIDs.compactMap { attributes[$0] }
        qualities = stored.map(\.quality)
        firstValues = stored.map { $0.defaultValue ?? $0.zero }

        var accepted: [CommandID: CommandDefinition] = [:]
        for id in elements.acceptedCommands { accepted[id] = definition.command(id: id) }
        acceptedCommands = accepted
        acceptedCommandIDs = accepted.keys.sorted()
        generatedCommandIDs = elements.generatedCommands.sorted()

        var events: [EventID: EventDefinition] = [:]
        for id in elements.events { events[id] = definition.event(id: id) }
        self.events = events
        eventIDs = events.keys.sorted()
        self.elements = elements
    }

    /// Where an attribute's value lies; nil when the instance keeps none.
    func position(of id: AttributeID) -> Int? {
        var (low, high) = (0, storedIDs.count)
        while low < high {
            let middle = (low + high) / 2
            if storedIDs[middle] < id { low = middle + 1 } else { high = middle }
        }
        return low < storedIDs.count && storedIDs[low] == id ? low : nil
    }

    /// What the instance's features and elements break of the cluster's conformance; empty when it conforms.
    public var conformanceProblems: [String] { definition.conformanceProblems(features: features, elements: elements) }

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
    /// The value of an attribute for which neither the profile nor the specification gives one: null, or as little as may be.
    var zero: TLVValue {
        if isNullable { return .null }
        switch type.base {
        case .boolean: return .boolean(false)
        case .unsigned: return .unsigned(UInt64(clamping: constraint.limits(decimals: type.unit?.decimals ?? 0).minimum ?? 0))
        case .enumeration, .bitmap: return .unsigned(0)
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
