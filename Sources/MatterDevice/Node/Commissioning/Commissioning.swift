import MatterCredentials
import MatterInteraction
import MatterModel

/// What belongs to the device as a whole and to no single cluster: who it is, in which fabrics, who may do what, whether it can be paired.
public final class Commissioning {
    private unowned let node: DeviceNode
    public let fabrics: FabricTable
    public let failSafe: FailSafe
    public let window: CommissioningWindow
    public let access: AccessControlList
    /// Set by `addRootEndpoint`; nil while a test has no such endpoint.
    public internal(set) var identity: DeviceIdentity?
    /// Set by `addRootEndpoint`.
    public internal(set) var attestation: DeviceAttestation?

    init(node: DeviceNode) {
        self.node = node
        fabrics = FabricTable(store: node.environment.store)
        failSafe = FailSafe(node: node)
        window = CommissioningWindow(node: node)
        access = AccessControlList()
    }

    /// The device starts: nothing is pending, and the window is open if nobody has paired it.
    func start() {
        window.reset()
        failSafe.recover()
        window.openInitially()
    }

    /// Fabrics, or their credentials, have changed.
    func fabricsChanged() {
        node.cluster(OperationalCredentialsCluster.self, at: 0)?.fabricsChanged()
        node.host?.fabricsChanged()
    }

    /// A root came or went that no fabric has yet.
    func rootsChanged() { node.cluster(OperationalCredentialsCluster.self, at: 0)?.rootsChanged() }

    /// Leaves a fabric for good: everything that belongs to it goes, and its sessions end after the answer (Matter Core, 11.18.6.12).
    /// - Parameter context: the request that leads to it; nil when the device itself does.
    public func leave(_ index: FabricIndex, answering context: InteractionContext? = nil) {
        guard fabrics[index] != nil else { return }
        node.cluster(BasicInformationCluster.self, at: 0)?.leaving(index)
        // The answer goes out before anything is closed, whoever closes it.
        let session = context?.peer.fabricIndex == index.rawValue ? context?.session : nil
        if failSafe.fabricIndex == index { failSafe.expire(answering: context) }
        fabrics.remove(index)
        node.forget(index)
        window.openerRemoved(index)
        fabricsChanged()
        node.host?.closeSessions(of: index, sparing: session)
        if fabrics.fabrics.isEmpty {
            if let context {
                context.afterAnswering { [weak node] in if let node, node.isRunning { node.commissioning.window.openInitially() }
                }
            } else {
                window.openInitially()
            }
        }
    }
}
