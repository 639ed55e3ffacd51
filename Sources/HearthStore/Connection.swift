import CSQLite
import Glibc

/// One SQLite connection, closed with the object. One thread at a time may use it.
final class Connection {
    let handle: OpaquePointer
    /// Nil for a database in memory.
    let path: String?
    /// Where the hook below leaves the size of the write-ahead log in pages, as of the last commit on this connection.
    private let logPagesCell: UnsafeMutablePointer<Int32>
    private var largeLog: (pages: Int32, notify: () -> Void)?
    /// How large the log was when `largeLog` was told last.
    private var noticedPages: Int32 = 0

    /// - Parameters:
    ///   - path: nil makes a database in memory.
    ///   - busyTimeout: milliseconds to wait for another process's lock.
    init(path: String?, flags: Int32, busyTimeout: Int32) throws(StoreError) {
        var opened: OpaquePointer?
        let result = sqlite3_open_v2(path ?? ":memory:", &opened, flags | SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_EXRESCODE, nil)
        guard result == SQLITE_OK, let opened else {
            let error = StoreError.sqlite(result, connection: opened, path: path, doing: "open")
            sqlite3_close_v2(opened)
            throw error
        }
        handle = opened
        self.path = path
        logPagesCell = .allocate(capacity: 1)
        logPagesCell.initialize(to: 0)
        sqlite3_busy_timeout(handle, busyTimeout)
        addChecksumFunction()
    }

    deinit {
        // Statements hold their connection, so this closes it at once and the hook's cell is used no more.
        sqlite3_close_v2(handle)
        logPagesCell.deallocate()
    }

    /// Calls `notify` after a commit with which the log has grown by `pages` or more since it began, or since the last call. It takes
    /// the place of SQLite's automatic checkpoint. Not after every commit to a large log: under a writer that never pauses, a
    /// checkpoint leaves the log as large as it was, and one after the other would keep the disk busy.
    func whenLogReaches(pages: Int32, notify: @escaping () -> Void) {
        largeLog = (pages, notify)
        sqlite3_wal_hook(handle, noteLogPages, logPagesCell)
    }

    /// To be called when a statement has ended, which may have been a commit. Cheap.
    func statementEnded() {
        guard let largeLog, logPagesCell.pointee > 0 else { return }
        let pages = logPagesCell.pointee
        // Until the next commit sets it again.
        logPagesCell.pointee = 0
        // The log has begun anew.
        if pages < noticedPages { noticedPages = 0 }
        guard pages - noticedPages >= largeLog.pages else { return }
        noticedPages = pages
        largeLog.notify()
    }

    func error(_ result: Int32, _ doing: String) -> StoreError {
        StoreError.sqlite(result, connection: handle, path: path, doing: doing)
    }

    /// Runs statements without parameters, whose rows are of no interest.
    func execute(_ sql: String) throws(StoreError) {
        let result = sqlite3_exec(handle, sql, nil, nil, nil)
        if result != SQLITE_OK { throw error(result, sql) }
        statementEnded()
    }

    func prepare(_ sql: String, persistent: Bool = false) throws(StoreError) -> OpaquePointer {
        var prepared: OpaquePointer?
        let flags = persistent ? UInt32(SQLITE_PREPARE_PERSISTENT) : 0
        let result = sqlite3_prepare_v3(handle, sql, -1, flags, &prepared, nil)
        guard result == SQLITE_OK, let prepared else {
            if result == SQLITE_OK { throw StoreError(.misuse, "a statement is empty: \(sql)") }
            throw error(result, sql)
        }
        return prepared
    }

    /// The first column of the first row as an integer, nil without a row.
    func integer(_ sql: String) throws(StoreError) -> Int64? {
        let statement = try prepare(sql)
        defer { sqlite3_finalize(statement) }
        switch sqlite3_step(statement) {
        case SQLITE_ROW: return sqlite3_column_int64(statement, 0)
        case SQLITE_DONE: return nil
        case let result: throw error(result, sql)
        }
    }

    /// The first column of the first row as text, nil without a row.
    func text(_ sql: String) throws(StoreError) -> String? {
        let statement = try prepare(sql)
        defer { sqlite3_finalize(statement) }
        switch sqlite3_step(statement) {
        case SQLITE_ROW: return sqlite3_column_text(statement, 0).map { String(cString: $0) }
        case SQLITE_DONE: return nil
        case let result: throw error(result, sql)
        }
    }

    /// What `PRAGMA quick_check` finds first, or the checksums; nil when the file is sound. Reads every page.
    func firstFault() throws(StoreError) -> String? {
        do throws(StoreError) {
            let verdict = try text("PRAGMA quick_check(1)")
            return verdict == "ok" ? try firstChangedRow() : verdict ?? "the check gave no answer"
        } catch  where error.code == .misuse {
            // The file's format is unknown, or a column has another name now.
            return error.cause
        }
    }
}

/// Called by SQLite on the connection's thread, at the end of a commit.
private func noteLogPages(
    cell: UnsafeMutableRawPointer?, handle: OpaquePointer?, schema: UnsafePointer<CChar>?, pages: Int32
) -> Int32 {
    cell?.assumingMemoryBound(to: Int32.self).pointee = pages
    return SQLITE_OK
}
