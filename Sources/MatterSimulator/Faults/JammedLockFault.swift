import HearthTime
import MatterDevice
import MatterModel

/// The bolt gets stuck when the lock is told to move it, and stays so until somebody turns it by hand or the fault is cleared.
final class JammedLockFault: Fault {
    override class var kind: String { "jammed-lock" }
    override class var parameters: [(name: String, summary: String)] { [("endpoint", "only the lock on this endpoint")] }

    private static let moving: Set<CommandID> = [
        DoorLock.Commands.lockDoor, DoorLock.Commands.unlockDoor, DoorLock.Commands.unlockWithTimeout, DoorLock.Commands.unboltDoor,
    ]

    private let pattern: FaultPattern
    private weak var target: (any FaultTarget)?

    required init(_ reader: FaultParameters, plan: FaultPlan, random: RandomStream) throws(SimulatorError) {
        pattern = try reader.pattern()
        try super.init(reader, plan: plan, random: random)
    }

    override func lacking(_ node: DeviceNode) -> String? { pattern.of(DoorLock.id).lacking(node) }
    override func begin(_ device: any FaultTarget) { target = device }

    override func beforeCommand(_ path: CommandPath) -> Status? {
        guard path.cluster == DoorLock.id, Self.moving.contains(path.command), pattern.matches(path),
            let lock = target?.node?.cluster(DoorLockCluster.self, at: path.endpoint), !lock.isJammed, fires("the bolt jams")
        else { return nil }
        lock.jam()
        // The lock itself says what comes of the command now.
        return nil
    }

    override func end(_ device: any FaultTarget) {
        for lock in device.node?.clusters(DoorLockCluster.self) ?? [] where pattern.endpoint ?? lock.endpoint == lock.endpoint {
            lock.free()
        }
    }
}
