import HearthTime
import MatterDevice
import MatterInteraction
import MatterModel
import MatterNode
import MatterTLV

/// What happened to the devices of a simulator, in order; the last `capacity` entries. Belongs to the timeline's thread.
final class Journal {
    let capacity: Int
    let recordsReads: Bool
    /// Hears every entry as it is made.
    var listeners: [Int: (JournalEntry) -> Void] = [:]

    private let timeline: Timeline
    /// A ring: the entry with number n lies at (n - 1) mod capacity.
    private var ring: [JournalEntry] = []
    private(set) var lastNumber: UInt64 = 0
    private var nextListener = 0

    init(timeline: Timeline, capacity: Int = 20_000, recordsReads: Bool = false) {
        (self.timeline, self.capacity, self.recordsReads) = (timeline, max(1, capacity), recordsReads)
    }

    /// The number of the oldest entry that is still here; one more than the last when there is none.
    var firstNumber: UInt64 { lastNumber - UInt64(ring.count) + 1 }

    func record(_ device: String, _ kind: JournalEntry.Kind, _ fill: (inout JournalEntry) -> Void = { _ in }) {
        lastNumber += 1
        var entry = JournalEntry(number: lastNumber, time: timeline.now, device: device, kind: kind)
        fill(&entry)
        if ring.count < capacity { ring.append(entry) } else { ring[Int((lastNumber - 1) % UInt64(capacity))] = entry }
        if listeners.isEmpty { return }
        for listener in listeners.sorted(by: { $0.key < $1.key }) { listener.value(entry) }
    }

    func entry(_ number: UInt64) -> JournalEntry? {
        guard number >= firstNumber, number <= lastNumber else { return nil }
        return ring[Int((number - 1) % UInt64(capacity))]
    }

    /// Which entries are wanted; nil stands for all.
    struct Filter {
        var device: String?
        var kinds: Set<JournalEntry.Kind>?
        var endpoint: EndpointID?
        var cluster: ClusterID?
        /// One of these elements.
        var attribute: AttributeID?
        var command: CommandID?
        var event: EventID?

        func takes(_ entry: JournalEntry) -> Bool {
            device ?? entry.device == entry.device && kinds?.contains(entry.kind) ?? true
                && (endpoint == nil || endpoint == entry.endpoint) && (cluster == nil || cluster == entry.cluster) && takesElement(entry)
        }

        private func takesElement(_ entry: JournalEntry) -> Bool {
            if attribute == nil, command == nil, event == nil { return true }
            return attribute != nil && attribute == entry.attribute || command != nil && command == entry.command
                || event != nil && event == entry.event
        }
    }

    /// The first entries from a number on that the filter takes, at most `limit`; or the last of them, at most `last`, when that is given.
    /// Which way it looks decides how many it has to look at.
    /// - Throws: `SimulatorError.gone` when some before the oldest are wanted.
    func entries(from number: UInt64?, limit: Int, last: Int? = nil, _ filter: Filter) throws(SimulatorError) -> [JournalEntry] {
        let start = number ?? firstNumber
        guard start >= firstNumber || start == 0 else {
            throw SimulatorError(.gone, "entries before \(firstNumber) have been dropped: the journal keeps the last \(capacity)")
        }
        let first = max(start, firstNumber)
        guard first <= lastNumber else { return [] }
        if let last { return found(in: (first...lastNumber).lazy.reversed(), last, filter).reversed() }
        return found(in: first...lastNumber, limit, filter)
    }

    private func found(in numbers: some Sequence<UInt64>, _ limit: Int, _ filter: Filter) -> [JournalEntry] {
        var found: [JournalEntry] = []
        for number in numbers {
            guard found.count < limit else { break }
            if let entry = entry(number), filter.takes(entry) { found.append(entry) }
        }
        return found
    }

    func listen(_ listener: @escaping (JournalEntry) -> Void) -> Int {
        nextListener += 1
        listeners[nextListener] = listener
        return nextListener
    }
}

