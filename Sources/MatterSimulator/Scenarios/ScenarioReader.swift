import HearthTime
import MatterModel
import MatterTLV

/// Reads scenarios. `docs/scenarios.md` describes the format.
public enum ScenarioReader {
    /// Reads a scenario from a path, or by name from `scenarios` beside the ready profiles. - Throws: `ProfileErrors`.
    public static func read(_ reference: String, library: ProfileLibrary = .standard()) throws(ProfileErrors) -> Scenario {
        let places = ProfileLibrary(folders: library.folders.map { $0 + "/scenarios" })
        let path = try places.locate(reference, relativeTo: nil, what: "scenario")
        return try read(ProfileLibrary.contents(of: path), file: path)
    }

    /// Reads a scenario from the bytes of `file`. - Throws: every mistake with file, line and path.
    public static func read(_ text: [UInt8], file: String) throws(ProfileErrors) -> Scenario {
        let node: YAMLNode
        do throws(ProfileError) { node = try YAMLParser.parse(text, file: file) } catch { throw ProfileErrors(errors: [error]) }
        let context = ProfileContext(file: file)
        let scenario = scenario(node, context)
        guard let scenario, context.mistakes == 0 else { throw ProfileErrors(errors: context.sortedErrors) }
        return scenario
    }

    private static func scenario(_ node: YAMLNode, _ context: ProfileContext) -> Scenario? {
        guard let top = context.mapping(node, "") else { return nil }
        var scenario = Scenario(name: context.text(top.take("name")) ?? ProfileReader.name(of: context.file), steps: [])
        var faults: Set<String> = []
        if let found = top.take("steps") {
            for item in context.sequence(found.node, found.path) ?? [] {
                if let step = step(item.node, item.path, context, &faults) { scenario.steps.append(step) }
            }
            if scenario.steps.isEmpty, context.mistakes == 0 {
                context.report(found.node, found.path, "a scenario needs at least one step")
            }
        } else {
            top.missing("steps", message: "'steps' is missing: a list of steps is expected")
        }
        top.finish()
        return scenario
    }

    private static let verbs =
        ["set", "trigger", "fault", "clear-fault", "expect", "advance", "wait"] + Scenario.Power.allCases.map(\.rawValue)

    private static func step(
        _ node: YAMLNode, _ path: String, _ context: ProfileContext, _ faults: inout Set<String>
    ) -> Scenario.Step? {
        guard let mapping = context.mapping(node, path) else { return nil }
        let start = mapping.take("at").flatMap { context.span($0) }
        var found: [(verb: String, node: YAMLNode, path: String)] = []
        for verb in verbs { if let member = mapping.take(verb) { found.append((verb, member.node, member.path)) } }
        let choice = "a step has one of \(verbs.joined(separator: ", "))"
        if found.isEmpty { mapping.missing(verbs, message: choice) }
        if found.count > 1 { context.report(node, path, choice) }
        mapping.finish()
        guard let first = found.first, found.count == 1 else { return nil }
        guard let action = action(first.verb, (first.node, first.path), context, &faults) else { return nil }
        let file = context.file.split(separator: "/").last.map(String.init) ?? context.file
        return Scenario.Step(action: action, start: start, place: "\(file):\(node.line)")
    }

