import HearthTime
import MatterModel

/// A subscription as its subscriber keeps it.
public final class ClientSubscription {
    public let id: SubscriptionID
    /// Seconds between two reports, at most.
    public let maximumInterval: UInt16
    /// A report came, whole. Those that came before this was set follow when it is set.
    public var onReport: ((ReportAccumulator) -> Void)? {
        didSet { handOver() }
    }
    /// No report came in time, or the session ended. Called once; at once when that happened before this was set.
    public var onLost: (() -> Void)? {
        didSet { if isLost { tellLoss() } }
    }

    private weak var client: InteractionClient?
    private var timer: Token?
    /// Reports that nobody has seen: a publisher may send one in the same instant as its response, before the subscriber's task runs.
    private var early: [ReportAccumulator] = []
    private var isLost = false

    init(id: SubscriptionID, maximumInterval: UInt16, client: InteractionClient) {
        (self.id, self.maximumInterval, self.client) = (id, maximumInterval, client)
    }

    func deliver(_ report: ReportAccumulator) {
        if let onReport { return onReport(report) }
        // A subscriber that never listens must not fill the memory.
        if early.count < 64 { early.append(report) }
    }

    private func handOver() {
        while let onReport, !early.isEmpty { onReport(early.removeFirst()) }
    }

    /// Waits for the next report: the maximum interval and what a slow network may take.
    func watch() {
        guard let client else { return }
        if let timer { client.timeline.cancel(timer) }
        timer = client.timeline.after(.seconds(Int64(maximumInterval)) + .seconds(5), origin: client.origin) { [weak self] in
            guard let self else { return }
            self.client?.lost(self)
        }
    }

    func stop() {
        if let timer { client?.timeline.cancel(timer) }
        timer = nil
        early = []
    }

    func lose() {
        stop()
        onReport = nil
        isLost = true
        tellLoss()
    }

    private func tellLoss() {
        guard let callback = onLost else { return }
        onLost = nil
        callback()
    }
}
