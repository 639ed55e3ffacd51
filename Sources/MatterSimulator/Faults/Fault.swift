import HearthTime
import MatterDevice
import MatterInteraction
import MatterMessage
import MatterModel
import MatterNode
import MatterTLV
import MatterTransport

/// Something that goes wrong with a device on purpose. One subclass a kind, each in its own file; `docs/adding-a-fault.md` says how.
///
/// A subclass overrides the interception points that it needs and asks `fires()` before it does anything: that is where skip, count and
/// probability are decided. A fault belongs to the timeline's thread.
class Fault {
    /// The word for it in the machine interface.
    class var kind: String { "" }
    /// Its own parameters, beside skip, count and probability: name and what it means.
    class var parameters: [(name: String, summary: String)] { [] }

    let plan: FaultPlan
    /// Takes note that the fault took effect.
    var onFire: (String) -> Void = { _ in }
    /// Draws for this fault alone.
    var random: RandomStream

    /// - Throws: `SimulatorError.badRequest` when a parameter is missing or wrong.
    required init(_ reader: FaultParameters, plan: FaultPlan, random: RandomStream) throws(SimulatorError) {
        (self.plan, self.random) = (plan, random)
    }

    /// Decides in place of the plan: a replay knows when the fault took effect.
    var decide: ((String) -> Bool)?

    private var seen = 0
    private var fired = 0
    /// Whether the fault has done all that it was to do.
    var isSpent: Bool { plan.count.map { fired >= $0 } ?? false }

    /// Whether the fault takes effect now. To be asked once for each thing that it could spoil.
    final func fires(_ what: String) -> Bool {
        if let decide {
            if decide(what) { onFire(what) } else { return false }
            return true
        }
        if isSpent { return false }
        seen += 1
        // Drawn every time, so that skipping does not shift the draws that follow.
        let isDrawn = plan.permille >= 1000 || random.chance(permille: plan.permille)
        guard seen > plan.skip, isDrawn else { return false }
        fired += 1
        onFire(what)
        return true
    }

    /// What a device would have to have for the fault to strike it, and lacks; nil when the fault can. A device that is off is not asked.
    func lacking(_ node: DeviceNode) -> String? { nil }

    // MARK: Interception points

    /// Set on a device, which may be switched off.
    func begin(_ device: any FaultTarget) {}
    /// The device has got power, and runs; also called after `begin` when it runs already.
    func started(_ device: any FaultTarget) {}
    /// Cleared.
    func end(_ device: any FaultTarget) {}
    func frame(_ message: FaultMessage) -> NodeInterceptions.FrameVerdict { .pass }
    /// False breaks the session.
    func sessionOpened() -> Bool { true }
    /// An alert refuses the connection.
    func refusesConnection(isPairing: Bool) -> TLSAlert? { nil }
    func pairing(_ step: PairingStep) -> StatusReport? { nil }
    func beforeRead(_ path: AttributePath) -> Status? { nil }
    func beforeWrite(_ path: AttributePath) -> Status? { nil }
    func beforeCommand(_ path: CommandPath) -> Status? { nil }
    func beforeAnswer(_ opcode: InteractionOpcode) -> InteractionHooks.AnswerVerdict { .now }
    /// What a peer sees instead of the value; `subscription` is that of the report that it is for, nil for a read.
    func replaceValue(_ path: AttributePath, _ subscription: SubscriptionID?) -> TLVValue? { nil }
    /// Paths may be taken out of the report; false drops it.
    func beforeReport(_ subscription: SubscriptionID, _ paths: inout [AttributePath]) -> Bool { true }
}

/// A message that comes in or goes out, as a fault sees it. The payload is valid during the call only.
struct FaultMessage {
    let isOutgoing: Bool
    let header: ProtocolHeader
    let payload: UnsafeRawBufferPointer
    let peer: NodeInterceptions.PeerFacts

    /// The peer begins an interaction with it, or goes on with one that it began.
    var isRequest: Bool { !isOutgoing && header.isInitiator && header.protocolID == .interactionModel }

    func isRequest(_ opcode: InteractionOpcode) -> Bool { isRequest && header.opcode == opcode.rawValue }
}

/// How often a fault takes effect.
struct FaultPlan: Sendable {
    /// Times that nothing happens first.
    var skip = 0
    /// Times that it happens, at most; nil for ever.
    var count: Int?
    /// How often in a thousand, after the skipped ones.
    var permille: UInt64 = 1000
}

/// What a fault may do to its device as a whole.
protocol FaultTarget: AnyObject {
    var name: String { get }
    var timeline: Timeline { get }
    var origin: Timeline.Origin { get }
    func cutPower()
    func restorePower()
    var clockOffset: Duration { get set }
    /// The device's data model, while it runs.
    var node: DeviceNode? { get }
    func endSessions()
}

