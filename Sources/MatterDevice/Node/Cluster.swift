import HearthTime
import MatterInteraction
import MatterModel
import MatterTLV

/// A cluster server: stored attributes, checks from the data model, and hooks for behaviour. One subclass a cluster, in
/// `Clusters/<Name>/`; a cluster without behaviour of its own is this class itself.
///
/// A subclass overrides what it needs: `start`, `value(of:)` for computed attributes, `willWrite`/`didWrite`, `handle`. Type,
/// constraint, access and existence are checked here and in the interaction server, from the definition, and nowhere else.
open class Cluster: ClusterServer {
    public let endpoint: EndpointID
    public let configuration: ClusterConfiguration
    public unowned let node: DeviceNode
    public private(set) var dataVersion: DataVersion
    /// What exists of the definition.
    public let elements: ClusterShape
    public final var definition: ClusterDefinition { elements.definition }
    public final var features: UInt32 { elements.features }

    /// By position in the shape.
    private var values: [TLVValue]
    /// The names in the store of what has been changed: what changes once changes often.
    private var keptKeys: [AttributeID: String] = [:]

    /// - Parameter alsoSupported: optional attributes and commands that the behaviour brings whatever the profile says.
    public init(
        _ definition: ClusterDefinition, endpoint: EndpointID, node: DeviceNode, configuration: ClusterConfiguration = .init(),
        alsoSupported: (attributes: Set<AttributeID>, commands: Set<CommandID>) = ([], [])
    ) {
        (self.endpoint, self.node, self.configuration) = (endpoint, node, configuration)
        elements = ClusterShape.of(
            definition, features: configuration.features,
            attributes: configuration.optionalAttributes.union(configuration.attributes.keys).union(alsoSupported.attributes),
            commands: configuration.optionalCommands.union(alsoSupported.commands))
        values = elements.firstValues
        // Random at every start, as the specification demands (Matter Core, 7.10.3), but the same for the same seed.
        var versions = node.environment.random("data-version/\(endpoint)/\(definition.name)")
        dataVersion = DataVersion(UInt32(truncatingIfNeeded: versions.bits()))
        restore()
    }

    // MARK: For subclasses

    /// The node is complete and begins to run, after a first start or a restart: set start-up values, begin timers.
    open func start() {}

    /// The node stops; timers that are still open are cancelled by the node.
    open func stop() {}

    /// The value of an attribute that is not simply stored. Nil leaves it to the store.
    open func computedValue(of attribute: AttributeID, _ context: InteractionContext) throws(Status) -> TLVValue? { nil }

    /// What the cluster's specification, in its text, or its behaviour here cannot take of a configuration whose values are each right
    /// by themselves and by the data model. `given` are the attributes whose first values somebody gave: there is no mistake in others.
    open func ownConfigurationProblems(_ given: Set<AttributeID>) -> [ConfigurationProblem] { [] }

    /// How strictly values from outside are checked, for a cluster that answers what breaks a constraint in its own way.
    open var valueChecks: ValueChecker.Options { ValueChecker.Options() }

    /// The same for one attribute, where a cluster brings a value into its range instead of refusing it.
    open func valueChecks(of attribute: AttributeDefinition) -> ValueChecker.Options { valueChecks }

    /// A write from outside, already checked against type and constraint. Returns what is to be stored, or throws.
    open func willWrite(_ attribute: AttributeDefinition, _ value: TLVValue, _ context: InteractionContext) throws(Status)
        -> TLVValue
    {
        value
    }

    /// After a write from outside was stored.
    open func didWrite(_ attribute: AttributeDefinition, from old: TLVValue, to new: TLVValue, _ context: InteractionContext) {}

    /// Whether the fields of a command are checked against the definition before `handle`. A cluster that has a status of its own
    /// for what is out of bounds says no and checks them itself.
    open func checksFields(of command: CommandDefinition) -> Bool { true }

