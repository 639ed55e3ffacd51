import HearthTime
import MatterMessage
import MatterNode

/// The connection breaks when a request comes.
final class ResetFault: Fault {
    override class var kind: String { "reset" }

    override func frame(
        isOutgoing: Bool, _ header: ProtocolHeader, _ payload: UnsafeRawBufferPointer
    ) -> NodeInterceptions.FrameVerdict {
        guard !isOutgoing, header.isInitiator, header.protocolID == .interactionModel else { return .pass }
        return fires("the connection breaks") ? .reset : .pass
    }
}
