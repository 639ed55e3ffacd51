import HearthTime
import MatterMessage
import MatterNode

/// The connection breaks when a request comes.
final class ResetFault: Fault {
    override class var kind: String { "reset" }

    override func frame(_ message: FaultMessage) -> NodeInterceptions.FrameVerdict {
        message.isRequest && fires("the connection breaks") ? .reset : .pass
    }
}
