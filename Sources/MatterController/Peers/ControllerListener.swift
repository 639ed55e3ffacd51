import HearthTime
import MatterCredentials
import MatterDiscovery
import MatterInteraction
import MatterMessage
import MatterModel
import MatterTransport

/// Lets devices connect to their controller: after a restart they go on with its subscriptions. Listens, and is advertised as the node
/// that the controller is, from the first subscription on. Belongs to the timeline's thread.
final class ControllerListener {
    private unowned let context: ControllerContext
    private var acceptor: TLSAcceptor?
    private var advertisement: (any Advertisement)?
    /// Those that are not over, by their numbers.
    private var subscriptions: [Int: DeviceSubscription] = [:]
    /// Sessions beside that of the peer.
    private var extra: [(client: InteractionClient, node: NodeID)] = []
    private var wasTried = false

    init(_ context: ControllerContext) { self.context = context }

    /// Devices can connect.
    var isListening: Bool { acceptor != nil }

    func add(_ subscription: DeviceSubscription) {
        subscriptions[subscription.number] = subscription
        listen()
    }

    func remove(_ subscription: DeviceSubscription) { subscriptions[subscription.number] = nil }

    /// Once. A controller that cannot listen subscribes anew by itself, as ever.
    private func listen() {
        guard !wasTried, let place = context.settings.listen, context.resolver.discovery.backEnd != .off else { return }
        wasTried = true
        do {
            let acceptor = try context.transport.listen(on: place(0), name: context.name) { [context] in context.wallSeconds }
            acceptor.choose = { [weak self] in self?.choose($0) ?? .refuse(.internalError) }
            acceptor.onOpen = { [weak self] in if let self { opened($0) } else { $0.close() } }
            self.acceptor = acceptor
            let service = OperationalService(
                compressedFabric: context.home.authority.fabric.compressedID, node: context.home.identity.nodeID)
            advertisement = try context.resolver.discovery.advertiser.advertise(
                service.record(port: acceptor.address.port), onConflict: .fail
            ) { [weak self] event in
                // Another process of the same home is there already.
                if case .failed(let error) = event { self?.stop("\(error)") }
            }
        } catch { stop("\(error)") }
    }

    private func stop(_ reason: String) {
        Log.controller.info("devices cannot connect to this controller: \(reason)")
        advertisement?.withdraw()
        acceptor?.stopListening()
        (advertisement, acceptor) = (nil, nil)
    }

    /// Ends everything.
    func close() {
        wasTried = true
        advertisement?.withdraw()
        acceptor?.stopListening()
        for session in extra { session.client.session.close() }
        (advertisement, acceptor, extra) = (nil, nil, [])
    }

    /// Ends the sessions that a device has made.
    func disconnect(_ node: NodeID) { for session in extra where session.node == node { session.client.session.close() } }

    private func choose(_ hello: ClientHello) -> TLSChoice {
        guard hello.protocols.contains(TLSMode.operational.rawValue) else { return .refuse(.noApplicationProtocol) }
        guard let name = hello.serverName, name.uppercased() == context.home.identity.instanceName else {
            return .refuse(.unrecognizedName)
        }
        return .operational(context.home.identity)
    }

    private func opened(_ connection: TLSConnection) {
        guard let facts = try? connection.sessionContext(), facts.authMode == .case else { return connection.close() }
        let node = NodeID(facts.peerNodeID)
        // A device comes to go on with subscriptions, and for nothing else.
        guard let peer = subscriptions.values.first(where: { $0.nodeID == node })?.peer else { return connection.close() }
        let session = Session(link: connection, context: facts)
        let client: InteractionClient
        if peer.isFree {
            client = peer.adopt(session)
        } else {
            client = InteractionClient(session: session, timeline: context.timeline, origin: context.origin)
            client.limit = context.settings.answer
            extra.append((client, node))
            session.onExchange = { [weak client] exchange, opcode, payload in
                guard exchange.protocolID == .interactionModel, let client else { return exchange.close() }
                client.accept(exchange, opcode, payload)
            }
            session.onEnd = { [weak self, weak client] _ in
                client?.sessionEnded()
                self?.extra.removeAll { $0.client === client }
            }
        }
        client.takeUp = { [weak self, weak client] id, make in
            guard let self, let client, let subscription = subscriptions.values.first(where: { $0.nodeID == node && $0.lastID == id })
            else { return nil }
            return subscription.takeUp(client, make)
        }
    }
}
