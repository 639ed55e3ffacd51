import HearthTime
import MatterInteraction
import MatterMessage
import MatterModel
import MatterTLV

/// A cluster with one of everything that the interaction model treats differently.
enum Toy {
    static let id: ClusterID = 0xFFF1_FC01
    static let value: AttributeID = 0
    static let secret: AttributeID = 1
    static let writeOnly: AttributeID = 2
    static let timedValue: AttributeID = 3
    static let list: AttributeID = 4
    static let entries: AttributeID = 5
    static let fixed: AttributeID = 6
    static let counter: AttributeID = 7
    static let readOnly: AttributeID = 8
    static let failing: AttributeID = 9

    static let ping: CommandID = 0
    static let echo: CommandID = 1
    static let timedCommand: CommandID = 2
    static let adminCommand: CommandID = 3
    static let fabricCommand: CommandID = 4
    static let big: CommandID = 5
    static let fail: CommandID = 6

    static let info: EventID = 0
    static let debug: EventID = 1
    static let critical: EventID = 2
    static let sensitive: EventID = 3
    static let adminEvent: EventID = 4

    private static let number = TypeReference("uint16", .unsigned(bytes: 2))
    private static let octets = TypeReference("octstr", .octets)
    static let entry = StructDefinition(
        "EntryStruct", fabricScoped: true,
        fields: [
            FieldDefinition(1, "Public", number, conformance: .mandatory),
            FieldDefinition(2, "Private", number, fabricSensitive: true, conformance: .mandatory),
            .fabricIndex,
        ])

    static let definition = ClusterDefinition(
        id: id, name: "Toy", revision: 3, picsCode: "TOY",
        attributes: [
            AttributeDefinition(value, "Value", number, write: .operate, conformance: .mandatory),
            AttributeDefinition(secret, "Secret", number, read: .administer, write: .administer, conformance: .mandatory),
            AttributeDefinition(writeOnly, "WriteOnly", number, read: nil, write: .operate, conformance: .mandatory),
            AttributeDefinition(timedValue, "TimedValue", number, write: .operate, timed: true, conformance: .mandatory),
            AttributeDefinition(list, "List", TypeReference(list: octets), write: .manage, conformance: .mandatory),
            AttributeDefinition(
                entries, "Entries", TypeReference(list: TypeReference("EntryStruct", .structure(entry))), write: .manage,
                fabricScoped: true, conformance: .mandatory),
            AttributeDefinition(fixed, "Fixed", number, quality: .fixed, conformance: .mandatory),
            AttributeDefinition(counter, "Counter", number, quality: .changesOmitted, conformance: .mandatory),
            AttributeDefinition(readOnly, "ReadOnly", number, conformance: .mandatory),
            AttributeDefinition(failing, "Failing", number, write: .operate, conformance: .mandatory),
        ],
        commands: [
            CommandDefinition(ping, "Ping", .request, response: .status, conformance: .mandatory),
            CommandDefinition(echo, "Echo", .request, response: .command(echo), conformance: .mandatory),
            CommandDefinition(timedCommand, "TimedCommand", .request, response: .status, timed: true, conformance: .mandatory),
            CommandDefinition(
                adminCommand, "AdminCommand", .request, response: .status, invoke: .administer, conformance: .mandatory),
            CommandDefinition(
                fabricCommand, "FabricCommand", .request, response: .status, fabricScoped: true, conformance: .mandatory),
            CommandDefinition(big, "Big", .request, response: .command(big), conformance: .mandatory),
            CommandDefinition(fail, "Fail", .request, response: .status, conformance: .mandatory),
        ],
        events: [
            EventDefinition(info, "Info", .info, conformance: .mandatory),
            EventDefinition(debug, "Debug", .debug, conformance: .mandatory),
            EventDefinition(critical, "Critical", .critical, conformance: .mandatory),
            EventDefinition(sensitive, "Sensitive", .info, fabricSensitive: true, conformance: .mandatory),
            EventDefinition(adminEvent, "AdminEvent", .info, read: .administer, conformance: .mandatory),
        ])
}

