import CSQLite

/// An SQLite file with a schema of ours, for one thread.
///
/// Not Sendable on purpose: its statements, its cache and the rows it lends belong to the thread that uses it. Another thread or
/// process opens a `Database` of its own. Checkpoints and backups run on a thread of their own, with a connection of their own.
///
/// A change is safe from the death of the process when `transaction` or `run` has returned.
public final class Database {
    /// Where the file is; nil for a database in memory.
    public let path: String?
    /// What had to be repaired when the file was opened; nil when it was sound.
    public let recovery: RecoveryReport?

    private var openConnection: Connection?
    /// Statements by their text that nobody runs at the moment, least recently used first.
    private var idle: [String: Statement] = [:]
    private var order: [String] = []
    private var depth = 0
    /// How many transactions, or parts of one, have been undone: whoever remembers what one did looks at it.
    private(set) var undone = 0
    private var lock: FolderLock?
    private var maintenance: Maintenance?
    /// The file was opened where there was no space to share it: checkpoints and backups are made by this connection itself.
    private let isAlone: Bool
    private static let cachedStatements = 64

    /// Opens the file, or makes it (mode 0600) and its folder (0700); checks it, repairs it from its backup if need be, and brings
    /// its schema up to the last of `migrations`.
    ///
    /// - Parameters:
    ///   - applicationID: marks the file as this kind of store; a file with another mark is refused.
    ///   - migrations: all of them, in order, from the first on; later versions of the program only append.
    /// - Throws: `StoreError` (or what a migration throws).
    public init(path: String, applicationID: Int32, migrations: [Migration], options: StoreOptions) throws {
        let opened = try OpenedFile(path: path, applicationID: applicationID, options: options) { copy in
            let database = Database(of: copy)
            try database.transaction {
                try database.migrate(migrations, applicationID: applicationID)
                try options.afterRepair?(database)
            }
        }
        self.path = path
        recovery = opened.recovery
        openConnection = opened.connection
        lock = opened.lock
        isAlone = opened.isAlone
        let maintenance = Maintenance(path: path, busyTimeout: options.busyTimeout)
        self.maintenance = maintenance
        if !opened.isAlone { opened.connection.whenLogReaches(pages: options.checkpointPages) { maintenance.requestCheckpoint() } }
        try migrate(migrations, applicationID: applicationID)
        try opened.noteCreation()
    }

    /// Of a connection that its owner looks after: in memory, or to a file that is being repaired.
    private init(of connection: Connection) {
        path = nil
        recovery = nil
        isAlone = false
        openConnection = connection
    }

    /// A database that is gone with the object, for tests and for stores that are not to be kept.
    public static func inMemory(applicationID: Int32 = 0, migrations: [Migration] = []) throws -> Database {
        let flags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE
        let database = Database(of: try Connection(path: nil, flags: flags, busyTimeout: 0))
        try database.migrate(migrations, applicationID: applicationID)
        return database
    }

    deinit { close() }

    /// Ends background work, moves the log into the file and gives the folder free. Whatever is called afterwards throws.
    public func close() {
        maintenance?.stop()
        maintenance = nil
        idle = [:]
        order = []
        openConnection = nil
        lock = nil
    }

    var connection: Connection {
        get throws(StoreError) {
            guard let openConnection else { throw StoreError(.misuse, "\(displayPath) has been closed") }
            return openConnection
        }
    }

    var displayPath: String { path ?? "the database in memory" }

    /// The rows that the last insert, update or delete changed.
    public var changes: Int { openConnection.map { Int(sqlite3_changes64($0.handle)) } ?? 0 }

    /// The row id of the last insert.
    public var lastInsertedRow: Int64 { openConnection.map { sqlite3_last_insert_rowid($0.handle) } ?? 0 }

    /// True inside `transaction`.
    public var isInTransaction: Bool { depth > 0 }
}

// MARK: - Statements

extension Database {
    /// Runs statements without parameters, such as a schema.
    public func execute(_ sql: String) throws(StoreError) {
        try connection.execute(sql)
    }

