import COpenSSL
import HearthIO
import HearthTime
import MatterCredentials
import MatterMessage
import MatterModel

/// One TLS connection, either end: handshake, peer check, frames. Over a socket or in memory, by the same code.
///
/// Not Sendable: it belongs to the timeline's thread, and to the actor there that made it. Callbacks come on that thread, never from
/// within a call to the connection.
public final class TLSConnection: MessageLink, ByteStreamUser {
    enum Phase {
        /// Looking for an address that answers.
        case connecting
        case handshaking
        /// Dialler: the handshake is done, the acceptor's verdict has not come.
        case awaitingEstablished
        case open
        /// Handing over what was sent, then waiting for the peer's end.
        case closing
        case closed
    }

    /// Which end this is, and with what.
    enum Role {
        case acceptor(TLSAcceptor)
        case dialler(identity: OperationalIdentity, node: NodeID, tickets: TicketStore?)
        case pairingDialler
        /// The connection is over.
        case none
    }

    let transport: TLSTransport
    var stream: ByteStream?
    let ssl: OpaquePointer
    var role: Role
    let isAcceptorEnd: Bool
    /// Seconds since 1970 by the node's clock; certificates are judged by it.
    let wallTime: () -> Int64

    var phase: Phase
    /// Decided by the ClientHello on the acceptor, by the caller on the dialler.
    public internal(set) var mode: TLSMode?
    /// The fabric membership in use; nil while pairing.
    public internal(set) var identity: OperationalIdentity?
    /// Who is at the other end; nil while pairing. Set before the connection is handed out.
    public internal(set) var peer: PeerIdentity?
    /// Whether a session was resumed.
    public internal(set) var isResumed = false
    /// When the peer's chain is valid; nil until it has been judged.
    var window: ValidityWindow?
    /// The window of a ticket that is being resumed, not yet judged.
    var offeredWindow: ValidityWindow?
    /// Why `judge` refused, kept because OpenSSL only says "certificate rejected".
    var refusal: TLSError?
    /// Acceptor: this peer is to be told that somebody else is pairing, and how long to wait.
    var busyDelay: Duration?

    var decoder = FrameDecoder()
    var output: [UInt8] = []
    /// What was read in virtual time and waits for its entry.
    var deferred: [Report] = []
    /// The other end, when it is in this process and time is virtual.
    var pair: InsidePair?
    var origins: LinkOrigins
    var isPaused = false
    /// Acceptor: a whole ClientHello has come.
    var hasGreeted = false
    /// The next step of the handshake is ours, and has to wait for others.
    private(set) var isWaitingForTurn = false
    /// The user has been told of this connection.
    var wasReported = false
    var hasSentEnd = false
    /// An OpenSSL call of this connection is running: it must not be freed under it.
    var isInsideSSL = false
    private var isFreed = false
    /// Under which the two ends of a socket find each other while connecting.
    var pairKey: LinkRegistry.Key?
    /// What a peer outside the process owes, and the hold for it.
    var answersOwed = 0
    var answerHold: Timeline.Hold?
    /// When the handshake last moved, in nanoseconds of `EventLoop.now()`.
    private(set) var lastProgress: UInt64

    /// Connect, handshake, closing: whatever bounds the present phase.
    var deadline: StreamTimer?
    var frameTimer: StreamTimer?
    var pairingTimer: Token?
    var connector: StreamTimer?
    /// Dialler: what the connect comes to; called once.
    var completion: ((Result<TLSConnection, TLSError>) -> Void)?

    /// A message came. The bytes are valid during the call only.
    public var onMessage: ((UnsafeRawBufferPointer) -> Void)?
    /// The connection is over; nil means in order, by either side. Called once, last.
    public var onClose: ((LinkError?) -> Void)?
    /// Why the connection ended, in more detail than `onClose` tells; nil when in order or not at all.
    public internal(set) var closeReason: TLSError?
    /// What the dialler connected to or the acceptor listens on.
    public internal(set) var address: TransportAddress?

    public var maximumMessageSize: Int { Frame.limit }

    /// Without a stream; `attach` gives it one. - Throws: when OpenSSL has no memory.
    init(
        _ transport: TLSTransport, role: Role, origins: LinkOrigins, wallTime: @escaping () -> Int64
    ) throws(TLSError) {
        self.transport = transport
        self.role = role
        self.origins = origins
        self.wallTime = wallTime
        phase = .connecting
        lastProgress = EventLoop.now()
        isAcceptorEnd = if case .acceptor = role { true } else { false }
        ssl = try (isAcceptorEnd ? TLSContext.server : TLSContext.client).get().makeSSL()
        guard let bio = StreamBIO.make() else {
            SSL_free(ssl)
            throw TLSError.openSSL(.system, "BIO_new")
        }
        SSL_set_bio(ssl, bio, bio)
        SSL_set_ex_data(ssl, TLSContext.connectionIndex, Unmanaged.passUnretained(self).toOpaque())
        if isAcceptorEnd { SSL_set_accept_state(ssl) } else { SSL_set_connect_state(ssl) }
    }

