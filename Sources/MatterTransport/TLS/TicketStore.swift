import HearthTime
import MatterCredentials
import MatterModel

/// A dialler's session tickets, one per node, fabric and credential generation. Each is used once (RFC 8446, C.4); a
/// connection that ends well has brought a new one.
public final class TicketStore: Sendable {
    struct Key: Hashable, Sendable {
        let fabric: FabricIdentity
        let node: NodeID
        let generation: UInt32
    }
    struct Ticket: Sendable {
        let session: [UInt8]
        /// When the chain that was verified in the full handshake is valid.
        let window: ValidityWindow
    }

    private let tickets = Locked<[Key: Ticket]>([:])
    public init() {}

    func take(_ key: Key) -> Ticket? { tickets.withLock { $0.removeValue(forKey: key) } }
    func put(_ ticket: Ticket, for key: Key) { tickets.withLock { $0[key] = ticket } }
    /// Drops every ticket of a fabric.
    public func removeAll(of fabric: FabricIdentity) { tickets.withLock { $0 = $0.filter { $0.key.fabric != fabric } } }
    /// Tickets that wait to be used.
    public var count: Int { tickets.withLock { $0.count } }
}
