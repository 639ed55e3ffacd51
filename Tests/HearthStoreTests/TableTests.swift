import HearthStore
import Testing

@Suite struct TableTests {
    private var allMigrations: [Migration] { migrations + [NumberedTable.migration("numbered", table: "numbered")] }

    /// Both kinds keep the same promises.
    enum Kind: CaseIterable {
        case keyValue, numbered

        func table(_ database: Database) throws -> any NamespacedTable {
            switch self {
            case .keyValue: try KeyValueTable(database)
            case .numbered: try NumberedTable(database, table: "numbered")
            }
        }
    }

    @Test(arguments: Kind.allCases) func theLastWordOnAKeyCounts(_ kind: Kind) throws {
        let table = try kind.table(try Database.inMemory(migrations: allMigrations))
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

    @Test(arguments: Kind.allCases) func aNamespaceIsEmptiedBeforeWhatIsPutLater(_ kind: Kind) throws {
        let table = try kind.table(try Database.inMemory(migrations: allMigrations))
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

    @Test(arguments: Kind.allCases) func aBatchIsAPartOfALargerTransaction(_ kind: Kind) throws {
        struct Stop: Error {}
        let database = try Database.inMemory(migrations: allMigrations)
        let table = try kind.table(database)
        var batch = WriteBatch()
        batch.put("lamp", "on", [1])
        #expect(throws: Stop.self) {
            try database.transaction {
                try table.commit(batch)
                throw Stop()
            }
        }
        #expect(try table.value("lamp", "on") == nil)
        // The batch can be committed again, and nothing that the first attempt gave out is left.
        var other = WriteBatch()
        other.put("lock", "state", [2])
        try table.commit(other)
        try table.commit(batch)
        #expect(try table.value("lamp", "on") == [1])
        #expect(try table.value("lock", "state") == [2])
        #expect(try table.value("lock", "on") == nil)
        #expect(try table.value("lamp", "state") == nil)
        #expect(try table.namespaces() == ["lamp", "lock"])
    }

    @Test(arguments: Kind.allCases) func aTableGoesOnWhereAnotherEnded(_ kind: Kind) throws {
        let database = try Database.inMemory(migrations: allMigrations)
        var batch = WriteBatch()
        for number in 0..<300 { batch.put("device \(number % 30)", "attribute \(number / 30)", [UInt8(number % 256)]) }
        try kind.table(database).commit(batch)
        let table = try kind.table(database)
        for number in 0..<300 {
            #expect(try table.value("device \(number % 30)", "attribute \(number / 30)") == [UInt8(number % 256)])
        }
        batch.removeAll()
        batch.deleteAll("device 7")
        batch.put("new device", "attribute 3", [])
        try table.commit(batch)
        #expect(try table.entries("device 7").isEmpty)
        #expect(try table.entries("device 8").map(\.key) == (0..<10).map { "attribute \($0)" })
        #expect(try table.value("new device", "attribute 3") == [])
        #expect(try table.namespaces().count == 30)
    }

    @Test func numbersAreGivenOutOnce() throws {
        let sequences = SequenceTable(try Database.inMemory(migrations: allMigrations))
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
