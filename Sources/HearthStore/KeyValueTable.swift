/// Blobs by namespace and key. A node's persistent state is one namespace.
public protocol NamespacedTable {
    /// Commits all of `batch` or none of it. The batch is not changed: after an error it can be committed again. Within
    /// `Database.transaction` it becomes a part of that transaction. - Throws: `StoreError`.
    func commit(_ batch: WriteBatch) throws
    /// The value of one key; nil when there is none. - Throws: `StoreError`.
    func value(_ namespace: String, _ key: String) throws -> [UInt8]?
    /// All of a namespace, in the order of the keys' bytes. - Throws: `StoreError`.
    func entries(_ namespace: String) throws -> [(key: String, value: [UInt8])]
    /// The namespaces that hold something, in the order of their bytes. - Throws: `StoreError`.
    func namespaces() throws -> [String]
}

/// What one namespace keeps lies together.
public final class KeyValueTable: NamespacedTable {
    private let database: Database
    private let upsert: Statement
    private let remove: Statement
    private let removeNamespace: Statement
    private let table: String

    /// The step that makes the table; `table` is a name of the program's, not of the user's.
    public static func migration(_ name: String, table: String = "entries") -> Migration {
        Migration(
            name,
            sql: """
                CREATE TABLE "\(table)"(namespace TEXT NOT NULL, key TEXT NOT NULL, value BLOB NOT NULL,
                    PRIMARY KEY(namespace, key)) STRICT, WITHOUT ROWID
                """)
    }

    /// - Throws: `StoreError` when the table is not in the schema.
    public init(_ database: Database, table: String = "entries") throws(StoreError) {
        self.database = database
        self.table = table
        upsert = try database.prepare(
            try database.hasChecksums(table)
                ? """
                INSERT INTO "\(table)"(namespace, key, value, checksum) VALUES(?1, ?2, ?3, \(Checksums.function)(?1, ?2, ?3))
                ON CONFLICT(namespace, key) DO UPDATE SET value = excluded.value, checksum = excluded.checksum
                """
                : """
                INSERT INTO "\(table)"(namespace, key, value) VALUES(?, ?, ?)
                ON CONFLICT(namespace, key) DO UPDATE SET value = excluded.value
                """)
        remove = try database.prepare("DELETE FROM \"\(table)\" WHERE namespace = ? AND key = ?")
        removeNamespace = try database.prepare("DELETE FROM \"\(table)\" WHERE namespace = ?")
    }

    public func commit(_ batch: WriteBatch) throws {
        guard !batch.isEmpty else { return }
        try database.transaction {
            for namespace in batch.cleared { try removeNamespace.run(namespace) }
            for (place, value) in batch.values {
                if let value {
                    try upsert.run(place.namespace, place.key, value)
                } else {
                    try remove.run(place.namespace, place.key)
                }
            }
        }
    }

    public func value(_ namespace: String, _ key: String) throws -> [UInt8]? {
        try database.first("SELECT value FROM \"\(table)\" WHERE namespace = ? AND key = ?", namespace, key) { row in
            try row.blob(0)
        }
    }

    public func entries(_ namespace: String) throws -> [(key: String, value: [UInt8])] {
        try database.query("SELECT key, value FROM \"\(table)\" WHERE namespace = ? ORDER BY key", namespace) { row in
            (key: try row.text(0), value: try row.blob(1))
        }
    }

    public func namespaces() throws -> [String] {
        try database.query("SELECT DISTINCT namespace FROM \"\(table)\" ORDER BY namespace") { row in try row.text(0) }
    }
}
