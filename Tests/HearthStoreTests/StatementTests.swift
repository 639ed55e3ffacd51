import HearthStore
import Testing

@Suite struct StatementTests {
    @Test func everyTypeComesBackAsItWasBound() throws {
        let database = try Database.inMemory()
        try database.execute("CREATE TABLE t(a, b, c, d, e, f, g)")
        let blob: [UInt8] = [0, 1, 255]
        try database.run(
            "INSERT INTO t VALUES(?, ?, ?, ?, ?, ?, ?)", Int64.min, 1.5, "Zoë\u{0}x", blob, String?.none, UInt64.max, [UInt8]())
        let row = try database.first("SELECT * FROM t") { row in
            (
                try row.integer(0), try row.real(1), try row.text(2), try row.blob(3), try row.optionalText(4),
                try row.unsigned(5), try row.blob(6), row.count
            )
        }
        let found = try #require(row)
        #expect(found.0 == .min)
        #expect(found.1 == 1.5)
        #expect(found.2 == "Zoë\u{0}x")
        #expect(found.3 == blob)
        #expect(found.4 == nil)
        #expect(found.5 == .max)
        #expect(found.6 == [])
        #expect(found.7 == 7)
        let values = try database.first("SELECT * FROM t") { row in try (0..<8).map { try row.value($0) } }
        #expect(
            values == [
                .integer(.min), .real(1.5), .text("Zoë\u{0}x"), .blob(blob), .null, .integer(-1), .blob([]), .null,
            ])
    }

    @Test func aColumnOfAnotherTypeIsAnError() throws {
        let database = try Database.inMemory()
        let error = storeError { _ = try database.first("SELECT 'text'") { row in try row.integer(0) } }
        #expect(error?.code == .unexpectedValue)
        #expect(error?.message == "column 0 holds text where an integer was expected")
        #expect(storeError { _ = try database.first("SELECT 1") { row in try row.integer(3) } }?.code == .unexpectedValue)
    }

    @Test func aWrongNumberOfValuesOrBadSQLIsAnError() throws {
        let database = try Database.inMemory()
        #expect(storeError { try database.run("SELECT ?, ?", 1) }?.code == .misuse)
        #expect(storeError { try database.run("SELEKT") }?.code == .misuse)
        #expect(storeError { try database.run("") }?.code == .misuse)
        try database.execute("CREATE TABLE t(a INTEGER NOT NULL UNIQUE) STRICT")
        try database.run("INSERT INTO t VALUES(1)")
        #expect(storeError { try database.run("INSERT INTO t VALUES(1)") }?.code == .constraint)
        #expect(storeError { try database.run("INSERT INTO t VALUES('x')") }?.code == .constraint)
        // The failed statements are usable again.
        #expect(try database.query("SELECT a FROM t") { row in try row.integer(0) } == [1])
    }

    @Test func aStatementRunsWithinItself() throws {
        let database = try Database.inMemory()
        try database.execute("CREATE TABLE t(a); INSERT INTO t VALUES(1), (2), (3)")
        var pairs: [Int64] = []
        try database.forEach("SELECT a FROM t ORDER BY a") { outer in
            let first = try outer.integer(0)
            try database.forEach("SELECT a FROM t ORDER BY a") { inner in
                pairs.append(first * 10 + (try inner.integer(0)))
                return pairs.count % 3 != 0
            }
            return first < 2
        }
        #expect(pairs == [11, 12, 13, 21, 22, 23])
        let kept = try database.prepare("INSERT INTO t VALUES(?)")
        try kept.run(4)
        try kept.run(5)
        #expect(try database.first("SELECT count(*) FROM t") { row in try row.integer(0) } == 5)
    }

    @Test func moreStatementsThanTheCacheHolds() throws {
        let database = try Database.inMemory()
        for round in 0..<2 {
            for number in 0..<200 {
                let found = try database.first("SELECT \(number)") { row in try row.integer(0) }
                #expect(found == Int64(number), "round \(round)")
            }
        }
    }

    @Test func transactionsAreAllOrNothing() throws {
        struct Stop: Error {}
        let database = try Database.inMemory()
        try database.execute("CREATE TABLE t(a)")
        func rows() throws -> [Int64] { try database.query("SELECT a FROM t ORDER BY a") { row in try row.integer(0) } }
        #expect(throws: Stop.self) {
            try database.transaction {
                try database.run("INSERT INTO t VALUES(1)")
                throw Stop()
            }
        }
        #expect(try rows() == [])
        try database.transaction {
            try database.run("INSERT INTO t VALUES(1)")
            // The inner part fails on its own.
            try? database.transaction {
                try database.run("INSERT INTO t VALUES(2)")
                throw Stop()
            }
            try database.transaction { try database.run("INSERT INTO t VALUES(3)") }
            #expect(database.isInTransaction)
        }
        #expect(!database.isInTransaction)
        #expect(try rows() == [1, 3])
    }

    @Test func aClosedDatabaseRefuses() throws {
        let database = try Database.inMemory(migrations: migrations)
        let table = try KeyValueTable(database)
        database.close()
        var batch = WriteBatch()
        batch.put("a", "b", [])
        #expect(storeError { try database.run("SELECT 1") }?.code == .misuse)
        #expect(storeError { try table.commit(batch) }?.code == .misuse)
        #expect(storeError { try database.backup() }?.code == .misuse)
    }
}
