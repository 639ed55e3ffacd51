import HearthTime
import MatterMessage
import MatterModel
import MatterTLV

/// The server side of the interaction model for one node (Matter Core, chapter 8).
///
/// Pure: it knows sessions, the node and the timeline, no sockets and no files. Used on the timeline's thread only.
public final class InteractionServer {
    /// What the server takes on at most, so that no peer can use it up.
    public struct Limits: Sendable {
        /// How long, in model time, the peer may take to acknowledge a chunk or a report.
        public var acknowledgement: Duration = .seconds(10)
        /// Subscriptions of one fabric; 3 or more (Matter Core, 2.11.2.2).
        public var subscriptionsPerFabric = 16
        /// Paths of one read or subscription; 9 or more.
        public var paths = 512
        public init() {}
    }

    /// The node that is served; one without endpoints once it has gone.
    public var node: any NodeServer { present ?? AbsentNode() }
    private weak var present: (any NodeServer)?
    public var hooks = InteractionHooks()
    /// Answers and reports go out through this. The host delays them until what they acknowledge has been stored; reports and statuses
    /// acknowledge nothing.
    public var gate: (_ acknowledges: Bool, _ send: @escaping () -> Void) -> Void = { $1() }
    public internal(set) var subscriptions: [Subscription] = []

    /// Exchanges that were handled, of all sessions: tells which session was used last. Wraps around.
    public private(set) var exchanges: UInt32 = 0

    let timeline: Timeline
    let origin: Timeline.Origin
    let limits: Limits
    var nextSubscription: UInt32
    /// Subscriptions from before a restart that have not been resumed.
    public internal(set) var waiting: [SubscriptionRecord] = []
    /// `records` has changed: the host keeps them. What a message acknowledges is told before the message is sent.
    public var onRecordsChanged: (() -> Void)?
    /// The node stops: its subscriptions end here, but not for good.
    private var isStopping = false

    /// - Parameter firstSubscription: the id of the first subscription; a node that restarts goes on where it was.
    public init(
        node: any NodeServer, timeline: Timeline, origin: Timeline.Origin, limits: Limits = Limits(),
        firstSubscription: UInt32 = 1
    ) {
        (present, self.timeline, self.origin, self.limits) = (node, timeline, origin, limits)
        nextSubscription = max(1, firstSubscription)
    }

    /// Handles the first message of an exchange of the interaction model.
    public func accept(_ exchange: Exchange, _ opcode: UInt8, _ payload: UnsafeRawBufferPointer, in session: Session) {
        exchanges &+= 1
        // A timed request is followed by another message; everything else ends with its answer.
        handle(exchange, opcode, payload, session, timed: nil)
    }

    func handle(
        _ exchange: Exchange, _ opcode: UInt8, _ payload: UnsafeRawBufferPointer, _ session: Session,
        timed deadline: ModelInstant?
    ) {
        guard session.context.authMode != nil else { return refuse(exchange, .unsupportedAccess) }
        do throws(TLVError) {
            switch InteractionOpcode(rawValue: opcode) {
            case .readRequest where deadline == nil: try read(exchange, ReadRequest(decoding: payload), session)
            case .subscribeRequest where deadline == nil: try subscribe(exchange, SubscribeRequest(decoding: payload), session)
            case .writeRequest: try write(exchange, WriteRequest(decoding: payload), session, timed: deadline)
            case .invokeRequest: try invoke(exchange, InvokeRequest(decoding: payload), session, timed: deadline)
            case .timedRequest where deadline == nil: try timed(exchange, TimedRequest(decoding: payload), session)
            default: refuse(exchange, .invalidAction)
            }
        } catch {
            Log.interaction.debug("a message with opcode \(opcode) is malformed: \(error)")
            refuse(exchange, .invalidAction)
        }
    }

    // MARK: Answers

    /// Ends an exchange with a status alone.
    func refuse(_ exchange: Exchange, _ status: StatusCode) {
        let session = exchange.session
        let context = InteractionContext(peer: session?.context ?? SessionContext(), session: session)
        answer(exchange, .statusResponse, StatusResponse(status).payload, context)
    }

