import HearthTime

/// The device's clock is wrong.
final class WrongClockFault: Fault {
    override class var kind: String { "wrong-clock" }
    override class var parameters: [(name: String, summary: String)] {
        [("offsetMs", "how far the clock is ahead"), ("behind", "true when it is behind instead")]
    }

    private let offset: Duration

    required init(_ reader: FaultParameters, plan: FaultPlan, random: RandomStream) throws(SimulatorError) {
        let ahead = try reader.duration("offsetMs")
        offset = reader.members["behind"]?.boolean == true ? .zero - ahead : ahead
        try super.init(reader, plan: plan, random: random)
    }

    override func begin(_ device: any FaultTarget) { if fires("the clock is wrong") { device.clockOffset = offset } }
    override func end(_ device: any FaultTarget) { device.clockOffset = .zero }
}
