import HearthTime
import MatterCredentials
import MatterDevice
import MatterDiscovery
import MatterInteraction
import MatterMessage
import MatterModel
import MatterTransport

/// Runs one node: listens for it, judges who connects, carries interactions to it, advertises it, and keeps its memory.
///
/// Belongs to the timeline's thread. A host is started once and stopped once; a reboot makes a new one over the same store.
public final class NodeHost: DeviceHost {
    public let node: DeviceNode
    public let name: String
    public let interactions: InteractionServer
    /// Where the journal and the faults take hold.
    public var interceptions = NodeInterceptions() {
        didSet {
            interactions.hooks = interceptions.interaction
            for session in sessions { session.watchFrames() }
        }
    }
    /// The port that the node listens on; 0 before `start`.
    public private(set) var port: UInt16 = 0
    /// Everything that is to be advertised is on the network. May come again after changes.
    public var onAdvertised: () -> Void = {}
    /// An advertisement failed: tell the user.
    public var onAdvertisingFailure: (DiscoveryError) -> Void = { _ in }

    private let services: NodeServices
    private let wantedPort: UInt16
    private let advertising: NodeAdvertising
    private var acceptor: TLSAcceptor?
    private var identities: [FabricIndex: (generation: UInt64, identity: OperationalIdentity)] = [:]
    private var sessions: [HostedSession] = []
    private var lastSession: UInt64 = 0
    /// Only while subscriptions from before the start wait to be resumed.
    private var resumption: SubscriptionResumption?
    private var isStopped = false

    /// - Parameters:
    ///   - node: with all its endpoints, not yet started.
    ///   - port: to listen on; 0 for a free one.
    public init(name: String, node: DeviceNode, services: NodeServices, port: UInt16 = 0) {
        (self.name, self.node, self.services, wantedPort) = (name, node, services, port)
        var instances = node.environment.random("commissionable-instance")
        let digits = String(instances.bits(), radix: 16, uppercase: true)
        // From the seed in virtual time, so that a run repeats; from the system otherwise.
        let isReal = if case .real = services.timeline.mode { true } else { false }
        let instance =
            isReal ? CommissionableService.randomInstance() : String(repeating: "0", count: max(0, 16 - digits.count)) + digits
        advertising = NodeAdvertising(services: services, deviceName: name, instance: instance)
        interactions = InteractionServer(node: node, timeline: services.timeline, origin: node.environment.origin)
        interactions.gate = { [hub = services.hub, number = services.hub.number(of: node.environment.store)] acknowledges, send in
            hub.whenStored(node: number, acknowledges: acknowledges, send)
        }
        node.interactions = interactions
        node.accessControl = node.commissioning.access
        node.host = self
    }

    /// Starts the node, listens and advertises. - Throws: `TLSError` when the port is taken.
    public func start() throws {
        acceptor = try services.transport.listen(on: services.listenAddress(wantedPort), name: name) { [node] in
            node.commissioning.fabrics.validationTime(wall: node.environment.wall)
        }
        acceptor?.choose = { [weak self] in self?.choose($0) ?? .refuse(.internalError) }
        acceptor?.busy = { [weak self] in self?.busy($0) }
        acceptor?.onOpen = { [weak self] in self?.opened($0) }
        port = acceptor?.address.port ?? 0
        advertising.onFailure = { [weak self] in self?.onAdvertisingFailure($0) }
        advertising.onEstablished = { [weak self] in self?.onAdvertised() }
        node.start()
        restoreSubscriptions()
        interceptions.started?()
        // Only now can it answer.
        advertising.update(node.commissioning, port: port)
        resumption?.start()
    }

    /// Withdraws the node from the network and ends its sessions. With `abruptly` as if its power were cut: nobody is told.
    public func stop(abruptly: Bool = false) {
        guard !isStopped else { return }
        isStopped = true
        resumption?.stop()
        resumption = nil
        if !abruptly { sayGoodbye() }
        // Before the sessions: those who have subscribed have not lost it for good.
        interactions.stop()
        advertising.withdraw()
        acceptor?.stopListening()
        for session in sessions {
            if abruptly { session.session.abort(LinkError(.closedHere, "the device lost its power")) } else { session.session.close() }
        }
        node.stop()
        acceptor = nil
    }

    /// The event ShutDown, and what else subscribers have not been told, as far as they take it now.
    private func sayGoodbye() {
        node.announceShutDown()
        guard !interactions.subscriptions.isEmpty else { return }
        // A report waits for what is not stored yet, and would come after the session's end.
        services.hub.commit()
        interactions.reportAtOnce()
    }

