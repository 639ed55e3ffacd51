import HearthTime
import MatterMessage
import MatterModel
import MatterTLV

/// A subscription as its publisher keeps it (Matter Core, 8.5): one report in flight and a set of what has changed, never a queue.
public final class Subscription {
    public let id: SubscriptionID
    /// Who has subscribed, as access control sees it.
    public let peer: SessionContext
    public let selection: ReadSelection
    /// Seconds between two reports, at least.
    public let minimumInterval: UInt16
    /// Seconds between two reports, at most, as decided here.
    public let maximumInterval: UInt16
    public private(set) weak var session: Session?

    private unowned let server: InteractionServer
    private var dirty: Set<AttributePath> = []
    private var nextEvent: EventNumber
    private var hasUrgentEvent = false
    private var lastReport: ModelInstant
    private var timer: Token?
    private var isReporting = true
    private var isEnded = false

    init(id: SubscriptionID, _ request: SubscribeRequest, session: Session, server: InteractionServer) {
        (self.id, self.session, self.server) = (id, session, server)
        peer = session.context
        selection = request.selection
        minimumInterval = request.minimumInterval
        // The ceiling may be used whole (Matter Core, 8.5.3.2); 0 would mean reports without end.
        maximumInterval = max(request.maximumInterval, max(1, request.minimumInterval))
        nextEvent = server.node.events.nextNumber
        lastReport = server.timeline.now
    }

    private func context() -> InteractionContext {
        InteractionContext(peer: session?.context ?? peer, isFabricFiltered: selection.isFabricFiltered, session: session)
    }

    /// Sends the priming report and then the response, on the exchange of the request.
    func prime(_ items: [ReportItem], on exchange: Exchange, _ context: InteractionContext) {
        let stream = ReportStream(items, node: server.node, context: context, hooks: server.hooks, subscription: id)
        server.sendChunks(stream, on: exchange, context, isLastAcknowledged: true) { [weak self] isAcknowledged in
            guard let self, !isEnded else { return exchange.close() }
            guard isAcknowledged else {
                exchange.close()
                return end()
            }
            let response = SubscribeResponse(subscription: id, maximumInterval: maximumInterval)
            exchange.send(InteractionOpcode.subscribeResponse.rawValue, response.payload)
            exchange.close()
            reported()
        }
    }

    /// The subscription is over; the peer is not told (Matter has no message for it) and finds out by the silence.
    func end() {
        guard !isEnded else { return }
        isEnded = true
        if let timer { server.timeline.cancel(timer) }
        server.forget(self)
    }

    func attributeChanged(_ path: AttributePath) {
        guard !isEnded, selection.attributes.contains(where: { $0.pattern.matches(path) }) else { return }
        dirty.insert(path)
        schedule()
    }

    func eventRecorded(_ record: EventRecord) {
        guard !isEnded, selection.events.contains(where: { $0.isUrgent && $0.matches(record.path) }) else { return }
        hasUrgentEvent = true
        schedule()
    }

    private func reported() {
        isReporting = false
        lastReport = server.timeline.now
        schedule()
    }

    /// Plans the next report: as soon as the minimum interval allows when there is news, else at the maximum interval.
    private func schedule() {
        guard !isReporting, !isEnded else { return }
        let interval = dirty.isEmpty && !hasUrgentEvent ? maximumInterval : minimumInterval
        let due = max(server.timeline.now, lastReport + .seconds(Int64(interval)))
        if let timer { server.timeline.cancel(timer) }
        timer = server.timeline.after(due - server.timeline.now, origin: server.origin) { [weak self] in self?.report() }
    }

    private func report() {
        guard !isEnded, !isReporting else { return }
        timer = nil
        guard let session, session.isOpen else { return end() }
        let context = context()
        let expansion = PathExpansion(node: server.node, context: context)
        // Sorted: a set has no order that may reach the wire. Access may have changed since the subscription was made.
        var paths = dirty.sorted().filter { expansion.check($0) == nil }
        dirty.removeAll(keepingCapacity: true)
        hasUrgentEvent = false
        let events = expansion.events(selection.events, from: nextEvent)
        nextEvent = server.node.events.nextNumber
        if let hook = server.hooks.beforeReport, !hook(id, &paths, context) { return reported() }
        isReporting = true
        let exchange = session.begin(.interactionModel)
        let stream = ReportStream(
            paths.map { .attribute($0) } + events, node: server.node, context: context, hooks: server.hooks, subscription: id)
        server.sendChunks(stream, on: exchange, context, isLastAcknowledged: true) { [weak self] isAcknowledged in
            exchange.close()
            guard let self else { return }
            if isAcknowledged { reported() } else { end() }
        }
    }
}
