/// What the sessions of a fabric may cost a node.
public struct SessionLimits: Sendable {
    /// Sessions of one fabric with one node. For a further one, that which has been unused longest and has no subscription ends; when all
    /// have one, the newcomer is told BUSY.
    public var perFabric = 64
    /// What BUSY says how long to wait, at most 65 s.
    public var retryAfter: Duration = .seconds(60)
    /// How long a session with a peer outside the process may go unused: without a request, an open exchange or a subscription. It ends
    /// within a tenth of that thereafter. Real time.
    public var idle: Duration = .seconds(600)

    /// Sweeps that a session may see without having been used.
    static let idleSweeps: UInt8 = 10

    public init() {}
}

/// Looks at the sessions of all nodes of a process now and then, which costs less than a timer for each.
final class IdleSweep {
    private struct Entry { weak var host: NodeHost? }
    private var hosts: [Entry] = []
    private var isScheduled = false

    /// `host` has a session that may become idle.
    func watch(_ host: NodeHost, in services: NodeServices) {
        if !hosts.contains(where: { $0.host === host }) { hosts.append(Entry(host: host)) }
        schedule(services)
    }

    private func schedule(_ services: NodeServices) {
        if isScheduled { return }
        isScheduled = true
        let period = max(services.sessionLimits.idle / Int(SessionLimits.idleSweeps), .milliseconds(1))
        services.transport.loop.schedule(after: period) { [weak self, weak services] in
            guard let self, let services else { return }
            isScheduled = false
            hosts.removeAll { $0.host?.endIdleSessions() != true }
            if !hosts.isEmpty { schedule(services) }
        }
    }
}
