import MatterMessage
import MatterModel
import MatterTLV

/// What the interaction server needs of a node. The node, its endpoints and clusters belong to one thread.
public protocol NodeServer: AnyObject {
    /// In the order of their ids.
    var endpoints: [EndpointServer] { get }
    func endpoint(_ id: EndpointID) -> EndpointServer?
    /// Whether the peer of a session may do on a cluster what needs `privilege` (Matter Core, 9.10.5).
    func allows(_ privilege: Privilege, on cluster: ClusterID, at endpoint: EndpointServer, for peer: SessionContext) -> Bool
    var events: EventLog { get }
    /// Commands in one invoke request, at most; 1 or more (BasicInformation's MaxPathsPerInvoke).
    var maximumPathsPerInvoke: Int { get }
}

/// An endpoint as interactions see it.
public final class EndpointServer {
    public let id: EndpointID
    /// Device types, for access control targets; each with its revision.
    public var deviceTypes: [(type: DeviceTypeID, revision: UInt16)]
    /// In the order of their ids.
    public private(set) var clusters: [any ClusterServer]
    /// Of `clusters`, in the same order.
    private var clusterIDs: [ClusterID]

    public init(id: EndpointID, deviceTypes: [(type: DeviceTypeID, revision: UInt16)], clusters: [any ClusterServer]) {
        (self.id, self.deviceTypes) = (id, deviceTypes)
        self.clusters = clusters.sorted { $0.definition.id < $1.definition.id }
        clusterIDs = self.clusters.map(\.definition.id)
    }

    public func cluster(_ id: ClusterID) -> (any ClusterServer)? {
        let place = place(of: id)
        return place < clusterIDs.count && clusterIDs[place] == id ? clusters[place] : nil
    }

    /// Where a cluster stands, or has to.
    private func place(of id: ClusterID) -> Int {
        var (low, high) = (0, clusterIDs.count)
        while low < high {
            let middle = (low + high) / 2
            if clusterIDs[middle] < id { low = middle + 1 } else { high = middle }
        }
        return low
    }

    /// Adds a cluster while the endpoint is being built.
    public func add(_ cluster: any ClusterServer) {
        let id = cluster.definition.id
        let place = place(of: id)
        guard place == clusterIDs.count || clusterIDs[place] != id else { return }
        clusterIDs.insert(id, at: place)
        clusters.insert(cluster, at: place)
    }
}

/// One instance of a cluster on an endpoint: what exists of its definition, its data, its behaviour.
public protocol ClusterServer: AnyObject {
    var definition: ClusterDefinition { get }
    var dataVersion: DataVersion { get }
    /// The attributes that exist, global ones included, in the order of their ids.
    var attributeIDs: [AttributeID] { get }
    /// An attribute that exists.
    func attribute(_ id: AttributeID) -> AttributeDefinition?
    /// A request command that is accepted.
    func command(_ id: CommandID) -> CommandDefinition?
    /// An event that this instance can generate.
    func event(_ id: EventID) -> EventDefinition?
    var eventIDs: [EventID] { get }

    /// The value of an attribute that exists. Fabric-scoped lists come whole, each entry with its FabricIndex; the interaction server
    /// filters them.
    func read(_ attribute: AttributeDefinition, _ context: InteractionContext) throws(Status) -> TLVValue
    /// Changes an attribute. Existence, access, timed interaction and data version have been checked; type and constraint have not.
    func write(_ attribute: AttributeDefinition, _ change: AttributeChange, _ context: InteractionContext) throws(Status)
    /// Runs a command. Existence, access and timed interaction have been checked; the fields have not.
    func invoke(_ command: CommandDefinition, _ fields: TLVValue, _ context: InteractionContext) throws(Status) -> CommandOutcome
}

/// What a write does to an attribute (Matter Core, 10.6.5.3).
public enum AttributeChange: Hashable, Sendable {
    case replace(TLVValue)
    /// A new entry at the end of a list.
    case append(TLVValue)
}

/// What a command leads to.
public enum CommandOutcome: Sendable {
    /// A status, success as a rule.
    case status(Status)
    /// A response command with its fields.
    case response(CommandID, TLVValue)

    public static let success = CommandOutcome.status(.success)
}

/// One request as clusters see it: who asks, how, and what is to happen after the answer. Lives as long as the request is handled.
public final class InteractionContext {
    /// Who asks.
    public let peer: SessionContext
    /// The request followed a timed request.
    public let isTimed: Bool
    /// A read wants only the peer's own fabric's entries.
    public let isFabricFiltered: Bool
    /// The session that the request came in; nil for what the node does itself.
    public let session: Session?
    /// The subscription whose report this is about; nil for a request of the peer's.
    public let subscription: SubscriptionID?

    private var afterAnswer: [() -> Void] = []

    public init(
        peer: SessionContext, isTimed: Bool = false, isFabricFiltered: Bool = true, session: Session? = nil,
        subscription: SubscriptionID? = nil
    ) {
        self.subscription = subscription
        (self.peer, self.isTimed, self.isFabricFiltered, self.session) = (peer, isTimed, isFabricFiltered, session)
    }

    /// The accessing fabric; 0 while pairing.
    public var fabricIndex: FabricIndex { FabricIndex(peer.fabricIndex) }

    /// Runs `body` once the answer has been handed to the link: closing the very session that asks, for example.
    public func afterAnswering(_ body: @escaping () -> Void) { afterAnswer.append(body) }

    public func answered() {
        let bodies = afterAnswer
        afterAnswer = []
        for body in bodies { body() }
    }

    /// The node itself, with every right: reads for its own purposes, hands on the device.
    public static func local() -> InteractionContext {
        InteractionContext(peer: SessionContext(), isFabricFiltered: false)
    }
}
