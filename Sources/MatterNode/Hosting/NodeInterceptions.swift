import HearthTime
import MatterInteraction
import MatterMessage
import MatterModel
import MatterTransport

/// Where others may look at, and change, what happens around a node (DESIGN 5). The journal and the faults use them, and nobody else;
/// no cluster knows of either. Each is nil as a rule.
public struct NodeInterceptions {
    /// What becomes of one message.
    public enum FrameVerdict: Sendable, Equatable {
        case pass
        case drop
        /// Handled, or sent, this much later; frames of a session stay in order.
        case delay(Duration)
        /// The connection breaks instead.
        case reset
    }

    /// Who is at the other end of a session, in model facts only.
    public struct PeerFacts: Sendable, Hashable {
        public var fabricIndex: UInt8
        public var nodeID: UInt64
        public var isPairing: Bool
        /// Which of the node's sessions it is: they are counted from 1 since the node has power.
        public var session: UInt64 = 0
    }

    /// Reads, writes, commands, answers, reports.
    public var interaction = InteractionHooks()
    /// A message comes in (false) or goes out (true).
    public var frame: ((_ isOutgoing: Bool, _ header: ProtocolHeader, _ payload: UnsafeRawBufferPointer, PeerFacts) -> FrameVerdict)?
    /// A session is established. False breaks it.
    public var sessionOpened: ((PeerFacts) -> Bool)?
    public var sessionEnded: ((PeerFacts) -> Void)?
    /// A connection asks for a credential. An alert refuses it.
    public var refusesConnection: ((_ isPairing: Bool) -> TLSAlert?)?
    /// A step of a pairing is about to be answered. A status refuses it.
    public var pairing: ((PairingStep) -> StatusReport?)?
    /// The node starts.
    public var started: (() -> Void)?

    public init() {}
}

/// The steps of proving the passcode, as the device sees them (Matter Core, 4.14.1).
public enum PairingStep: String, Sendable, CaseIterable {
    case parameters
    case share
    case confirmation
}
