import HearthTime
import MatterDevice
import MatterModel

/// A path answers with a status of the tester's choice.
final class WrongStatusFault: Fault {
    override class var kind: String { "wrong-status" }
    override class var parameters: [(name: String, summary: String)] {
        [
            ("status", "the status, by its name or number"), ("endpoint", "only on this endpoint"), ("cluster", "only of this cluster"),
            ("attribute", "only of this attribute"), ("command", "only of this command"),
        ]
    }

    private let pattern: FaultPattern
    private let status: Status

    required init(_ reader: FaultParameters, plan: FaultPlan, random: RandomStream) throws(SimulatorError) {
        pattern = try reader.pattern()
        let name = reader.members["status"]?.string.flatMap { StatusCode(name: $0) }
        let number = reader.members["status"]?.unsigned.flatMap { UInt8(exactly: $0) }.map { StatusCode(rawValue: $0) }
        guard let code = name ?? number, code != .success else {
            throw SimulatorError(.badRequest, "the fault 'wrong-status' needs a 'status' other than SUCCESS, such as BUSY or 156")
        }
        status = Status(code)
        try super.init(reader, plan: plan, random: random)
    }

    override func lacking(_ node: DeviceNode) -> String? { pattern.lacking(node) }

    override func beforeRead(_ path: AttributePath) -> Status? { pattern.matches(path) && fires("a read is refused") ? status : nil }
    override func beforeWrite(_ path: AttributePath) -> Status? { pattern.matches(path) && fires("a write is refused") ? status : nil }
    override func beforeCommand(_ path: CommandPath) -> Status? { pattern.matches(path) && fires("a command is refused") ? status : nil }
}
