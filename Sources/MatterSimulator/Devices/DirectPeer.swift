import HearthTime
import MatterInteraction
import MatterMessage
import MatterModel

/// A member of a device's fabric that speaks with it over a link in memory, message by message and without TLS. Whoever makes it vouches
/// for who it is; what it may do, the device's access control says. Faults and journal see it as they see everybody.
///
/// It connects when it is first used, and again when the connection has broken. Requests may be made from any task.
public final class DirectPeer: Sendable {
    public let device: String
    public let fabric: FabricIndex
    public let node: NodeID
    private let simulator: Simulator
    private let connection: Confined<Connection?>

    private final class Connection {
        let client: InteractionClient
        private let link: MemoryLink
        init(_ client: InteractionClient, _ link: MemoryLink) { (self.client, self.link) = (client, link) }
    }

    init(_ simulator: Simulator, _ device: String, _ fabric: FabricIndex, _ node: NodeID) {
        (self.simulator, self.device, self.fabric, self.node) = (simulator, device, fabric, node)
        connection = Confined(sending: nil, on: simulator.timeline)
    }

    /// - Throws: `SimulatorError` when the device is off or there is none, `InteractionError`, `Status`.
    public func read(_ selection: ReadSelection) async throws -> [AttributeReport] {
        try await simulator.timeline.call("direct read") { try await self.connected().read(selection).attributes }
    }

    /// - Parameter timed: milliseconds that a timed request announces. - Throws: as `read`.
    public func write(_ writes: [AttributeData], timed: UInt16? = nil) async throws -> [WriteResponse.Item] {
        try await simulator.timeline.call("direct write") { try await self.connected().write(writes, timed: timed) }
    }

    /// - Parameter timed: milliseconds that a timed request announces. - Throws: as `read`.
    public func invoke(_ commands: [CommandData], timed: UInt16? = nil) async throws -> [CommandAnswer] {
        try await simulator.timeline.call("direct invoke") { try await self.connected().invoke(commands, timed: timed) }
    }

    /// Subscribes while the connection lasts. `report` hears of the attributes of the first report and of each that follows, on the
    /// timeline's thread. - Throws: as `read`.
    public func subscribe(_ request: SubscribeRequest, report: @escaping @Sendable ([AttributeReport]) -> Void) async throws {
        try await simulator.timeline.call("direct subscribe") {
            let (subscription, first) = try await self.connected().subscribe(request)
            report(first.attributes)
            subscription.onReport = { report($0.attributes) }
        }
    }

    /// Ends the connection, and with it the subscriptions.
    public func close() async {
        try? await simulator.timeline.call("direct close") {
            self.connection.value?.client.session.close()
            self.connection.value = nil
        }
    }

    /// On the timeline's thread.
    private func connected() async throws -> InteractionClient {
        if let client = connection.value?.client, client.session.isOpen { return client }
        let (simulator, timeline) = (simulator, simulator.timeline)
        let name = "direct \(fabric.rawValue)/\(node.rawValue)>\(device)"
        let (near, far) = MemoryLink.pair(timeline: timeline, name: name)
        let session = Session(link: near, context: SessionContext(authMode: .case, peerNodeID: 0))
        let client = InteractionClient(session: session, timeline: timeline, origin: timeline.origin(name))
        session.onExchange = { [weak client] exchange, opcode, payload in
            guard exchange.protocolID == .interactionModel, let client else { return exchange.close() }
            client.accept(exchange, opcode, payload)
        }
        session.onEnd = { [weak client] _ in client?.sessionEnded() }
        let parcel = Confined(far, on: timeline)
        let context = SessionContext(authMode: .case, fabricIndex: fabric.rawValue, peerNodeID: node.rawValue)
        try await simulator.serve(parcel, as: context, device)
        connection.value = Connection(client, near)
        return client
    }
}

extension Simulator {
    /// A peer of one of the device's fabrics, over memory and without TLS.
    /// - Parameters:
    ///   - fabric: the fabric's index on the device.
    ///   - node: who it is in that fabric: what it may do, the device's access control says.
    public nonisolated func peer(of device: String, fabric: FabricIndex, node: NodeID) -> DirectPeer {
        DirectPeer(self, device, fabric, node)
    }

    func serve(_ link: Confined<MemoryLink>, as context: SessionContext, _ name: String) throws {
        guard let host = try device(name).host else { throw SimulatorError(.badRequest, "\(name) is switched off: start it first") }
        host.serve(link.value, as: context, isIntercepted: true)
    }
}
