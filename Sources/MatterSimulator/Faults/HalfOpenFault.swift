import HearthTime
import MatterMessage
import MatterNode

/// A session goes half-open when a request comes on it: what either side sends on it vanishes, and neither is told. New connections
/// work, until a request strikes the fault there too.
final class HalfOpenFault: Fault {
    override class var kind: String { "half-open" }

    private var silent: Set<UInt64> = []

    /// Sessions end with the power, and are counted anew.
    override func started(_ device: any FaultTarget) { silent = [] }

    override func frame(_ message: FaultMessage) -> NodeInterceptions.FrameVerdict {
        if silent.contains(message.peer.session) { return .drop }
        guard message.isRequest, fires("a session goes half-open") else { return .pass }
        silent.insert(message.peer.session)
        return .drop
    }
}