    deinit {
        if !isFreed { SSL_free(ssl) }
        // Only after the timeline's end: an open stream keeps its connection.
        if let answerHold { transport.timeline.release(answerHold) }
    }

    func attach(_ stream: ByteStream) {
        self.stream = stream
        stream.user = self
        StreamBIO.attach(stream, to: SSL_get_rbio(ssl))
        phase = .handshaking
    }

    /// Lets OpenSSL's part go, as soon as no call of it is running.
    func free() {
        guard !isFreed, !isInsideSSL else { return }
        isFreed = true
        StreamBIO.attach(nil, to: SSL_get_rbio(ssl))
        SSL_free(ssl)
        ERR_clear_error()
    }

    var end: InsidePair.End { isAcceptorEnd ? .acceptor : .dialler }

    /// The origin of what arrives here.
    var origin: Timeline.Origin { isAcceptorEnd ? origins.toAcceptor : origins.toDialler }

    /// No ClientHello has been answered yet.
    var isSilent: Bool { mode == nil }

    // MARK: Events

    func streamIsReady(readable: Bool, writable: Bool, failed: Bool) {
        switch phase {
        case .handshaking:
            if failed, isAcceptorEnd { return finish(TLSError(.broken, "the peer went away in the handshake")) }
            // A failed dialler looks at once: what it still reads may be the alert that says why.
            if let stream, !stream.isOrdered, !failed { transport.admission.requestStep(self) } else { handshake() }
        case .awaitingEstablished, .open:
            if writable, !output.isEmpty || failed { flush() }
            guard phase != .closed, readable else { break }
            // A paused reader is told of nothing but the failure: what is unread then is lost with the connection.
            if !isPaused {
                readFrames()
            } else if failed {
                finish(TLSError(.broken, "the connection broke while reading paused"))
            }
        case .closing: continueClosing()
        case .connecting, .closed: break
        }
    }

    func streamStops() { finish(TLSError(.closedHere, "the event loop stops"), stopping: true) }

    // MARK: Handshake

    /// Waits for its turn; woken by `handshake`.
    func waitsForTurn() {
        isWaitingForTurn = true
        stream?.watch(readable: false, writable: false)
    }

    func handshake() {
        guard phase == .handshaking else { return }
        isWaitingForTurn = false
        lastProgress = EventLoop.now()
        transport.registry.handshakeMoved()
        ERR_clear_error()
        isInsideSSL = true
        let status = SSL_do_handshake(ssl)
        isInsideSSL = false
        if phase == .closed { return free() }
        if status == 1 { return handshakeDone() }
        switch SSL_get_error(ssl, status) {
        case SSL_ERROR_WANT_READ: stream?.watch(readable: true, writable: false)
        case SSL_ERROR_WANT_WRITE: stream?.watch(readable: false, writable: true)
        // Waits for a slot; nothing is watched, so that the peer's bytes do not wake it.
        case SSL_ERROR_WANT_CLIENT_HELLO_CB: waitsForTurn()
        default: finish(failure(.handshake, "handshake"))
        }
    }

    private func handshakeDone() {
        do throws(TLSError) {
            try checkProtocol()
            isResumed = SSL_session_reused(ssl) == 1
            if mode == .operational { try checkPeer() }
        } catch {
            return finish(error)
        }
        guard isAcceptorEnd else {
            phase = .awaitingEstablished
            stream?.watch(readable: true, writable: false)
            return readFrames()
        }
        transport.admission.freeSlot(self)
        phase = .open
        stream?.watch(readable: true, writable: false)
        // A TLS 1.3 client is finished before the acceptor has judged its certificate: this frame tells it the verdict.
        if let busyDelay {
            write(framing: Frame.busy(retryAfter: busyDelay))
            return close(because: TLSError(.busy, "somebody else is pairing"))
        }
        if mode == .operational, case .acceptor(let acceptor) = role, let delay = acceptor.busy(self) {
            write(framing: Frame.busy(retryAfter: delay))
            return close(because: TLSError(.busy, "the fabric has no place left for another session"))
        }
        write(framing: Frame.established)
        guard phase == .open else { return }
        if mode == .operational { transport.admission.leave(self) } else { limitPairing() }
        cancelDeadline()
        pair?.established(.acceptor)
        report(.opened)
        // Records that came with the handshake's last flight may already be in OpenSSL's buffer.
        if phase == .open, !isPaused { readFrames() }
    }

    func cancelDeadline() {
        deadline?.cancel()
        deadline = nil
    }

    /// The error of a failed OpenSSL call: our own verdict on the peer if there is one, else OpenSSL's reason.
    func failure(_ code: TLSError.Code, _ call: String) -> TLSError {
        let error = TLSError.openSSL(code, call)
        return refusal ?? error
    }
}