extension Journal {
    /// Looks on at a device's node, through its interception points and nowhere else.
    func observe(_ device: String, _ interceptions: inout NodeInterceptions) {
        interceptions.sessionOpened = chain(interceptions.sessionOpened) { [weak self] facts in
            self?.record(device, .session) { $0.peer(facts) }
        }
        let ended = interceptions.sessionEnded
        interceptions.sessionEnded = { [weak self] facts in
            ended?(facts)
            self?.record(device, .sessionEnd) { $0.peer(facts) }
        }
        observeReading(device, &interceptions.interaction)
        interceptions.interaction.afterWrite = { [weak self] path, change, status, context in
            self?.record(device, .write) { entry in
                entry.peer(context)
                (entry.endpoint, entry.cluster, entry.attribute) = (path.endpoint, path.cluster, path.attribute)
                entry.status = status
                switch change {
                case .replace(let value): entry.value = value
                case .append(let value): (entry.value, entry.note) = (value, "append")
                }
            }
        }
        interceptions.interaction.afterCommand = { [self] path, fields, outcome, context in
            // Certificates, keys and nonces are different in every run, and of no interest afterwards.
            let isSecret = Self.isCredential(path.cluster)
            record(device, .invoke) { entry in
                entry.peer(context)
                (entry.endpoint, entry.cluster, entry.command) = (path.endpoint, path.cluster, path.command)
                if !isSecret { entry.value = fields }
                if case .status(let status) = outcome { entry.status = status } else { entry.status = .success }
            }
        }
    }

    /// Subscriptions and their reports, and reads where they are asked for: an entry for each attribute is more than a read itself costs.
    private func observeReading(_ device: String, _ hooks: inout InteractionHooks) {
        hooks.subscribed = { [self] context in record(device, .subscribe) { $0.peer(context) } }
        hooks.beforeReport = { [self, beforeReport = hooks.beforeReport] subscription, paths, context in
            guard beforeReport?(subscription, &paths, context) ?? true else { return false }
            for path in paths {
                record(device, .report) { entry in
                    entry.peer(context)
                    (entry.endpoint, entry.cluster, entry.attribute) = (path.endpoint, path.cluster, path.attribute)
                }
            }
            return true
        }
        guard recordsReads else { return }
        hooks.beforeRead = { [self, beforeRead = hooks.beforeRead] path, context in
            let verdict = beforeRead?(path, context) ?? .proceed
            guard context.subscription == nil else { return verdict }
            record(device, .read) { entry in
                entry.peer(context)
                (entry.endpoint, entry.cluster, entry.attribute) = (path.endpoint, path.cluster, path.attribute)
                if case .refuse(let status) = verdict { entry.status = status }
            }
            return verdict
        }
    }

    /// Looks on at the data of a node that has just been made.
    func observe(_ device: String, _ node: DeviceNode) {
        let reader = InteractionContext.local()
        // The journal outlives the node, which alone calls this.
        node.onAttributeChanged = { [self, unowned node] path in
            guard !Self.isCredential(path.cluster),
                let cluster = node.endpoint(path.endpoint)?.cluster(path.cluster), let attribute = cluster.attribute(path.attribute)
            else { return }
            let value = try? cluster.read(attribute, reader)
            record(device, .attribute) { entry in
                (entry.endpoint, entry.cluster, entry.attribute) = (path.endpoint, path.cluster, path.attribute)
                entry.value = value
            }
        }
        let onRecord = node.events.onRecord
        node.events.onRecord = { [weak self] event in
            onRecord(event)
            self?.record(device, .event) { entry in
                (entry.endpoint, entry.cluster, entry.event) = (event.path.endpoint, event.path.cluster, event.path.event)
                (entry.value, entry.fabric) = (event.fields, event.fabricIndex?.rawValue)
            }
        }
    }

    private static func isCredential(_ cluster: ClusterID) -> Bool {
        switch cluster {
        case OperationalCredentials.id, GroupKeyManagement.id, AdministratorCommissioning.id: true
        default: false
        }
    }

    private func chain(
        _ before: ((NodeInterceptions.PeerFacts) -> Bool)?, _ note: @escaping (NodeInterceptions.PeerFacts) -> Void
    ) -> (NodeInterceptions.PeerFacts) -> Bool {
        { facts in
            guard before?(facts) ?? true else { return false }
            note(facts)
            return true
        }
    }
}

extension JournalEntry {
    fileprivate mutating func peer(_ facts: NodeInterceptions.PeerFacts) {
        fabric = facts.fabricIndex
        node = facts.isPairing ? nil : facts.nodeID
        if facts.isPairing { note = "pairing" }
    }

    fileprivate mutating func peer(_ context: InteractionContext) {
        fabric = context.peer.fabricIndex
        node = context.peer.peerNodeID
    }
}
