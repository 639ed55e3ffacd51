import MatterModel
import MatterSimulator

/// Something that is to go wrong. `docs/adding-a-fault.md` has the table of kinds; the usual ones have a function here.
public struct DeviceFault: Sendable {
    public var kind: String
    public var parameters: [String: JSONValue]

    public init(_ kind: String, _ parameters: [String: JSONValue] = [:]) { (self.kind, self.parameters) = (kind, parameters) }

    /// Which way the frames go, as the device sees it.
    public enum Direction: String, Sendable { case incoming = "in", outgoing = "out", both }

    public static func delay(_ span: Duration, jitter: Duration = .zero, _ direction: Direction = .both) -> DeviceFault {
        DeviceFault(
            "delay",
            ["delayMs": milliseconds(span), "jitterMs": milliseconds(jitter), "direction": .string(direction.rawValue)])
    }
    public static func slowAnswer(_ span: Duration) -> DeviceFault { DeviceFault("slow-answer", ["delayMs": milliseconds(span)]) }
    public static let offline = DeviceFault("offline")
    public static let reset = DeviceFault("reset")
    public static let halfOpen = DeviceFault("half-open")
    public static let expiredCertificate = DeviceFault("expired-certificate")
    public static let jammedLock = DeviceFault("jammed-lock")
    /// - Parameter position: in hundredths of a per cent, from 0 (open) to 10,000 (closed).
    public static func obstructedCovering(at position: UInt16 = 5000) -> DeviceFault {
        DeviceFault("obstructed-covering", ["positionPercent100ths": JSONValue(position)])
    }
    public static func reboot(down: Duration = .seconds(1)) -> DeviceFault { DeviceFault("reboot", ["downMs": milliseconds(down)]) }
    /// - Parameter step: of proving the passcode, or a stage of the commissioning.
    public static func pairing(failsAt step: String) -> DeviceFault { DeviceFault("pairing", ["step": .string(step)]) }
    public static func dropReports<Value>(of key: AttributeKey<Value>) -> DeviceFault { DeviceFault("drop-reports", path(key)) }
    public static let dropReports = DeviceFault("drop-reports")
    public static func missedLastReport<Value>(of key: AttributeKey<Value>) -> DeviceFault { DeviceFault("missed-last-report", path(key)) }
    public static func stuck<Value>(_ key: AttributeKey<Value>) -> DeviceFault { DeviceFault("stuck-attribute", path(key)) }
    public static func wrongStatus<Value>(_ status: StatusCode, for key: AttributeKey<Value>) -> DeviceFault {
        DeviceFault("wrong-status", path(key).merging(["status": .string(status.name)]) { $1 })
    }
    public static func wrongStatus<Request: CommandRequest>(_ status: StatusCode, for command: Request.Type) -> DeviceFault {
        DeviceFault(
            "wrong-status",
            ["status": .string(status.name), "cluster": JSONValue(Request.cluster.rawValue), "command": JSONValue(Request.id.rawValue)])
    }

    /// Nothing happens the first `count` times.
    public func skipping(_ count: Int) -> DeviceFault { with("skip", .integer(Int64(count))) }
    /// It happens `count` times at most.
    public func times(_ count: Int) -> DeviceFault { with("count", .integer(Int64(count))) }
    public var once: DeviceFault { times(1) }
    /// It happens each time with this probability, from 0 to 1.
    public func with(probability: Double) -> DeviceFault { with("probability", .number(probability)) }

    private func with(_ name: String, _ value: JSONValue) -> DeviceFault {
        var copy = self
        copy.parameters[name] = value
        return copy
    }

    private static func milliseconds(_ span: Duration) -> JSONValue { .integer(Int64(clamping: span / .milliseconds(1))) }

    private static func path<Value>(_ key: AttributeKey<Value>) -> [String: JSONValue] {
        ["cluster": JSONValue(key.cluster.rawValue), "attribute": JSONValue(key.attribute.rawValue)]
    }
}

/// What is to go wrong with one device.
public struct DeviceFaults: Sendable {
    let device: String
    let simulator: Simulator

    /// Sets a fault. - Returns: its number, for `clear`. - Throws: `SimulatorError.badRequest`.
    @discardableResult
    public func add(_ fault: DeviceFault) async throws -> Int {
        try await simulator.addFault(device, fault.parameters.merging(["kind": .string(fault.kind)]) { $1 })
    }

    /// The faults that are set on this device alone.
    public func all() async throws -> [FaultInfo] { try await simulator.allFaults().filter { $0.device == device } }
    public func clear(_ number: Int) async throws { try await simulator.clearFault(number) }
    /// Clears those that are set on this device alone.
    public func clear() async throws { for info in try await all() { try await simulator.clearFault(info.number) } }
}

extension Int64 {
    fileprivate init(clamping number: Double) {
        self = number.isFinite ? (number >= 9.2e18 ? .max : number <= -9.2e18 ? .min : Int64(number)) : 0
    }
}
