/// One step of a schema. A program's list of migrations is only ever appended to: what a released program has applied stays as
/// it is. The number of applied migrations is the file's `user_version`.
public struct Migration: Sendable {
    /// Kept in the file; tells a file of another program, or of another history, from ours.
    public let name: String
    let apply: @Sendable (Database) throws -> Void

    /// A step that needs to look at the data. It runs in a transaction together with all other steps.
    public init(_ name: String, apply: @escaping @Sendable (Database) throws -> Void) {
        self.name = name
        self.apply = apply
    }

    /// A step in SQL, which may be several statements.
    public init(_ name: String, sql: String) {
        self.init(name) { database in try database.execute(sql) }
    }
}

extension Database {
    /// Brings the schema up to the last of `migrations`, or refuses a file of a newer or another program. All or nothing.
    func migrate(_ migrations: [Migration], applicationID: Int32) throws {
        // Most starts find nothing to do and need no write lock.
        let isMarked = try connection.integer("PRAGMA application_id") == Int64(applicationID)
        let isCurrent = try connection.integer("PRAGMA user_version") == Int64(migrations.count)
        if isMarked, isCurrent, try appliedNames() == migrations.map(\.name) { return }
        try transaction {
            // Read again inside: another process may have been faster.
            let version = try connection.integer("PRAGMA user_version") ?? 0
            guard version <= Int64(migrations.count) else {
                throw StoreError(
                    .newerSchema,
                    "\(displayPath) has schema version \(version), this program knows \(migrations.count): "
                        + "use the newer Hearth that wrote it")
            }
            try execute("CREATE TABLE IF NOT EXISTS migrations(position INTEGER PRIMARY KEY, name TEXT NOT NULL) STRICT")
            let applied = try appliedNames()
            guard applied.count == Int(version), zip(applied, migrations).allSatisfy({ $0 == $1.name }) else {
                throw StoreError(
                    .foreignFile, "\(displayPath) was made by a program with other migrations: use that one, or another folder",
                    cause: "it has \(applied.joined(separator: ", "))")
            }
            for (position, migration) in migrations.enumerated().dropFirst(applied.count) {
                try migration.apply(self)
                try run("INSERT INTO migrations(position, name) VALUES(?, ?)", position, migration.name)
            }
            try execute("PRAGMA user_version = \(migrations.count); PRAGMA application_id = \(applicationID)")
            try noteSchema()
        }
    }

    private func appliedNames() throws -> [String] {
        guard try connection.integer("SELECT 1 FROM sqlite_schema WHERE type = 'table' AND name = 'migrations'") != nil else {
            return []
        }
        return try query("SELECT name FROM migrations ORDER BY position") { row in try row.text(0) }
    }
}
