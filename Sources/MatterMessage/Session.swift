/// Exchanges over one link, with what is known of its peer.
///
/// Belongs to the link's thread. A message is handled synchronously within the link's callback.
public final class Session {
    /// Exchanges that the peer has begun and that are open; at this number the session stops reading.
    public static let inboundExchangeLimit = 16

    public let link: any MessageLink
    /// Who is at the other end. The pairing protocol raises it from nobody to PASE.
    public var context: SessionContext
    public private(set) var isOpen = true
    /// This side has ended it; what the peer has sent meanwhile is of no interest.
    private var isEnding = false

    /// The peer begins an exchange with a message. Set `onMessage` of the exchange for what follows, or close it.
    public var onExchange: ((_ exchange: Exchange, _ opcode: UInt8, _ payload: UnsafeRawBufferPointer) -> Void)?
    /// The link ended; every exchange has been told. Called once.
    public var onEnd: ((LinkError?) -> Void)?
    /// Sees every message, in (false) and out (true), before it is handled: an interception point. False drops the message.
    public var filter: ((_ isOutgoing: Bool, _ header: ProtocolHeader, _ payload: UnsafeRawBufferPointer) -> Bool)?

    private var begun: [UInt16: Exchange] = [:]
    /// At most `inboundExchangeLimit`, so that looking through them is quicker than hashing.
    private var accepted: [Exchange] = []
    private var nextExchangeID: UInt16
    private var isPaused = false
    private var closesWhenIdle = false
    /// Requests that came while too many exchanges were open, in order; bounded by what one read of the link delivers.
    private var waiting: [[UInt8]] = []
    /// Handlers of messages that are running, one within another. What waits is handled when the outermost has returned: a handler
    /// that closes its exchange must not find another request handled in the middle of its own.
    private var handlers = 0
    private var scratch: [UInt8] = []

    /// - Parameter firstExchangeID: random on a real network; fixed where messages must repeat.
    public init(link: any MessageLink, context: SessionContext, firstExchangeID: UInt16 = 1) {
        (self.link, self.context, nextExchangeID) = (link, context, firstExchangeID)
        // Not weak, which would slow down every use of the session: the deinit takes them back.
        link.onMessage = { [unowned self] in receive($0) }
        link.onClose = { [unowned self] in ended($0) }
    }

    deinit {
        (link.onMessage, link.onClose) = (nil, nil)
        // A session that its owner let go without ending it: whoever waits in an exchange is told, and nothing keeps itself alive.
        for exchange in Array(begun.values) + accepted { exchange.sessionEnded(nil) }
    }

    /// Begins an exchange. Its first message decides how the peer handles it. Closed from the start when the session has ended, or
    /// when no exchange id is free.
    public func begin(_ protocolID: ProtocolID) -> Exchange {
        let isPossible = isOpen && !isEnding && begun.count <= UInt16.max
        while isPossible, begun[nextExchangeID] != nil { nextExchangeID &+= 1 }
        let exchange = Exchange(id: nextExchangeID, isInitiator: true, protocolID: protocolID, session: self)
        nextExchangeID &+= 1
        if isPossible { begun[exchange.id] = exchange } else { exchange.close() }
        return exchange
    }

    /// Exchanges that are open, of both sides.
    public var openExchanges: Int { begun.count + accepted.count }

    /// Ends the session after what was sent. `onEnd` follows; messages that still come are dropped.
    public func close() {
        guard isOpen, !isEnding else { return }
        isEnding = true
        link.close()
    }

    /// Ends the session once every exchange that the peer began has been answered.
    public func closeWhenIdle() {
        closesWhenIdle = true
        if accepted.isEmpty { close() }
    }

    /// Ends the session at once. `onEnd` follows with `error`.
    public func abort(_ error: LinkError) {
        guard isOpen else { return }
        isEnding = true
        link.abort(error)
    }