    /// Sends an answer or a report when what it acknowledges has been stored, and a fault that delays it has let it go.
    ///
    /// All that the server sends goes through here, in the order of the calls, and what follows a message (the wait for the peer, the
    /// exchange's end) begins when it has been handed to the link. Only a fault can let one exchange's answer overtake another's.
    func answer(
        _ exchange: Exchange, _ opcode: InteractionOpcode, _ payload: [UInt8], _ context: InteractionContext,
        closing: Bool = true, sent: (() -> Void)? = nil
    ) {
        // One closure and no other: the answers of many requests wait for one commit.
        gate(opcode != .reportData && opcode != .statusResponse) { [self] in
            // A group has nobody who could be answered (Matter Core, 8.2.5.2).
            let verdict = context.peer.authMode == .group ? .never : hooks.beforeAnswer?(opcode, context) ?? .now
            switch verdict {
            case .now: send(exchange, opcode, payload, context, closing, sent)
            case .after(let delay):
                timeline.after(delay, origin: origin) { [self] in send(exchange, opcode, payload, context, closing, sent) }
            case .never: send(exchange, opcode, nil, context, closing, sent)
            }
        }
    }

    private func send(
        _ exchange: Exchange, _ opcode: InteractionOpcode, _ payload: [UInt8]?, _ context: InteractionContext, _ closing: Bool,
        _ sent: (() -> Void)?
    ) {
        if let payload { exchange.send(opcode.rawValue, payload) }
        sent?()
        context.answered()
        // Last: with room for another exchange the session may handle the next request at once.
        if closing { exchange.close() }
    }

    /// Bytes that a message's payload may have, its header taken off.
    static func payloadLimit(_ exchange: Exchange) -> Int { (exchange.session?.context.maximumMessageSize ?? 1_280) - 12 }

    /// Waits for the peer's next message in an exchange, which `next` handles; silence ends the exchange. `begin` starts the clock.
    func awaitNext(_ exchange: Exchange, _ next: @escaping (UInt8, UnsafeRawBufferPointer) -> Void) -> PeerTurn {
        PeerTurn(exchange, timeline, origin, limit: limits.acknowledgement) { outcome in
            switch outcome {
            case .message(let opcode, let payload): next(opcode, payload)
            case .silence: exchange.close()
            case .sessionEnded: break
            }
        }
    }

    // MARK: Timed requests (Matter Core, 8.7 and 8.8)

    private func timed(_ exchange: Exchange, _ request: TimedRequest, _ session: Session) {
        let deadline = timeline.now + .milliseconds(Int64(request.timeout))
        // Kept a while beyond the deadline, so that a late request is told so.
        let end = timeline.after(.milliseconds(Int64(request.timeout)) + .seconds(30), origin: origin) { exchange.close() }
        exchange.onMessage = { [weak self, weak session] opcode, payload in
            guard let self, let session else { return }
            timeline.cancel(end)
            exchange.onMessage = nil
            guard timeline.now <= deadline else { return refuse(exchange, .timeout) }
            handle(exchange, opcode, payload, session, timed: deadline)
        }
        exchange.onSessionEnd = { [timeline] _ in timeline.cancel(end) }
        let context = InteractionContext(peer: session.context, session: session)
        answer(exchange, .statusResponse, StatusResponse(.success).payload, context, closing: false)
    }

    // MARK: Reading

    private func read(_ exchange: Exchange, _ request: ReadRequest, _ session: Session) {
        let context = InteractionContext(
            peer: session.context, isFabricFiltered: request.selection.isFabricFiltered, session: session)
        let count = request.selection.attributes.count + request.selection.events.count
        guard count <= limits.paths else { return refuse(exchange, .pathsExhausted) }
        let items: [ReportItem]
        switch PathExpansion(node: node, context: context).expand(request.selection) {
        case .success(let expanded): items = expanded
        case .failure(let status): return refuse(exchange, status.code)
        }
        let stream = ReportStream(items, node: node, context: context, hooks: hooks, subscription: nil)
        ReportSender(stream, on: exchange, context, self, isLastAcknowledged: false) { _ in exchange.close() }.sendNext()
    }

