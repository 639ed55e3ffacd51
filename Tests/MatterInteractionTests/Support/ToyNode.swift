import HearthTime
import MatterInteraction
import MatterMessage
import MatterModel
import MatterTLV
import Testing

final class ToyNode: NodeServer {
    let timeline: Timeline
    private(set) var endpoints: [EndpointServer] = []
    let events: EventLog
    var maximumPathsPerInvoke = 4
    private(set) weak var server: InteractionServer?
    /// The highest privilege of each fabric; 0 stands for a pairing session.
    var privileges: [UInt8: Privilege] = [0: .administer, 1: .administer, 2: .view, 3: .administer]
    /// The endpoints that a fabric may reach at all; nil for all.
    var reach: [UInt8: Set<EndpointID>] = [:]
    var questions = 0

    init(_ timeline: Timeline, events: EventLog = EventLog(boundary: 0)) { (self.timeline, self.events) = (timeline, events) }

    func attach(_ server: InteractionServer) {
        self.server = server
        events.onRecord = { [weak server] in server?.eventRecorded($0) }
    }

    func add(_ endpoint: EndpointID, _ clusters: [ToyCluster]) {
        for cluster in clusters { cluster.node = self }
        endpoints.append(EndpointServer(id: endpoint, deviceTypes: [], clusters: clusters))
        endpoints.sort { $0.id < $1.id }
    }

    func remove(_ endpoint: EndpointID) { endpoints.removeAll { $0.id == endpoint } }
    func endpoint(_ id: EndpointID) -> EndpointServer? { endpoints.first { $0.id == id } }

    func allows(_ privilege: Privilege, on cluster: ClusterID, at endpoint: EndpointServer, for peer: SessionContext) -> Bool {
        questions += 1
        guard let highest = privileges[peer.fabricIndex], privilege <= highest else { return false }
        return reach[peer.fabricIndex].map { $0.contains(endpoint.id) } ?? true
    }
}

/// A node with a toy cluster on endpoints 0, 1 and 2, and peers that talk to it.
final class Lab {
    let timeline: Timeline
    let node: ToyNode
    let server: InteractionServer
    let maximum: Int
    private(set) var toys: [EndpointID: ToyCluster] = [:]
    private var peers: [Peer] = []

    init(_ timeline: Timeline, maximum: Int, limits: InteractionServer.Limits = .init(), endpoints: Int = 3) {
        (self.timeline, self.maximum) = (timeline, maximum)
        node = ToyNode(timeline)
        server = InteractionServer(node: node, timeline: timeline, origin: timeline.origin("server"), limits: limits)
        node.attach(server)
        for number in 0..<endpoints {
            let id = EndpointID(UInt16(number))
            let toy = ToyCluster(endpoint: id)
            toys[id] = toy
            node.add(id, [toy])
        }
    }

    /// The toy cluster of endpoint 1.
    var toy: ToyCluster { toys[1] ?? ToyCluster(endpoint: 1) }

    func connect(fabric: UInt8 = 1, node: UInt64 = 0xA, mode: AuthMode? = .case) -> Peer {
        let peer = Peer(self, fabric, node, mode)
        peers.append(peer)
        return peer
    }

    func settle() async throws { try await timeline.advance(by: .zero) }
}

/// Somebody who talks to the node: with a client, or with messages made by hand.
final class Peer {
    let near: MemoryLink
    let far: MemoryLink
    let session: Session
    let serverSession: Session
    let client: InteractionClient
    let timeline: Timeline

