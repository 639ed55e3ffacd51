import HearthTime
import MatterDiscovery
import MatterInteraction
import MatterMessage
import MatterModel

/// What a subscriber hears.
public enum SubscriptionUpdate: Sendable {
    case report(attributes: [AttributeReport], events: [EventReport])
    /// No report for longer than an outage that nobody needs to know of. Told once.
    case lost
    /// Reports come again; a report with all values precedes it.
    case restored
    /// It is over and will not come back.
    case ended(ControllerError)
}

/// A subscription that survives the device's restarts: it is made anew with back-off, at once when the device announces itself.
/// Belongs to the timeline's thread.
final class DeviceSubscription {
    let number: Int
    var nodeID: NodeID { peer.nodeID }
    let peer: Peer
    private let context: ControllerContext
    private let request: SubscribeRequest
    private let update: (SubscriptionUpdate) -> Void
    private var current: ClientSubscription?
    private var client: InteractionClient?
    private var nextEvent: EventNumber?
    private var isEnded = false
    private var isReportedLost = false
    private var retry: Token?
    private var outage: Token?
    private var wait: Duration
    private var watch: (any ServiceSearch)?
    private var isTrying = false
    /// What the device calls it, or called it last.
    private(set) var lastID: SubscriptionID?
    private var lastMaximum: UInt16 = 0
    /// The device goes on with it, and its first report has not come whole.
    private var isResuming = false
    /// A device that is seen again may go on with the subscription by itself: it has a moment for that.
    private var hasHeadStart = false
    /// How often in a row the device has said that it knows nothing of this home.
    private var denials = 0

    init(
        number: Int, peer: Peer, context: ControllerContext, request: SubscribeRequest, update: @escaping (SubscriptionUpdate) -> Void
    ) {
        (self.number, self.peer, self.context, self.request, self.update) = (number, peer, context, request, update)
        wait = context.settings.backOff.lowerBound
    }

    /// The first attempt: its failure is the caller's.
    func begin() async throws -> ReportAccumulator { try await subscribe() }

    private func subscribe() async throws -> ReportAccumulator {
        let client = try await peer.connected()
        var request = request
        // What was seen before an outage is not wanted again.
        if let nextEvent { request.selection.eventMinimum = nextEvent }
        let (subscription, report) = try await client.subscribe(request)
        guard !isEnded else {
            client.unsubscribe(subscription.id)
            throw CancellationError()
        }
        (current, self.client) = (subscription, client)
        (lastID, lastMaximum) = (subscription.id, subscription.maximumInterval)
        context.listener.add(self)
        subscription.onReport = { [weak self] in self?.heard($0) }
        subscription.onLost = { [weak self] in self?.lost() }
        note(report)
        return report
    }

    private func note(_ report: ReportAccumulator) {
        for event in report.events {
            if case .event(let number, _, _, _) = event.outcome {
                nextEvent = EventNumber(max(nextEvent?.rawValue ?? 0, number.rawValue &+ 1))
            }
        }
    }

    private func heard(_ report: ReportAccumulator) {
        guard !isEnded else { return }
        note(report)
        if isResuming {
            isResuming = false
            return restored(report)
        }
        if report.attributes.isEmpty, report.events.isEmpty { return }
        update(.report(attributes: report.attributes, events: report.events))
    }

    private func lost() {
        guard !isEnded, current != nil else { return }
        current = nil
        client = nil
        isResuming = false
        wait = context.settings.backOff.lowerBound
        if outage == nil {
            outage = context.timeline.after(context.settings.debounce, origin: context.origin) { [weak self] in self?.outageIsLong() }
        }
        watchForAnnouncement()
        plan()
    }

