import HearthIO
import HearthStore
import HearthTime
import MatterDevice

/// The memory of all nodes of a process: one SQLite file, one commit a turn of the loop, and answers that wait for it.
///
/// Many requests that are read in one look at the network share one commit. What the store refuses (a full disk) stays in memory and is
/// tried again; the answers that would acknowledge it are not sent, so that nothing acknowledged is ever lost. Meanwhile nodes of which
/// nothing waits answer as ever, and the others what acknowledges nothing.
public final class StoreHub {
    /// Marks the file as a Hearth simulator's (`application_id`): "HthS".
    static let applicationID: Int32 = 0x4874_6853

    /// Set when a damaged file was replaced: tell the user once.
    public var recovery: RecoveryReport? { database.recovery }
    /// Where the file is; nil in memory.
    public var path: String? { database.path }
    /// The store refused a commit, or takes commits again (nil): tell the user.
    public var onTrouble: (StoreError?) -> Void = { _ in }
    /// The last commit's error, while it lasts.
    public private(set) var trouble: StoreError?

    private let database: Database
    /// Attributes change often and are small. In a table of their own, where the same attribute of all devices lies together, a commit
    /// for many devices writes few pages; among certificates each device would have a page to itself.
    private var attributes: Table
    /// Everything else.
    private var entries: Table
    private let timeline: Timeline
    /// Disks live in real time, also where the nodes' time stands still.
    private let loop: EventLoop?
    /// The namespaces of the nodes, by the numbers that answers know them by.
    private var nodes: [String] = []
    private var numbers: [String: Int32] = [:]
    private var waiting: [Answer] = []
    private var asking: [(namespace: String?, tell: (StoreError?) -> Void)] = []
    private var isCommitPlanned = false
    private var isClosing = false
    private var retry: Timer?

    private var backupTimer: Timer?
    private var hourly: Timer?

    /// In a struct: an array of closures wraps each of them into another. A number and no name: with a thousand nodes every reference that
    /// is counted is memory that has to be fetched.
    private struct Answer {
        let node: Int32?
        let acknowledges: Bool
        let send: () -> Void
    }

    private enum Timer {
        case model(Token)
        case real(TimerID)
    }

    private struct Table {
        let table: any NamespacedTable
        /// What is not committed yet.
        var batch = WriteBatch()
    }

    private static let attributePrefix = "attribute/"

    /// Only ever appended to.
    static let migrations = [
        KeyValueTable.migration("entries"),
        Migration(
            "attributes",
            sql: """
                CREATE TABLE attributes(namespace TEXT NOT NULL, key TEXT NOT NULL, value BLOB NOT NULL, PRIMARY KEY(key, namespace))
                    STRICT, WITHOUT ROWID
                """),
        Migration(
            "attributes-moved",
            sql: """
                INSERT INTO attributes SELECT namespace, key, value FROM entries WHERE key GLOB 'attribute/*';
                DELETE FROM entries WHERE key GLOB 'attribute/*';
                """),
        NumberedTable.migration("numbered-attributes", table: "numbered_attributes"),
        Migration("attributes-numbered") { database in
            var batch = WriteBatch()
            try database.forEach("SELECT namespace, key, value FROM attributes ORDER BY key, namespace") { row in
                batch.put(try row.text(0), try row.text(1), try row.blob(2))
                return true
            }
            try NumberedTable(database, table: "numbered_attributes").commit(batch)
            try database.execute("DROP TABLE attributes")
        },
        .checksums("checksums", tables: ["entries", "numbered_attributes", "numbered_attributes_names"]),
    ]

    /// How long a store that refuses is left alone.
    static let retryInterval: Duration = .seconds(1)
    /// How long a backup waits for more changes.
    static let backupDelay: Duration = .seconds(1)
    static let backupInterval: Duration = .seconds(3600)

    /// Opens the store in `folder` for one process. - Throws: `StoreError`, with who holds the folder when another process does.
    /// - Parameter loop: for what waits in real time; without it the timeline's time is taken.
    public convenience init(folder: String, durable: Bool, holder: String, timeline: Timeline, loop: EventLoop? = nil) throws {
        let database = try Database(
            path: folder + "/simulator.sqlite", applicationID: Self.applicationID, migrations: Self.migrations,
            options: StoreOptions(access: .exclusive(holder: holder), durable: durable, afterRepair: Self.skipEventNumbers))
        try self.init(database, timeline: timeline, loop: loop)
    }

    /// A backup knows older boundaries of event numbers than peers have seen: they go on well above them, also those of devices that do
    /// not run this time.
    @Sendable private static func skipEventNumbers(in database: Database) throws {
        let table = try KeyValueTable(database)
        var batch = WriteBatch()
        for namespace in try table.namespaces() {
            guard let bytes = try table.value(namespace, DeviceNode.eventBoundaryKey),
                let boundary = DeviceNode.eventBoundary(bytes, after: 0x100_0000)
            else { continue }
            batch.put(namespace, DeviceNode.eventBoundaryKey, boundary)
        }
        try table.commit(batch)
    }

