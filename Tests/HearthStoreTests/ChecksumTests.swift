import Glibc
import Testing

@testable import HearthStore

/// What SQLite does not see: contents that have changed in a file that is built as it should be.
@Suite struct ChecksumTests {
    private static let older = [
        KeyValueTable.migration("entries"), SequenceTable.migration("sequences"), NumberedTable.migration("numbered", table: "numbered"),
    ]
    private static let checked =
        older + [Migration.checksums("checksums", tables: ["entries", "sequences", "numbered", "numbered_names"])]

    /// One octet of so many is tried.
    private static let step = 29

    /// All that a store holds.
    private struct Contents: Equatable {
        var entries: [String: [UInt8]] = [:]
        var numbered: [String: [UInt8]] = [:]
        var next: Int64

        init(_ database: Database) throws {
            for (key, value) in try KeyValueTable(database).entries("lamp") { entries[key] = value }
            let numbered = try NumberedTable(database, table: "numbered")
            for namespace in try numbered.namespaces() {
                for (key, _) in try numbered.entries(namespace) {
                    self.numbered["\(namespace)/\(key)"] = try numbered.value(namespace, key)
                }
            }
            next = try database.first("SELECT next FROM sequences WHERE name = 'node'") { row in try row.integer(0) } ?? 0
        }
    }

    private func fill(_ scratch: Scratch, _ migrations: [Migration]) throws -> Contents {
        let database = try scratch.open(migrations: migrations)
        var batch = WriteBatch()
        for row in 0..<20 { batch.put("lamp", "row \(row)", [UInt8](repeating: UInt8(row), count: 40)) }
        try KeyValueTable(database).commit(batch)
        _ = try SequenceTable(database).reserve("node", count: 9)
        try NumberedTable(database, table: "numbered").commit(batch)
        // A number that is taken again, and a value that replaces another.
        batch.removeAll()
        batch.put("lock", "row 3", [3])
        batch.put("lamp", "row 4", [])
        try NumberedTable(database, table: "numbered").commit(batch)
        try database.backup()
        defer { database.close() }
        return try Contents(database)
    }

    @Test func theSumIsCRC32C() {
        var sum = CRC32C()
        Array("123456789".utf8).withUnsafeBytes { sum.add($0) }
        #expect(sum.value == 0xE306_9283)
    }

    /// Each bit that turns over is harmless, or the backup is used and that is told.
    @Test func noBitTurnsOverUnnoticed() throws {
        let scratch = try Scratch()
        let contents = try fill(scratch, Self.checked)
        #expect(contents.entries.count == 20 && contents.numbered.count == 21 && contents.next == 10)
        let sound = scratch.read(scratch.path)
        let places = sound.indices.filter { sound[$0] != 0 }
        var (repaired, tried) = (0, 0)
        for (number, place) in places.enumerated() where number % Self.step == 0 {
            for suffix in ["-wal", "-shm"] { unlink(scratch.path + suffix) }
            scratch.overwrite(scratch.path, at: 0, with: sound)
            scratch.overwrite(scratch.path, at: place, with: [sound[place] ^ 1 << (number / Self.step % 8)])
            tried += 1
            do {
                let database = try scratch.open(migrations: Self.checked)
                if database.recovery != nil { repaired += 1 }
                #expect(try Contents(database) == contents, "bit \(number / Self.step % 8) of octet \(place)")
                database.close()
            } catch {
                Issue.record("bit \(number / Self.step % 8) of octet \(place): \(error)")
            }
            for file in scratch.files() where file.contains("damaged") { unlink(scratch.state + "/" + file) }
        }
        #expect(tried > 100 && repaired > tried / 2, "\(repaired) of \(tried)")
    }

    @Test func aRowThatChangedIsNoReasonToReplaceTheBackup() throws {
        let scratch = try Scratch()
        _ = try fill(scratch, Self.checked)
        let database = try scratch.open(migrations: Self.checked)
        try database.run("UPDATE entries SET value = x'00' WHERE key = 'row 7'")
        #expect(storeError { try database.backup() }?.code == .damaged)
        database.close()
        let again = try scratch.open(migrations: Self.checked)
        #expect(again.recovery?.damage == "a row of entries is not as it was written")
        #expect(try KeyValueTable(again).value("lamp", "row 7") == [UInt8](repeating: 7, count: 40))
    }

    @Test func aStoreWithoutChecksumsGetsThem() throws {
        let scratch = try Scratch()
        let contents = try fill(scratch, Self.older)
        var database = try scratch.open(migrations: Self.checked)
        #expect(database.recovery == nil)
        #expect(try Contents(database) == contents)
        try database.run("UPDATE numbered_names SET name = 'other' WHERE name = 'row 5'")
        database.close()
        // The backup from before has none either.
        database = try scratch.open(migrations: Self.checked)
        #expect(database.recovery?.damage == "a row of numbered_names is not as it was written")
        #expect(try Contents(database) == contents)
        try database.run("UPDATE sequences SET next = 3")
        database.close()
        database = try scratch.open(migrations: Self.checked)
        #expect(database.recovery?.damage == "a row of sequences is not as it was written")
    }
}
