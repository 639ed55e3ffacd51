import COpenSSL
import MatterMessage

/// Why a connection was not made or has ended.
public struct TLSError: Error, Sendable, CustomStringConvertible {
    /// What a caller can act on.
    public enum Code: Sendable, Equatable {
        /// Nobody listens there, or the address cannot be reached.
        case unreachable
        /// The TLS handshake failed on either side; `message` holds OpenSSL's reason.
        case handshake
        /// The peer's certificate is valid but is not the peer that was wanted.
        case wrongPeer
        /// No connection, handshake, first frame or rest of a frame in time.
        case timedOut
        /// The peer closed cleanly before it was expected to.
        case closedByPeer
        /// This side gave up before the session was established, or aborted it.
        case closedHere
        /// The connection broke: reset, or ended without TLS's closing message.
        case broken
        /// A frame longer than the limit, or an unexpected first frame.
        case protocolViolation
        /// The peer does not read and the output limit is reached.
        case outputOverflow
        /// The device is pairing with somebody else.
        case busy
        /// The system refused: no descriptors, no such address, no memory.
        case system
    }
    public let code: Code
    public let message: String
    /// The alert with which the peer ended the handshake, when it is one that a device of this kind sends.
    public let alert: TLSAlert?
    /// The `errno` with which the system refused, when it did.
    public let systemError: Int32?

    public init(_ code: Code, _ message: String, alert: TLSAlert? = nil, systemError: Int32? = nil) {
        self.code = code
        self.message = message
        self.alert = alert
        self.systemError = systemError
    }

    /// Takes the reason from the thread's OpenSSL error queue and empties it.
    static func openSSL(_ code: Code, _ call: String) -> TLSError {
        let error = ERR_peek_error()
        // OpenSSL reports an alert of the peer as its number above 1000 (SSL_AD_REASON_OFFSET).
        let alert = TLSAlert(rawValue: Int32(truncatingIfNeeded: error & 0x7F_FFFF) - 1000)
        ERR_clear_error()
        let reason = ERR_reason_error_string(error).map { String(cString: $0) } ?? "failed"
        return TLSError(code, "\(call): \(reason)", alert: alert)
    }

    public var description: String { message }

    /// The same for the layers above, which know links and not TLS.
    public var linkError: LinkError {
        let code: LinkError.Code =
            switch self.code {
            case .timedOut, .outputOverflow: .timedOut
            case .protocolViolation: .protocolViolation
            case .closedHere: .closedHere
            case .unreachable, .handshake, .wrongPeer, .closedByPeer, .broken, .busy, .system: .broken
            }
        return LinkError(code, message)
    }
}

/// Alerts with which a ClientHello is refused (RFC 8446, 6.2).
public enum TLSAlert: Int32, Sendable {
    case certificateExpired = 45
    case accessDenied = 49
    case internalError = 80
    case unrecognizedName = 112
    case noApplicationProtocol = 120
}