    /// A store that is gone with the process.
    public convenience init(inMemoryOn timeline: Timeline) throws {
        try self.init(Database.inMemory(applicationID: Self.applicationID, migrations: Self.migrations), timeline: timeline)
    }

    init(_ database: Database, timeline: Timeline, loop: EventLoop? = nil) throws {
        (self.database, self.timeline, self.loop) = (database, timeline, loop)
        entries = Table(table: try KeyValueTable(database))
        attributes = Table(table: try NumberedTable(database, table: "numbered_attributes"))
        // An in-memory store needs none, and its home in virtual time no timers.
        if database.path != nil { planBackup() }
    }

    /// The memory of one node; `namespace` is its name in the store.
    public func store(for namespace: String) -> any DeviceStore {
        let number = numbers[namespace] ?? Int32(clamping: nodes.count)
        if numbers.updateValue(number, forKey: namespace) == nil { nodes.append(namespace) }
        return NodeStore(hub: self, namespace: namespace, number: number)
    }

    /// What `whenStored` knows a node by; nil when `store` is none of this hub's.
    public func number(of store: any DeviceStore) -> Int32? { (store as? NodeStore)?.number }

    /// Runs `send` once everything that has been put so far is stored: at once when nothing is open. While the store refuses, only what
    /// was put for `node` counts, and only for what acknowledges a change.
    /// - Parameters:
    ///   - node: its number; nil means all nodes.
    ///   - acknowledges: whether `send` says that something was done; otherwise it only tells what is.
    public func whenStored(node: Int32? = nil, acknowledges: Bool = true, _ send: @escaping () -> Void) {
        if hasAllStored { return send() }
        let answer = Answer(node: node, acknowledges: acknowledges, send: send)
        if trouble == nil || holds(answer) { waiting.append(answer) } else { send() }
    }

    /// Whether an answer has to wait for what the store has refused.
    private func holds(_ answer: Answer) -> Bool { answer.acknowledges && isOpen(answer.node.map { nodes[Int($0)] }) }

    /// Whether something that was put for a node, or for any, is not stored.
    private func isOpen(_ namespace: String?) -> Bool {
        guard let namespace else { return !hasAllStored }
        return entries.batch.concerns(namespace) || attributes.batch.concerns(namespace)
    }

    /// Tells whether everything that has been put so far, for one node or all, is stored (nil), or why it is not yet. It is told at the
    /// end of the turn at the latest.
    public func whenDecided(_ namespace: String? = nil, _ tell: @escaping (StoreError?) -> Void) {
        if hasAllStored { return tell(nil) }
        if let trouble { return tell(isOpen(namespace) ? trouble : nil) }
        asking.append((namespace, tell))
    }

    private var hasAllStored: Bool { attributes.batch.isEmpty && entries.batch.isEmpty }

    /// Forgets a node.
    public func forget(_ namespace: String) {
        attributes.batch.deleteAll(namespace)
        entries.batch.deleteAll(namespace)
        changed()
    }

    /// Commits what is open and ends the use of the file. - Returns: what is lost because the store refuses it; nil when all is stored.
    @discardableResult
    public func close() -> StoreError? {
        isClosing = true
        for timer in [retry, backupTimer, hourly] { if let timer { cancel(timer) } }
        (retry, backupTimer, hourly) = (nil, nil, nil)
        commit()
        defer { database.close() }
        guard let trouble, !hasAllStored else { return nil }
        waiting = []
        let names = entries.batch.namespaces.union(attributes.batch.namespaces).sorted()
        let shown = names.prefix(5).joined(separator: ", ") + (names.count > 5 ? " and \(names.count - 5) more" : "")
        return StoreError(trouble.code, "what changed last of \(shown) is lost: \(trouble.message)", cause: trouble.cause)
    }

    private func later(_ delay: Duration, _ body: @escaping () -> Void) -> Timer {
        if let loop { .real(loop.schedule(after: delay, body)) } else { .model(timeline.after(delay, body)) }
    }

    private func cancel(_ timer: Timer) {
        switch timer {
        case .model(let token): timeline.cancel(token)
        case .real(let id): loop?.cancel(id)
        }
    }

    /// A copy to fall back on, made soon: changes that come together share one. The work is done off the loop.
    public func backupSoon() {
        guard database.path != nil, backupTimer == nil else { return }
        backupTimer = later(Self.backupDelay) { [weak self] in
            guard let self else { return }
            backupTimer = nil
            database.requestBackup { result in
                if case .failure(let error) = result { Log.node.warning("the state has no fresh backup: \(error)") }
            }
            planBackup()
        }
    }

    /// The hourly backup.
    private func planBackup() {
        if let hourly { cancel(hourly) }
        hourly = later(Self.backupInterval) { [weak self] in
            self?.hourly = nil
            self?.backupSoon()
        }
    }

