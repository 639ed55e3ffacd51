import CommandLineKit
import MachineInterface
import MatterController
import MatterModel

let modelCommand = Command(
    "model", summary: "Look up the data model: device types, clusters, attributes, commands, events, types",
    examples: [
        Example("hearth model", "All clusters."),
        Example("hearth model LevelControl", "What a cluster has."),
        Example("hearth model LevelControl.MoveToLevel", "The fields of a command."),
        Example("hearth model DoorLock.LockStateEnum --json", "For a program."),
        Example("hearth model 'Dimmable Light'", "What a device of a type must and may have."),
        Example("hearth model --device-types", "All device types."),
    ],
    arguments: [
        .positional(
            "element", "CLUSTER[.ELEMENT]|DEVICE-TYPE", help: "A cluster, or one of its elements or types; or a device type",
            arity: .optional, completion: .dynamic { context in modelCandidates(context.word) }),
        .flag("device-types", help: "All device types; with a name or id that device type, also where a cluster has the name"),
        HomeOptions.json,
    ],
    run: { arguments, terminal in
        let isJSON = arguments.flag("json")
        let isDeviceType = arguments.flag("device-types")
        guard let word = arguments.text("element") else {
            if isDeviceType, isJSON { return terminal.line(ModelDeviceTypes.json().text()) }
            if isDeviceType { return ModelDeviceTypes.index(terminal) }
            if isJSON { return terminal.line(ModelJSON.index().text()) }
            var table = Table("ID", "CLUSTER", "TITLE")
            for entry in DataModel.index { table.add([.init(entry.id.description), .init(entry.name), .init(entry.title)]) }
            return table.write(to: terminal)
        }
        if let type = ModelDeviceTypes.find(word, isOnly: isDeviceType) {
            return isJSON ? terminal.line(ModelDeviceTypes.json(type).text()) : ModelDeviceTypes.show(type, terminal)
        }
        if isDeviceType { throw ModelDeviceTypes.unknown(word) }
        let parts = word.split(separator: ".", maxSplits: 1).map(String.init)
        let id = try modelCluster(parts.first ?? "")
        guard let cluster = DataModel.cluster(id: id) else { throw MachineError.badRequest("there is no cluster \(id)") }
        if parts.count < 2 {
            if isJSON { return terminal.line(ModelJSON.json(cluster).text()) }
            return ModelText.show(cluster, terminal)
        }
        let element = try ModelElement.find(parts[1], in: cluster)
        if isJSON { return terminal.line(ModelJSON.json(element, cluster).text()) }
        ModelText.show(element, cluster, terminal)
    })

/// A cluster, whose name may be mistaken for a device type's too.
private func modelCluster(_ word: String) throws(MachineError) -> ClusterID {
    do throws(MachineError) { return try ElementNames.cluster(word) } catch {
        guard DataModel.suggestions(for: word, among: DataModel.index.map(\.name)).isEmpty,
            !DataModel.suggestions(for: word, among: DataModel.deviceTypes.map(\.name)).isEmpty
        else { throw error }
        throw ModelDeviceTypes.unknown(word)
    }
}

private func modelCandidates(_ word: String) -> [Candidate] {
    guard let dot = word.firstIndex(of: "."), let cluster = DataModel.cluster(named: String(word[..<dot])) else {
        // A name that both have is the cluster's.
        return DataModel.index.map { Candidate($0.name, $0.title) }
            + ModelDeviceTypes.candidates.filter { DataModel.cluster(named: $0.text) == nil }
    }
    return ModelElement.names(of: cluster).map { Candidate(word[...dot] + $0) }
}

/// An element or a type of a cluster.
enum ModelElement {
    case attribute(AttributeDefinition)
    case command(CommandDefinition)
    case event(EventDefinition)
    case enumeration(EnumDefinition)
    case bitmap(BitmapDefinition)
    case structure(StructDefinition)
    case feature(FeatureDefinition)

    static func names(of cluster: ClusterDefinition) -> [String] {
        cluster.attributes.map(\.name) + cluster.commands.map(\.name) + cluster.events.map(\.name) + cluster.enums.map(\.name)
            + cluster.bitmaps.map(\.name) + cluster.structs.map(\.name) + cluster.features.map(\.code)
    }

    static func find(_ text: String, in cluster: ClusterDefinition) throws(MachineError) -> ModelElement {
        let wanted = DataModel.normalizedName(text)
        func named(_ name: String) -> Bool { DataModel.normalizedName(name) == wanted }
        if let found = cluster.attribute(named: text) { return .attribute(found) }
        if let found = cluster.command(named: text) ?? cluster.command(named: text, direction: .response) {
            return .command(found)
        }
        if let found = cluster.event(named: text) { return .event(found) }
        if let found = cluster.enums.first(where: { named($0.name) }) { return .enumeration(found) }
        if let found = cluster.bitmaps.first(where: { named($0.name) }) { return .bitmap(found) }
        if let found = cluster.structs.first(where: { named($0.name) }) { return .structure(found) }
        if let found = cluster.feature(named: text) { return .feature(found) }
        // A number is an attribute's, which is what people see in logs.
        if let id = try? ElementNames.attribute(text, in: cluster.id), let found = cluster.attribute(id: id) {
            return .attribute(found)
        }
        throw .badRequest("\(cluster.name) has no '\(text)'" + DataModel.didYouMean(text, among: names(of: cluster)))
    }
}
