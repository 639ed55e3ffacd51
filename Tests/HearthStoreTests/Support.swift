import CSQLite
import Glibc
import HearthTime
import Testing

@testable import HearthStore

let applicationID: Int32 = 0x4854_5354
let migrations = [KeyValueTable.migration("entries"), SequenceTable.migration("sequences")]

/// A folder that is gone with the object, and the store in it.
final class Scratch {
    let folder: String
    var path: String { folder + "/state/store.db" }
    var state: String { folder + "/state" }

    init() throws {
        var template = Array("/tmp/hearth-store-XXXXXX".utf8CString)
        guard mkdtemp(&template) != nil else { throw StoreError(.cannotOpen, "no folder for the test") }
        folder = String(decoding: template.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }

    deinit { remove(folder) }

    private func remove(_ path: String) {
        if let directory = opendir(path) {
            while let entry = readdir(directory) {
                let name = withUnsafeBytes(of: &entry.pointee.d_name) { bytes in
                    String(decoding: bytes.prefix { $0 != 0 }, as: UTF8.self)
                }
                if name != ".", name != ".." { remove(path + "/" + name) }
            }
            closedir(directory)
            rmdir(path)
        } else {
            unlink(path)
        }
    }

    func open(
        _ access: StoreOptions.Access = .exclusive(holder: "a test"), migrations: [Migration] = HearthStoreTests.migrations,
        durable: Bool = false, maximumPages: Int? = nil, checkpointPages: Int32 = 1_000,
        afterRepair: (@Sendable (Database) throws -> Void)? = nil
    ) throws -> Database {
        let options = StoreOptions(
            access: access, durable: durable, checkpointPages: checkpointPages, maximumPages: maximumPages, afterRepair: afterRepair)
        return try Database(path: path, applicationID: applicationID, migrations: migrations, options: options)
    }

    /// A store with some rows, closed again.
    func fill(rows: Int = 200, backup: Bool = false) throws {
        let database = try open()
        let table = try KeyValueTable(database)
        var batch = WriteBatch()
        for row in 0..<rows { batch.put("lamp", "row \(row)", [UInt8](repeating: UInt8(row & 0xFF), count: 400)) }
        try table.commit(batch)
        if backup { try database.backup() }
        database.close()
    }

    func files() -> [String] {
        guard let directory = opendir(state) else { return [] }
        defer { closedir(directory) }
        var names: [String] = []
        while let entry = readdir(directory) {
            let name = withUnsafeBytes(of: &entry.pointee.d_name) { bytes in
                String(decoding: bytes.prefix { $0 != 0 }, as: UTF8.self)
            }
            if !name.hasPrefix(".") { names.append(name) }
        }
        return names.sorted()
    }

    func mode(_ path: String) -> UInt32 {
        var status = stat()
        return stat(path, &status) == 0 ? status.st_mode & 0o777 : 0
    }

    func size(_ path: String) -> Int {
        var status = stat()
        return stat(path, &status) == 0 ? Int(status.st_size) : -1
    }

    func read(_ path: String) -> [UInt8] {
        let descriptor = Glibc.open(path, O_RDONLY)
        defer { close(descriptor) }
        var bytes = [UInt8](repeating: 0, count: max(0, size(path)))
        let count = Glibc.read(descriptor, &bytes, bytes.count)
        return Array(bytes.prefix(max(0, count)))
    }

    func overwrite(_ path: String, at offset: Int, with bytes: [UInt8]) {
        let descriptor = Glibc.open(path, O_WRONLY | O_CREAT, 0o600)
        pwrite(descriptor, bytes, bytes.count, off_t(offset))
        close(descriptor)
    }
}

/// The error that `body` throws, as the store's.
func storeError(_ body: () throws -> Void) -> StoreError? {
    do {
        try body()
        return nil
    } catch {
        return error as? StoreError
    }
}

private let spawning = Locked(())

/// A `store-probe` at work, with pipes to its input and from its output.
final class Probe {
    let pid: pid_t
    private let input: Int32
    private let output: Int32
    private var buffer: [UInt8] = []
    private var status: Int32?

    init(_ arguments: String...) throws {
        var link = [CChar](repeating: 0, count: 4_096)
        let count = readlink("/proc/self/exe", &link, link.count - 1)
        let own = String(decoding: link[..<max(0, count)].map { UInt8(bitPattern: $0) }, as: UTF8.self)
        // The test runner may be the bundle itself or a helper of the toolchain that got the bundle as an argument.
        let candidates = [own] + CommandLine.arguments
        let program = candidates.compactMap { path -> String? in
            guard let slash = path.lastIndex(of: "/") else { return nil }
            let sibling = String(path[..<slash]) + "/store-probe"
            return access(sibling, X_OK) == 0 ? sibling : nil
        }.first
        guard let program else { throw StoreError(.cannotOpen, "store-probe is not beside \(candidates)") }
        let started = spawning.withLock { _ in Probe.spawn(program, arguments) }
        guard let started else { throw StoreError(.cannotOpen, "cannot start \(program)") }
        (pid, input, output) = started
    }

    /// Under a lock, so that a probe started at the same time does not keep this one's pipes open.
    private static func spawn(_ program: String, _ arguments: [String]) -> (pid_t, Int32, Int32)? {
        var toChild: [Int32] = [0, 0]
        var fromChild: [Int32] = [0, 0]
        pipe(&toChild)
        pipe(&fromChild)
        for descriptor in toChild + fromChild { _ = fcntl(descriptor, F_SETFD, FD_CLOEXEC) }
        var actions = posix_spawn_file_actions_t()
        posix_spawn_file_actions_init(&actions)
        posix_spawn_file_actions_adddup2(&actions, toChild[0], 0)
        posix_spawn_file_actions_adddup2(&actions, fromChild[1], 1)
        var strings = ([program] + arguments).map { strdup($0) } + [nil]
        var child = pid_t()
        let code = posix_spawn(&child, program, &actions, nil, &strings, environ)
        posix_spawn_file_actions_destroy(&actions)
        for string in strings { free(string) }
        close(toChild[0])
        close(fromChild[1])
        return code == 0 ? (child, toChild[1], fromChild[0]) : nil
    }

    deinit {
        close(input)
        if status == nil {
            kill(pid, SIGKILL)
            wait()
        }
        close(output)
    }

    /// The next line of output, nil at its end.
    func line() -> String? {
        while true {
            if let end = buffer.firstIndex(of: 10) {
                defer { buffer.removeSubrange(...end) }
                return String(decoding: buffer[..<end], as: UTF8.self)
            }
            var chunk = [UInt8](repeating: 0, count: 4_096)
            let count = read(output, &chunk, chunk.count)
            if count <= 0 { return nil }
            buffer += chunk[..<count]
        }
    }

    func lines() -> [String] {
        var lines: [String] = []
        while let next = line() { lines.append(next) }
        return lines
    }

    func send(_ line: String) {
        let bytes = Array((line + "\n").utf8)
        _ = write(input, bytes, bytes.count)
    }

    /// Waits for its end; the exit status, or minus the signal that ended it.
    @discardableResult
    func wait() -> Int32 {
        if let status { return status }
        var raw: Int32 = 0
        while waitpid(pid, &raw, 0) < 0, errno == EINTR {}
        let result = raw & 0x7F == 0 ? (raw >> 8) & 0xFF : -(raw & 0x7F)
        status = result
        return result
    }
}
