import MachineInterface
import MatterModel
import MatterTLV

/// Requests as people write them on a command line: `lamp/1`, `OnOff.OnOff`, `LevelControl.MoveToLevel Level=50%`.
public enum RequestWords {
    /// How long a timed request that the data model asks for gives the device, in milliseconds.
    public static let timedLimit: UInt16 = 10_000

    /// `DEVICE` or `DEVICE/ENDPOINT`.
    public static func target(_ text: String) -> (device: String, endpoint: EndpointID?) {
        guard let slash = text.lastIndex(of: "/"), let number = UInt16(text[text.index(after: slash)...]), slash > text.startIndex
        else { return (text, nil) }
        return (String(text[..<slash]), EndpointID(number))
    }

    /// `CLUSTER` or `CLUSTER.ELEMENT`.
    private static func parts(_ word: String) -> (cluster: String, element: String?) {
        guard let dot = word.firstIndex(of: ".") else { return (word, nil) }
        return (String(word[..<dot]), String(word[word.index(after: dot)...]))
    }

    // MARK: Reading

    /// Attribute paths of `CLUSTER[.ATTRIBUTE]`; all of the device's when there are no words. `*` stands for every one. Without an
    /// endpoint every endpoint is meant that has the cluster; where only one has it, the path is concrete.
    public static func attributePaths(
        _ words: [String], endpoint: EndpointID?, of device: PairedDevice
    ) throws(MachineError) -> [AttributePathPattern] {
        if words.isEmpty { return [AttributePathPattern(endpoint)] }
        var paths: [AttributePathPattern] = []
        for word in words {
            let parts = parts(word)
            let cluster = parts.cluster == "*" ? nil : try ElementNames.cluster(parts.cluster)
            var attribute: AttributeID?
            if let text = parts.element, text != "*" { attribute = try ElementNames.attribute(text, in: cluster) }
            paths.append(AttributePathPattern(try place(endpoint, cluster, device), cluster, attribute))
        }
        return paths
    }

    /// What to watch, of `CLUSTER[.ATTRIBUTE or EVENT]`; everything when there are no words.
    public static func watchPaths(
        _ words: [String], endpoint: EndpointID?, of device: PairedDevice
    ) throws(MachineError) -> (attributes: [AttributePathPattern], events: [EventPathPattern]) {
        if words.isEmpty { return ([AttributePathPattern(endpoint)], [EventPathPattern(endpoint, isUrgent: true)]) }
        var paths: (attributes: [AttributePathPattern], events: [EventPathPattern]) = ([], [])
        for word in words {
            let parts = parts(word)
            let cluster = parts.cluster == "*" ? nil : try ElementNames.cluster(parts.cluster)
            let place = try place(endpoint, cluster, device)
            guard let text = parts.element, text != "*" else {
                paths.attributes.append(AttributePathPattern(place, cluster))
                paths.events.append(EventPathPattern(place, cluster, isUrgent: true))
                continue
            }
            if let cluster, let event = DataModel.cluster(id: cluster)?.event(named: text) {
                paths.events.append(EventPathPattern(place, cluster, event.id, isUrgent: true))
            } else {
                do throws(MachineError) {
                    paths.attributes.append(AttributePathPattern(place, cluster, try ElementNames.attribute(text, in: cluster)))
                } catch {
                    guard let cluster, let definition = DataModel.cluster(id: cluster) else { throw error }
                    let names = definition.attributes.map(\.name) + definition.events.map(\.name)
                    throw .badRequest(
                        "\(definition.name) has no attribute or event '\(text)'" + DataModel.didYouMean(text, among: names))
                }
            }
        }
        return paths
    }

