import HearthTime
import MatterModel
import MatterTLV

/// A journal entry as it was written to a file.
public struct RecordedEntry: Sendable {
    public let number: UInt64
    public let time: ModelInstant
    public let device: String
    public let kind: JournalEntry.Kind
    public let json: [String: JSONValue]
    /// Where it stands: file and line.
    public internal(set) var place = "the journal"

    /// - Throws: `SimulatorError.badRequest` when it lacks what every entry has.
    public init(_ json: JSONValue) throws(SimulatorError) {
        guard case .object(let members) = json, let number = json["number"]?.unsigned,
            let time = json["atNs"]?.unsigned.flatMap({ Int64(exactly: $0) }),
            let device = json["device"]?.string, let kind = json["kind"]?.string.flatMap({ JournalEntry.Kind(rawValue: $0) })
        else {
            if let kind = json["kind"]?.string, JournalEntry.Kind(rawValue: kind) == nil {
                throw SimulatorError(.badRequest, "there is no journal entry of the kind '\(kind)'")
            }
            throw SimulatorError(.badRequest, "this is no journal entry: 'number', 'atNs', 'device' and 'kind' are wanted")
        }
        (self.number, self.time, self.device, self.kind) = (number, ModelInstant(nanoseconds: time), device, kind)
        self.json = members
    }

    /// Clusters that change while a device is taken into a fabric or taken out of it.
    private static let commissioning: Set<ClusterID> = [
        GeneralCommissioning.id, OperationalCredentials.id, AdministratorCommissioning.id, GroupKeyManagement.id, AccessControl.id,
        NetworkCommissioning.id,
    ]

    private func number<Number: FixedWidthInteger>(_ name: String) -> Number? { json[name]?.unsigned.flatMap { Number(exactly: $0) } }

    var cluster: ClusterID? { number("clusterId").map { ClusterID($0) } }
    var endpoint: EndpointID? { number("endpoint").map { EndpointID($0) } }
    var attribute: AttributeID? { number("attributeId").map { AttributeID($0) } }
    var command: CommandID? { number("commandId").map { CommandID($0) } }
    var event: EventID? { number("eventId").map { EventID($0) } }
    var fabric: UInt8? { number("fabric") }
    var node: UInt64? { number("node") }
    var note: String? { json["note"]?.string }
    var detail: JSONValue? { json["detail"] }

    /// What a peer did that has an identity in a fabric, and that has to do with what the device is for.
    private var isOperational: Bool { fabric ?? 0 != 0 && cluster.map { !Self.commissioning.contains($0) } ?? false }

    /// Whether it is something that was done to the device.
    var isInput: Bool {
        switch kind {
        case .set, .trigger: true
        case .invoke, .write: isOperational
        case .control: note != "open-window"
        default: false
        }
    }

    var isCompared: Bool {
        switch kind {
        case .set, .trigger, .start: true
        case .invoke, .write: isOperational
        case .attribute: cluster.map { !Self.commissioning.contains($0) } ?? false
        case .event:
            // A device says goodbye when its fabric is removed, which is not replayed.
            cluster.map { !Self.commissioning.contains($0) } ?? false
                && !(cluster == BasicInformation.id && event == BasicInformation.Events.leave)
        case .stop, .session, .sessionEnd, .subscribe, .report, .read, .fault, .control: false
        }
    }

    /// Without what depends on how much else was written.
    var comparable: JSONValue { .object(json.filter { $0.key != "number" }) }

    /// The value of an attribute entry, by the type that the data model gives it.
    func value() throws -> TLVValue {
        let type = cluster.flatMap { DataModel.cluster(id: $0) }.flatMap { definition in
            attribute.flatMap { definition.attribute(id: $0)?.type }
        }
        return try ValueJSON.value(json["value"] ?? .null, type: type)
    }

    /// The fields of a command or event.
    func fields() throws -> TLVValue {
        let definition = cluster.flatMap { DataModel.cluster(id: $0) }
        let fields = command.flatMap { definition?.command(id: $0)?.fields } ?? event.flatMap { definition?.event(id: $0)?.fields } ?? []
        return try ValueJSON.fields(json["fields"] ?? .object([:]), of: fields, in: definition?.name ?? "the cluster")
    }
}