    /// The device goes on with the subscription over a session that it has made. - Returns: nil when the controller is about to subscribe
    /// anew, which came first.
    func takeUp(_ client: InteractionClient, _ make: (UInt16) -> ClientSubscription) -> ClientSubscription? {
        guard !isEnded, !isTrying, let lastID, self.client !== client else { return nil }
        let before = self.client
        // The device has restarted and does not know the session that this side has taken for open.
        before?.unsubscribe(lastID)
        let subscription = make(lastMaximum)
        (current, self.client, isResuming) = (subscription, client, true)
        if let retry { context.timeline.cancel(retry) }
        (retry, hasHeadStart) = (nil, false)
        subscription.onReport = { [weak self] in self?.heard($0) }
        subscription.onLost = { [weak self] in self?.lost() }
        before?.session.abort(LinkError(.timedOut, "the device has restarted"))
        return subscription
    }

    private func outageIsLong() {
        outage = nil
        guard !isEnded, current == nil else { return }
        isReportedLost = true
        update(.lost)
    }

    private func plan() {
        guard !isEnded, current == nil else { return }
        if let retry { context.timeline.cancel(retry) }
        retry = context.timeline.after(context.jittered(wait), origin: context.origin) { [weak self] in self?.attempt() }
        wait = min(wait * 2, context.settings.backOff.upperBound)
    }

    private func attempt() {
        guard !isEnded, current == nil, !isTrying else { return }
        retry = nil
        isTrying = true
        let subscription = Confined(self, on: context.timeline)
        context.timeline.spawn("resubscribe") {
            let me = subscription.value
            defer { me.isTrying = false }
            do {
                let report = try await me.subscribe()
                me.restored(report)
            } catch {
                me.failed(error)
            }
        }
    }

    /// Goes on trying, unless the device is no longer in the home: taken out of it by another process, or reset.
    private func failed(_ error: any Error) {
        guard !isEnded else { return }
        // A home that cannot be read is no reason to take its devices for gone.
        if let devices = try? context.home.devices(), !devices.contains(where: { $0.nodeID == nodeID }) {
            return over(ControllerError(.unknownDevice, "\(peer.name) has left the home"))
        }
        denials = peer.isStranger ? denials + 1 : 0
        // Once more: where its address has become another device's for a moment, that is who answered.
        guard denials >= 2 else { return plan() }
        over(ControllerError(error, device: peer.name))
    }

    private func over(_ reason: ControllerError) {
        end()
        update(.ended(reason))
    }

    private func restored(_ report: ReportAccumulator) {
        denials = 0
        watch?.cancel()
        watch = nil
        if let outage { context.timeline.cancel(outage) }
        outage = nil
        wait = context.settings.backOff.lowerBound
        update(.report(attributes: report.attributes, events: report.events))
        if isReportedLost {
            isReportedLost = false
            update(.restored)
        }
    }

    /// A device that comes back announces itself: no need to wait for the back-off then.
    private func watchForAnnouncement() {
        guard watch == nil, context.resolver.discovery.backEnd != .off else { return }
        let service = OperationalService(compressedFabric: context.home.authority.fabric.compressedID, node: peer.nodeID)
        watch = context.resolver.discovery.browser.resolve(service.name, timeout: nil) { [weak self] event in
            guard let self else { return }
            switch event {
            case .found, .updated:
                if hasHeadStart { return }
                wait = context.settings.backOff.lowerBound
                if let retry { context.timeline.cancel(retry) }
                guard context.listener.isListening else { return attempt() }
                hasHeadStart = true
                retry = context.timeline.after(context.settings.resumption, origin: context.origin) { [weak self] in
                    self?.hasHeadStart = false
                    self?.attempt()
                }
            case .lost, .failed: break
            }
        }
    }

    /// The subscriber wants no more. The device learns of it with its next report.
    func end() {
        guard !isEnded else { return }
        isEnded = true
        context.listener.remove(self)
        watch?.cancel()
        if let retry { context.timeline.cancel(retry) }
        if let outage { context.timeline.cancel(outage) }
        if let current { client?.unsubscribe(current.id) }
        (current, client, watch) = (nil, nil, nil)
    }
}
