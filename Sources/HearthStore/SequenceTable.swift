/// Numbers that are given out once, also by several processes and over restarts.
public final class SequenceTable {
    private let database: Database
    private let table: String

    /// The step that makes the table.
    public static func migration(_ name: String, table: String = "sequences") -> Migration {
        Migration(name, sql: "CREATE TABLE \"\(table)\"(name TEXT PRIMARY KEY, next INTEGER NOT NULL) STRICT, WITHOUT ROWID")
    }

    public init(_ database: Database, table: String = "sequences") {
        self.database = database
        self.table = table
    }

    /// Takes `count` numbers that nobody else gets. Numbers that are not used are lost: a caller that must not write for each
    /// number takes many at once.
    ///
    /// - Parameter start: where a new sequence begins.
    /// - Throws: `StoreError`; `misuse` when `count` is not positive or the numbers are used up.
    public func reserve(_ name: String, count: Int64 = 1, startingAt start: Int64 = 1) throws -> Range<Int64> {
        guard count > 0 else { throw StoreError(.misuse, "\(count) numbers of \(name) were asked for") }
        return try database.transaction {
            let next = try next(name) ?? start
            let (end, overflow) = next.addingReportingOverflow(count)
            guard !overflow else { throw StoreError(.misuse, "the numbers of \(name) are used up") }
            try save(name, end)
            return next..<end
        }
    }

    /// Makes sure that no number below `number` is given out from now on: after a backup had to be used, for example.
    public func skip(_ name: String, to number: Int64) throws {
        try database.transaction { if try (next(name) ?? .min) < number { try save(name, number) } }
    }

    private func next(_ name: String) throws -> Int64? {
        try database.first("SELECT next FROM \"\(table)\" WHERE name = ?", name) { row in try row.integer(0) }
    }

    private func save(_ name: String, _ next: Int64) throws {
        try database.run(
            try database.hasChecksums(table)
                ? """
                INSERT INTO "\(table)"(name, next, checksum) VALUES(?1, ?2, \(Checksums.function)(?1, ?2))
                ON CONFLICT(name) DO UPDATE SET next = excluded.next, checksum = excluded.checksum
                """
                : "INSERT INTO \"\(table)\"(name, next) VALUES(?, ?) ON CONFLICT(name) DO UPDATE SET next = excluded.next",
            name, next)
    }
}
