/// One conversation within a session: a request, its answer, and what belongs to them (Matter Core, 4.10).
///
/// Belongs to its session's thread. Whoever holds an exchange closes it when the conversation is over; the session's end closes all.
public final class Exchange {
    public let id: UInt16
    /// This side began it.
    public let isInitiator: Bool
    public let protocolID: ProtocolID
    /// Nil when the exchange is closed or the session has ended.
    public var session: Session? { owner?.takeUnretainedValue() }
    /// Not weak: a weak reference would slow down every use of the session. It cannot dangle: an exchange that is open stands in its
    /// session's lists, and the session clears this when it ends and in its deinit; `close` clears it, too.
    private var owner: Unmanaged<Session>?
    public private(set) var isOpen = true

    /// A message came in this exchange. The bytes are valid during the call only.
    public var onMessage: ((_ opcode: UInt8, _ payload: UnsafeRawBufferPointer) -> Void)? {
        // Nobody would ever let go of what a closed exchange held.
        didSet { if !isOpen, onMessage != nil { onMessage = nil } }
    }
    /// The session ended while the exchange was open. Not called after `close`.
    public var onSessionEnd: ((LinkError?) -> Void)? {
        didSet { if !isOpen, onSessionEnd != nil { onSessionEnd = nil } }
    }

    init(id: UInt16, isInitiator: Bool, protocolID: ProtocolID, session: Session) {
        (self.id, self.isInitiator, self.protocolID) = (id, isInitiator, protocolID)
        owner = Unmanaged.passUnretained(session)
    }

    public func send(_ opcode: UInt8, _ payload: [UInt8]) { payload.withUnsafeBytes { send(opcode, $0) } }

    public func send(_ opcode: UInt8, _ payload: UnsafeRawBufferPointer) {
        guard isOpen, let session else { return }
        let header = ProtocolHeader(isInitiator: isInitiator, opcode: opcode, exchangeID: id, protocolID: protocolID)
        session.send(header, payload)
    }

    private var owesAnswer = false

    /// What was sent last is to be answered, and nothing goes on before: see `MessageLink.expectAnswer`. Ends with the next message, or
    /// with the exchange.
    public func expectAnswer() {
        guard isOpen, !owesAnswer, let session, session.isOpen else { return }
        owesAnswer = true
        session.link.expectAnswer()
    }

    func answerArrived() {
        guard owesAnswer else { return }
        owesAnswer = false
        session?.link.answerArrived()
    }

    /// The conversation is over. Messages that still come are dropped.
    public func close() {
        guard isOpen else { return }
        answerArrived()
        isOpen = false
        (onMessage, onSessionEnd) = (nil, nil)
        let session = session
        owner = nil
        session?.forget(self)
    }

    func sessionEnded(_ error: LinkError?) {
        owner = nil
        guard isOpen else { return }
        isOpen = false
        let callback = onSessionEnd
        (onMessage, onSessionEnd) = (nil, nil)
        callback?(error)
    }
}
