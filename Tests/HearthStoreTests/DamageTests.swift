import Glibc
import HearthStore
import Testing

/// What a crash, a full disk or a hand can do to a file.
enum Damage: String, CaseIterable, Sendable {
    case missing, empty, half, garbage, header, pages

    func apply(to scratch: Scratch) {
        let size = scratch.size(scratch.path)
        switch self {
        case .missing: unlink(scratch.path)
        case .empty: truncate(scratch.path, 0)
        case .half: truncate(scratch.path, off_t(size / 2))
        case .garbage:
            truncate(scratch.path, 0)
            scratch.overwrite(scratch.path, at: 0, with: Array(repeating: 0x5A, count: 5_000))
        case .header: scratch.overwrite(scratch.path, at: 0, with: Array(repeating: 0, count: 100))
        case .pages:
            // Every page but the first.
            scratch.overwrite(scratch.path, at: 4_096, with: Array(repeating: 0xA5, count: size - 4_096))
        }
    }
}

@Suite struct DamageTests {
    @Test(arguments: Damage.allCases) func theBackupIsUsedAndTheUserToldOnce(damage: Damage) throws {
        let scratch = try Scratch()
        try scratch.fill(backup: true)
        damage.apply(to: scratch)
        let database = try scratch.open()
        let report = try #require(database.recovery)
        #expect((report.backupTime ?? 0) > 0)
        #expect(report.message.contains("Its last backup is in use"))
        #expect(report.setAside.isEmpty == (damage == .missing))
        for file in report.setAside { #expect(scratch.mode(file) == 0o600) }
        #expect(try KeyValueTable(database).entries("lamp").count == 200)
        try database.run("INSERT INTO entries VALUES('a', 'b', x'00')")
        database.close()
        let again = try scratch.open()
        #expect(again.recovery == nil)
        #expect(try KeyValueTable(again).namespaces() == ["a", "lamp"])
    }

    @Test(arguments: Damage.allCases) func withoutABackupItStartsEmpty(damage: Damage) throws {
        let scratch = try Scratch()
        try scratch.fill()
        damage.apply(to: scratch)
        let database = try scratch.open()
        let report = try #require(database.recovery)
        #expect(report.backupTime == nil)
        #expect(report.message.contains("it starts empty"))
        #expect(try KeyValueTable(database).namespaces() == [])
        database.close()
        #expect(try scratch.open().recovery == nil)
    }

    @Test func aDamagedBackupIsNoCrashLoop() throws {
        let scratch = try Scratch()
        try scratch.fill(backup: true)
        Damage.garbage.apply(to: scratch)
        scratch.overwrite(scratch.path + ".backup", at: 4_096, with: Array(repeating: 0xA5, count: 8_192))
        let database = try scratch.open()
        let report = try #require(database.recovery)
        #expect(report.backupTime == nil)
        #expect(report.setAside.count == 2)
        #expect(report.message.contains("Its backup is damaged too") && !report.message.contains("no backup"))
        for file in report.setAside { #expect(report.message.contains(file) && scratch.size(file) > 0) }
        database.close()
        #expect(try scratch.open().recovery == nil)
    }

    @Test func whatARepairAsksForIsInTheFileBeforeAnybodySeesIt() throws {
        let scratch = try Scratch()
        try scratch.fill(backup: true)
        Damage.garbage.apply(to: scratch)
        let longer = migrations + [KeyValueTable.migration("more", table: "more")]
        // What fails leaves everything as it is.
        let error = storeError { _ = try scratch.open(migrations: longer) { _ in throw StoreError(.misuse, "not today") } }
        #expect(error?.message == "not today")
        #expect(scratch.files() == ["lock", "store.db", "store.db.backup", "store.db.created", "store.db.repairing"])
        var database = try scratch.open(migrations: longer) { copy in
            var batch = WriteBatch()
            batch.put("lamp", "counter", [9])
            try KeyValueTable(copy, table: "more").commit(batch)
        }
        #expect(database.recovery != nil)
        #expect(!scratch.files().contains("store.db.repairing"))
        #expect(try KeyValueTable(database, table: "more").value("lamp", "counter") == [9])
        database.close()
        // Nobody is asked again.
        database = try scratch.open(migrations: longer) { _ in throw StoreError(.misuse, "not again") }
        #expect(try KeyValueTable(database, table: "more").value("lamp", "counter") == [9])
    }

    /// Twice from one backup: what was used after the first repair is not used again after the second.
    @Test func aSecondRepairGoesBeyondTheFirst() throws {
        let scratch = try Scratch()
        try scratch.fill(backup: true)
        var times: [Int64] = []
        for round in 1...3 {
            Damage.garbage.apply(to: scratch)
            let database = try scratch.open { copy in _ = try SequenceTable(copy).reserve("events", count: 100) }
            times.append(database.recovery?.backupTime ?? 0)
            #expect(try SequenceTable(database).reserve("events").lowerBound == Int64(round) * 100 + 1)
            database.close()
        }
        #expect(times[0] > 0 && Set(times).count == 1)
        #expect(scratch.mode(scratch.path + ".backup") == 0o600)
    }

    @Test func anEmptyFileIsAFirstStartWithoutTheMarker() throws {
        let scratch = try Scratch()
        mkdir(scratch.state, 0o700)
        scratch.overwrite(scratch.path, at: 0, with: [])
        let database = try scratch.open()
        #expect(database.recovery == nil)
        database.close()
        #expect(scratch.files() == ["lock", "store.db", "store.db.created"])
    }

    @Test func sharersAreAskedToStopBeforeARepair() throws {
        let scratch = try Scratch()
        try scratch.fill(backup: true)
        let probe = try Probe("share", scratch.path)
        #expect(probe.line() == "shared")
        Damage.garbage.apply(to: scratch)
        let error = storeError { _ = try scratch.open(.shared) }
        #expect(error?.code == .damaged)
        #expect(error?.message.contains("other processes use it") == true)
        probe.send("end")
        probe.wait()
        #expect(try scratch.open(.shared).recovery != nil)
    }

    @Test func theBackupHasWhatWasCommitted() throws {
        let scratch = try Scratch()
        let database = try scratch.open()
        let table = try KeyValueTable(database)
        var batch = WriteBatch()
        for round in 0..<5 {
            batch.put("lamp", "round", [UInt8(round)])
            try table.commit(batch)
            let done = Waiting()
            database.requestBackup { done.finish($0) }
            #expect(done.wait() == nil)
        }
        database.close()
        Damage.empty.apply(to: scratch)
        #expect(try KeyValueTable(scratch.open()).value("lamp", "round") == [4])
    }

    @Test func aDamagedFileDoesNotReplaceASoundBackup() throws {
        let scratch = try Scratch()
        try scratch.fill(backup: true)
        let database = try scratch.open()
        Damage.pages.apply(to: scratch)
        #expect(storeError { try database.backup() }?.code == .damaged)
        database.close()
        #expect(!scratch.files().contains("store.db.backup.new"))
        #expect(try KeyValueTable(scratch.open()).entries("lamp").count == 200)
    }

    @Test func theLogDoesNotGrowWithoutEnd() throws {
        let scratch = try Scratch()
        let database = try scratch.open(checkpointPages: 20)
        let table = try KeyValueTable(database)
        var batch = WriteBatch()
        for number in 0..<3_000 {
            batch.put("lamp", "counter", [UInt8](repeating: UInt8(number & 0xFF), count: 2_000))
            try table.commit(batch)
            // On a loop the thread keeps up by itself; here nothing else happens between two commits.
            if number % 100 == 0 { database.waitForMaintenance() }
        }
        database.waitForMaintenance()
        // 3,000 commits of a page each are 12 MB.
        #expect(scratch.size(scratch.path + "-wal") < 2_000_000)
    }
}

/// The result of a background job, for a test that waits.
final class Waiting: @unchecked Sendable {
    // Written once before the semaphore is raised and read after it.
    private var error: StoreError?
    private let semaphore = UnsafeMutablePointer<sem_t>.allocate(capacity: 1)

    init() { sem_init(semaphore, 0, 0) }
    deinit {
        sem_destroy(semaphore)
        semaphore.deallocate()
    }

    func finish(_ result: Result<Void, StoreError>) {
        if case .failure(let failure) = result { error = failure }
        sem_post(semaphore)
    }

    func wait() -> StoreError? {
        while sem_wait(semaphore) != 0 {}
        return error
    }
}