    private static func action(
        _ verb: String, _ found: (node: YAMLNode, path: String), _ context: ProfileContext, _ faults: inout Set<String>
    ) -> Scenario.Action? {
        if let power = Scenario.Power(rawValue: verb) { return context.text(found).map { .power(device: $0, power) } }
        switch verb {
        case "advance", "wait": return context.span(found).map { .advance($0) }
        case "clear-fault":
            guard let name = context.text(found) else { return nil }
            if name != "all", !faults.contains(name) {
                context.report(
                    found.node, found.path, "no step before sets a fault 'as: \(name)'\(DataModel.didYouMean(name, among: faults.sorted()))"
                )
                return nil
            }
            return .clearFault(name == "all" ? nil : name)
        case "fault": return fault(found, context, &faults)
        default: break
        }
        guard let mapping = context.mapping(found.node, found.path) else { return nil }
        defer { mapping.finish() }
        guard let device = required("device", mapping, context).flatMap({ context.text($0) }) else { return nil }
        let endpoint = EndpointID(context.number(mapping.take("endpoint"), in: UInt16(0)...0xFFFE, "an endpoint") ?? 1)
        guard let name = required("cluster", mapping, context), let definition = context.cluster(name) else {
            // Nothing can be said of the rest.
            _ = mapping.takeAll()
            return nil
        }
        switch verb {
        case "set":
            guard let (attribute, value) = setting(mapping, definition, context) else { return nil }
            return .set(device: device, AttributePath(endpoint, definition.id, attribute), value)
        case "trigger":
            guard let member = required("event", mapping, context), let (event, fields) = event(member, mapping, definition, context)
            else { return nil }
            return .trigger(device: device, EventPath(endpoint, definition.id, event), fields: fields)
        default:
            let limit = mapping.take("within").flatMap { context.span($0) } ?? .zero
            return expectation(mapping, endpoint, definition, context).map { .expect(device: device, $0, within: limit) }
        }
    }

    private static func setting(
        _ mapping: ProfileContext.Mapping, _ definition: ClusterDefinition, _ context: ProfileContext
    ) -> (AttributeID, TLVValue)? {
        // Both first: what is wrong with one does not make the other a mistake.
        let (named, given) = (required("attribute", mapping, context), required("value", mapping, context))
        guard let named, let attribute = context.attribute(named, definition), let value = given,
            let read = context.value(
                value.node, value.path, attribute.type, name: attribute.name, isNullable: attribute.isNullable, in: definition.id)
        else { return nil }
        return (attribute.id, read)
    }

    private static func event(
        _ member: (node: YAMLNode, path: String), _ mapping: ProfileContext.Mapping, _ definition: ClusterDefinition,
        _ context: ProfileContext
    ) -> (EventID, TLVValue)? {
        guard let text = context.text(member) else { return nil }
        guard let event = definition.events.first(where: { DataModel.normalizedName($0.name) == DataModel.normalizedName(text) }) else {
            let names = definition.events.map(\.name)
            context.report(member.node, member.path, "\(definition.name) has no event '\(text)'\(DataModel.didYouMean(text, among: names))")
            return nil
        }
        guard let found = mapping.take("fields") else { return (event.id, .structure([])) }
        return context.fields(found, of: event.fields, in: definition).map { (event.id, $0) }
    }

    private static func expectation(
        _ mapping: ProfileContext.Mapping, _ endpoint: EndpointID, _ definition: ClusterDefinition, _ context: ProfileContext
    ) -> Scenario.Expectation? {
        if let member = mapping.take("event") {
            guard let (event, fields) = event(member, mapping, definition, context) else { return nil }
            return .event(EventPath(endpoint, definition.id, event), fields: fields)
        }
        let (low, high) = (mapping.take("atLeast"), mapping.take("atMost"))
        guard low != nil || high != nil else {
            guard let (attribute, value) = setting(mapping, definition, context) else { return nil }
            return .equals(AttributePath(endpoint, definition.id, attribute), value)
        }
        guard let member = required("attribute", mapping, context), let attribute = context.attribute(member, definition) else {
            return nil
        }
        let bounds = [low, high].map { $0.flatMap { context.plainNumber($0) } }
        return .between(AttributePath(endpoint, definition.id, attribute.id), minimum: bounds[0], maximum: bounds[1])
    }