    // MARK: Subscriptions

    private func subscribe(_ exchange: Exchange, _ request: SubscribeRequest, _ session: Session) {
        let selection = request.selection
        // A subscription belongs to a fabric, which a pairing session has not got yet.
        guard session.context.fabricIndex != 0 else { return refuse(exchange, .unsupportedAccess) }
        guard request.minimumInterval <= request.maximumInterval, !(selection.attributes.isEmpty && selection.events.isEmpty)
        else {
            return refuse(exchange, .invalidAction)
        }
        guard selection.attributes.count + selection.events.count <= limits.paths else {
            return refuse(exchange, .pathsExhausted)
        }
        let peer = session.context
        if !request.keepsSubscriptions {
            for old in subscriptions where old.peer.fabricIndex == peer.fabricIndex && old.peer.peerNodeID == peer.peerNodeID {
                old.end()
            }
        }
        supersede(by: request, of: peer)
        guard subscriptions.count(where: { $0.peer.fabricIndex == peer.fabricIndex }) < limits.subscriptionsPerFabric else {
            return refuse(exchange, .resourceExhausted)
        }
        let context = InteractionContext(peer: peer, isFabricFiltered: selection.isFabricFiltered, session: session)
        let expansion = PathExpansion(node: node, context: context)
        switch expansion.expand(selection) {
        case .failure(let status): refuse(exchange, status.code)
        case .success(let items):
            guard expansion.hasValidPath(selection) else { return refuse(exchange, .invalidAction) }
            let subscription = Subscription(id: freeID(), request, session: session, server: self)
            subscriptions.append(subscription)
            subscription.prime(items, on: exchange)
        }
    }

    private func freeID() -> SubscriptionID {
        while true {
            let id = SubscriptionID(nextSubscription)
            nextSubscription = nextSubscription == .max ? 1 : nextSubscription + 1
            if !subscriptions.contains(where: { $0.id == id }), !waiting.contains(where: { $0.id == id }) { return id }
        }
    }

    func forget(_ subscription: Subscription) {
        subscriptions.removeAll { $0 === subscription }
        if subscription.isEstablished, !isStopping { onRecordsChanged?() }
    }

    // MARK: What the node tells

    /// An attribute has a new value; subscriptions hear of it.
    public func attributeChanged(_ path: AttributePath) {
        guard !subscriptions.isEmpty,
            let attribute = node.endpoint(path.endpoint)?.cluster(path.cluster)?.attribute(path.attribute),
            // Quality C: whoever wants the value reads it (Matter Core, 7.7.9).
            !attribute.quality.contains(.changesOmitted)
        else { return }
        for subscription in subscriptions { subscription.attributeChanged(path, attribute) }
    }

    /// An event was recorded.
    public func eventRecorded(_ record: EventRecord) {
        for subscription in subscriptions { subscription.eventRecorded(record) }
    }

    /// A session has ended, and its subscriptions with it.
    public func sessionEnded(_ session: Session) {
        for subscription in subscriptions where subscription.session === session { subscription.end() }
    }

    /// Ends every subscription of a fabric.
    public func endSubscriptions(of fabric: FabricIndex) {
        for subscription in subscriptions where subscription.peer.fabricIndex == fabric.rawValue { subscription.end() }
        giveUp { $0.fabricIndex == fabric.rawValue }
    }

    /// Reports to every subscriber what there is to tell, whatever the minimum interval says: the node is about to stop, and cannot tell
    /// later. Who still owes the acknowledgement of a report gets none.
    public func reportAtOnce() {
        for subscription in subscriptions { subscription.reportAtOnce() }
    }

    /// Ends all subscriptions: the node stops. They stay among what has been kept, to be resumed when it starts again.
    public func stop() {
        isStopping = true
        defer { isStopping = false }
        for subscription in subscriptions { subscription.end() }
    }
}

extension Log {
    static let interaction = Log("interaction")
}