    /// The only endpoint with the cluster; nil for several.
    private static func place(_ endpoint: EndpointID?, _ cluster: ClusterID?, _ device: PairedDevice) throws(MachineError)
        -> EndpointID?
    {
        guard let cluster, endpoint == nil else { return endpoint }
        let candidates = device.endpoints(with: cluster)
        if candidates.isEmpty, !device.endpoints.isEmpty { throw missing(cluster, device) }
        return candidates.count == 1 ? candidates[0] : nil
    }

    private static func missing(_ cluster: ClusterID, _ device: PairedDevice) -> MachineError {
        let names = Set(device.endpoints.flatMap(\.clusters)).sorted().map { ElementNames.name($0) }
        return .badRequest(
            "\(device.name) has no \(ElementNames.name(cluster)): it has \(names.joined(separator: ", ")). "
                + "Say the endpoint, as in \(device.name)/1, to ask it all the same")
    }

    /// The endpoint of a write or a command: the one given, or the only one with the cluster.
    private static func onlyPlace(_ endpoint: EndpointID?, _ cluster: ClusterID, _ device: PairedDevice) throws(MachineError)
        -> EndpointID
    {
        if let endpoint { return endpoint }
        let candidates = device.endpoints(with: cluster)
        if candidates.count == 1 { return candidates[0] }
        guard let first = candidates.first else { throw missing(cluster, device) }
        let list = candidates.map { "\(device.name)/\($0)" }.joined(separator: ", ")
        throw .badRequest(
            "several endpoints have \(ElementNames.name(cluster)): say which, as in \(device.name)/\(first) (there are \(list))")
    }

    // MARK: Writing

    /// `CLUSTER.ATTRIBUTE=VALUE`. The write is timed when the data model asks for it, or with a limit of the caller's.
    public static func write(
        _ word: String, endpoint: EndpointID?, of device: PairedDevice, timed: UInt16?
    ) throws(MachineError) -> ControllerRequest {
        let (path, value) = try assignment(word)
        let isTimed = DataModel.cluster(id: path.cluster)?.attribute(id: path.attribute)?.isTimed ?? false
        let place = try onlyPlace(endpoint, path.cluster, device)
        return .write(
            device: device.nodeText, path: AttributePath(place, path.cluster, path.attribute), value: value,
            timing: ControllerRequest.Timing(limit: timed ?? (isTimed ? timedLimit : nil)))
    }

    /// `CLUSTER.ATTRIBUTE=VALUE`, wherever it goes.
    public static func assignment(
        _ word: String
    ) throws(MachineError) -> (path: (cluster: ClusterID, attribute: AttributeID), value: TLVValue) {
        guard let equals = word.firstIndex(of: "="), case let parts = parts(String(word[..<equals])), let text = parts.element else {
            throw .badRequest("'\(word)' says no value: write CLUSTER.ATTRIBUTE=VALUE, as in OnOff.OnTime=30s")
        }
        let cluster = try ElementNames.cluster(parts.cluster)
        let attribute = try ElementNames.attribute(text, in: cluster)
        let definition = DataModel.cluster(id: cluster)?.attribute(id: attribute)
        let value = try parse(
            String(word[word.index(after: equals)...]), definition.map { ValueText($0, in: cluster) } ?? anything)
        return ((cluster, attribute), value)
    }

    private static var anything: ValueText { ValueText("", TypeReference("any", .any)) }

    private static func parse(_ text: String, _ type: ValueText) throws(MachineError) -> TLVValue {
        do throws(ValueError) { return try type.parse(text) } catch { throw .badRequest(error.message) }
    }

    // MARK: Invoking