    /// Breaks every session, without a word to the peers.
    public func abortSessions() {
        for session in sessions { session.session.abort(LinkError(.closedHere, "a fault broke the connection")) }
    }

    public var isAdvertised: Bool { advertising.isEstablished }
    /// Sessions that are open.
    public var sessionCount: Int { sessions.count }

    // MARK: Who connects

    private func choose(_ hello: ClientHello) -> TLSChoice {
        let wantsOperation = hello.protocols.contains(TLSMode.operational.rawValue)
        let wantsPairing = hello.protocols.contains(TLSMode.pairing.rawValue)
        guard wantsOperation || wantsPairing else { return .refuse(.noApplicationProtocol) }
        if let alert = interceptions.refusesConnection?(!wantsOperation) { return .refuse(alert) }
        if wantsOperation {
            guard let name = hello.serverName, let fabric = node.commissioning.fabrics.fabric(instanceName: name),
                let identity = identity(in: fabric)
            else { return .refuse(.unrecognizedName) }
            return .operational(identity)
        }
        guard let pairing = try? services.pairingIdentity(now: node.environment.wall) else { return .refuse(.internalError) }
        if sessions.contains(where: \.isPairing) { return .busy(pairing, retryAfter: services.transport.limits.pairing) }
        return node.commissioning.window.isOpen ? .pairing(pairing) : .refuse(.accessDenied)
    }

    private func identity(in fabric: Fabric) -> OperationalIdentity? {
        if let known = identities[fabric.index], known.generation == fabric.generation { return known.identity }
        do {
            let identity = try OperationalIdentity(
                certificate: fabric.noc, intermediate: fabric.icac, root: fabric.root, key: fabric.key, fabricIndex: fabric.index,
                generation: UInt32(truncatingIfNeeded: fabric.generation), trust: services.trust(in: fabric.root))
            identities[fabric.index] = (fabric.generation, identity)
            return identity
        } catch {
            Log.node.error("\(name): the credentials of fabric \(fabric.index) are not usable: \(error)")
            return nil
        }
    }

    /// How long a newcomer of a fabric has to wait when the fabric's places are all taken for good, or nil. Who is at the other end is known.
    private func busy(_ connection: TLSConnection) -> Duration? {
        guard let fabric = connection.identity?.fabricIndex, isFull(fabric), leastUsed(of: fabric) == nil else { return nil }
        return services.sessionLimits.retryAfter
    }

    private func isFull(_ fabric: FabricIndex) -> Bool {
        sessions.count(where: { $0.isCounted(in: fabric) }) >= services.sessionLimits.perFabric
    }

    /// The session of a fabric that has no subscription and has been unused longest, one in the midst of a request only for want of others.
    private func leastUsed(of fabric: FabricIndex) -> HostedSession? {
        let last = interactions.exchanges
        return sessions.filter { $0.isCounted(in: fabric) && !$0.hasSubscription }.max { one, other in
            if one.isBusy != other.isBusy { return one.isBusy }
            return last &- one.lastUse < last &- other.lastUse
        }
    }

    /// Ends the sessions that nobody has used for `SessionLimits.idle`. Called ten times in that span. - Returns: whether there are
    /// others that may become idle.
    func endIdleSessions() -> Bool {
        var isAnyLeft = false
        for session in sessions where session.isOutside {
            if session.isIdle() { session.end() } else { isAnyLeft = true }
        }
        return isAnyLeft && !isStopped
    }

    @discardableResult
    private func opened(_ connection: TLSConnection) -> HostedSession? {
        do {
            let context = try connection.sessionContext()
            let isPairing = connection.mode == .pairing
            lastSession += 1
            let link = InterceptedLink(connection, timeline: services.timeline, origin: node.environment.origin)
            let hosted = HostedSession(link, link, context: context, isPairing: isPairing, number: lastSession, host: self)
            if !isPairing {
                let fabric = FabricIndex(context.fabricIndex)
                if isFull(fabric) {
                    // `busy` has let it in, but others may have come since.
                    guard let leastUsed = leastUsed(of: fabric) else {
                        connection.close()
                        return nil
                    }
                    leastUsed.end()
                }
                hosted.isOutside = connection.isFromOutside
            }
            if let judge = interceptions.sessionOpened, !judge(hosted.facts) {
                connection.abort(LinkError(.closedHere, "a fault refused the session"))
                return nil
            }
            if isPairing {
                // Two handshakes may have run side by side; the first to finish pairs.
                guard let parameters = node.commissioning.window.parameters, !sessions.contains(where: \.isPairing) else {
                    connection.close()
                    return nil
                }
                hosted.pairing = try PairingServer(
                    session: hosted.session, commissioning: node.commissioning, parameters: parameters,
                    binding: connection.pairingBinding(), intercept: interceptions.pairing, onProven: { connection.pairingCompleted() })
            }
            sessions.append(hosted)
            if hosted.isOutside { services.idleSweep.watch(self, in: services) }
            return hosted
        } catch {
            connection.abort(LinkError(.closedHere, "\(error)"))
            return nil
        }
    }

