import CSQLite

/// Checksums of rows, in a column of their table that is called `checksum`, and of the schema. SQLite itself checks how a file is built,
/// not what stands in it: without them one bit that has turned over makes a key that fits no certificate, or another setup code.
///
/// They find what a disk or a hand has changed, not somebody who means it. A table without the column is not checked: stores had none
/// before version 1.
enum Checksums {
    /// The column. Rows of a table that has it have one each; a row without is damaged.
    static let column = "checksum"
    /// The SQL function that makes it, of the values of all other columns in their order.
    static let function = "row_checksum"
    /// The table of the one checksum over schema, migrations and the marks in the header.
    static let schemaTable = "schema_checksum"

    /// The other columns of a table, quoted and in their order; nil when it has no checksums.
    static func columns(_ connection: Connection, _ table: String) throws(StoreError) -> String? {
        guard try connection.integer("SELECT 1 FROM pragma_table_info('\(table)') WHERE name = '\(column)'") != nil else { return nil }
        return try otherColumns(connection, table)
    }

    fileprivate static func otherColumns(_ connection: Connection, _ table: String) throws(StoreError) -> String {
        let sql = "SELECT group_concat('\"' || name || '\"') FROM pragma_table_info('\(table)') WHERE name <> '\(column)'"
        return try connection.text(sql) ?? "NULL"
    }
}

extension Migration {
    /// The step that gives the tables checksums, and one to each row that they have. What writes to them later has to do the same;
    /// `KeyValueTable`, `NumberedTable` and `SequenceTable` do.
    public static func checksums(_ name: String, tables: [String]) -> Migration {
        Migration(name) { database in
            for table in tables {
                let columns = try Checksums.otherColumns(try database.connection, table)
                try database.execute(
                    """
                    ALTER TABLE "\(table)" ADD COLUMN \(Checksums.column) INTEGER;
                    UPDATE "\(table)" SET \(Checksums.column) = \(Checksums.function)(\(columns))
                    """)
            }
        }
    }
}

extension Database {
    /// Whether the rows of a table have checksums.
    func hasChecksums(_ table: String) throws(StoreError) -> Bool { try Checksums.columns(try connection, table) != nil }

    /// Notes what the schema is now, at the end of a migration.
    func noteSchema() throws(StoreError) {
        try execute("CREATE TABLE IF NOT EXISTS \(Checksums.schemaTable)(id INTEGER PRIMARY KEY, value INTEGER NOT NULL) STRICT")
        let connection = try connection
        try execute("INSERT OR REPLACE INTO \(Checksums.schemaTable) VALUES(1, \(try connection.schemaChecksum()))")
    }
}

extension Connection {
    /// The first row, or the schema, that is not as it was written; nil when all is. Reads every row.
    func firstChangedRow() throws(StoreError) -> String? {
        if try integer("SELECT 1 FROM sqlite_schema WHERE name = '\(Checksums.schemaTable)'") != nil,
            try integer("SELECT value FROM \(Checksums.schemaTable)") != (try schemaChecksum())
        {
            return "its schema is not as it was written"
        }
        var last = ""
        while let table = try text("SELECT min(name) FROM sqlite_schema WHERE type = 'table' AND name > '\(last)'") {
            last = table
            guard let columns = try Checksums.columns(self, table) else { continue }
            let changed = "\(Checksums.column) IS NOT \(Checksums.function)(\(columns))"
            if try integer("SELECT 1 FROM \"\(table)\" WHERE \(changed) LIMIT 1") != nil {
                return "a row of \(table) is not as it was written"
            }
        }
        return nil
    }

    fileprivate func schemaChecksum() throws(StoreError) -> Int64 {
        let marks = [try integer("PRAGMA user_version") ?? 0, try integer("PRAGMA application_id") ?? 0]
        let hasMigrations = try integer("SELECT 1 FROM sqlite_schema WHERE type = 'table' AND name = 'migrations'") != nil
        let names = "(SELECT group_concat(position || name) FROM (SELECT * FROM migrations ORDER BY position))"
        let migrations = hasMigrations ? names : "NULL"
        let schema =
            """
            SELECT group_concat(\(Checksums.function)(type, name, tbl_name, sql))
            FROM (SELECT * FROM sqlite_schema WHERE name NOT LIKE 'sqlite_stat%' ORDER BY name)
            """
        return try integer("SELECT \(Checksums.function)(\(marks[0]), \(marks[1]), (\(schema)), \(migrations))") ?? 0
    }

    /// Makes the function known, which the schema itself does not use: any program can read the file.
    func addChecksumFunction() {
        let flags = SQLITE_UTF8 | SQLITE_DETERMINISTIC | SQLITE_INNOCUOUS
        sqlite3_create_function_v2(handle, Checksums.function, -1, flags, nil, rowChecksum, nil, nil, nil)
    }
}

/// Called by SQLite on the connection's thread.
private func rowChecksum(context: OpaquePointer?, count: Int32, values: UnsafeMutablePointer<OpaquePointer?>?) {
    var sum = CRC32C()
    for value in UnsafeBufferPointer(start: values, count: Int(count)) {
        let type = sqlite3_value_type(value)
        sum.add(UInt8(truncatingIfNeeded: type))
        switch type {
        case SQLITE_INTEGER: sum.add(UInt64(bitPattern: sqlite3_value_int64(value)))
        case SQLITE_FLOAT: sum.add(sqlite3_value_double(value).bitPattern)
        case SQLITE_NULL: break
        default:
            // Text as it is stored, in UTF-8. The length is asked for after the octets, which may be converted.
            let start = type == SQLITE_TEXT ? sqlite3_value_text(value).map { UnsafeRawPointer($0) } : sqlite3_value_blob(value)
            let octets = UnsafeRawBufferPointer(start: start, count: start == nil ? 0 : Int(sqlite3_value_bytes(value)))
            // Without the length an octet could move from one column to the next.
            sum.add(UInt64(octets.count))
            sum.add(octets)
        }
    }
    // Four octets in a row instead of six.
    sqlite3_result_int64(context, Int64(Int32(bitPattern: sum.value)))
}

/// CRC-32C (Castagnoli): finds every change of up to three bits in a row of ours, and any burst of 32.
struct CRC32C {
    private var state: UInt32 = .max

    var value: UInt32 { ~state }

    /// What each octet does to the sum.
    private static let table: [UInt32] = (0..<256).map { index in
        (0..<8).reduce(UInt32(index)) { sum, _ in sum & 1 == 0 ? sum >> 1 : sum >> 1 ^ 0x82F6_3B78 }
    }

    mutating func add(_ octet: UInt8) {
        state = state >> 8 ^ Self.table[Int(UInt8(truncatingIfNeeded: state) ^ octet)]
    }

    mutating func add(_ number: UInt64) { withUnsafeBytes(of: number.littleEndian) { add($0) } }

    mutating func add(_ octets: UnsafeRawBufferPointer) {
        Self.table.withUnsafeBufferPointer { table in
            var sum = state
            for octet in octets { sum = sum >> 8 ^ table[Int(UInt8(truncatingIfNeeded: sum) ^ octet)] }
            state = sum
        }
    }
}
