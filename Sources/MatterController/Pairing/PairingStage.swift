/// The steps of a pairing, in order. Progress names them, and so does a failure.
public enum PairingStage: String, Sendable, CaseIterable {
    case discovery
    case connection
    case passcode
    case information
    case failSafe
    case regulatory
    case attestation
    case certificateRequest
    case trustedRoot
    case operationalCertificate
    case operationalConnection
    case completion
    case description

    /// What people read while it goes on.
    public var title: String {
        switch self {
        case .discovery: "looking for the device"
        case .connection: "connecting"
        case .passcode: "proving the passcode"
        case .information: "reading what the device is"
        case .failSafe: "arming the fail-safe"
        case .regulatory: "setting the region"
        case .attestation: "checking the device's certificates"
        case .certificateRequest: "asking for a certificate request"
        case .trustedRoot: "installing the home's root"
        case .operationalCertificate: "giving the device its certificate"
        case .operationalConnection: "connecting as a member of the home"
        case .completion: "completing the commissioning"
        case .description: "reading the device's endpoints"
        }
    }
}