    // MARK: Subscriptions over a restart

    /// Under which a node keeps who has subscribed to it.
    public static let subscriptionsKey = "subscriptions"

    private func restoreSubscriptions() {
        let store = node.environment.store
        let records = store.value(for: Self.subscriptionsKey).map { SubscriptionRecord.decoded($0) } ?? []
        interactions.restore(records)
        interactions.onRecordsChanged = { [unowned self] in
            let records = interactions.records
            if records.isEmpty {
                store.remove(Self.subscriptionsKey)
            } else {
                store.put(SubscriptionRecord.encoded(records), for: Self.subscriptionsKey)
            }
            if let resumption {
                resumption.recordsChanged()
                if interactions.waiting.isEmpty { self.resumption = nil }
            }
        }
        guard !records.isEmpty else { return }
        // Without discovery no subscriber can be found.
        guard services.discovery.backEnd != .off else { return interactions.giveUp { _ in true } }
        resumption = SubscriptionResumption(self, services: services)
    }

    /// Connects to another node of a fabric. - Parameter done: hears of the session, nil when there is none; not from within this call.
    func dial(
        _ addresses: [TransportAddress], fabric index: FabricIndex, node peer: NodeID, done: @escaping (HostedSession?) -> Void
    ) -> TLSConnection? {
        guard interceptions.refusesConnection?(false) == nil,
            let fabric = node.commissioning.fabrics.fabrics.first(where: { $0.index == index }), let identity = identity(in: fabric)
        else {
            services.timeline.after(.zero, origin: node.environment.origin) { done(nil) }
            return nil
        }
        return services.transport.dial(
            addresses, as: identity, node: peer, tickets: nil, name: "\(name)>\(index)/\(peer)",
            wallTime: { [node] in node.commissioning.fabrics.validationTime(wall: node.environment.wall) }
        ) { [weak self] result in
            switch result {
            case .success(let connection):
                guard let self, !isStopped else {
                    connection.close()
                    return done(nil)
                }
                done(opened(connection))
            case .failure(let error):
                Log.node.debug("a subscriber cannot be reached: \(error)")
                done(nil)
            }
        }
    }

    /// Serves a peer over a link in memory that is no connection of the transport: whoever makes it vouches for who the peer is.
    /// - Parameter isIntercepted: faults and journal see the session and its messages, as those of a connection; otherwise nothing does.
    public func serve(_ link: any MessageLink, as context: SessionContext, isIntercepted: Bool = false) {
        guard !isStopped else { return link.abort(LinkError(.closedHere, "the device is switched off")) }
        lastSession += 1
        guard isIntercepted else {
            sessions.append(HostedSession(link, nil, context: context, isPairing: false, number: lastSession, host: self))
            return
        }
        let intercepted = InterceptedLink(link, timeline: services.timeline, origin: node.environment.origin)
        let hosted = HostedSession(intercepted, intercepted, context: context, isPairing: false, number: lastSession, host: self)
        if interceptions.refusesConnection?(false) != nil || interceptions.sessionOpened?(hosted.facts) == false {
            return hosted.session.abort(LinkError(.closedHere, "a fault refused the session"))
        }
        sessions.append(hosted)
    }

    func ended(_ hosted: HostedSession) {
        sessions.removeAll { $0 === hosted }
        interactions.sessionEnded(hosted.session)
        if hosted.isPairing {
            hosted.pairing?.sessionEnded()
            node.commissioning.failSafe.pairingEnded()
        }
        interceptions.sessionEnded?(hosted.facts)
    }

    // MARK: DeviceHost