/// A fault's parameters as the machine interface gives them.
struct FaultParameters {
    let kind: String
    let members: [String: JSONValue]

    func duration(_ name: String, default standard: Duration? = nil) throws(SimulatorError) -> Duration {
        guard let value = members[name] else {
            if let standard { return standard }
            throw SimulatorError(.badRequest, "the fault '\(kind)' needs '\(name)', in milliseconds")
        }
        guard let milliseconds = value.unsigned, milliseconds <= 86_400_000 else {
            throw SimulatorError(.badRequest, "'\(name)' is a number of milliseconds up to 86400000")
        }
        return .milliseconds(Int64(milliseconds))
    }

    func text(_ name: String) throws(SimulatorError) -> String? {
        guard let value = members[name] else { return nil }
        guard let text = value.string else { throw SimulatorError(.badRequest, "'\(name)' is a text") }
        return text
    }

    func number(_ name: String) throws(SimulatorError) -> UInt64? {
        guard let value = members[name] else { return nil }
        guard let number = value.unsigned else { throw SimulatorError(.badRequest, "'\(name)' is a number that is not negative") }
        return number
    }

    /// Which attributes or commands are meant: `endpoint`, `cluster`, `attribute`, `command`, each by name or number; what is absent
    /// stands for all.
    func pattern() throws(SimulatorError) -> FaultPattern {
        var pattern = FaultPattern()
        if let number = try number("endpoint") {
            guard let endpoint = EndpointID(exactly: number) else { throw SimulatorError(.badRequest, "there is no endpoint \(number)") }
            pattern.endpoint = endpoint
        }
        guard let clusterName = members["cluster"] else { return pattern }
        let definition =
            clusterName.string.flatMap { DataModel.cluster(named: $0) }
            ?? clusterName.unsigned.flatMap { ClusterID(exactly: $0) }.flatMap { DataModel.cluster(id: $0) }
        guard let definition else { throw SimulatorError(.badRequest, "there is no such cluster") }
        pattern.cluster = definition.id
        if let value = members["attribute"] {
            let id = value.string.flatMap { definition.attribute(named: $0)?.id } ?? value.unsigned.flatMap { AttributeID(exactly: $0) }
            guard let id else { throw SimulatorError(.badRequest, "\(definition.name) has no such attribute") }
            pattern.attribute = id
        }
        if let value = members["command"] {
            let id = value.string.flatMap { definition.command(named: $0)?.id } ?? value.unsigned.flatMap { CommandID(exactly: $0) }
            guard let id else { throw SimulatorError(.badRequest, "\(definition.name) has no such command") }
            pattern.command = id
        }
        return pattern
    }
}

/// Which paths a fault is about; nil stands for all.
struct FaultPattern {
    var endpoint: EndpointID?
    var cluster: ClusterID?
    var attribute: AttributeID?
    var command: CommandID?

    func matches(_ path: AttributePath) -> Bool {
        command == nil && endpoint ?? path.endpoint == path.endpoint && cluster ?? path.cluster == path.cluster
            && attribute ?? path.attribute == path.attribute
    }
    func matches(_ path: CommandPath) -> Bool {
        attribute == nil && endpoint ?? path.endpoint == path.endpoint && cluster ?? path.cluster == path.cluster
            && command ?? path.command == path.command
    }

    /// Whether it is about something of that cluster.
    func of(_ cluster: ClusterID) -> FaultPattern {
        var pattern = self
        pattern.cluster = cluster
        return pattern
    }

    /// What a node would have to have for a path to match, and lacks.
    func lacking(_ node: DeviceNode) -> String? {
        if let endpoint, node.endpoint(endpoint) == nil { return "endpoint \(endpoint)" }
        guard let cluster else { return nil }
        let place = endpoint.map { " on endpoint \($0)" } ?? ""
        let name = DataModel.cluster(id: cluster)?.name ?? cluster.description
        let servers = node.endpoints.filter { endpoint ?? $0.id == $0.id }.compactMap { $0.cluster(cluster) }
        guard let definition = servers.first?.definition else { return "\(name)\(place)" }
        if let attribute, !servers.contains(where: { $0.attribute(attribute) != nil }) {
            return "\(name).\(definition.attribute(id: attribute)?.name ?? attribute.description)\(place)"
        }
        if let command, !servers.contains(where: { $0.command(command) != nil }) {
            return "\(name).\(definition.command(id: command)?.name ?? command.description)\(place)"
        }
        return nil
    }
}
