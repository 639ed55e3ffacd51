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

    private weak var server: InteractionServer?
    private let timeline: Timeline
    private var dirty: Set<AttributePath> = []
    private var nextEvent: EventNumber
    private var hasUrgentEvent = false
    private var lastReport: ModelInstant
    private var timer: Token?
    /// The report in flight.
    private var sender: ReportSender?
    /// From the start until the subscribe response, and in every later report until its acknowledgement.
    private var isReporting = true
    private var isEnded = false
    /// The subscriber has been told that it exists, or is being told again after a restart.
    private(set) var isEstablished = false

    init(id: SubscriptionID, _ request: SubscribeRequest, session: Session, server: InteractionServer) {
        (self.id, self.session, self.server, timeline) = (id, session, server, server.timeline)
        peer = session.context
        selection = request.selection
        minimumInterval = request.minimumInterval
        maximumInterval = SubscriptionRecord.maximumInterval(request)
        nextEvent = server.node.events.nextNumber
        lastReport = server.timeline.now
    }

    private func context() -> InteractionContext {
        InteractionContext(
            peer: session?.context ?? peer, isFabricFiltered: selection.isFabricFiltered, session: session, subscription: id)
    }

    /// Sends the priming report and then the response, on the exchange of the request.
    func prime(_ items: [ReportItem], on exchange: Exchange) {
        guard let server else { return exchange.close() }
        let context = context()
        let stream = ReportStream(items, node: server.node, context: context, hooks: server.hooks, subscription: id)
        let report = ReportSender(stream, on: exchange, context, server, isLastAcknowledged: true) { [weak self] isAcknowledged in
            guard let self else { return exchange.close() }
            sender = nil
            guard isAcknowledged, let server = self.server else {
                exchange.close()
                return end()
            }
            isEstablished = true
            server.onRecordsChanged?()
            let response = SubscribeResponse(subscription: id, maximumInterval: maximumInterval)
            server.hooks.subscribed?(context)
            server.answer(exchange, .subscribeResponse, response.payload, context) { [weak self] in
                guard let self, !isEnded else { return }
                lastReport = timeline.now
                isReporting = false
                schedule()
            }
        }
        sender = report
        report.sendNext()
    }

    /// What is to be remembered of it over a restart.
    var record: SubscriptionRecord {
        SubscriptionRecord(
            id: id, fabricIndex: peer.fabricIndex, nodeID: peer.peerNodeID, selection, minimum: minimumInterval, maximum: maximumInterval)
    }

    /// After a restart: sends all values in an exchange of this side. No response follows: for the subscriber it is a report like others.
    func resume(_ items: [ReportItem], done: @escaping (Bool) -> Void) {
        isEstablished = true
        guard let server, let session, session.isOpen else {
            end()
            return done(false)
        }
        let exchange = session.begin(.interactionModel)
        guard exchange.isOpen else {
            end()
            return done(false)
        }
        let context = context()
        let stream = ReportStream(items, node: server.node, context: context, hooks: server.hooks, subscription: id)
        let report = ReportSender(stream, on: exchange, context, server, isLastAcknowledged: true) { [weak self] in
            if let self { lastReport = timeline.now }
        } done: { [weak self] isAcknowledged in
            exchange.close()
            guard let self else { return done(false) }
            sender = nil
            guard isAcknowledged else {
                end()
                return done(false)
            }
            isReporting = false
            schedule()
            done(true)
        }
        sender = report
        report.sendNext()
    }

    /// The subscription is over; the peer is not told (Matter has no message for it) and finds out by the silence.
    func end() {
        guard !isEnded else { return }
        isEnded = true
        if let timer { timeline.cancel(timer) }
        sender?.cancel()
        sender = nil
        server?.forget(self)
    }

    func attributeChanged(_ path: AttributePath, _ attribute: AttributeDefinition) {
        guard !isEnded, !dirty.contains(path), selection.attributes.contains(where: { $0.includes(path, attribute) }) else {
            return
        }
        let isFirst = dirty.isEmpty
        dirty.insert(path)
        if isFirst { schedule() }
    }

    func eventRecorded(_ record: EventRecord) {
        guard !isEnded, !hasUrgentEvent, let server,
            selection.events.contains(where: { $0.isUrgent && $0.matches(record.path) }),
            PathExpansion(node: server.node, context: context()).isVisible(record)
        else { return }
        hasUrgentEvent = true
        schedule()
    }

    /// Plans the next report: as soon as the minimum interval allows when there is news, else at the maximum interval. Both count from
    /// when the last report was handed to the link.
    private func schedule() {
        guard !isReporting, !isEnded, let server else { return }
        let interval = dirty.isEmpty && !hasUrgentEvent ? maximumInterval : minimumInterval
        let due = max(timeline.now, lastReport + .seconds(Int64(interval)))
        if let timer { timeline.cancel(timer) }
        timer = timeline.after(due - timeline.now, origin: server.origin) { [weak self] in self?.report() }
    }

    func reportAtOnce() {
        if let timer, !isReporting { timeline.cancel(timer) }
        report()
    }

    private func report() {
        guard !isEnded, !isReporting else { return }
        timer = nil
        guard let server, let session, session.isOpen else { return end() }
        let context = context()
        let expansion = PathExpansion(node: server.node, context: context)
        // Sorted: a set has no order that may reach the wire. Access may have changed since the subscription was made.
        var paths = dirty.sorted().filter { expansion.check($0) == nil }
        let events = expansion.events(selection.events, from: nextEvent)
        dirty.removeAll(keepingCapacity: true)
        hasUrgentEvent = false
        nextEvent = server.node.events.nextNumber
        // Nothing of it may be seen any more: no report before its time.
        if paths.isEmpty, events.isEmpty, timeline.now < lastReport + .seconds(Int64(maximumInterval)) { return schedule() }
        if let hook = server.hooks.beforeReport, !hook(id, &paths, context) {
            lastReport = timeline.now
            return schedule()
        }
        isReporting = true
        let exchange = session.begin(.interactionModel)
        guard exchange.isOpen else { return end() }
        let stream = ReportStream(
            paths.map { .attribute($0) } + events, node: server.node, context: context, hooks: server.hooks, subscription: id)
        let report = ReportSender(stream, on: exchange, context, server, isLastAcknowledged: true) { [weak self] in
            if let self { lastReport = timeline.now }
        } done: { [weak self] isAcknowledged in
            exchange.close()
            guard let self else { return }
            sender = nil
            guard isAcknowledged else { return end() }
            isReporting = false
            schedule()
        }
        sender = report
        report.sendNext()
    }
}
