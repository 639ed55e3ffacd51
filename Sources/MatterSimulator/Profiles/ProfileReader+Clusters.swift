import MatterDevice
import MatterModel
import MatterTLV

/// What a file says of one cluster, and where.
struct ReadCluster {
    typealias Place = (node: YAMLNode, path: String)

    var configuration = ClusterConfiguration()
    var place: Place
    var features: Place?
    var attributes: [AttributeID: Place] = [:]
    var optionalAttributes: [AttributeID: Place] = [:]
    var optionalCommands: [CommandID: Place] = [:]
    var parameters: [String: Place] = [:]
    /// Attributes whose value could not be read.
    var unread: Set<AttributeID> = []
    /// Every feature and every parameter could be read.
    var isWhole = true

    /// Where the subject of a problem stands; the cluster itself when that is not known.
    func place(of subject: ConfigurationProblem.Subject) -> Place {
        switch subject {
        case .features: return features ?? place
        case .attribute(let id): return attributes[id] ?? optionalAttributes[id] ?? place
        case .command(let id): return optionalCommands[id] ?? place
        case .parameter(let steps):
            guard case .member(let name)? = steps.first, let parameter = parameters[name] else { return place }
            return steps.dropFirst().reduce(parameter) { place, step in
                switch (step, place.node.content) {
                case (.entry(let index), .sequence(let items)) where items.indices.contains(index):
                    return (items[index], "\(place.path)[\(index)]")
                case (.member(let name), .mapping(let members)):
                    let member = members.first { if case .scalar(name, _) = $0.key.content { true } else { false } }
                    return member.map { ($0.value, "\(place.path).\(name)") } ?? place
                default: return place
                }
            }
        }
    }
}

extension ProfileReader {
    static func clusters(_ node: YAMLNode, _ path: String, _ context: ProfileContext) -> [ClusterID: ReadCluster] {
        guard let mapping = context.mapping(node, path) else { return [:] }
        var clusters: [ClusterID: ReadCluster] = [:]
        for member in mapping.takeAll() {
            guard let definition = DataModel.cluster(named: member.key) else {
                context.report(
                    member.keyNode, path,
                    "there is no cluster '\(member.key)'\(DataModel.didYouMean(member.key, among: DataModel.index.map(\.name)))")
                continue
            }
            if clusters[definition.id] != nil { context.report(member.keyNode, path, "the cluster \(definition.name) stands twice") }
            clusters[definition.id] = cluster(member.node, member.path, definition, context)
        }
        return clusters
    }

    private static func cluster(
        _ node: YAMLNode, _ path: String, _ definition: ClusterDefinition, _ context: ProfileContext
    ) -> ReadCluster {
        var read = ReadCluster(place: (node, path))
        // `OnOff:` with nothing behind it just says that the cluster is there.
        if case .scalar("", isQuoted: false) = node.content { return read }
        guard let mapping = context.mapping(node, path) else { return read }
        let before = context.mistakes
        if let found = mapping.take("features") {
            read.features = found
            for item in context.sequence(found.node, found.path) ?? [] {
                guard let text = context.text(item) else { continue }
                if let feature = definition.feature(named: text) {
                    read.configuration.features |= 1 << UInt32(feature.bit)
                } else {
                    let names = definition.features.flatMap { [$0.code, $0.name] }
                    context.report(
                        item.node, item.path, "\(definition.name) has no feature '\(text)'\(DataModel.didYouMean(text, among: names))")
                }
            }
        }
        for parameter in ClusterFactory.parameters(of: definition.id) {
            guard let found = mapping.take(parameter.name) else { continue }
            read.parameters[parameter.name] = found
            read.configuration.parameters[parameter.name] = context.parameter(found.node, found.path, parameter.kind)
        }
        read.isWhole = context.mistakes == before
        if let found = mapping.take("attributes") { attributes(found, definition, &read, context) }
        if let found = mapping.take("optional") { optional(found, definition, &read, context) }
        mapping.finish()
        return read
    }

    /// First values by attribute name, each checked against its type. What they may be together is looked at when all are known.
    private static func attributes(
        _ found: ReadCluster.Place, _ definition: ClusterDefinition, _ read: inout ReadCluster, _ context: ProfileContext
    ) {
        guard let mapping = context.mapping(found.node, found.path) else { return }
        var options = ValueChecker.Options()
        options.checksConstraints = false
        let checker = ValueChecker(cluster: definition, features: read.configuration.features, options: options)
        for member in mapping.takeAll() {
            guard let attribute = definition.attribute(named: member.key) else {
                let names = definition.attributes.map(\.name)
                context.report(
                    member.keyNode, found.path,
                    "\(definition.name) has no attribute '\(member.key)'\(DataModel.didYouMean(member.key, among: names))")
                continue
            }
            guard !DataModel.globalAttributes.contains(where: { $0.id == attribute.id }) else {
                context.report(
                    member.keyNode, found.path,
                    "\(attribute.name) cannot be given: it follows from the features and from what else there is")
                continue
            }
            if read.attributes[attribute.id] != nil { context.report(member.keyNode, found.path, "\(attribute.name) stands twice") }
            read.attributes[attribute.id] = (member.node, member.path)
            read.unread.insert(attribute.id)
            guard
                let value = context.value(
                    member.node, member.path, attribute.type, name: attribute.name, isNullable: attribute.isNullable, in: definition.id)
            else { continue }
            do throws(Status) { try checker.check(value, of: attribute) } catch {
                context.report(
                    member.node, member.path, misfit(value, attribute, in: definition.id) ?? error.reason ?? "\(error)")
                continue
            }
            read.unread.remove(attribute.id)
            read.configuration.attributes[attribute.id] = value
        }
    }

    /// What is wrong with a number that is not one of its type; nil for other values.
    private static func misfit(_ value: TLVValue, _ attribute: AttributeDefinition, in cluster: ClusterID) -> String? {
        guard let range = attribute.type.integerRange(isNullable: attribute.isNullable) else { return nil }
        let text = ValueText(attribute, in: cluster)
        switch value {
        case .signed:
            let highest = Int64(clamping: range.maximum)
            return "\(attribute.name) \(text.format(value)) does not fit its type: \(text.format(.signed(range.minimum))) to "
                + "\(text.format(.signed(highest))) is expected"
        case .unsigned:
            return
                "\(attribute.name) \(text.format(value)) does not fit its type: at most \(text.format(.unsigned(range.maximum))) is expected"
        default: return nil
        }
    }

    /// Names of optional attributes and commands that are there without a first value.
    private static func optional(
        _ found: ReadCluster.Place, _ definition: ClusterDefinition, _ read: inout ReadCluster, _ context: ProfileContext
    ) {
        for item in context.sequence(found.node, found.path) ?? [] {
            guard let text = context.text(item) else { continue }
            if let attribute = definition.attribute(named: text) {
                read.configuration.optionalAttributes.insert(attribute.id)
                read.optionalAttributes[attribute.id] = item
            } else if let command = definition.command(named: text) {
                read.configuration.optionalCommands.insert(command.id)
                read.optionalCommands[command.id] = item
            } else {
                let names = definition.attributes.map(\.name) + definition.commands.map(\.name)
                context.report(
                    item.node, item.path,
                    "\(definition.name) has no attribute or command '\(text)'\(DataModel.didYouMean(text, among: names))")
            }
        }
    }
}
