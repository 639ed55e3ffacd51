import HearthStore
import HearthTime
import MachineInterface
import MatterCredentials
import MatterDiscovery
import MatterInteraction
import MatterModel

extension MachineError {
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
        // Named by the user.
        case let error as DiscoveryError where error.code == .noInterface: self = .badRequest(error.description)
        case let error as DiscoveryError: self.init(Self.networkStatus, error.description)
        case let error as TimelineError: self.init(Self.noResponseStatus, "\(error)")
        default: self.init(Self.internalStatus, "\(error)")
        }
    }

    private init(controller error: ControllerError) {
        if let status = error.status {
            self.init(status, error.message, stage: error.stage?.rawValue)
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
        self.init(status, error.message, stage: error.stage?.rawValue)
    }
}
