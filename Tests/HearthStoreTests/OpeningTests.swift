import Glibc
import HearthStore
import Testing

@Suite struct OpeningTests {
    @Test func onlyTheOwnerCanReadIt() throws {
        let scratch = try Scratch()
        let before = umask(0)
        defer { umask(before) }
        let database = try scratch.open()
        try database.run("INSERT INTO entries VALUES('a', 'b', x'00')")
        try database.backup()
        #expect(scratch.mode(scratch.state) == 0o700)
        for file in ["store.db", "store.db-wal", "store.db-shm", "store.db.backup", "store.db.created", "lock"] {
            #expect(scratch.mode(scratch.state + "/" + file) == 0o600, "\(file)")
        }
    }

    @Test func aFolderThatHoldsOtherThingsKeepsItsMode() throws {
        let scratch = try Scratch()
        mkdir(scratch.state, 0o755)
        scratch.overwrite(scratch.state + "/notes.txt", at: 0, with: [65])
        try scratch.open().close()
        #expect(scratch.mode(scratch.state) == 0o755)
        #expect(scratch.mode(scratch.path) == 0o600)
        // An empty one was made for us.
        let other = try Scratch()
        mkdir(other.state, 0o755)
        try other.open().close()
        #expect(other.mode(other.state) == 0o700)
    }

    @Test func missingParentsAreMadeAndAFileInTheirPlaceIsReported() throws {
        let scratch = try Scratch()
        let deep = scratch.folder + "/a/b/c/store.db"
        let options = StoreOptions(access: .exclusive(holder: "a test"))
        try Database(path: deep, applicationID: 1, migrations: [], options: options).close()
        #expect(scratch.mode(scratch.folder + "/a/b") == 0o700)
        scratch.overwrite(scratch.folder + "/file", at: 0, with: [1])
        let error = storeError {
            _ = try Database(path: scratch.folder + "/file/store.db", applicationID: 1, migrations: [], options: options)
        }
        #expect(error?.code == .cannotOpen)
        // With no migration the file is still known again.
        try Database(path: deep, applicationID: 1, migrations: [], options: options).close()
    }

    @Test func settingsOfTheFile() throws {
        let scratch = try Scratch()
        let database = try scratch.open()
        func pragma(_ name: String, _ database: Database) throws -> SQLValue? {
            try database.first("PRAGMA \(name)") { row in try row.value(0) }
        }
        #expect(try pragma("journal_mode", database) == .text("wal"))
        #expect(try pragma("synchronous", database) == .integer(1))
        #expect(try pragma("application_id", database) == .integer(Int64(applicationID)))
        #expect(try pragma("user_version", database) == .integer(2))
        database.close()
        #expect(try pragma("synchronous", scratch.open(durable: true)) == .integer(2))
    }

    @Test func migrationsRunOnceAndOnlyNewOnesLater() throws {
        let scratch = try Scratch()
        try scratch.fill(rows: 3)
        let third = Migration("third") { database in
            let rows = try database.query("SELECT key FROM entries") { row in try row.text(0) }
            try database.execute("CREATE TABLE third(n INTEGER)")
            try database.run("INSERT INTO third VALUES(?)", rows.count)
        }
        for _ in 0..<2 {
            let database = try scratch.open(migrations: migrations + [third])
            #expect(try database.query("SELECT n FROM third") { row in try row.integer(0) } == [3])
            database.close()
        }
    }

    @Test func aFailedMigrationLeavesTheFileAsItWas() throws {
        let scratch = try Scratch()
        try scratch.fill(rows: 3)
        let broken = [Migration("fine", sql: "CREATE TABLE fine(a)"), Migration("broken", sql: "CREATE TABLE broken(")]
        #expect(storeError { _ = try scratch.open(migrations: migrations + broken) }?.code == .misuse)
        let database = try scratch.open()
        #expect(try database.first("SELECT count(*) FROM sqlite_schema WHERE name = 'fine'") { row in try row.integer(0) } == 0)
    }

    @Test func aNewerSchemaIsRefusedByItsVersion() throws {
        let scratch = try Scratch()
        try scratch.open(migrations: migrations + [Migration("newer", sql: "CREATE TABLE newer(a)")]).close()
        let error = storeError { _ = try scratch.open() }
        #expect(error?.code == .newerSchema)
        #expect(
            error?.message == "\(scratch.path) has schema version 3, this program knows 2: use the newer Hearth that wrote it")
        // Nothing was touched.
        try scratch.open(migrations: migrations + [Migration("newer", sql: "CREATE TABLE newer(a)")]).close()
    }

    @Test func anotherHistoryOrApplicationIsRefused() throws {
        let scratch = try Scratch()
        try scratch.fill(rows: 3)
        let other = [KeyValueTable.migration("entries"), Migration("different", sql: "SELECT 1")]
        #expect(storeError { _ = try scratch.open(migrations: other) }?.code == .foreignFile)
        let options = StoreOptions(access: .shared)
        let error = storeError {
            _ = try Database(path: scratch.path, applicationID: 77, migrations: migrations, options: options)
        }
        #expect(error?.code == .foreignFile)
        #expect(try KeyValueTable(scratch.open()).entries("lamp").count == 3)
    }

    @Test func anUnmarkedDatabaseOfSomebodyElseIsRefused() throws {
        let scratch = try Scratch()
        let options = StoreOptions(access: .shared)
        try Database(
            path: scratch.path, applicationID: 0, migrations: [Migration("a", sql: "CREATE TABLE a(b)")], options: options
        ).close()
        unlink(scratch.path + ".created")
        #expect(storeError { _ = try scratch.open() }?.code == .foreignFile)
    }

    @Test func theSecondIsToldWhoHoldsTheFolder() throws {
        let scratch = try Scratch()
        let first = try scratch.open(.exclusive(holder: "hearth simulate lamp.yaml"))
        for access in [StoreOptions.Access.shared, .exclusive(holder: "another")] {
            let error = storeError { _ = try scratch.open(access) }
            #expect(error?.code == .inUse)
            #expect(
                error?.message == "state folder \(scratch.state) is in use by process \(getpid()) (hearth simulate lamp.yaml): "
                    + "stop it, or name another folder")
        }
        first.close()
        let shared = try scratch.open(.shared)
        try scratch.open(.shared).close()
        #expect(storeError { _ = try scratch.open() }?.code == .inUse)
        shared.close()
        try scratch.open().close()
    }

    @Test func aReadOnlyFolderIsReported() throws {
        // Root may write anywhere but in /proc.
        let options = StoreOptions(access: .exclusive(holder: "a test"))
        let error = storeError {
            _ = try Database(path: "/proc/hearth/store.db", applicationID: 1, migrations: [], options: options)
        }
        #expect(error?.code == .cannotOpen || error?.code == .readOnly)
        #expect(error?.message.contains("/proc/hearth") == true)
    }
}
