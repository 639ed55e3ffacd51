import HearthStore
import HearthTime
import MatterCredentials
import MatterDiscovery
import MatterInteraction
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
    public var stage: PairingStage?

    public init(_ status: String, _ message: String, code: UInt8? = nil, clusterStatus: UInt8? = nil, stage: PairingStage? = nil) {
        (self.status, self.message, self.code, self.clusterStatus, self.stage) = (status, message, code, clusterStatus, stage)
    }

    public init(_ status: Status, _ message: String? = nil, stage: PairingStage? = nil) {
        self.init(
            status.code.name, message ?? status.description, code: status.code.rawValue, clusterStatus: status.clusterStatus,
            stage: stage)
    }

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

    /// What any part of the controller threw.
    public init(from error: any Error) {
        switch error {
        case let error as MachineError: self = error
        case let error as ControllerError: self.init(controller: error)
        case let error as Status: self.init(error)
        case InteractionError.refused(let status): self.init(status)
        case let error as ValueError: self = .badRequest(error.message)
        case let error as JSONError: self = .badRequest("not JSON: \(error)")
        case let error as CredentialsError: self = .badRequest(error.description)
        case let error as StoreError: self.init(Self.storeStatus, error.description)
        case let error as DiscoveryError: self.init(Self.networkStatus, error.description)
        case let error as TimelineError: self.init(Self.noResponseStatus, "\(error)")
        default: self.init(Self.internalStatus, "\(error)")
        }
    }

    private init(controller error: ControllerError) {
        if let status = error.status {
            self.init(status, error.message, stage: error.stage)
            return
        }
        let status =
            switch error.code {
            case .unknownDevice: Self.unknownDeviceStatus
            case .unreachable: Self.unreachableStatus
            case .noResponse: Self.noResponseStatus
            case .refused: Self.refusedStatus
            case .pairingFailed: Self.pairingFailedStatus
            case .badRequest: Self.badRequestStatus
            case .store: Self.storeStatus
            }
        self.init(status, error.message, stage: error.stage)
    }

    public var json: JSONValue {
        var members: [String: JSONValue] = [
            "status": .string(status), "code": code.map { .integer(Int64($0)) } ?? .null,
            "clusterStatus": clusterStatus.map { .integer(Int64($0)) } ?? .null, "message": .string(message),
        ]
        if let stage { members["stage"] = .string(stage.rawValue) }
        return .object(members)
    }

    public var description: String { message }
}