/// A cluster server that keeps values in a table.
final class ToyCluster: ClusterServer {
    let definition: ClusterDefinition
    var dataVersion: DataVersion = 100
    var values: [AttributeID: TLVValue]
    let endpoint: EndpointID
    weak var node: ToyNode?
    /// Commands and writes as they came, for the tests to look at.
    var log: [String] = []

    init(_ definition: ClusterDefinition = Toy.definition, endpoint: EndpointID, values: [AttributeID: TLVValue] = [:]) {
        (self.definition, self.endpoint) = (definition, endpoint)
        self.values = [0xFFFC: .unsigned(0), 0xFFFD: .unsigned(UInt64(definition.revision))]
        for attribute in definition.attributes {
            self.values[attribute.id] = attribute.isList ? .array([]) : .unsigned(UInt64(attribute.id.rawValue))
        }
        self.values.merge(values) { $1 }
    }

    var attributeIDs: [AttributeID] { definition.attributes.map(\.id) + [0xFFF8, 0xFFF9, 0xFFFB, 0xFFFC, 0xFFFD] }
    func attribute(_ id: AttributeID) -> AttributeDefinition? { attributeIDs.contains(id) ? definition.attribute(id: id) : nil }
    func command(_ id: CommandID) -> CommandDefinition? { definition.command(id: id) }
    func event(_ id: EventID) -> EventDefinition? { definition.event(id: id) }
    var eventIDs: [EventID] { definition.events.map(\.id) }

    func set(_ attribute: AttributeID, _ value: TLVValue) {
        guard values[attribute] != value else { return }
        values[attribute] = value
        dataVersion = DataVersion(dataVersion.rawValue &+ 1)
        node?.server?.attributeChanged(AttributePath(endpoint, definition.id, attribute))
    }

    @discardableResult
    func record(_ event: EventID, _ fields: TLVValue = .structure([]), fabric: FabricIndex? = nil) -> EventNumber? {
        guard let node, let definition = definition.event(id: event) else { return nil }
        return node.events.record(
            EventPath(endpoint, self.definition.id, event), priority: definition.priority,
            timestamp: .system(milliseconds: UInt64(max(0, node.timeline.now.nanoseconds / 1_000_000))), fields: fields,
            fabricIndex: fabric)
    }

    func read(_ attribute: AttributeDefinition, _ context: InteractionContext) throws(Status) -> TLVValue {
        if attribute.id == Toy.failing, definition.id == Toy.id { throw Status(.busy) }
        switch attribute.id {
        case 0xFFFB: return .array(attributeIDs.map { .unsigned($0.unsigned) })
        case 0xFFF8: return .array([])
        case 0xFFF9: return .array(definition.commands.map { .unsigned($0.id.unsigned) })
        default: return values[attribute.id] ?? .null
        }
    }

    func write(_ attribute: AttributeDefinition, _ change: AttributeChange, _ context: InteractionContext) throws(Status) {
        log.append("write \(attribute.name) \(change)")
        if attribute.id == Toy.failing { throw Status(.constraintError, clusterStatus: 9) }
        switch change {
        case .replace(let value):
            if attribute.isList != (value.array != nil) { throw Status(.invalidDataType) }
            if !attribute.isList, value.unsigned == nil { throw Status(.invalidDataType) }
            if let number = value.unsigned, number > 1_000 { throw Status(.constraintError) }
            set(attribute.id, value)
        case .append(let value): set(attribute.id, .array((values[attribute.id]?.array ?? []) + [value]))
        }
    }

    func invoke(_ command: CommandDefinition, _ fields: TLVValue, _ context: InteractionContext) throws(Status) -> CommandOutcome {
        log.append("invoke \(command.name)")
        switch command.id {
        case Toy.echo: return .response(Toy.echo, fields)
        case Toy.big:
            let size = Int(fields[0]?.unsigned ?? 0)
            return .response(Toy.big, .structure([TLVElement(0, .octets([UInt8](repeating: 7, count: size)))]))
        case Toy.fail: throw Status(.failure, clusterStatus: 3)
        default: return .success
        }
    }
}
