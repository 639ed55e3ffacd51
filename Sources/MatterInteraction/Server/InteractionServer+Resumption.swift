import MatterMessage
import MatterModel

/// Subscriptions outlive a restart of the node: the host keeps `records`, gives them back with `restore`, connects to the subscribers and
/// calls `resume` for each.
extension InteractionServer {
    /// What is to be kept: the subscriptions that are established, and those that wait to be resumed.
    public var records: [SubscriptionRecord] {
        (subscriptions.filter(\.isEstablished).map(\.record) + waiting).sorted { $0.id < $1.id }
    }

    /// Takes over what a node has kept over its restart. To be called once, before the first subscription.
    public func restore(_ records: [SubscriptionRecord]) {
        waiting = records
        // An id of before is not given to somebody else.
        if let last = records.map(\.id.rawValue).max() { nextSubscription = last == .max ? 1 : last + 1 }
    }

    /// Goes on with a subscription that waits, over a new session with its subscriber: by a report of all values, under the old number,
    /// in an exchange of this side. The subscriber ends the subscription by any other status than SUCCESS.
    /// - Parameter done: called with whether the subscriber has taken it, unless the session ends first.
    public func resume(_ id: SubscriptionID, in session: Session, done: @escaping (Bool) -> Void) {
        guard let place = waiting.firstIndex(where: { $0.id == id }) else { return done(false) }
        let record = waiting.remove(at: place)
        let context = InteractionContext(
            peer: session.context, isFabricFiltered: record.request.selection.isFabricFiltered, session: session)
        let expansion = PathExpansion(node: node, context: context)
        guard case .success(let items) = expansion.expand(record.request.selection), expansion.hasValidPath(record.request.selection)
        else {
            // Nothing of it is there any more, or may be seen.
            onRecordsChanged?()
            return done(false)
        }
        let subscription = Subscription(id: id, record.request, session: session, server: self)
        subscriptions.append(subscription)
        subscription.resume(items, done: done)
    }

    /// Forgets subscriptions that wait to be resumed.
    public func giveUp(where isMeant: (SubscriptionRecord) -> Bool) {
        let count = waiting.count
        waiting.removeAll(where: isMeant)
        if waiting.count != count { onRecordsChanged?() }
    }

    /// A subscriber asks anew: for nothing but this, or for what waits to be resumed, which need not be then.
    func supersede(by request: SubscribeRequest, of peer: SessionContext) {
        guard !waiting.isEmpty else { return }
        if !request.keepsSubscriptions {
            giveUp { $0.fabricIndex == peer.fabricIndex && $0.nodeID == peer.peerNodeID }
        } else if let same = waiting.first(where: {
            $0.isRepeated(by: request, fabricIndex: peer.fabricIndex, nodeID: peer.peerNodeID)
        }) {
            giveUp { $0.id == same.id }
        }
        // Who subscribes now goes before those who may never come back.
        let active = subscriptions.count { $0.peer.fabricIndex == peer.fabricIndex }
        while let oldest = waiting.first(where: { $0.fabricIndex == peer.fabricIndex }),
            active + waiting.count(where: { $0.fabricIndex == peer.fabricIndex }) >= limits.subscriptionsPerFabric
        {
            giveUp { $0.id == oldest.id }
        }
    }
}