    public func fabricsChanged() {
        let present = Set(node.commissioning.fabrics.fabrics.map(\.index))
        identities = identities.filter { present.contains($0.key) }
        services.hub.backupSoon()
        advertise()
    }

    public func commissioningWindowChanged() { advertise() }

    private func advertise() {
        guard !isStopped, acceptor != nil else { return }
        advertising.update(node.commissioning, port: port)
    }

    public func closeSessions(of fabric: FabricIndex, sparing spared: Session?) {
        for hosted in sessions where hosted.session.context.fabricIndex == fabric.rawValue {
            if hosted.session === spared { hosted.session.closeWhenIdle() } else { hosted.session.close() }
        }
    }

    public func closePairingSession() {
        for hosted in sessions where hosted.isPairing { hosted.session.closeWhenIdle() }
    }
}

/// One session of a hosted node.
final class HostedSession {
    let session: Session
    let isPairing: Bool
    /// The peer is another process, and may leave without a word.
    var isOutside = false
    /// It was told to end; the peer's end may take a moment.
    private var isEnding = false
    /// Sweeps since it was used. With its neighbours one word: a session is made thousands of times.
    private var unusedSweeps: UInt8 = 0
    /// `InteractionServer.exchanges` when the peer began its last one.
    private(set) var lastUse: UInt32
    let number: UInt64
    var pairing: PairingServer?
    private weak var host: NodeHost?
    /// Where faults see the messages; nil for a link that they have no hold on.
    private let intercepted: InterceptedLink?
    private let interactions: InteractionServer

    init(
        _ link: any MessageLink, _ intercepted: InterceptedLink?, context: SessionContext, isPairing: Bool, number: UInt64, host: NodeHost
    ) {
        (self.isPairing, self.number, self.host, self.intercepted) = (isPairing, number, host, intercepted)
        interactions = host.interactions
        lastUse = host.interactions.exchanges
        session = Session(link: link, context: context)
        watchFrames()
        // Not weak, which would slow down every use of this object: the deinit takes them back.
        session.onExchange = { [unowned self] in accept($0, $1, $2) }
        session.onEnd = { [unowned self] _ in self.host?.ended(self) }
    }

    deinit { (session.onExchange, session.onEnd) = (nil, nil) }

    /// Lets faults see the frames while there are any; without, a frame costs nothing more.
    func watchFrames() {
        guard let intercepted else { return }
        guard host?.interceptions.frame != nil else { return intercepted.verdict = nil }
        intercepted.verdict = { [weak self] isOutgoing, header, payload in
            guard let self, let frame = self.host?.interceptions.frame else { return .pass }
            return frame(isOutgoing, header, payload, facts)
        }
    }

    var facts: NodeInterceptions.PeerFacts {
        let context = session.context
        return NodeInterceptions.PeerFacts(
            fabricIndex: context.fabricIndex, nodeID: context.peerNodeID, isPairing: isPairing, session: number)
    }

    // MARK: How much it is used

    /// Whether it takes one of the places of a fabric. A link that is no connection takes none.
    func isCounted(in fabric: FabricIndex) -> Bool {
        !isPairing && !isEnding && intercepted != nil && session.context.fabricIndex == fabric.rawValue
    }

    var hasSubscription: Bool { interactions.subscriptions.contains { $0.session === session } }
    var isBusy: Bool { session.openExchanges > 0 }

    /// Whether it has gone unused for so many calls of this.
    func isIdle() -> Bool {
        if isBusy || hasSubscription { unusedSweeps = 0 } else { unusedSweeps = min(unusedSweeps, .max - 1) + 1 }
        // The first may have come right after the use.
        return unusedSweeps > SessionLimits.idleSweeps
    }

    func end() {
        guard !isEnding else { return }
        isEnding = true
        session.close()
    }

    private func accept(_ exchange: Exchange, _ opcode: UInt8, _ payload: UnsafeRawBufferPointer) {
        switch exchange.protocolID {
        case .interactionModel where session.context.authMode != nil:
            unusedSweeps = 0
            lastUse = interactions.exchanges
            interactions.accept(exchange, opcode, payload, in: session)
        case .secureChannel where session.context.authMode == nil:
            if let pairing { pairing.accept(exchange, opcode, payload) } else { exchange.close() }
        default:
            exchange.close()
            // Who has not proven the passcode may speak of nothing else.
            if session.context.authMode == nil { session.abort(LinkError(.protocolViolation, "a message before the passcode was proven")) }
        }
    }
}
