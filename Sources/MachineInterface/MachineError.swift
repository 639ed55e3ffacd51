import MatterModel

/// A failure as the machine interface tells it: the `error` member of an answer.
public struct MachineError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The interaction model's name, such as `CONSTRAINT_ERROR`, or one in the same style for what it has no status for.
    public var status: String
    /// The interaction model's number; nil when the failure is none of its.
    public var code: UInt8?
    public var clusterStatus: UInt8?
    /// What happened and what to do, for people.
    public var message: String
    /// Where a pairing failed.
    public var stage: String?

    public init(_ status: String, _ message: String, code: UInt8? = nil, clusterStatus: UInt8? = nil, stage: String? = nil) {
        (self.status, self.message, self.code, self.clusterStatus, self.stage) = (status, message, code, clusterStatus, stage)
    }

    public init(_ status: Status, _ message: String? = nil, stage: String? = nil) {
        self.init(
            status.code.name, message ?? status.description, code: status.code.rawValue, clusterStatus: status.clusterStatus, stage: stage)
    }

    /// A request that cannot be understood; nothing was done.
    public static func badRequest(_ message: String) -> MachineError { MachineError(badRequestStatus, message) }

    /// The names of what the interaction model has no status for. One place, since exit codes are derived from them.
    public static let badRequestStatus = "BAD_REQUEST"
    public static let unknownDeviceStatus = "UNKNOWN_DEVICE"
    public static let unreachableStatus = "UNREACHABLE"
    public static let noResponseStatus = "NO_RESPONSE"
    public static let refusedStatus = "REFUSED"
    public static let pairingFailedStatus = "PAIRING_FAILED"
    public static let storeStatus = "STORE_UNUSABLE"
    public static let networkStatus = "NETWORK_UNUSABLE"
    public static let internalStatus = "INTERNAL_ERROR"
    public static let goneStatus = "GONE"

    public var json: JSONValue {
        var members: [String: JSONValue] = [
            "status": .string(status), "code": code.map { .integer(Int64($0)) } ?? .null,
            "clusterStatus": clusterStatus.map { .integer(Int64($0)) } ?? .null, "message": .string(message),
        ]
        if let stage { members["stage"] = .string(stage) }
        return .object(members)
    }

    public var description: String { message }
}
