import HearthTime
import MatterCredentials
import MatterInteraction
import MatterMessage
import MatterModel
import MatterTLV

/// What makes commissioning all or nothing: while it is armed, changes are pending; when it expires, they are taken back
/// (Matter Core, 11.10.7.2). Runs in model time.
public final class FailSafe {
    /// How long a pairing session arms it by itself, and the least that a commissioner should ask for: FailSafeExpiryLengthSeconds.
    public static let standardLength: UInt16 = 60
    /// How long it can be kept armed in all, whatever is asked for: MaxCumulativeFailsafeSeconds.
    public static let cumulativeLength: UInt16 = 900

    /// Which command gave the device new operational credentials.
    enum Credentials { case added, updated }

    /// What belongs to one arming.
    struct Arming {
        /// Whose it is; 0 while the peer of a pairing session has not added its fabric.
        var fabric: FabricIndex
        /// When it ends whatever is asked for.
        let limit: ModelInstant
        var expiry: ModelInstant
        /// The key of the last CSRRequest, and whether it was made for UpdateNOC.
        var operationalKey: (key: PrivateKey, isForUpdate: Bool)?
        /// What AddTrustedRootCertificate brought.
        var root: MatterCertificate?
        var credentials: Credentials?
    }

    private unowned let node: DeviceNode
    var arming: Arming?
    private var timer: Token?

    init(node: DeviceNode) { self.node = node }

    public var isArmed: Bool { arming != nil }
    /// The fabric whose administrator armed it; 0 while pairing, nil when it is not armed.
    public var fabricIndex: FabricIndex? { arming?.fabric }
    /// AddNOC has succeeded: from here on a lost pairing connection changes nothing, the timer decides.
    public var hasAddedFabric: Bool { arming?.credentials == .added }
    /// When it expires unless it is armed again.
    public var expiry: ModelInstant? { arming?.expiry }

    // MARK: Arming

    /// A peer has proven the passcode: arms for the standard length (Matter Core, 5.5).
    /// - Returns: false when an administrator of a fabric has it armed: the peer is to be told BUSY.
    public func pairingEstablished() -> Bool {
        guard fabricIndex == nil || fabricIndex == 0 else { return false }
        arm(for: Self.standardLength, fabric: 0)
        return true
    }

    /// The pairing session is gone. Before AddNOC nothing can come of what was begun, so that it ends at once.
    public func pairingEnded() {
        if let arming, arming.fabric == 0 { expire() }
    }

    /// Arms, or sets a new end, which cannot lie beyond the cumulative limit.
    func arm(for seconds: UInt16, fabric: FabricIndex) {
        let now = node.environment.now
        if arming == nil {
            arming = Arming(fabric: fabric, limit: now + .seconds(Int64(Self.cumulativeLength)), expiry: now)
        }
        guard let limit = arming?.limit else { return }
        let expiry = min(now + .seconds(Int64(seconds)), limit)
        arming?.expiry = expiry
        if let timer { node.cancel(timer) }
        timer = node.after(expiry - now) { [weak self] in
            self?.timer = nil
            self?.expire()
        }
    }

    /// AddNOC has succeeded: the arming now belongs to the new fabric. Noted in the store, since a device that loses its power before
    /// CommissioningComplete must forget what the fabric has left in other records.
    func addedFabric(_ index: FabricIndex) {
        arming?.fabric = index
        arming?.credentials = .added
        arming?.operationalKey = nil
        node.environment.store.put(TLVValue.unsigned(index.unsigned).encoded(), for: Self.marker)
    }

    private static let marker = "fabrics/pending"

    // MARK: Ending

    /// CommissioningComplete: what was pending is kept.
    func complete() {
        disarm()
        node.commissioning.fabrics.commit()
        node.environment.store.remove(Self.marker)
    }

    /// Takes back what was pending and ends the sessions that brought it.
    /// - Parameter context: the request that leads to it, whose answer is still to go out.
    public func expire(answering context: InteractionContext? = nil) {
        guard let ended = arming else { return }
        disarm()
        if let context, context.peer.authMode == .pase {
            context.afterAnswering { [weak host = node.host] in host?.closePairingSession() }
        } else {
            node.host?.closePairingSession()
        }
        let hadCredentials = ended.credentials != nil
        // Only then: an administrator that armed it for something else goes on (Matter Core, 11.10.7.2.2).
        if hadCredentials, ended.fabric != 0 { node.host?.closeSessions(of: ended.fabric, sparing: context?.session) }
        if let gone = node.commissioning.fabrics.rollBack() { node.forget(gone) }
        node.environment.store.remove(Self.marker)
        node.cluster(GeneralCommissioningCluster.self, at: 0)?.failSafeExpired()
        if hadCredentials { node.commissioning.fabricsChanged() } else if ended.root != nil { node.commissioning.rootsChanged() }
    }

    private func disarm() {
        arming = nil
        if let timer { node.cancel(timer) }
        timer = nil
    }

    /// The device starts: what was pending when it lost its power is taken back.
    func recover() {
        let store = node.environment.store
        disarm()
        let marked = store.value(for: Self.marker).flatMap { try? TLVValue(decoding: $0) }.flatMap(\.unsigned)
        let gone = node.commissioning.fabrics.rollBack() ?? marked.flatMap { FabricIndex(exactly: $0) }
        store.remove(Self.marker)
        if let gone, node.commissioning.fabrics[gone] == nil { node.forget(gone) }
    }
}
