import HearthTime
import MatterMessage
import MatterNode

/// The device cannot be reached: connections are refused, messages vanish, sessions hang half open until the fault is cleared.
final class OfflineFault: Fault {
    override class var kind: String { "offline" }

    override func frame(
        isOutgoing: Bool, _ header: ProtocolHeader, _ payload: UnsafeRawBufferPointer
    ) -> NodeInterceptions.FrameVerdict { fires("a message vanishes") ? .drop : .pass }

    override func refusesConnection(isPairing: Bool) -> Bool { fires("a connection is refused") }
}
