import CSQLite

/// A statement prepared once and run many times. Belongs to its database's thread.
public final class Statement {
    public let sql: String
    let handle: OpaquePointer
    /// Keeps SQLite's connection open for as long as the statement exists.
    private let connection: Connection
    /// True between the first step and the reset: a statement cannot run within itself.
    private(set) var isRunning = false

    init(_ connection: Connection, _ sql: String) throws(StoreError) {
        self.connection = connection
        self.sql = sql
        handle = try connection.prepare(sql, persistent: true)
    }

    deinit { sqlite3_finalize(handle) }

    /// Runs it to the end and drops its rows.
    public func run(_ values: any SQLBindable...) throws(StoreError) { try run(values: values) }

    func run(values: [any SQLBindable]) throws(StoreError) {
        try begin(values)
        defer { end() }
        while try step() {}
    }

    /// Lends `body` one row after the other, for as long as it returns true.
    func rows(_ values: [any SQLBindable], _ body: (borrowing Row) throws -> Bool) throws {
        try begin(values)
        defer { end() }
        while try step() { if !(try body(Row(handle))) { return } }
    }

    private func begin(_ values: [any SQLBindable]) throws(StoreError) {
        guard !isRunning else { throw StoreError(.misuse, "a prepared statement was run within itself: \(sql)") }
        let expected = sqlite3_bind_parameter_count(handle)
        guard values.count == Int(expected) else {
            throw StoreError(.misuse, "\(values.count) values for \(expected) parameters: \(sql)")
        }
        isRunning = true
        var index: Int32 = 0
        for value in values {
            index += 1
            let result = bind(value.sqlValue, at: index)
            if result != SQLITE_OK {
                let error = connection.error(result, sql)
                end()
                throw error
            }
        }
    }

    private func bind(_ value: SQLValue, at index: Int32) -> Int32 {
        switch value {
        case .null: return sqlite3_bind_null(handle, index)
        case .integer(let number): return sqlite3_bind_int64(handle, index, number)
        case .real(let number): return sqlite3_bind_double(handle, index, number)
        case .text(var text):
            return text.withUTF8 { bytes in
                guard let count = Int32(exactly: bytes.count) else { return SQLITE_TOOBIG }
                // An empty string may have no address, and a null address would bind null.
                guard let base = bytes.baseAddress else { return hearth_sqlite3_bind_text_copy(handle, index, "", 0) }
                return base.withMemoryRebound(to: CChar.self, capacity: bytes.count) {
                    hearth_sqlite3_bind_text_copy(handle, index, $0, count)
                }
            }
        case .blob(let blob):
            return blob.withUnsafeBytes { bytes in
                guard let count = Int32(exactly: bytes.count) else { return SQLITE_TOOBIG }
                return hearth_sqlite3_bind_blob_copy(handle, index, bytes.baseAddress, count)
            }
        }
    }

    private func step() throws(StoreError) -> Bool {
        switch sqlite3_step(handle) {
        case SQLITE_ROW: return true
        case SQLITE_DONE: return false
        case let result: throw connection.error(result, sql)
        }
    }

    private func end() {
        sqlite3_reset(handle)
        sqlite3_clear_bindings(handle)
        isRunning = false
        connection.statementEnded()
    }
}