    private static func fault(
        _ found: (node: YAMLNode, path: String), _ context: ProfileContext, _ faults: inout Set<String>
    ) -> Scenario.Action? {
        guard let mapping = context.mapping(found.node, found.path) else { return nil }
        let device = mapping.take("device").flatMap { context.text($0) }
        let name = mapping.take("as").flatMap { context.text($0) }
        var members: [String: JSONValue] = [:]
        for member in mapping.takeAll() {
            guard case .scalar(let text, let isQuoted) = member.node.content else {
                context.report(member.node, member.path, "a value is expected, and this is \(member.node.kind)")
                continue
            }
            members[member.key] = isQuoted ? .string(text) : plain(text)
        }
        do throws(SimulatorError) {
            _ = try FaultKinds.make(members) { RandomStream(seed: 0, owner: "check", purpose: $0) }
        } catch {
            context.report(found.node, found.path, error.message)
            return nil
        }
        if let name { faults.insert(name) }
        return .fault(device: device, members: members, name: name)
    }

    private static func plain(_ text: String) -> JSONValue {
        if text == "true" || text == "false" { return .boolean(text == "true") }
        if let number = Int64(text) { return .integer(number) }
        return Double(text).map { .number($0) } ?? .string(text)
    }

    private static func required(
        _ name: String, _ mapping: ProfileContext.Mapping, _ context: ProfileContext
    ) -> (node: YAMLNode, path: String)? {
        if let found = mapping.take(name) { return found }
        mapping.missing(name, message: "'\(name)' is missing")
        return nil
    }
}

extension ProfileContext {
    /// A span of time: a number with `ms`, `s`, `min` or `h`.
    func span(_ found: (node: YAMLNode, path: String)) -> Duration? {
        guard let text = text(found) else { return nil }
        let units: [(String, Double)] = [("ms", 0.001), ("min", 60), ("s", 1), ("h", 3600)]
        for (unit, seconds) in units where text.hasSuffix(unit) {
            guard let number = Double(text.dropLast(unit.count)), number >= 0, number * seconds <= 31_622_400 else { break }
            return .milliseconds(Int64((number * seconds * 1000).rounded()))
        }
        report(found.node, found.path, "'\(text)' is no span of time: 250ms, 30s, 5min and 2h are, up to a year")
        return nil
    }

    fileprivate func plainNumber(_ found: (node: YAMLNode, path: String)) -> Double? {
        guard let text = text(found) else { return nil }
        if let number = Double(text), number.isFinite { return number }
        report(found.node, found.path, "'\(text)' is no number")
        return nil
    }

    fileprivate func cluster(_ found: (node: YAMLNode, path: String)) -> ClusterDefinition? {
        guard let text = text(found) else { return nil }
        if let definition = DataModel.cluster(named: text) { return definition }
        report(found.node, found.path, "there is no cluster '\(text)'\(DataModel.didYouMean(text, among: DataModel.index.map(\.name)))")
        return nil
    }

    fileprivate func attribute(_ found: (node: YAMLNode, path: String), _ definition: ClusterDefinition) -> AttributeDefinition? {
        guard let text = text(found) else { return nil }
        if let attribute = definition.attribute(named: text) { return attribute }
        let names = definition.attributes.map(\.name)
        report(found.node, found.path, "\(definition.name) has no attribute '\(text)'\(DataModel.didYouMean(text, among: names))")
        return nil
    }

    /// The fields of an event or command, by name.
    fileprivate func fields(
        _ found: (node: YAMLNode, path: String), of definitions: [FieldDefinition], in cluster: ClusterDefinition
    ) -> TLVValue? {
        guard let mapping = mapping(found.node, found.path) else { return nil }
        var members: [(id: UInt8, value: TLVValue)] = []
        for member in mapping.takeAll() {
            guard let field = definitions.field(named: member.key) else {
                let hint = DataModel.didYouMean(member.key, among: definitions.map(\.name))
                report(member.keyNode, found.path, "there is no field '\(member.key)'\(hint)")
                continue
            }
            let value = value(
                member.node, member.path, field.type, name: field.name, isNullable: field.isNullable, in: cluster.id)
            if let value { members.append((field.id.rawValue, value)) }
        }
        return .structure(members.sorted { $0.id < $1.id }.map { TLVElement(.context($0.id), $0.value) })
    }
}
