import MatterModel

/// Turns what people and scripts call an element into its id, and back.
///
/// A name is the specification's in any case style, or an id in decimal or `0x…`. What the data model does not know goes by its
/// id only, which is passed on as it is: the device decides.
public enum ElementNames {
    // MARK: To ids

    /// By name or number. - Throws: `badRequest`, with what was probably meant.
    public static func cluster(_ text: String) throws(MachineError) -> ClusterID {
        if let number = number(text) { return ClusterID(try narrow(number, "a cluster")) }
        if let known = DataModel.cluster(named: text) { return known.id }
        let owners = owners(of: text)
        let hint =
            owners.isEmpty
            ? DataModel.didYouMean(text, among: DataModel.index.map(\.name)) : DataModel.didYouMean(Array(owners.prefix(3)))
        throw .badRequest("there is no cluster '\(text)'" + hint)
    }

    /// What is called so in a cluster: `LevelControl.CurrentLevel` for `CurrentLevel`.
    private static func owners(of text: String) -> [String] {
        let wanted = DataModel.normalizedName(text)
        return DataModel.index.compactMap { DataModel.cluster(id: $0.id) }.flatMap { cluster in
            (cluster.attributes.map(\.name) + cluster.commands.map(\.name) + cluster.events.map(\.name))
                .filter { DataModel.normalizedName($0) == wanted }.map { "\(cluster.name).\($0)" }
        }
    }

    /// - Parameter cluster: nil for every cluster, which only the global attributes have in common.
    public static func attribute(_ text: String, in cluster: ClusterID?) throws(MachineError) -> AttributeID {
        if let number = number(text) { return AttributeID(try narrow(number, "an attribute")) }
        let globals = DataModel.globalAttributes
        let wanted = DataModel.normalizedName(text)
        if let global = globals.first(where: { DataModel.normalizedName($0.name) == wanted }) { return global.id }
        guard let cluster else { throw .badRequest("the attribute '\(text)' needs a cluster") }
        let definition = try definition(of: cluster, for: text)
        if let known = definition.attribute(named: text) { return known.id }
        throw unknown("attribute", text, definition, among: (definition.attributes + globals).map(\.name))
    }

    /// A request by name or number. - Throws: `badRequest`, with what was probably meant.
    public static func command(_ text: String, in cluster: ClusterID) throws(MachineError) -> CommandID {
        if let number = number(text) { return CommandID(try narrow(number, "a command")) }
        let definition = try definition(of: cluster, for: text)
        if let known = definition.command(named: text) { return known.id }
        throw unknown("command", text, definition, among: definition.commands.filter { $0.direction == .request }.map(\.name))
    }

    /// By name or number; a name needs the cluster. - Throws: `badRequest`, with what was probably meant.
    public static func event(_ text: String, in cluster: ClusterID?) throws(MachineError) -> EventID {
        if let number = number(text) { return EventID(try narrow(number, "an event")) }
        guard let cluster else { throw .badRequest("the event '\(text)' needs a cluster") }
        let definition = try definition(of: cluster, for: text)
        if let known = definition.event(named: text) { return known.id }
        throw unknown("event", text, definition, among: definition.events.map(\.name))
    }

    /// A decimal number, or a hexadecimal one after `0x`; nil for a name.
    public static func number(_ text: String) -> UInt64? {
        if text.hasPrefix("0x") || text.hasPrefix("0X") { return Hexadecimal.number(text) }
        return text.utf8.allSatisfy { (0x30...0x39).contains($0) } ? UInt64(text) : nil
    }

    private static func narrow(_ number: UInt64, _ what: String) throws(MachineError) -> UInt32 {
        guard let narrow = UInt32(exactly: number) else { throw .badRequest("the id of \(what) has 32 bits: \(number) is too large") }
        return narrow
    }

    private static func definition(of cluster: ClusterID, for text: String) throws(MachineError) -> ClusterDefinition {
        if let definition = DataModel.cluster(id: cluster) { return definition }
        throw .badRequest("cluster \(cluster) is unknown here, so that '\(text)' must be given by its number")
    }

    private static func unknown(
        _ kind: String, _ text: String, _ definition: ClusterDefinition, among names: [String]
    ) -> MachineError {
        .badRequest("\(definition.name) has no \(kind) '\(text)'" + DataModel.didYouMean(text, among: names))
    }

    // MARK: To names

    /// The specification's name; the number in hexadecimal when there is none.
    public static func name(_ cluster: ClusterID) -> String { DataModel.clusterName(cluster) ?? cluster.description }

    /// The specification's name; the number where there is no definition.
    public static func name(_ attribute: AttributeID, in cluster: ClusterID) -> String {
        DataModel.cluster(id: cluster)?.attribute(id: attribute)?.name
            ?? DataModel.globalAttributes.first { $0.id == attribute }?.name ?? attribute.description
    }

    /// The specification's name; the number where there is no definition. Requests and responses have separate ids.
    public static func name(_ command: CommandID, in cluster: ClusterID, _ direction: CommandDefinition.Direction) -> String {
        DataModel.cluster(id: cluster)?.command(id: command, direction: direction)?.name ?? command.description
    }

    /// The specification's name; the number where there is no definition.
    public static func name(_ event: EventID, in cluster: ClusterID) -> String {
        DataModel.cluster(id: cluster)?.event(id: event)?.name ?? event.description
    }
}
