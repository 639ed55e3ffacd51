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

    /// The peer begins an exchange with a message. Set `onMessage` of the exchange for what follows, or close it.
    public var onExchange: ((_ exchange: Exchange, _ opcode: UInt8, _ payload: UnsafeRawBufferPointer) -> Void)?
    /// The link ended; every exchange has been told. Called once.
    public var onEnd: ((LinkError?) -> Void)?
    /// Sees every message, in (false) and out (true), before it is handled: an interception point. False drops the message.
    public var filter: ((_ isOutgoing: Bool, _ header: ProtocolHeader, _ payload: UnsafeRawBufferPointer) -> Bool)?

    private var begun: [UInt16: Exchange] = [:]
    private var accepted: [UInt16: Exchange] = [:]
    private var nextExchangeID: UInt16
    private var isPaused = false
    /// Requests that came while too many exchanges were open; bounded by what one read of the link delivers.
    private var waiting: [[UInt8]] = []
    private var scratch: [UInt8] = []

    /// - Parameter firstExchangeID: random on a real network; fixed where messages must repeat.
    public init(link: any MessageLink, context: SessionContext, firstExchangeID: UInt16 = 1) {
        (self.link, self.context, nextExchangeID) = (link, context, firstExchangeID)
        link.onMessage = { [weak self] in self?.receive($0) }
        link.onClose = { [weak self] in self?.ended($0) }
    }

    /// Begins an exchange. Its first message decides how the peer handles it.
    public func begin(_ protocolID: ProtocolID) -> Exchange {
        while begun[nextExchangeID] != nil { nextExchangeID &+= 1 }
        let exchange = Exchange(id: nextExchangeID, isInitiator: true, protocolID: protocolID, session: self)
        nextExchangeID &+= 1
        if isOpen { begun[exchange.id] = exchange } else { exchange.close() }
        return exchange
    }

    /// Exchanges that are open, of both sides.
    public var openExchanges: Int { begun.count + accepted.count }

    /// Ends the session after what was sent.
    public func close() { if isOpen { link.close() } }
    /// Ends the session at once.
    public func abort(_ error: LinkError) { if isOpen { link.abort(error) } }

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
        guard isOpen else { return }
        guard let (header, payload) = ProtocolHeader.split(message) else {
            return link.abort(LinkError(.protocolViolation, "a message of \(message.count) bytes is too short for its header"))
        }
        if let filter, !filter(false, header, payload) { return }
        if header.isInitiator {
            if let exchange = accepted[header.exchangeID] {
                guard exchange.protocolID == header.protocolID else { return }
                exchange.onMessage?(header.opcode, payload)
            } else if accepted.count >= Self.inboundExchangeLimit {
                waiting.append(Array(message))
                pause()
            } else {
                accept(header, payload)
            }
        } else if let exchange = begun[header.exchangeID], exchange.protocolID == header.protocolID {
            exchange.onMessage?(header.opcode, payload)
        }
        // Anything else belongs to an exchange that this side has closed: late, and of no interest.
    }

    private func accept(_ header: ProtocolHeader, _ payload: UnsafeRawBufferPointer) {
        let exchange = Exchange(id: header.exchangeID, isInitiator: false, protocolID: header.protocolID, session: self)
        accepted[exchange.id] = exchange
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
            return
        }
        accepted[exchange.id] = nil
        guard isPaused, isOpen else { return }
        while accepted.count < Self.inboundExchangeLimit, !waiting.isEmpty {
            let message = waiting.removeFirst()
            message.withUnsafeBytes { receiveAgain($0) }
        }
        if waiting.isEmpty, accepted.count < Self.inboundExchangeLimit {
            isPaused = false
            link.resumeReading()
        }
    }

    private func receiveAgain(_ message: UnsafeRawBufferPointer) {
        guard let (header, payload) = ProtocolHeader.split(message), accepted[header.exchangeID] == nil else { return }
        accept(header, payload)
    }

    private func ended(_ error: LinkError?) {
        guard isOpen else { return }
        isOpen = false
        waiting = []
        let open = begun.values.sorted { $0.id < $1.id } + accepted.values.sorted { $0.id < $1.id }
        (begun, accepted) = ([:], [:])
        for exchange in open { exchange.sessionEnded(error) }
        let callback = onEnd
        (onEnd, onExchange, filter) = (nil, nil, nil)
        callback?(error)
    }
}
