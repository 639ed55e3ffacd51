import Glibc
import HearthStore
import Testing

/// What only a second process can show.
@Suite struct ProcessTests {
    @Test(arguments: [1, 40, 700]) func whatWasAcknowledgedSurvivesAKill(rows: Int) throws {
        let scratch = try Scratch()
        let probe = try Probe("commit", scratch.path)
        var last = -1
        while last < rows, let line = probe.line() { last = Int(line) ?? last }
        kill(probe.pid, SIGKILL)
        // Lines that it wrote before it died were acknowledged as well.
        for line in probe.lines() { last = Int(line) ?? last }
        #expect(probe.wait() == -SIGKILL)
        #expect(last >= rows)
        let database = try scratch.open()
        #expect(database.recovery == nil)
        let table = try KeyValueTable(database)
        for row in 0...last { #expect(try table.value("probe", "row \(row)") == Array("value \(row)".utf8)) }
        // Each commit is whole: the newest row and the note of it are together.
        let noted = try #require(try table.value("probe", "last")).map { UnicodeScalar($0) }
        let number = try #require(Int(String(String.UnicodeScalarView(noted))))
        #expect(number >= last)
        #expect(try table.value("probe", "row \(number)") != nil)
        #expect(try table.value("probe", "row \(number + 1)") == nil)
    }

    @Test func aKilledHolderLeavesTheFolderFree() throws {
        let scratch = try Scratch()
        let probe = try Probe("hold", scratch.path)
        #expect(probe.line() == "held")
        let error = storeError { _ = try scratch.open() }
        #expect(error?.code == .inUse)
        #expect(error?.message.contains("process \(probe.pid) (store-probe hold)") == true)
        kill(probe.pid, SIGKILL)
        probe.wait()
        try scratch.open().close()
    }

    @Test func processesThatShareAFolderGetDifferentNumbers() throws {
        let scratch = try Scratch()
        // They also race for the first start.
        let probes = try (0..<3).map { _ in try Probe("reserve", scratch.path, "100") }
        for probe in probes { #expect(probe.line() == "ready") }
        for probe in probes { probe.send("go") }
        let numbers = probes.flatMap { $0.lines() }.compactMap { Int64($0) }
        for probe in probes { #expect(probe.wait() == 0) }
        #expect(numbers.count == 300)
        #expect(Set(numbers) == Set(1...300))
        let database = try scratch.open(.shared)
        #expect(database.recovery == nil)
        #expect(try SequenceTable(database).reserve("node") == 301..<302)
    }

    @Test func aFullDiskLosesNothingThatWasAcknowledged() throws {
        let scratch = try Scratch()
        let probe = try Probe("fill", scratch.path, "400000")
        let lines = probe.lines()
        #expect(probe.wait() == 3)
        #expect(lines.last?.hasPrefix("diskFull: no space left for \(scratch.path)") == true, "\(lines.suffix(2))")
        let rows = lines.compactMap { Int($0) }
        #expect(rows.count > 5)
        let table = try KeyValueTable(scratch.open())
        #expect(try table.entries("probe").count == rows.count)
    }

    /// Also after a kill, with all that stands in the log.
    @Test(arguments: [false, true]) func aFullDiskCanBeRead(isLogLeft: Bool) throws {
        let scratch = try Scratch()
        try scratch.fill(rows: 7)
        if isLogLeft {
            let probe = try Probe("commit", scratch.path)
            #expect(probe.line() == "0")
            kill(probe.pid, SIGKILL)
            probe.wait()
            #expect(scratch.size(scratch.path + "-wal") > 0)
            // A power cut takes it, being in memory.
            unlink(scratch.path + "-shm")
        }
        let probe = try Probe("read-full", scratch.path)
        let lines = probe.lines()
        try #require(lines.count == 3 && lines[0] == "7 rows", "\(lines)")
        #expect(lines[1].hasPrefix("diskFull: no space left for \(scratch.path)") == true, "\(lines)")
        #expect(lines[2] == "success()", "\(lines)")
        #expect(probe.wait() == 0)
        // All is in the backup too.
        Damage.garbage.apply(to: scratch)
        let table = try KeyValueTable(scratch.open())
        #expect(try table.entries("lamp").count == 7)
        #expect(try table.value("probe", "row") == [1])
    }

    @Test func aFullFileIsReportedAndGoesOnAfterwards() throws {
        let scratch = try Scratch()
        let database = try scratch.open(maximumPages: 30)
        let table = try KeyValueTable(database)
        var batch = WriteBatch()
        batch.put("lamp", "small", [1])
        try table.commit(batch)
        batch.put("lamp", "large", [UInt8](repeating: 1, count: 200_000))
        let error = storeError { try table.commit(batch) }
        #expect(error?.code == .diskFull)
        #expect(error?.message.contains("free some space") == true)
        #expect(!database.isInTransaction)
        #expect(try table.entries("lamp").map(\.key) == ["small"])
        batch.removeAll()
        batch.put("lamp", "other", [2])
        try table.commit(batch)
        #expect(try table.entries("lamp").map(\.key) == ["other", "small"])
    }
}
