import Glibc
import HearthStore

/// `store-probe VERB PATH …`: what a test of the store needs another process for. Prints one line for each step that is done, and
/// ends with status 3 and the error's code when the store refuses.
@main
enum StoreProbe {
    static func main() {
        let arguments = CommandLine.arguments
        guard arguments.count >= 3 else { exit(64) }
        do {
            try run(arguments[1], path: arguments[2], Array(arguments.dropFirst(3)))
        } catch let error as StoreError {
            say("\(error.code): \(error)")
            exit(3)
        } catch {
            say("unexpected: \(error)")
            exit(4)
        }
    }

    private static func run(_ verb: String, path: String, _ rest: [String]) throws {
        switch verb {
        // Commits rows until it is killed; a row's number is printed when the store has acknowledged it.
        case "commit":
            let database = try open(path, .exclusive(holder: "store-probe commit"))
            let table = try KeyValueTable(database)
            for number in 0... {
                var batch = WriteBatch()
                batch.put("probe", "row \(number)", Array("value \(number)".utf8))
                batch.put("probe", "last", Array("\(number)".utf8))
                try table.commit(batch)
                say("\(number)")
            }
        // Holds the folder until its input ends.
        case "hold":
            let database = try open(path, .exclusive(holder: "store-probe hold"))
            say("held")
            _ = readLine()
            database.close()
        case "share":
            let database = try open(path, .shared)
            say("shared")
            _ = readLine()
            database.close()
        // Takes numbers one by one; the first line of input starts it, so that several start together.
        case "reserve":
            let database = try open(path, .shared)
            let sequences = SequenceTable(database)
            say("ready")
            _ = readLine()
            for _ in 0..<(Int(rest.first ?? "") ?? 0) { say("\(try sequences.reserve("node").lowerBound)") }
        // Writes against a limit on the size of files, as against a full disk.
        case "fill":
            let database = try open(path, .exclusive(holder: "store-probe fill"))
            let table = try KeyValueTable(database)
            limitFiles(to: rlim_t(rest.first ?? "") ?? 0)
            for number in 0... {
                var batch = WriteBatch()
                batch.put("probe", "row \(number)", [UInt8](repeating: 7, count: 10_000))
                try table.commit(batch)
                say("\(number)")
            }
        // Reads while no file can get a byte longer.
        case "read-full":
            limitFiles(to: 0)
            let database = try open(path, .shared)
            let table = try KeyValueTable(database)
            say("\(try table.entries("lamp").count) rows")
            var batch = WriteBatch()
            batch.put("probe", "row", [1])
            do { try table.commit(batch) } catch let error as StoreError { say("\(error.code): \(error)") }
            // Room again.
            limitFiles(to: rlim_t.max)
            try table.commit(batch)
            try database.backup()
            database.requestBackup { say("\($0)") }
            database.waitForMaintenance()
        default: exit(64)
        }
    }

    private static func limitFiles(to bytes: rlim_t) {
        signal(SIGXFSZ, SIG_IGN)
        var limits = rlimit(rlim_cur: bytes, rlim_max: rlim_t.max)
        setrlimit(__rlimit_resource_t(1), &limits)
    }

    private static func open(_ path: String, _ access: StoreOptions.Access) throws -> Database {
        try Database(
            path: path, applicationID: 0x4854_5354,
            migrations: [KeyValueTable.migration("entries"), SequenceTable.migration("sequences")],
            options: StoreOptions(access: access, busyTimeout: 60_000))
    }

    private static func say(_ line: String) {
        let bytes = Array((line + "\n").utf8)
        _ = bytes.withUnsafeBytes { write(1, $0.baseAddress, $0.count) }
    }
}
