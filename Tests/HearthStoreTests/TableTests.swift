import HearthStore
import Testing

@Suite struct TableTests {
    @Test func theLastWordOnAKeyCounts() throws {
        let table = try KeyValueTable(try Database.inMemory(migrations: migrations))
        var batch = WriteBatch()
        batch.put("lamp", "on", [1])
        batch.put("lamp", "level", [2])
        batch.put("lock", "state", [3])
        batch.put("lamp", "on", [4])
        #expect(batch.count == 3)
        try table.commit(batch)
        #expect(try table.value("lamp", "on") == [4])
        batch.removeAll()
        #expect(batch.isEmpty)
        batch.delete("lamp", "on")
        batch.put("lamp", "level", [5])
        batch.delete("lamp", "level")
        batch.delete("lamp", "unknown")
        try table.commit(batch)
        #expect(try table.entries("lamp").isEmpty)
        #expect(try table.entries("lock").map(\.key) == ["state"])
        #expect(try table.value("lamp", "on") == nil)
    }

    @Test func aNamespaceIsEmptiedBeforeWhatIsPutLater() throws {
        let table = try KeyValueTable(try Database.inMemory(migrations: migrations))
        var batch = WriteBatch()
        batch.put("lamp", "old", [1])
        batch.put("lock", "old", [2])
        try table.commit(batch)
        batch.deleteAll("lamp")
        batch.put("lamp", "new", [3])
        try table.commit(batch)
        #expect(try table.entries("lamp").map { [$0.key] + $0.value.map { "\($0)" } } == [["new", "3"]])
        #expect(try table.namespaces() == ["lamp", "lock"])
    }

    @Test func aBatchIsAPartOfALargerTransaction() throws {
        struct Stop: Error {}
        let database = try Database.inMemory(migrations: migrations)
        let table = try KeyValueTable(database)
        var batch = WriteBatch()
        batch.put("lamp", "on", [1])
        #expect(throws: Stop.self) {
            try database.transaction {
                try table.commit(batch)
                throw Stop()
            }
        }
        #expect(try table.value("lamp", "on") == nil)
    }

    @Test func numbersAreGivenOutOnce() throws {
        let sequences = SequenceTable(try Database.inMemory(migrations: migrations))
        #expect(try sequences.reserve("node") == 1..<2)
        #expect(try sequences.reserve("node", count: 10) == 2..<12)
        #expect(try sequences.reserve("event", count: 5, startingAt: 100) == 100..<105)
        try sequences.skip("node", to: 50)
        try sequences.skip("node", to: 20)
        #expect(try sequences.reserve("node") == 50..<51)
        #expect(storeError { _ = try sequences.reserve("node", count: 0) }?.code == .misuse)
        #expect(storeError { _ = try sequences.reserve("node", count: .max) }?.code == .misuse)
        #expect(try sequences.reserve("node") == 51..<52)
    }
}
