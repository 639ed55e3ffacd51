import HearthTime
import MatterModel
import MatterTransport

/// One attempt to reach a device: at the address where it was last, where it nearly always is, and, when that fails or takes long, also
/// where discovery finds it. The first connection counts. Belongs to the timeline's thread.
final class PeerSearch {
    struct Failure {
        /// Each way that was tried and what came of it, for the user.
        let message: String
        /// The device answers, wherever it was looked for, and knows nothing of this home.
        let isStranger: Bool
        /// The device has refused the controller's certificate as one that has expired.
        let isExpired: Bool
    }
    typealias Outcome = (connection: TLSConnection, addresses: [TransportAddress])

    private let context: ControllerContext
    private let nodeID: NodeID
    private let known: [TransportAddress]
    private var found: [TransportAddress] = []
    private var search: OperationalSearch?
    private var hasSearched = false
    private var headStart: Token?
    /// Those that are being dialled.
    private var lastDial: TLSConnection?
    private var foundDial: TLSConnection?
    private var lastFailure: TLSError?
    private var foundFailure: TLSError?
    private var pending = 0
    private var done: ((Outcome?, Failure?) -> Void)?

    init(_ context: ControllerContext, _ nodeID: NodeID, known: [TransportAddress]) {
        (self.context, self.nodeID, self.known) = (context, nodeID, known)
    }

    /// `done` is called once, with the connection or the failure.
    func start(_ done: @escaping (Outcome?, Failure?) -> Void) {
        self.done = done
        guard !known.isEmpty else { return look() }
        lastDial = dial(known) { [self] error in
            lastDial = nil
            lastFailure = error
            look()
        }
        headStart = context.timeline.after(context.settings.headStart, origin: context.origin) { [self] in look() }
    }

    private func dial(_ addresses: [TransportAddress], failed: @escaping (TLSError) -> Void) -> TLSConnection? {
        pending += 1
        return context.transport.dial(
            addresses, as: context.home.identity, node: nodeID, tickets: context.tickets, name: "\(context.name)-\(nodeID)",
            wallTime: { [context] in context.wallSeconds }
        ) { [self] result in
            pending -= 1
            switch result {
            case .success(let connection):
                guard done != nil else { return connection.close() }
                if connection === lastDial { lastDial = nil }
                if connection === foundDial { foundDial = nil }
                finish((connection, addresses), nil)
            case .failure(let error):
                guard done != nil else { return }
                failed(error)
                concludeIfOver()
            }
        }
    }

    private func look() {
        if let headStart { context.timeline.cancel(headStart) }
        headStart = nil
        guard done != nil, !hasSearched else { return }
        hasSearched = true
        pending += 1
        let fabric = context.home.authority.fabric
        search = context.resolver.operational(fabric, nodeID, within: context.settings.operationalDiscovery) { [self] in lookedUp($0) }
        if search == nil { lookedUp([]) }
    }

    private func lookedUp(_ addresses: [TransportAddress]) {
        pending -= 1
        search = nil
        found = addresses
        // What is being dialled need not be dialled again.
        let isNews = lastDial == nil || !addresses.allSatisfy(known.contains)
        if !addresses.isEmpty, isNews {
            foundDial = dial(addresses) { [self] error in
                foundDial = nil
                foundFailure = error
            }
        }
        concludeIfOver()
    }

    private func concludeIfOver() {
        guard pending == 0, hasSearched else { return }
        var tried: [String] = []
        if let lastFailure { tried.append("its last address (\(Self.told(lastFailure, known)))") }
        if let foundFailure {
            tried.append("where it was found (\(Self.told(foundFailure, found)))")
        } else if context.resolver.discovery.backEnd == .off {
            tried.append("no discovery, which is switched off")
        } else if found.isEmpty {
            tried.append("discovery (nothing found within \(context.settings.operationalDiscovery))")
        }
        let failures = [lastFailure, foundFailure].compactMap { $0 }
        finish(
            nil,
            Failure(
                message: "cannot be reached. Tried: \(tried.joined(separator: "; "))",
                isStranger: failures.contains { $0.alert == .unrecognizedName } && failures.allSatisfy { $0.alert == .unrecognizedName },
                isExpired: failures.contains { $0.alert == .certificateExpired }))
    }

    private static func told(_ error: TLSError, _ addresses: [TransportAddress]) -> String {
        // Where no address took the connection each is named with its reason already.
        if error.code == .unreachable { return error.message }
        return "\(addresses.map(\.description).joined(separator: ", ")): \(error)"
    }

    private func finish(_ outcome: Outcome?, _ failure: Failure?) {
        guard let done else { return }
        self.done = nil
        if let headStart { context.timeline.cancel(headStart) }
        headStart = nil
        search?.cancel()
        search = nil
        for dial in [lastDial, foundDial] { dial?.close() }
        (lastDial, foundDial) = (nil, nil)
        done(outcome, failure)
    }
}