    init(_ lab: Lab, _ fabric: UInt8, _ node: UInt64, _ mode: AuthMode?) {
        timeline = lab.timeline
        (near, far) = MemoryLink.pair(timeline: lab.timeline, name: "link \(fabric)/\(node)", maximumMessageSize: lab.maximum)
        session = Session(link: near, context: SessionContext(authMode: .case, fabricIndex: 1, maximumMessageSize: lab.maximum))
        serverSession = Session(
            link: far,
            context: SessionContext(authMode: mode, fabricIndex: fabric, peerNodeID: node, maximumMessageSize: lab.maximum),
            firstExchangeID: 500)
        client = InteractionClient(session: session, timeline: lab.timeline, origin: lab.timeline.origin("client"))
        let server = lab.server
        serverSession.onExchange = { [weak serverSession] exchange, opcode, payload in
            guard let serverSession else { return }
            server.accept(exchange, opcode, payload, in: serverSession)
        }
        serverSession.onEnd = { [weak serverSession] _ in if let serverSession { server.sessionEnded(serverSession) } }
        session.onExchange = { [weak client] exchange, opcode, payload in client?.accept(exchange, opcode, payload) }
        session.onEnd = { [weak client] _ in client?.sessionEnded() }
        session.filter = { [maximum = lab.maximum] _, _, payload in
            // Nothing on the wire is longer than the link allows.
            if payload.count + 12 > maximum { Issue.record("a payload of \(payload.count) bytes") }
            return true
        }
    }

    /// Begins an exchange with a message; what comes back is collected.
    func say(_ opcode: InteractionOpcode, _ payload: [UInt8]) -> Talk { say(opcode.rawValue, payload) }
    func say(_ opcode: UInt8, _ payload: [UInt8]) -> Talk {
        let talk = Talk(session.begin(.interactionModel), timeline)
        talk.say(opcode, payload)
        return talk
    }
}

/// One exchange by hand.
final class Talk {
    let exchange: Exchange
    private(set) var messages: [(opcode: UInt8, payload: [UInt8], at: ModelInstant)] = []

    init(_ exchange: Exchange, _ timeline: Timeline) {
        self.exchange = exchange
        exchange.onMessage = { [weak self] opcode, payload in self?.messages.append((opcode, Array(payload), timeline.now)) }
    }

    func say(_ opcode: InteractionOpcode, _ payload: [UInt8]) { say(opcode.rawValue, payload) }
    func say(_ opcode: UInt8, _ payload: [UInt8]) { exchange.send(opcode, payload) }
    func acknowledge(_ status: StatusCode = .success) { say(.statusResponse, StatusResponse(status).payload) }

    /// The status of the only message, when it is a status response.
    var status: StatusCode? {
        guard messages.count == 1, messages[0].opcode == InteractionOpcode.statusResponse.rawValue else { return nil }
        return try? messages[0].payload.withUnsafeBytes { try StatusResponse(decoding: $0) }.status
    }
    var reports: [ReportData] {
        messages.filter { $0.opcode == InteractionOpcode.reportData.rawValue }.compactMap { message in
            try? message.payload.withUnsafeBytes { try ReportData(decoding: $0) }
        }
    }
    var opcodes: [UInt8] { messages.map(\.opcode) }
}

/// Runs `body` with a lab on the thread of a timeline whose time moves by `advance` only. What is due at once happens by itself.
func inLab(
    maximum: Int = 64_000, limits: InteractionServer.Limits = .init(), endpoints: Int = 3, mode: Timeline.Mode = .manual,
    _ body: @Sendable @concurrent (Lab) async throws -> Void
) async throws {
    let timeline = Timeline(mode: mode)
    defer { timeline.shutdown() }
    try await timeline.run { try await body(Lab(timeline, maximum: maximum, limits: limits, endpoints: endpoints)) }
    #expect(timeline.failures.isEmpty)
}

extension ReportAccumulator {
    /// The value of an attribute of the report.
    subscript(endpoint: EndpointID, attribute: AttributeID) -> TLVValue? {
        for report in attributes where report.path.pattern == AttributePathPattern(endpoint, Toy.id, attribute) {
            if case .value(_, let value) = report.outcome { return value }
        }
        return nil
    }
    var statuses: [StatusCode] {
        attributes.compactMap { if case .status(let status) = $0.outcome { status.code } else { nil } }
            + events.compactMap { if case .status(let status) = $0.outcome { status.code } else { nil } }
    }
    var numbers: [EventNumber] {
        events.compactMap { if case .event(let number, _, _, _) = $0.outcome { number } else { nil } }
    }
}

func path(_ endpoint: EndpointID?, _ attribute: AttributeID?, cluster: ClusterID? = Toy.id) -> AttributePathPattern {
    AttributePathPattern(endpoint, cluster, attribute)
}
