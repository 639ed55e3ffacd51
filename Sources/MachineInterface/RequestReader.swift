import MatterModel
import MatterTLV

/// Reads the members of a request, with messages that name them.
public struct RequestReader {
    public let members: [String: JSONValue]

    public init(_ json: JSONValue) throws(MachineError) {
        guard case .object(let members) = json else { throw .badRequest("a JSON object is wanted") }
        self.members = members
    }

    /// A member; null counts as absent.
    public func present(_ name: String) -> JSONValue? {
        // Not 'nil', which is a JSON value too.
        if let json = members[name], !json.isNull { json } else { .none }
    }

    /// - Throws: `badRequest` when the member is missing or no string.
    public func text(_ name: String) throws(MachineError) -> String {
        if let text = try optionalText(name) { return text }
        throw .badRequest("\(name) is missing")
    }

    /// Nil when the member is missing. - Throws: `badRequest` when it is no string.
    public func optionalText(_ name: String) throws(MachineError) -> String? {
        guard let json = present(name) else { return nil }
        guard let text = json.string else { throw .badRequest("\(name): a string is wanted") }
        return text
    }

    /// - Throws: `badRequest` when the member is there and no boolean.
    public func boolean(_ name: String, default value: Bool) throws(MachineError) -> Bool {
        guard let json = present(name) else { return value }
        guard let flag = json.boolean else { throw .badRequest("\(name): true or false is wanted") }
        return flag
    }

    /// A number that fits.
    public func integer<Number: FixedWidthInteger & UnsignedInteger>(_ name: String, as type: Number.Type) throws(MachineError) -> Number? {
        guard let json = present(name) else { return nil }
        guard let number = json.unsigned.flatMap({ Number(exactly: $0) }) else {
            throw .badRequest("\(name): an integer from 0 to \(Number.max) is wanted")
        }
        return number
    }

    /// - Throws: `badRequest`, naming the member, when there is no value.
    public func required<Value>(_ name: String, _ value: Value?) throws(MachineError) -> Value {
        guard let value else { throw .badRequest("\(name) is missing") }
        return value
    }

    /// A device: its name, or its node id as a number or text.
    public func device() throws(MachineError) -> String {
        let json = try required("device", present("device"))
        if let name = json.string { return name }
        guard let number = json.unsigned else { throw .badRequest("device: a name or a node id is wanted") }
        return String(number)
    }

    // MARK: Paths

    /// The member `endpoint`. - Throws: `badRequest` when it is no endpoint's number.
    public func endpoint() throws(MachineError) -> EndpointID? { try integer("endpoint", as: UInt16.self).map { EndpointID($0) } }

    /// The member `cluster`, a name or an id; nil when it is missing.
    public func cluster() throws(MachineError) -> ClusterID? {
        try element("cluster") { text throws(MachineError) in
            try ElementNames.cluster(text)
        } id: {
            ClusterID($0)
        }
    }

    /// The member `attribute`, a name or an id; nil when it is missing.
    public func attribute(in cluster: ClusterID?) throws(MachineError) -> AttributeID? {
        try element("attribute") { text throws(MachineError) in
            try ElementNames.attribute(text, in: cluster)
        } id: {
            AttributeID($0)
        }
    }

    /// The member `command`, a name or an id; nil when it is missing.
    public func command(in cluster: ClusterID) throws(MachineError) -> CommandID? {
        try element("command") { text throws(MachineError) in
            try ElementNames.command(text, in: cluster)
        } id: {
            CommandID($0)
        }
    }

    /// The member `event`, a name or an id; nil when it is missing.
    public func event(in cluster: ClusterID?) throws(MachineError) -> EventID? {
        try element("event") { text throws(MachineError) in
            try ElementNames.event(text, in: cluster)
        } id: {
            EventID($0)
        }
    }

    private func element<ID>(
        _ name: String, _ named: (String) throws(MachineError) -> ID, id: (UInt32) -> ID
    ) throws(MachineError) -> ID? {
        guard let json = present(name) else { return nil }
        if let text = json.string { return try named(text) }
        guard let number = json.unsigned.flatMap({ UInt32(exactly: $0) }) else {
            throw .badRequest("\(name): a name or an id of 32 bits is wanted")
        }
        return id(number)
    }

    /// The paths of a list of objects; nil when the member is absent.
    public func paths<Path>(
        _ name: String, _ read: (RequestReader) throws(MachineError) -> Path
    ) throws(MachineError) -> [Path]? {
        guard let json = present(name) else { return nil }
        guard let values = json.array else { throw .badRequest("\(name): a list of paths is wanted") }
        var paths: [Path] = []
        for (index, value) in values.enumerated() {
            do throws(MachineError) {
                paths.append(try read(RequestReader(value)))
            } catch {
                throw .badRequest("\(name)[\(index)]: \(error.message)")
            }
        }
        return paths
    }

    public func attributePaths(_ name: String = "paths") throws(MachineError) -> [AttributePathPattern]? {
        try paths(name) { reader throws(MachineError) in
            let cluster = try reader.cluster()
            return AttributePathPattern(try reader.endpoint(), cluster, try reader.attribute(in: cluster))
        }
    }

    public func eventPaths(_ name: String) throws(MachineError) -> [EventPathPattern]? {
        try paths(name) { reader throws(MachineError) in
            let cluster = try reader.cluster()
            return EventPathPattern(
                try reader.endpoint(), cluster, try reader.event(in: cluster), isUrgent: try reader.boolean("urgent", default: false))
        }
    }
}
