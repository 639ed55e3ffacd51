import HearthTime
import MatterMessage
import MatterNode
import MatterTransport

/// The device cannot be reached: connections are refused, messages vanish, sessions stay silent until the fault is cleared.
final class OfflineFault: Fault {
    override class var kind: String { "offline" }

    override func frame(_ message: FaultMessage) -> NodeInterceptions.FrameVerdict { fires("a message vanishes") ? .drop : .pass }

    override func refusesConnection(isPairing: Bool) -> TLSAlert? { fires("a connection is refused") ? .accessDenied : nil }
}