    /// Runs a command whose fields have been checked against the definition.
    open func handle(
        _ command: CommandDefinition, _ fields: TLVValue, _ context: InteractionContext
    ) throws(Status) -> CommandOutcome {
        throw Status(.unsupportedCommand)
    }

    /// A change at the device itself: a hand on the switch, a warmer room. Checked against type and constraint. Sensors and physical
    /// controls override it to react; the default stores the value, and refuses what is computed each time it is read.
    open func setLocally(_ attribute: AttributeDefinition, _ value: TLVValue) throws(Status) {
        guard elements.globalValue(attribute.id) == nil, try computedValue(of: attribute.id, .local()) == nil else {
            throw Status(.unsupportedWrite)
        }
        set(attribute.id, value)
    }

    /// An event raised at the device itself by a tester: a press, a jam.
    open func triggerLocally(_ event: EventDefinition, _ fields: TLVValue) throws(Status) -> EventNumber {
        emit(event.id, fields)
    }

    /// A fabric has been removed: forget what belongs to it.
    open func fabricRemoved(_ fabric: FabricIndex) {}

    // MARK: Attributes

    /// How a change is made known.
    public enum Reporting: Sendable {
        /// Subscriptions hear of it.
        case report
        /// The value changes quietly; a later `report(_:)` makes it known (quality Q).
        case quiet
    }

    /// The stored value; null when the attribute does not exist.
    public final func value(_ attribute: AttributeID) -> TLVValue { elements.position(of: attribute).map { values[$0] } ?? .null }

    public final func has(_ attribute: AttributeID) -> Bool { elements.attributes[attribute] != nil }

    /// Stores a value, raises the data version, keeps what is non-volatile and tells subscriptions. Does nothing when the value is the
    /// same or the attribute does not exist.
    public final func set(_ attribute: AttributeID, _ value: TLVValue, _ reporting: Reporting = .report) {
        guard let position = elements.position(of: attribute), values[position] != value else { return }
        values[position] = value
        if elements.qualities[position].contains(.nonVolatile) { keep(attribute, value) }
        dataVersion = DataVersion(dataVersion.rawValue &+ 1)
        if case .report = reporting { report(attribute) }
    }

    /// Tells subscriptions that the attribute has its present value: after quiet changes, or for a computed attribute.
    public final func report(_ attribute: AttributeID) {
        if let position = elements.position(of: attribute) {
            guard !elements.qualities[position].contains(.changesOmitted) else { return }
        } else {
            guard let definition = elements.attributes[attribute], !definition.quality.contains(.changesOmitted) else { return }
        }
        node.attributeChanged(AttributePath(endpoint, elements.id, attribute))
    }

    /// Raises the data version for a change of something that is not in the attribute store.
    public final func touch(_ attribute: AttributeID) {
        dataVersion = DataVersion(dataVersion.rawValue &+ 1)
        report(attribute)
    }

    public final func hasFeature(_ mask: UInt32) -> Bool { features & mask != 0 }

    // MARK: Events and time

    @discardableResult
    public final func emit(_ event: EventID, _ fields: TLVValue, fabric: FabricIndex? = nil) -> EventNumber {
        let priority = elements.events[event]?.priority ?? definition.events.first { $0.id == event }?.priority ?? .info
        return node.record(EventPath(endpoint, definition.id, event), priority: priority, fields: fields, fabric: fabric)
    }

    /// Runs `body` after a time, unless the node stops before.
    @discardableResult
    public final func after(_ delay: Duration, _ body: @escaping () -> Void) -> Token { node.after(delay, body) }
    public final func cancel(_ token: Token?) { if let token { node.cancel(token) } }

    // MARK: Persistence

    private func key(_ attribute: AttributeID) -> String { "attribute/\(endpoint)/\(definition.id)/\(attribute)" }

    private func keep(_ attribute: AttributeID, _ value: TLVValue) {
        let name: String
        if let known = keptKeys[attribute] {
            name = known
        } else {
            name = key(attribute)
            keptKeys[attribute] = name
        }
        node.environment.store.put(value.encoded(), for: name)
    }

