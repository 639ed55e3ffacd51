import MatterCredentials
import MatterModel

/// A simulated device as people and scripts see it.
public struct DeviceInfo: Sendable, Hashable {
    public var name: String
    /// The profile's name.
    public var profile: String
    /// Where the fleet says it is.
    public var room: String?
    /// 0 while it is stopped.
    public var port: UInt16
    /// The 11-digit manual code.
    public var setupCode: String
    /// The `MT:` payload.
    public var qrCode: String
    public var isPaired: Bool
    public var isRunning: Bool
    public var endpoints: [EndpointID]
    public var deviceTypes: [DeviceTypeID]
}

/// Why the simulator could not do what was asked.
public struct SimulatorError: Error, Sendable, CustomStringConvertible {
    /// What a caller can act on.
    public enum Code: String, Sendable {
        case unknownDevice
        case badRequest
        /// The port is taken, the network cannot be used, or the control socket cannot be opened.
        case network
        /// The state cannot be read or written.
        case store
        /// The device's data model refuses; `status` says how.
        case refused
        /// What was asked for has been dropped from the journal's memory.
        case gone
    }
    public let code: Code
    public let message: String
    public let status: Status?

    public init(_ code: Code, _ message: String, status: Status? = nil) {
        (self.code, self.message, self.status) = (code, message, status)
    }
    public var description: String { message }
}