    /// `CLUSTER.COMMAND` and `FIELD=VALUE`s. A field that is left out and must be there is null where it may be, no bits where it is a
    /// bitmap, or its default; else its absence is refused here. The command is timed as a write is.
    public static func invoke(
        _ word: String, _ fields: [String], endpoint: EndpointID?, of device: PairedDevice, timed: UInt16?
    ) throws(MachineError) -> ControllerRequest {
        guard case let parts = parts(word), let text = parts.element else {
            throw .badRequest("'\(word)' names no command: write CLUSTER.COMMAND, as in OnOff.Toggle")
        }
        let cluster = try ElementNames.cluster(parts.cluster)
        let command = try ElementNames.command(text, in: cluster)
        let definition = DataModel.cluster(id: cluster)?.command(id: command)
        var found = try values(fields, of: definition?.fields ?? [], in: definition?.name ?? "the command", cluster)
        if let definition { try complete(&found, definition, cluster) }
        return .invoke(
            device: device.nodeText, path: CommandPath(try onlyPlace(endpoint, cluster, device), cluster, command),
            fields: structure(found),
            timing: ControllerRequest.Timing(limit: timed ?? (definition?.isTimed == true ? timedLimit : nil)))
    }

    /// `CLUSTER.EVENT` and its `FIELD=VALUE`s, for an event that is raised at a device.
    public static func event(
        _ word: String, _ fields: [String]
    ) throws(MachineError) -> (cluster: ClusterID, event: EventID, fields: TLVValue) {
        guard case let parts = parts(word), let text = parts.element else {
            throw .badRequest("'\(word)' names no event: write CLUSTER.EVENT, as in Switch.InitialPress")
        }
        let cluster = try ElementNames.cluster(parts.cluster)
        let event = try ElementNames.event(text, in: cluster)
        let definition = DataModel.cluster(id: cluster)?.event(id: event)
        let found = try values(fields, of: definition?.fields ?? [], in: definition?.name ?? "the event", cluster)
        return (cluster, event, structure(found))
    }

    private static func structure(_ values: [UInt8: TLVValue]) -> TLVValue {
        .structure(values.sorted { $0.key < $1.key }.map { TLVElement(.context($0.key), $0.value) })
    }

    private static func values(
        _ words: [String], of fields: [FieldDefinition], in owner: String, _ cluster: ClusterID
    ) throws(MachineError) -> [UInt8: TLVValue] {
        var found: [UInt8: TLVValue] = [:]
        for word in words {
            guard let equals = word.firstIndex(of: "=") else { throw .badRequest("'\(word)' says no value: write FIELD=VALUE") }
            let (name, text) = (String(word[..<equals]), String(word[word.index(after: equals)...]))
            let field = fields.field(named: name) ?? UInt8(name).flatMap { fields.field(id: FieldID($0)) }
            guard let tag = field?.id.rawValue ?? UInt8(name) else {
                let names = fields.map(\.name)
                throw .badRequest(
                    "\(owner) has no field '\(name)'"
                        + (names.isEmpty ? "" : ": it has \(names.joined(separator: ", "))" + DataModel.didYouMean(name, among: names)))
            }
            let value = try parse(text, field.map { ValueText($0, in: cluster) } ?? anything)
            guard found.updateValue(value, forKey: tag) == nil else { throw .badRequest("'\(word)' stands twice") }
        }
        return found
    }

    private static func complete(
        _ found: inout [UInt8: TLVValue], _ command: CommandDefinition, _ cluster: ClusterID
    ) throws(MachineError) {
        var missing: [String] = []
        for field in command.fields where found[field.id.rawValue] == nil {
            guard case .mandatory = field.conformance.evaluate(isTrue: { _ in nil }) else { continue }
            if let value = field.defaultValue {
                found[field.id.rawValue] = value
            } else if field.isNullable {
                found[field.id.rawValue] = .null
            } else if case .bitmap = field.type.base {
                found[field.id.rawValue] = .unsigned(0)
            } else {
                missing.append(field.name)
            }
        }
        guard missing.isEmpty else {
            throw .badRequest("\(command.name) needs \(missing.joined(separator: ", ")): write it as \(missing[0])=VALUE")
        }
    }
}

extension PairedDevice {
    /// The device as a request names it beyond doubt.
    public var nodeText: String { "0x" + String(nodeID.rawValue, radix: 16) }
}
