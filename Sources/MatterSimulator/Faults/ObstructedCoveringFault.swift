import HearthTime
import MatterDevice
import MatterModel

/// Something stands in the covering's way. It is noticed when the covering comes to it, and gone when the fault is cleared.
final class ObstructedCoveringFault: Fault {
    override class var kind: String { "obstructed-covering" }
    override class var parameters: [(name: String, summary: String)] {
        [
            ("positionPercent100ths", "where the obstacle is, from 0 (open) to 10000 (closed) (5000)"),
            ("endpoint", "only the covering on this endpoint"),
        ]
    }

    private static let moving: Set<CommandID> = [
        WindowCovering.Commands.upOrOpen, WindowCovering.Commands.downOrClose, WindowCovering.Commands.goToLiftValue,
        WindowCovering.Commands.goToLiftPercentage,
    ]

    private let position: UInt16
    private let pattern: FaultPattern
    private weak var target: (any FaultTarget)?

    required init(_ reader: FaultParameters, plan: FaultPlan, random: RandomStream) throws(SimulatorError) {
        pattern = try reader.pattern()
        let number = try reader.number("positionPercent100ths") ?? 5000
        guard let position = UInt16(exactly: number), position <= 10_000 else {
            throw SimulatorError(.badRequest, "'positionPercent100ths' is a number from 0 to 10000")
        }
        self.position = position
        try super.init(reader, plan: plan, random: random)
    }

    override func lacking(_ node: DeviceNode) -> String? { pattern.of(WindowCovering.id).lacking(node) }
    override func begin(_ device: any FaultTarget) { target = device }

    /// Put there before a motion begins, so that skip, count and probability mean motions.
    override func beforeCommand(_ path: CommandPath) -> Status? {
        guard path.cluster == WindowCovering.id, Self.moving.contains(path.command), pattern.matches(path),
            let covering = target?.node?.cluster(WindowCoveringCluster.self, at: path.endpoint), covering.obstacle == nil,
            fires("something is in the way")
        else { return nil }
        covering.obstacle = position
        return nil
    }

    override func end(_ device: any FaultTarget) {
        for covering in device.node?.clusters(WindowCoveringCluster.self) ?? []
        where pattern.endpoint ?? covering.endpoint == covering.endpoint && covering.obstacle == position {
            covering.obstacle = nil
        }
    }
}
