import MatterInteraction
import MatterModel

/// Why a controller could not do what was asked.
public struct ControllerError: Error, Sendable, CustomStringConvertible {
    /// What a caller can act on; exit codes and the machine interface's status follow from it.
    public enum Code: String, Sendable {
        /// No device of that name or node id is paired.
        case unknownDevice
        /// The device was not found, or did not take a connection.
        case unreachable
        /// The device took the request and did not answer in time.
        case noResponse
        /// The device refused; `status` says how.
        case refused
        /// A pairing did not succeed; `stage` says where.
        case pairingFailed
        /// What was asked makes no sense: a malformed code, a name that is taken.
        case badRequest
        /// The home's store cannot be read or written.
        case store
    }

    public let code: Code
    /// What happened, where, and what to do.
    public let message: String
    /// The device's own status, when it refused.
    public let status: Status?
    /// Where a pairing failed.
    public let stage: PairingStage?

    public init(_ code: Code, _ message: String, status: Status? = nil, stage: PairingStage? = nil) {
        (self.code, self.message, self.status, self.stage) = (code, message, status, stage)
    }

    public var description: String { message }

    static func refused(_ status: Status, _ what: String) -> ControllerError {
        ControllerError(.refused, "\(what): the device answered \(status)", status: status)
    }

    /// The error of an interaction with `device`.
    init(_ error: any Error, device: String) {
        switch error {
        case let error as ControllerError: self = error
        case InteractionError.refused(let status): self = .refused(status, device)
        case InteractionError.noResponse(let limit):
            self.init(.noResponse, "\(device) did not answer within \(limit.components.seconds) s")
        case InteractionError.sessionEnded(let cause):
            self.init(.unreachable, "the connection to \(device) ended" + (cause.map { ": \($0)" } ?? ""))
        case InteractionError.malformed(let what): self.init(.noResponse, "\(device) answered what cannot be understood: \(what)")
        case let status as Status: self = .refused(status, device)
        default: self.init(.unreachable, "\(device): \(error)")
        }
    }
}
