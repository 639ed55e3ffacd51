/// Why a link ended other than in order.
public struct LinkError: Error, Sendable, CustomStringConvertible {
    /// What a caller can act on.
    public enum Code: Sendable, Equatable {
        /// The connection broke, or the peer went away without closing.
        case broken
        /// The peer sent what no peer may send, and was cut off.
        case protocolViolation
        /// The peer did not answer, or did not read, in time.
        case timedOut
        /// This side ended it: a fault, a shutdown, a removed fabric.
        case closedHere
    }
    public var code: Code
    public var message: String
    public init(_ code: Code, _ message: String) { (self.code, self.message) = (code, message) }
    public var description: String { message }
}

/// One end of a connection that carries whole messages, reliably and in order.
///
/// A link belongs to the timeline's thread and to the actor there that made it; it is not Sendable. Callbacks come on that thread,
/// never from within a call to the link.
public protocol MessageLink: AnyObject {
    /// Sends one message: protocol header and payload (Matter Core, 4.4.3). Nothing happens after `close`.
    func send(_ message: UnsafeRawBufferPointer)
    /// Ends the link after what was sent. `onClose` follows with nil.
    func close()
    /// Ends the link at once, dropping what was not sent yet. `onClose` follows with `error`.
    func abort(_ error: LinkError)
    /// A message came. The bytes are valid during the call only.
    var onMessage: ((UnsafeRawBufferPointer) -> Void)? { get set }
    /// The link is over; nil means in order, by either side. Called once, last.
    var onClose: ((LinkError?) -> Void)? { get set }
    /// The longest message in bytes.
    var maximumMessageSize: Int { get }
    /// No message is delivered, and sooner or later none is taken from the network, until `resumeReading`. What the peer has sent
    /// already may still come.
    func pauseReading()
    func resumeReading()
    /// What was sent last is something that the peer answers at once. In virtual time a peer in another process cannot be waited for
    /// otherwise: model time stands still until `answerArrived`, the end of the link, or the timeline's limit for a hold.
    func expectAnswer()
    /// An answer that was expected has come, or nobody waits for it any more.
    func answerArrived()
}

extension MessageLink {
    public func expectAnswer() {}
    public func answerArrived() {}
    public func send(_ message: [UInt8]) { message.withUnsafeBytes { send($0) } }
}
