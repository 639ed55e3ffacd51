import HearthTime
import MatterInteraction
import MatterMessage
import MatterModel
import MatterTLV
import Testing

@testable import MatterDevice

/// A device on a timeline of its own whose time the test moves.
///
/// Why `@unchecked Sendable` is sound: everything but `timeline` is touched inside `run` only, that is on the timeline's thread.
final class Bench: @unchecked Sendable {
    let timeline = Timeline(mode: .manual)
    let store: MemoryDeviceStore
    private(set) var node: DeviceNode

    init(store: MemoryDeviceStore = MemoryDeviceStore(), name: String = "bench") {
        self.store = store
        node = Self.makeNode(timeline, store, name)
    }

    private static func makeNode(_ timeline: Timeline, _ store: MemoryDeviceStore, _ name: String) -> DeviceNode {
        DeviceNode(
            environment: DeviceEnvironment(timeline: timeline, origin: timeline.origin(name), store: store, name: name, seed: 1))
    }

    /// Runs a test's body on the timeline and ends the timeline, also when the body throws.
    static func run(
        store: MemoryDeviceStore = MemoryDeviceStore(), _ body: @Sendable @concurrent (Bench) async throws -> Void
    ) async throws {
        let bench = Bench(store: store)
        defer { bench.timeline.shutdown() }
        try await bench.timeline.run { try await body(bench) }
        // What is not Sendable goes where it came from.
        try await bench.timeline.run { bench.node.stop() }
    }

    func advance(_ span: Duration) async throws { try await timeline.advance(by: span) }

    /// The power goes and comes back: another node on the same store. What is on it, `build` says.
    func restart(name: String = "bench", _ build: (DeviceNode) throws -> Void) rethrows {
        node.stop()
        node = Self.makeNode(timeline, store, name)
        try build(node)
        node.start()
    }

    /// Adds an endpoint with one cluster made by the factory.
    func add(
        _ cluster: ClusterID, at endpoint: EndpointID = 1, deviceTypes: [DeviceTypeID] = [],
        _ configuration: ClusterConfiguration = .init()
    ) throws {
        let made = try #require(ClusterFactory.make(cluster, endpoint: endpoint, node: node, configuration: configuration))
        if let existing = node.endpoint(endpoint) { return existing.add(made) }
        node.add(EndpointServer(id: endpoint, deviceTypes: deviceTypes.map { ($0, 1) }, clusters: [made]))
    }

    // MARK: Asking

    func cluster(_ id: ClusterID, at endpoint: EndpointID = 1) throws -> any ClusterServer {
        try #require(node.endpoint(endpoint)?.cluster(id))
    }

    func read(
        _ cluster: ClusterID, _ attribute: AttributeID, at endpoint: EndpointID = 1, as peer: SessionContext = .node(1)
    ) throws -> TLVValue {
        let server = try self.cluster(cluster, at: endpoint)
        let definition = try #require(server.attribute(attribute), "the attribute does not exist")
        return try server.read(definition, InteractionContext(peer: peer))
    }

    func write(
        _ cluster: ClusterID, _ attribute: AttributeID, _ value: some TLVConvertible, at endpoint: EndpointID = 1,
        as peer: SessionContext = .node(1)
    ) throws {
        let server = try self.cluster(cluster, at: endpoint)
        let definition = try #require(server.attribute(attribute), "the attribute does not exist")
        try server.write(definition, .replace(value.tlv), InteractionContext(peer: peer))
    }

    @discardableResult
    func invoke(
        _ cluster: ClusterID, _ command: CommandID, _ fields: TLVValue, at endpoint: EndpointID = 1,
        _ context: InteractionContext = InteractionContext(peer: .node(1), isTimed: true)
    ) throws -> CommandOutcome {
        let server = try self.cluster(cluster, at: endpoint)
        let definition = try #require(server.command(command), "the command does not exist")
        let outcome = try server.invoke(definition, fields, context)
        context.answered()
        return outcome
    }

    /// Invokes a command and gives its typed answer.
    @discardableResult
    func invoke<Request: CommandRequest>(
        _ request: Request, at endpoint: EndpointID = 1,
        _ context: InteractionContext = InteractionContext(peer: .node(1), isTimed: true)
    ) throws -> Request.Response {
        switch try invoke(Request.cluster, Request.id, request.tlv, at: endpoint, context) {
        case .response(_, let fields): return try Request.Response(tlv: fields)
        case .status(let status):
            if !status.isSuccess { throw status }
            return try Request.Response(tlv: .structure([]))
        }
    }

    /// The events of a kind, in order.
    func events(_ cluster: ClusterID, _ event: EventID) -> [EventRecord] {
        node.events.records.filter { $0.path.cluster == cluster && $0.path.event == event }
    }
}

extension SessionContext {
    /// An operational peer.
    static func node(_ id: UInt64, fabric: UInt8 = 1, tags: [UInt32] = []) -> SessionContext {
        SessionContext(
            authMode: .case, fabricIndex: fabric, peerNodeID: id, authenticatedTags: tags,
            attestationChallenge: [UInt8](repeating: 7, count: 16))
    }
    /// A peer that has proven the passcode.
    static func pairing(fabric: UInt8 = 0) -> SessionContext {
        SessionContext(authMode: .pase, fabricIndex: fabric, attestationChallenge: [UInt8](repeating: 9, count: 16))
    }
    /// Whoever sends to a group.
    static func group(_ id: UInt16, fabric: UInt8 = 1) -> SessionContext {
        SessionContext(authMode: .group, fabricIndex: fabric, peerNodeID: 0xFFFF_FFFF_FFFF_0000 | UInt64(id))
    }
}

/// The status that something throws; nil when it does not.
func status(_ body: () throws -> Void) -> StatusCode? {
    do {
        try body()
        return nil
    } catch let status as Status {
        return status.code
    } catch {
        Issue.record("an error that is no status: \(error)")
        return nil
    }
}