    /// All that is stored: a snapshot.
    public func storedEntries() -> [StoredEntry] {
        commit()
        do {
            return try [entries, attributes].flatMap { part in
                try part.table.namespaces().flatMap { namespace in
                    try part.table.entries(namespace).map { StoredEntry(namespace: namespace, key: $0.key, value: $0.value) }
                }
            }
        } catch {
            Log.node.error("the store cannot be read: \(error)")
            return []
        }
    }

    /// Puts a snapshot in place of all that is stored. No node may run.
    public func replace(with snapshot: [StoredEntry]) {
        for namespace in Set(storedEntries().map(\.namespace)) { forget(namespace) }
        for entry in snapshot { put(entry.value, entry.namespace, entry.key) }
        commit()
    }

    // MARK: For the nodes' stores

    func value(_ namespace: String, _ key: String) -> [UInt8]? {
        let part = key.hasPrefix(Self.attributePrefix) ? attributes : entries
        if let pending = part.batch.pending(namespace, key) { return pending }
        do { return try part.table.value(namespace, key) } catch {
            Log.node.error("\(namespace): \(key) cannot be read from the store: \(error)")
            return nil
        }
    }

    func put(_ bytes: [UInt8]?, _ namespace: String, _ key: String) {
        func put(into part: inout Table) {
            if let bytes { part.batch.put(namespace, key, bytes) } else { part.batch.delete(namespace, key) }
        }
        if key.hasPrefix(Self.attributePrefix) { put(into: &attributes) } else { put(into: &entries) }
        changed()
    }

    func keys(_ namespace: String, prefix: String) -> [String] {
        var keys = Set<String>()
        // Looking through the attributes of one node means looking at all nodes': only for those who want attributes.
        var parts: [Table] = []
        if prefix.hasPrefix(Self.attributePrefix) || Self.attributePrefix.hasPrefix(prefix) { parts.append(attributes) }
        if !prefix.hasPrefix(Self.attributePrefix) { parts.append(entries) }
        for part in parts {
            if !part.batch.clears(namespace) {
                do { keys.formUnion(try part.table.entries(namespace).map(\.key)) } catch {
                    Log.node.error("\(namespace): the store cannot be read: \(error)")
                }
            }
            for (key, isPut) in part.batch.pendingKeys(namespace) { if isPut { keys.insert(key) } else { keys.remove(key) } }
        }
        return keys.filter { $0.hasPrefix(prefix) }.sorted()
    }

    private func changed() {
        guard !isCommitPlanned, retry == nil else { return }
        isCommitPlanned = true
        timeline.atTurnEnd { [weak self] in
            self?.isCommitPlanned = false
            self?.commit()
        }
    }

    /// Stores at once what has been put, where a turn's end would be too late.
    func commit() {
        guard !hasAllStored else { return release() }
        do {
            if entries.batch.isEmpty {
                try attributes.table.commit(attributes.batch)
            } else {
                try database.transaction {
                    try entries.table.commit(entries.batch)
                    try attributes.table.commit(attributes.batch)
                }
            }
        } catch {
            let error = error as? StoreError ?? StoreError(.misuse, "\(error)")
            if trouble == nil {
                Log.node.error("the state cannot be stored, and devices answer no changes until it can: \(error)")
                onTrouble(error)
            }
            trouble = error
            if !isClosing {
                retry = later(Self.retryInterval) { [weak self] in
                    self?.retry = nil
                    self?.commit()
                }
            }
            return releaseWhatDoesNotWait(error)
        }
        attributes.batch.removeAll()
        entries.batch.removeAll()
        if trouble != nil {
            trouble = nil
            Log.node.info("the state is being stored again")
            onTrouble(nil)
        }
        release()
    }

    private func release() {
        let (ready, asked) = (waiting, asking)
        (waiting, asking) = ([], [])
        for answer in ready { answer.send() }
        for question in asked { question.tell(nil) }
    }

    /// The store has refused what is open.
    private func releaseWhatDoesNotWait(_ error: StoreError) {
        let (answers, asked) = (waiting, asking)
        asking = []
        waiting = answers.filter(holds)
        for answer in answers where !holds(answer) { answer.send() }
        for question in asked { question.tell(isOpen(question.namespace) ? error : nil) }
    }
}

/// One thing that a store holds.
public struct StoredEntry: Sendable, Hashable {
    public var namespace: String
    public var key: String
    public var value: [UInt8]

    public init(namespace: String, key: String, value: [UInt8]) { (self.namespace, self.key, self.value) = (namespace, key, value) }
}

/// One node's part of the store.
private final class NodeStore: DeviceStore {
    private let hub: StoreHub
    let namespace: String
    let number: Int32

    init(hub: StoreHub, namespace: String, number: Int32) { (self.hub, self.namespace, self.number) = (hub, namespace, number) }

    func value(for key: String) -> [UInt8]? { hub.value(namespace, key) }
    func put(_ bytes: [UInt8], for key: String) { hub.put(bytes, namespace, key) }
    func remove(_ key: String) { hub.put(nil, namespace, key) }
    func keys(withPrefix prefix: String) -> [String] { hub.keys(namespace, prefix: prefix) }
}

extension Log {
    static let node = Log("node")
}
