import HearthTime
import MatterCredentials
import MatterModel
import MatterTLV

/// The fabrics of a device, one record each in the store.
///
/// What AddNOC and UpdateNOC bring is pending while the fail-safe is armed: it holds for everybody at once, but the store keeps what was
/// before until `commit`, so that a device that loses its power in between wakes up as it was (Matter Core, 11.10.7.2).
public final class FabricTable {
    /// Fabrics that a device can belong to: SupportedFabrics.
    public static let capacity = 16

    /// In the order of their indices; one that is pending is among them.
    public private(set) var fabrics: [Fabric] = []
    /// The fabric that AddNOC brought and CommissioningComplete has not confirmed.
    public private(set) var pendingFabric: FabricIndex?
    /// The latest time that the device is sure has come, in seconds since 1970: certificates that were accepted began before it
    /// (Matter Core, 3.5.6.1).
    public private(set) var lastKnownGoodTime: Int64

    /// There are records that cannot be read: the device may belong to somebody, and is not to be had for its passcode alone before a
    /// factory reset.
    private(set) var hasUnreadable = false

    private let store: any DeviceStore
    /// What UpdateNOC replaced.
    private var replaced: Fabric?
    private var timeBefore: Int64?
    private var lastIndex: UInt8
    private var lastGeneration: UInt64

    private static let log = Log("fabrics")

    init(store: any DeviceStore) {
        self.store = store
        func number(_ key: String) -> UInt64? {
            store.value(for: key).flatMap { try? TLVValue(decoding: $0) }.flatMap(\.unsigned)
        }
        lastIndex = UInt8(truncatingIfNeeded: number("fabrics/last-index") ?? 0)
        lastGeneration = number("fabrics/last-generation") ?? 0
        lastKnownGoodTime = Int64(clamping: number("fabrics/last-known-good-time") ?? UInt64(MatterTime.unixOffset))
        for key in store.keys(withPrefix: Self.prefix) {
            guard let bytes = store.value(for: key) else { continue }
            do {
                fabrics.append(try Fabric(serialized: bytes))
            } catch {
                hasUnreadable = true
                Self.log.error(
                    "the fabric stored as \(key) cannot be read and is left out; the device can be paired from another of its fabrics, or "
                        + "after a factory reset: \(error)")
            }
        }
        fabrics.sort { $0.index < $1.index }
    }

    private static let prefix = "fabrics/record/"
    private static func key(_ index: FabricIndex) -> String { "\(prefix)\(index)" }

    // MARK: Looking up

    /// Nil when the device is in no fabric of that index.
    public subscript(_ index: FabricIndex) -> Fabric? { fabrics.first { $0.index == index } }

    /// A device is in a fabric at most once, so that its compressed id is enough.
    public func fabric(compressedID: UInt64) -> Fabric? { fabrics.first { $0.identity.compressedID == compressedID } }

    /// By the name that a client asks for; upper and lower case are the same.
    public func fabric(instanceName: String) -> Fabric? {
        let wanted = instanceName.uppercased()
        return fabrics.first { $0.instanceName == wanted }
    }

    public func fabric(_ identity: FabricIdentity) -> Fabric? { fabrics.first { $0.identity == identity } }

    /// When certificates must be valid: the later of the device's clock and the last known good time, in seconds since 1970.
    public func validationTime(wall: Duration) -> Int64 { max(wall.components.seconds, lastKnownGoodTime) }

    // MARK: Changing

    var isFull: Bool { fabrics.count >= Self.capacity }

    /// The index of the next fabric: they count up and go round, so that one is reused as late as possible. Nil when there is none.
    func freeIndex() -> FabricIndex? {
        guard !isFull else { return nil }
        var candidate = lastIndex
        repeat { candidate = candidate >= 254 ? 1 : candidate + 1 } while self[FabricIndex(candidate)] != nil
        return FabricIndex(candidate)
    }

    func nextGeneration() -> UInt64 {
        lastGeneration &+= 1
        store.put(TLVValue.unsigned(lastGeneration).encoded(), for: "fabrics/last-generation")
        return lastGeneration
    }

    /// Adds a fabric, pending until `commit`.
    func add(_ fabric: Fabric) {
        lastIndex = fabric.index.rawValue
        store.put(TLVValue.unsigned(UInt64(lastIndex)).encoded(), for: "fabrics/last-index")
        pendingFabric = fabric.index
        fabrics.append(fabric)
        fabrics.sort { $0.index < $1.index }
    }

    /// Puts new credentials in place of a fabric's, pending until `commit`.
    func update(_ fabric: Fabric) {
        guard let position = fabrics.firstIndex(where: { $0.index == fabric.index }) else { return }
        if replaced == nil { replaced = fabrics[position] }
        fabrics[position] = fabric
    }

    /// Changes the label, which is no credential and takes effect for good, also of a fabric that is pending.
    func setLabel(_ label: String, of index: FabricIndex) {
        guard let position = fabrics.firstIndex(where: { $0.index == index }) else { return }
        fabrics[position].label = label
        if var before = replaced, before.index == index {
            before.label = label
            replaced = before
            write(before)
        } else if pendingFabric != index {
            write(fabrics[position])
        }
    }

    /// Removes a fabric for good.
    func remove(_ index: FabricIndex) {
        fabrics.removeAll { $0.index == index }
        store.remove(Self.key(index))
        if pendingFabric == index { pendingFabric = nil }
        if replaced?.index == index { replaced = nil }
    }

    /// Moves the last known good time on to when a certificate that was accepted began to be valid.
    func accepted(_ certificates: [MatterCertificate]) {
        guard let latest = certificates.map(\.notBefore.unix).max(), latest > lastKnownGoodTime else { return }
        if timeBefore == nil { timeBefore = lastKnownGoodTime }
        lastKnownGoodTime = latest
    }

    /// What was pending is kept.
    func commit() {
        if let index = pendingFabric ?? replaced?.index, let fabric = self[index] { write(fabric) }
        if timeBefore != nil {
            store.put(TLVValue.unsigned(UInt64(clamping: lastKnownGoodTime)).encoded(), for: "fabrics/last-known-good-time")
        }
        (pendingFabric, replaced, timeBefore) = (nil, nil, nil)
    }

    /// What was pending is taken back. - Returns: the fabric that is gone, if one was added.
    func rollBack() -> FabricIndex? {
        let added = pendingFabric
        if let added { remove(added) }
        if let before = replaced, let position = fabrics.firstIndex(where: { $0.index == before.index }) {
            fabrics[position] = before
            // Not the number from before: sessions that were begun in between must not be resumed either.
            fabrics[position].generation = nextGeneration()
            write(fabrics[position])
        }
        if let timeBefore { lastKnownGoodTime = timeBefore }
        (pendingFabric, replaced, timeBefore) = (nil, nil, nil)
        return added
    }

    private func write(_ fabric: Fabric) {
        do throws(CredentialsError) {
            store.put(try fabric.serialized, for: Self.key(fabric.index))
        } catch {
            Self.log.error("fabric \(fabric.index) cannot be stored: \(error)")
        }
    }
}
