import CSQLite
import Glibc
import HearthTime

/// What keeps a file in shape without making its user's loop wait: checkpoints and backups, on a thread and a connection of their
/// own. The thread starts with the first request, so that a short command never has one.
final class Maintenance: Sendable {
    private struct State {
        var wantsCheckpoint = false
        var backups: [@Sendable (Result<Void, StoreError>) -> Void] = []
        var isBusy = false
        var isStopping = false
        var thread: SystemThread?
    }

    private enum Job: Sendable {
        case checkpoint
        case backup([@Sendable (Result<Void, StoreError>) -> Void])
        case stop
    }

    private let path: String
    private let busyTimeout: Int32
    private let state = Locked(State())

    init(path: String, busyTimeout: Int32) {
        self.path = path
        self.busyTimeout = busyTimeout
    }

    /// Asks for the log to be moved into the file soon. Requests that come before it is done are one.
    func requestCheckpoint() {
        state.withLock { $0.wantsCheckpoint = !$0.isStopping }
        startThread()
    }

    func requestBackup(_ completion: @escaping @Sendable (Result<Void, StoreError>) -> Void) {
        let accepted = state.withLock { state in
            if !state.isStopping { state.backups.append(completion) }
            return !state.isStopping
        }
        if accepted { startThread() } else { completion(.failure(StoreError(.misuse, "\(path) has been closed"))) }
    }

    /// Waits until nothing is left to do.
    func wait() { state.wait { $0.isBusy || $0.wantsCheckpoint || !$0.backups.isEmpty ? nil : () } }

    /// Finishes what was asked for and ends the thread.
    func stop() {
        let thread = state.withLock { state in
            state.isStopping = true
            defer { state.thread = nil }
            return state.thread
        }
        thread?.join()
    }

    private func startThread() {
        let failed: [@Sendable (Result<Void, StoreError>) -> Void] = state.withLock { state in
            guard state.thread == nil, !state.isStopping else { return [] }
            // It leaves signals to the threads that expect them.
            if let thread = try? SystemThread(blocksSignals: true, { self.run() }) {
                state.thread = thread
                return []
            }
            // No thread to be had: the log grows until there is one; a backup fails.
            defer { state.backups = [] }
            state.wantsCheckpoint = false
            return state.backups
        }
        for completion in failed {
            completion(.failure(StoreError(.inputOutput, "no thread for the backup of \(path): close other programs")))
        }
    }

    private func run() {
        while true {
            let job: Job = state.wait { state in
                if !state.backups.isEmpty {
                    defer { state.backups = [] }
                    state.isBusy = true
                    return .backup(state.backups)
                }
                if state.wantsCheckpoint {
                    state.wantsCheckpoint = false
                    state.isBusy = true
                    return .checkpoint
                }
                return state.isStopping ? .stop : nil
            }
            switch job {
            case .stop: return
            // A checkpoint that fails (a full disk) loses nothing: the log stays, and asks again when it has grown.
            case .checkpoint: try? checkpointNow()
            case .backup(let completions):
                let result: Result<Void, StoreError>
                do throws(StoreError) { result = .success(try backupNow()) } catch { result = .failure(error) }
                for completion in completions { completion(result) }
            }
            state.withLock { $0.isBusy = false }
        }
    }

    private func open() throws(StoreError) -> Connection {
        try Connection(path: path, flags: SQLITE_OPEN_READWRITE, busyTimeout: busyTimeout)
    }

    private func checkpointNow() throws(StoreError) {
        let connection = try open()
        // A connection that has read nothing does not know of the log, and its checkpoint would do nothing.
        _ = try connection.integer("SELECT 1 FROM sqlite_schema LIMIT 1")
        var pages: Int32 = 0
        var moved: Int32 = 0
        var result = sqlite3_wal_checkpoint_v2(connection.handle, nil, SQLITE_CHECKPOINT_PASSIVE, &pages, &moved)
        // Against a writer that never pauses the passive kind never reaches the end, and the log would grow without end. What is
        // left now is little; the writer waits while it is moved.
        if result == SQLITE_OK, pages > moved || pages > 4_000 {
            result = sqlite3_wal_checkpoint_v2(connection.handle, nil, SQLITE_CHECKPOINT_RESTART, nil, nil)
        }
        if result != SQLITE_OK, result & 0xFF != SQLITE_BUSY { throw connection.error(result, "checkpoint") }
    }

    /// Copies the file to `<path>.backup` on the calling thread, with a connection of its own unless there is one.
    func backupNow(of source: Connection? = nil) throws(StoreError) {
        let gate = try FolderGuard(folder: FileSystem.folder(of: path), timeout: busyTimeout)
        try withExtendedLifetime(gate) { () throws(StoreError) in
            let target = OpenedFile.backupPath(path)
            let temporary = target + ".new"
            for suffix in ["", "-journal", "-wal", "-shm"] { unlink(temporary + suffix) }
            do throws(StoreError) {
                try copy(source, to: temporary)
                try FileSystem.syncFile(temporary)
                try FileSystem.move(temporary, to: target)
            } catch {
                unlink(temporary)
                throw error
            }
        }
    }

    private func copy(_ connection: Connection?, to temporary: String) throws(StoreError) {
        try FileSystem.makePrivateFile(temporary)
        let source = if let connection { connection } else { try open() }
        let copy = try Connection(path: temporary, flags: SQLITE_OPEN_READWRITE, busyTimeout: 0)
        guard let backup = sqlite3_backup_init(copy.handle, "main", source.handle, "main") else {
            throw copy.error(sqlite3_extended_errcode(copy.handle), "backup")
        }
        // All pages in one step: they are one snapshot, and a write-ahead log lets the writers go on.
        sqlite3_backup_step(backup, -1)
        let result = sqlite3_backup_finish(backup)
        guard result == SQLITE_OK else { throw copy.error(result, "backup") }
        // A damaged file must not replace a sound backup.
        if let fault = try copy.firstFault() {
            throw StoreError(.damaged, "\(path) is damaged: start again to have it repaired from its backup", cause: fault)
        }
    }
}