    func send(_ header: ProtocolHeader, _ payload: UnsafeRawBufferPointer) {
        guard isOpen else { return }
        if let filter, !filter(true, header, payload) { return }
        // One buffer for all messages of the session; it is let go when it has grown large.
        var bytes = scratch
        scratch = []
        bytes.removeAll(keepingCapacity: true)
        bytes.reserveCapacity(payload.count + 12)
        header.write(to: &bytes)
        bytes.append(contentsOf: payload)
        bytes.withUnsafeBytes { link.send($0) }
        if bytes.capacity <= 512 { scratch = bytes }
    }

    private func receive(_ message: UnsafeRawBufferPointer) {
        guard isOpen, !isEnding else { return }
        guard let (header, payload) = ProtocolHeader.split(message) else {
            return abort(LinkError(.protocolViolation, "a message of \(message.count) bytes is too short for its header"))
        }
        if let filter, !filter(false, header, payload) { return }
        handlers += 1
        if header.isInitiator, acceptedExchange(header.exchangeID) == nil, accepted.count >= Self.inboundExchangeLimit || !waiting.isEmpty {
            waiting.append(Array(message))
            pause()
        } else {
            handle(header, payload)
        }
        handlers -= 1
        acceptWaiting()
    }

    private func handle(_ header: ProtocolHeader, _ payload: UnsafeRawBufferPointer) {
        if header.isInitiator {
            guard let exchange = acceptedExchange(header.exchangeID) else { return accept(header, payload) }
            if exchange.protocolID == header.protocolID { hand(header, payload, to: exchange) }
        } else if let exchange = begun[header.exchangeID], exchange.protocolID == header.protocolID {
            hand(header, payload, to: exchange)
        }
        // Anything else belongs to an exchange that this side has closed: late, and of no interest.
    }

    private func acceptedExchange(_ id: UInt16) -> Exchange? {
        for exchange in accepted where exchange.id == id { return exchange }
        return nil
    }

    private func hand(_ header: ProtocolHeader, _ payload: UnsafeRawBufferPointer, to exchange: Exchange) {
        exchange.answerArrived()
        exchange.onMessage?(header.opcode, payload)
    }

    private func accept(_ header: ProtocolHeader, _ payload: UnsafeRawBufferPointer) {
        let exchange = Exchange(id: header.exchangeID, isInitiator: false, protocolID: header.protocolID, session: self)
        accepted.append(exchange)
        guard let onExchange else { return exchange.close() }
        onExchange(exchange, header.opcode, payload)
    }

    private func pause() {
        guard !isPaused else { return }
        isPaused = true
        link.pauseReading()
    }

    func forget(_ exchange: Exchange) {
        if exchange.isInitiator {
            begun[exchange.id] = nil
        } else {
            accepted.removeAll { $0 === exchange }
            if closesWhenIdle, accepted.isEmpty { return close() }
            acceptWaiting()
        }
    }

    /// Handles what waited, in order, while there is room; then reads on.
    private func acceptWaiting() {
        guard isPaused, handlers == 0 else { return }
        handlers += 1
        while isOpen, !isEnding, let message = waiting.first {
            let isHandled = message.withUnsafeBytes { bytes in
                guard let (header, payload) = ProtocolHeader.split(bytes),
                    acceptedExchange(header.exchangeID) != nil || accepted.count < Self.inboundExchangeLimit
                else { return false }
                waiting.removeFirst()
                handle(header, payload)
                return true
            }
            guard isHandled else { break }
        }
        handlers -= 1
        guard isOpen, !isEnding, waiting.isEmpty, accepted.count < Self.inboundExchangeLimit else { return }
        isPaused = false
        link.resumeReading()
    }

    private func ended(_ error: LinkError?) {
        guard isOpen else { return }
        isOpen = false
        waiting = []
        let open = begun.values.sorted { $0.id < $1.id } + accepted.sorted { $0.id < $1.id }
        (begun, accepted) = ([:], [])
        for exchange in open { exchange.sessionEnded(error) }
        let callback = onEnd
        (onEnd, onExchange, filter) = (nil, nil, nil)
        callback?(error)
    }
}
