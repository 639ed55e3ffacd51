/// What many namespaces keep under one key lies together: for small values of which many namespaces change one at a time.
///
/// Namespaces and keys have numbers, and a value's place is one integer made of both, key first: the values that many namespaces have
/// under one key fill few pages, and a commit writes few. With names in place of numbers a page would hold a quarter as many.
/// Reading or emptying a whole namespace looks at the whole table.
public final class NumberedTable: NamespacedTable {
    private let database: Database
    private let table: String
    private let upsert: Statement
    private let remove: Statement
    private let addName: Statement
    /// Namespaces and keys, as the database had them when `undone` transactions had been undone; nil until somebody asks.
    private var known: (numbers: [String: Int64], undone: Int)?

    /// The steps that make the tables; `table` is a name of the program's, not of the user's.
    public static func migration(_ name: String, table: String) -> Migration {
        Migration(
            name,
            sql: """
                CREATE TABLE "\(table)_names"(number INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE) STRICT;
                CREATE TABLE "\(table)"(place INTEGER PRIMARY KEY, value BLOB NOT NULL) STRICT
                """)
    }

    /// - Throws: `StoreError` when the tables are not in the schema.
    public init(_ database: Database, table: String) throws(StoreError) {
        (self.database, self.table) = (database, table)
        upsert = try database.prepare(
            try database.hasChecksums(table)
                ? """
                INSERT INTO "\(table)"(place, value, checksum) VALUES(?1, ?2, \(Checksums.function)(?1, ?2))
                ON CONFLICT(place) DO UPDATE SET value = excluded.value, checksum = excluded.checksum
                """
                : """
                INSERT INTO "\(table)"(place, value) VALUES(?, ?) ON CONFLICT(place) DO UPDATE SET value = excluded.value
                """)
        remove = try database.prepare("DELETE FROM \"\(table)\" WHERE place = ?")
        addName = try database.prepare(
            try database.hasChecksums("\(table)_names")
                ? """
                INSERT INTO "\(table)_names"(number, name, checksum) SELECT number, ?1, \(Checksums.function)(number, ?1)
                FROM (SELECT coalesce(max(number), 0) + 1 AS number FROM "\(table)_names")
                """
                : "INSERT INTO \"\(table)_names\"(name) VALUES(?)")
    }

    public func commit(_ batch: WriteBatch) throws {
        guard !batch.isEmpty else { return }
        try database.transaction {
            for namespace in batch.cleared { try clear(namespace) }
            for (place, value) in batch.values {
                if let value {
                    try upsert.run(try self.place(number(place.namespace), number(place.key)), value)
                } else if let key = try numbers()[place.key], let namespace = try numbers()[place.namespace] {
                    try remove.run(self.place(namespace, key))
                }
            }
        }
    }

    public func value(_ namespace: String, _ key: String) throws -> [UInt8]? {
        let numbers = try numbers()
        guard let key = numbers[key], let namespace = numbers[namespace] else { return nil }
        return try database.first("SELECT value FROM \"\(table)\" WHERE place = ?", place(namespace, key)) { row in try row.blob(0) }
    }

    public func entries(_ namespace: String) throws -> [(key: String, value: [UInt8])] {
        guard let number = try numbers()[namespace] else { return [] }
        return try database.query(
            """
            SELECT name, value FROM "\(table)" JOIN "\(table)_names" ON number = place >> \(Self.namespaceBits)
            WHERE place & \(Self.namespaceMask) = ? ORDER BY name
            """, number
        ) { row in (key: try row.text(0), value: try row.blob(1)) }
    }

    public func namespaces() throws -> [String] {
        try database.query(
            """
            SELECT DISTINCT name FROM "\(table)" JOIN "\(table)_names" ON number = place & \(Self.namespaceMask) ORDER BY name
            """
        ) { row in try row.text(0) }
    }

    // MARK: Numbers

    private static let namespaceBits: Int64 = 31
    private static let namespaceMask: Int64 = 1 << namespaceBits - 1

    private func place(_ namespace: Int64, _ key: Int64) -> Int64 { key << Self.namespaceBits | namespace }

    private func numbers() throws -> [String: Int64] {
        // A transaction that was undone took back the numbers that it gave.
        if let known, known.undone == database.undone { return known.numbers }
        var numbers: [String: Int64] = [:]
        // Not from the index, which has the names too, but no checksums.
        try database.forEach("SELECT name, number FROM \"\(table)_names\" NOT INDEXED") { row in
            numbers[try row.text(0)] = try row.integer(1)
            return true
        }
        known = (numbers, database.undone)
        return numbers
    }

    /// The number of a name, which gets one when it has none.
    private func number(_ name: String) throws -> Int64 {
        if let number = try numbers()[name] { return number }
        try addName.run(name)
        let number = database.lastInsertedRow
        guard number > 0, number <= Self.namespaceMask else {
            throw StoreError(.unexpectedValue, "\(table) has no number left for \(name)")
        }
        known?.numbers[name] = number
        return number
    }

    private func clear(_ namespace: String) throws {
        guard let number = try numbers()[namespace] else { return }
        try database.run("DELETE FROM \"\(table)\" WHERE place & \(Self.namespaceMask) = ?", number)
    }
}
