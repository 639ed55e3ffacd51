import HearthIO
import HearthTime

@testable import MatterDiscovery

/// A network in virtual time: hosts with a responder and a querier each, and a wire that hands every multicast to all of them,
/// the sender too, as the loopback of multicasts does.
final class Lab {
    final class Node {
        let label: String
        let address: IPAddress
        let responder: Responder
        let querier: Querier
        let link: LinkID
        /// Not on the wire for the moment.
        var isDeaf = false

        init(_ label: String, _ number: UInt8, random: @escaping RandomDelay) {
            self.label = label
            address = IPAddress(bytes: [192, 0, 2, number])!
            link = LinkID(interface: 1, family: .v4)
            var names = 0
            responder = Responder(
                newHostLabel: {
                    names += 1
                    return names == 1 ? label : "\(label)-\(names)"
                }, random: random)
            querier = Querier(random: random)
        }
    }

    struct Sent {
        let at: Milliseconds
        let from: String
        let to: SocketAddress?
        let bytes: [UInt8]
        var message: Message { (try? MessageReader.read(bytes)) ?? Message() }
    }

    private(set) var now: Milliseconds = 1000
    private(set) var nodes: [Node] = []
    /// Every packet since the last `clear`.
    private(set) var wire: [Sent] = []
    /// What was told, with milliseconds since `clear`.
    private(set) var told: [String] = []
    private var cleared: Milliseconds = 1000
    private var stream: RandomStream

    init(seed: UInt64 = 1) { stream = RandomStream(seed: seed, owner: "lab", purpose: "delays") }

    func node(_ label: String) -> Node {
        let node = Node(label, UInt8(nodes.count + 1)) { range in
            range.lowerBound + Int64(self.stream.below(UInt64(range.upperBound - range.lowerBound) + 1))
        }
        nodes.append(node)
        node.responder.setLinks([node.link: [node.address]], at: now)
        node.querier.setLinks([node.link], at: now)
        return node
    }

    func clear() {
        wire = []
        told = []
        cleared = now
    }

    func tell(_ text: String) { told.append("\(now - cleared) \(text)") }

    @discardableResult
    func advertise(
        _ node: Node, _ instance: String, _ policy: NameConflictPolicy = .number, port: UInt16 = 5540, subtypes: [String] = [],
        text: [(String, String)] = [], host: ServiceHost? = nil, type: ServiceType = .commissionable
    ) -> Int {
        let record = ServiceRecord(
            name: ServiceName(instance, type), subtypes: subtypes, host: host, port: port,
            text: TextRecord(text.map { (key: $0.0, value: $0.1) }))
        return node.responder.add(record, policy, at: now) { self.tell("\(node.label)/\(instance): \($0.brief)") }
    }

    @discardableResult
    func browse(_ node: Node, subtype: String? = nil) -> Int {
        node.querier.browse(.commissionable, subtype: subtype, at: now) { self.tell("\(node.label) \($0.brief)") }
    }

    /// Puts a packet on the wire as if it came from `from`, for all nodes.
    func inject(_ message: Message, from: SocketAddress = SocketAddress(IPAddress(bytes: [192, 0, 2, 99])!, port: 5353)) {
        for node in nodes { node.responder.handle(message, from: PacketSource(link: node.link, address: from), at: now) }
        for node in nodes { node.querier.handle(message, from: PacketSource(link: node.link, address: from), at: now) }
        settle()
    }

    /// Lets `span` milliseconds pass.
    func run(_ span: Milliseconds) {
        let end = now + span
        settle()
        while let next = nodes.flatMap({ [$0.responder.deadline, $0.querier.deadline] }).compactMap({ $0 }).min(), next <= end {
            now = max(now, next)
            settle()
        }
        now = end
    }

    private func settle() {
        for _ in 0..<1000 {
            var isQuiet = true
            for node in nodes {
                let packets = node.responder.poll(at: now) + node.querier.poll(at: now)
                for event in node.responder.takeEvents() + node.querier.takeEvents() { event() }
                if packets.isEmpty { continue }
                isQuiet = false
                for packet in packets { deliver(packet, from: node) }
            }
            if isQuiet { return }
        }
    }

    private func deliver(_ packet: Outgoing, from sender: Node) {
        wire.append(Sent(at: now - cleared, from: sender.label, to: packet.to, bytes: packet.bytes))
        if sender.isDeaf { return }
        guard let message = try? MessageReader.read(packet.bytes) else { return tell("unreadable packet") }
        let source = SocketAddress(sender.address, port: 5353)
        for node in nodes
        where !node.isDeaf && packet.link == node.link && (packet.to == nil || packet.to?.address == node.address) {
            node.responder.handle(message, from: PacketSource(link: node.link, address: source), at: now)
            node.querier.handle(message, from: PacketSource(link: node.link, address: source), at: now)
        }
    }
}

extension Message {
    /// What is asked and said, in short: `? name type`, `= name type ttl`.
    var brief: [String] {
        func type(_ number: UInt16) -> String {
            [1: "A", 12: "PTR", 16: "TXT", 28: "AAAA", 33: "SRV", 47: "NSEC", 255: "ANY"][number] ?? "\(number)"
        }
        return questions.map { "? \($0.name) \(type($0.type))" + ($0.unicast ? " QU" : "") }
            + answers.map { "= \($0.name) \(type($0.type)) \($0.lifetime)" + ($0.flush ? " !" : "") }
            + authorities.map { "~ \($0.name) \(type($0.type))" + ($0.flush ? " !" : "") }
            + additionals.map { "+ \($0.name) \(type($0.type)) \($0.lifetime)" + ($0.flush ? " !" : "") }
    }
}