    /// Runs one statement with a value for each `?`. The statement stays prepared.
    public func run(_ sql: String, _ values: any SQLBindable...) throws(StoreError) {
        let statement = try take(sql)
        defer { giveBack(statement) }
        try statement.run(values: values)
    }

    /// What `row` makes of each row.
    public func query<T>(_ sql: String, _ values: any SQLBindable..., row: (borrowing Row) throws -> T) throws -> [T] {
        let statement = try take(sql)
        defer { giveBack(statement) }
        var results: [T] = []
        try statement.rows(values) { current in
            results.append(try row(current))
            return true
        }
        return results
    }

    /// What `row` makes of the first row; nil without one.
    public func first<T>(_ sql: String, _ values: any SQLBindable..., row: (borrowing Row) throws -> T) throws -> T? {
        let statement = try take(sql)
        defer { giveBack(statement) }
        var result: T?
        try statement.rows(values) { current in
            result = try row(current)
            return false
        }
        return result
    }

    /// Lends `row` one row after the other, for as long as it returns true. It may run other statements meanwhile.
    public func forEach(_ sql: String, _ values: any SQLBindable..., row: (borrowing Row) throws -> Bool) throws {
        let statement = try take(sql)
        defer { giveBack(statement) }
        try statement.rows(values, row)
    }

    /// A statement to keep and run often. It keeps the file open; let go of it before or with the database.
    public func prepare(_ sql: String) throws(StoreError) -> Statement { try Statement(try connection, sql) }

    /// A statement that is in use is not in the cache, so that the same text can run within itself.
    private func take(_ sql: String) throws(StoreError) -> Statement {
        guard let statement = idle.removeValue(forKey: sql) else { return try prepare(sql) }
        if let index = order.lastIndex(of: sql) { order.remove(at: index) }
        return statement
    }

    private func giveBack(_ statement: Statement) {
        guard openConnection != nil, idle[statement.sql] == nil else { return }
        if order.count >= Database.cachedStatements { idle[order.removeFirst()] = nil }
        idle[statement.sql] = statement
        order.append(statement.sql)
    }
}

// MARK: - Transactions

extension Database {
    /// All of `body` or nothing. Takes the write lock at once (`BEGIN IMMEDIATE`), so that it cannot fail half-way because another
    /// process was faster. Within another transaction it is a part that can fail on its own.
    ///
    /// - Throws: what `body` throws, after undoing it; or `StoreError` when the commit fails, and nothing has been saved.
    public func transaction<R>(_ body: () throws -> R) throws -> R {
        let level = depth
        let connection = try connection
        try run(level == 0 ? "BEGIN IMMEDIATE" : "SAVEPOINT level\(level)")
        depth += 1
        do {
            let result = try body()
            try run(level == 0 ? "COMMIT" : "RELEASE level\(level)")
            depth = level
            return result
        } catch {
            depth = level
            undone += 1
            // After some errors (a full disk) SQLite has undone everything by itself.
            if sqlite3_get_autocommit(connection.handle) == 0 {
                try? connection.execute(level == 0 ? "ROLLBACK" : "ROLLBACK TO level\(level); RELEASE level\(level)")
            }
            throw error
        }
    }
}

// MARK: - Backup

extension Database {
    /// Copies the file as it stands at its last commit to `<path>.backup`, and waits for it. The backup before stays until the new
    /// one is complete and sound. Other connections go on reading and writing.
    public func backup() throws(StoreError) {
        guard let maintenance else { throw StoreError(.misuse, "\(displayPath) has no backup") }
        try maintenance.backupNow(of: isAlone ? connection : nil)
    }

    /// The same on the background thread, on which `completion` is called. Owners ask for it after each change of fabrics and
    /// every hour.
    public func requestBackup(_ completion: @escaping @Sendable (Result<Void, StoreError>) -> Void = { _ in }) {
        guard let maintenance else { return completion(.failure(StoreError(.misuse, "\(displayPath) has no backup"))) }
        guard isAlone else { return maintenance.requestBackup(completion) }
        do throws(StoreError) { completion(.success(try backup())) } catch { completion(.failure(error)) }
    }

    /// Waits until the background thread has done what it was asked so far; for tests and for an orderly end.
    public func waitForMaintenance() { maintenance?.wait() }
}
