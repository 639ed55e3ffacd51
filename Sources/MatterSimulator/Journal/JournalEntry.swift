import HearthTime
import MatterInteraction
import MatterModel
import MatterTLV

/// One thing that happened to a device, in model facts only: no ports, addresses, session ids, lengths or certificates, so that two
/// runs with the same seed and inputs give the same journal, byte for byte.
public struct JournalEntry: Sendable {
    /// What happened; raw values are those of the machine interface.
    public enum Kind: String, Sendable, CaseIterable {
        /// The device got power.
        case start
        /// The device lost power, or was switched off.
        case stop
        case session = "session-open"
        case sessionEnd = "session-end"
        case write
        case invoke
        /// An attribute has a new value.
        case attribute
        case event
        /// A peer has subscribed.
        case subscribe
        /// A subscriber is told that an attribute has a new value, which stands in its `attribute` entry.
        case report
        /// A peer reads an attribute. Not recorded unless that is asked for (`Simulator.Configuration.recordsReads`).
        case read
        /// A fault took effect.
        case fault
        /// Somebody set an attribute at the device itself.
        case set
        /// Somebody raised an event at the device itself.
        case trigger
        /// Somebody did something else to the device: `note` names the verb, `detail` has its members. A fault was set or cleared, the
        /// power cut or given back, a window opened, the device reset.
        case control
    }

    /// From 1; only grows.
    public var number: UInt64
    public var time: ModelInstant
    public var device: String
    public var kind: Kind
    /// Who asked: fabric index and node id; nil for the device itself.
    public var fabric: UInt8?
    public var node: UInt64?
    public var endpoint: EndpointID?
    public var cluster: ClusterID?
    public var attribute: AttributeID?
    public var command: CommandID?
    public var event: EventID?
    /// A value, or the fields of a command or event. PINs stand here, since a replay needs them; an export redacts them.
    public var value: TLVValue?
    public var status: Status?
    /// What the columns have no place for, in a few words.
    public var note: String?
    /// What belongs to a `control` entry.
    public var detail: [String: JSONValue]?

    /// Who is meant when it is all devices.
    public static let everyDevice = "*"
}

extension JournalEntry {
    /// As the machine interface shows it: names beside ids, keys sorted when written.
    public func json(redacted: Bool = false) -> JSONValue {
        var object: [String: JSONValue] = [
            "number": JSONValue(number), "atNs": JSONValue(time.nanoseconds), "device": .string(device), "kind": .string(kind.rawValue),
        ]
        if let fabric { object["fabric"] = JSONValue(fabric) }
        if let node { object["node"] = JSONValue(node) }
        if let endpoint { object["endpoint"] = JSONValue(endpoint.rawValue) }
        let definition = cluster.flatMap { DataModel.cluster(id: $0) }
        if let cluster {
            object["clusterId"] = JSONValue(cluster.rawValue)
            object["cluster"] = .string(definition?.name ?? cluster.description)
        }
        if let attribute {
            let known = definition?.attribute(id: attribute)
            object["attributeId"] = JSONValue(attribute.rawValue)
            object["attribute"] = .string(known?.name ?? attribute.description)
            if let value { object["value"] = ValueJSON.json(value, type: known?.type) }
        } else if let command {
            let known = definition?.command(id: command)
            object["commandId"] = JSONValue(command.rawValue)
            object["command"] = .string(known?.name ?? command.description)
            if let value { object["fields"] = ValueJSON.json(fields: value, of: known?.fields ?? []) }
        } else if let event {
            let known = definition?.event(id: event)
            object["eventId"] = JSONValue(event.rawValue)
            object["event"] = .string(known?.name ?? event.description)
            if let value { object["fields"] = ValueJSON.json(fields: value, of: known?.fields ?? []) }
        }
        if let status {
            object["status"] = .string(status.code.name)
            if let clusterStatus = status.clusterStatus { object["clusterStatus"] = JSONValue(clusterStatus) }
        }
        if let note { object["note"] = .string(note) }
        if let detail { object["detail"] = .object(detail) }
        return .object(redacted ? Self.redact(object) : object)
    }

    /// Fields that hold what opens a door.
    private static let secrets: Set<String> = ["PINCode", "CredentialData"]

    private static let redaction = "(redacted)"

    /// Whether something has been taken out of an entry.
    static func isRedacted(_ json: JSONValue) -> Bool {
        switch json {
        case .object(let members): members.contains { secrets.contains($0.key) && $0.value.string == redaction || isRedacted($0.value) }
        case .array(let entries): entries.contains { isRedacted($0) }
        default: false
        }
    }

    private static func redact(_ object: [String: JSONValue]) -> [String: JSONValue] {
        object.mapValues { redact($0) }.reduce(into: [:]) { result, member in
            let isSecret = secrets.contains(member.key) && !member.value.isNull
            result[member.key] = isSecret ? .string(redaction) : member.value
        }
    }

    private static func redact(_ value: JSONValue) -> JSONValue {
        switch value {
        case .object(let members): .object(redact(members))
        case .array(let entries): .array(entries.map { redact($0) })
        default: value
        }
    }
}