    /// Whatever is not an attribute and must survive a restart, under a name of the cluster's own.
    public final func keep(_ bytes: [UInt8]?, as name: String) {
        let key = "cluster/\(endpoint)/\(definition.id)/\(name)"
        if let bytes { node.environment.store.put(bytes, for: key) } else { node.environment.store.remove(key) }
    }
    public final func kept(_ name: String) -> [UInt8]? {
        node.environment.store.value(for: "cluster/\(endpoint)/\(definition.id)/\(name)")
    }
    public final func keptNames(withPrefix prefix: String) -> [String] {
        let base = "cluster/\(endpoint)/\(definition.id)/"
        return node.environment.store.keys(withPrefix: base + prefix).map { String($0.dropFirst(base.count)) }
    }

    private func restore() {
        for (position, id) in elements.storedIDs.enumerated() {
            if elements.qualities[position].contains(.nonVolatile), let bytes = node.environment.store.value(for: key(id)),
                let value = try? TLVValue(decoding: bytes)
            {
                values[position] = value
            } else if let first = configuration.attributes[id] {
                values[position] = first
            }
        }
    }

    // MARK: ClusterServer

    public final var attributeIDs: [AttributeID] { elements.attributeIDs }
    public final func attribute(_ id: AttributeID) -> AttributeDefinition? { elements.attributes[id] }
    public final func command(_ id: CommandID) -> CommandDefinition? { elements.acceptedCommands[id] }
    public final func event(_ id: EventID) -> EventDefinition? { elements.events[id] }
    public final var eventIDs: [EventID] { elements.eventIDs }

    public final func read(_ attribute: AttributeDefinition, _ context: InteractionContext) throws(Status) -> TLVValue {
        if let value = elements.globalValue(attribute.id) { return value }
        return try computedValue(of: attribute.id, context) ?? value(attribute.id)
    }

    public final func write(_ attribute: AttributeDefinition, _ change: AttributeChange, _ context: InteractionContext)
        throws(Status)
    {
        try checkReach()
        let old = try computedValue(of: attribute.id, context) ?? value(attribute.id)
        let proposed = try FabricScopedList.apply(change, to: old, of: attribute, context)
        try check(attribute, proposed)
        let stored = try willWrite(attribute, proposed, context)
        set(attribute.id, stored)
        didWrite(attribute, from: old, to: stored, context)
    }

    public final func invoke(
        _ command: CommandDefinition, _ fields: TLVValue, _ context: InteractionContext
    ) throws(Status) -> CommandOutcome {
        try checkReach()
        if checksFields(of: command) { try checker(valueChecks).check(fields: fields, of: command) }
        return try handle(command, fields, context)
    }

    /// What goes to a bridged device that its bridge cannot reach fails (Matter Core, 9.13.5.1: it "might"); what is read is the last
    /// that is known. The bridge itself answers for the clusters that describe the device and keep its places in groups.
    private func checkReach() throws(Status) {
        guard !node.unreachable.isEmpty, node.unreachable.contains(endpoint), !Self.ofBridges.contains(elements.id) else { return }
        throw Status(.failure, "the bridge cannot reach the device")
    }

    private static let ofBridges: Set<ClusterID> = [
        BridgedDeviceBasicInformation.id, Descriptor.id, FixedLabel.id, UserLabel.id, Binding.id, Groups.id,
    ]

    /// Checks a value against the attribute's type and constraint.
    public final func check(_ attribute: AttributeDefinition, _ value: TLVValue) throws(Status) {
        try checker(valueChecks(of: attribute)).check(value, of: attribute)
    }

    private func checker(_ options: ValueChecker.Options) -> ValueChecker {
        ValueChecker(cluster: definition, features: features, options: options) { [unowned self] name in
            guard let attribute = definition.attribute(named: name), has(attribute.id) else { return nil }
            return value(attribute.id)
        }
    }
}
