import CSQLite
import Glibc

/// A file on the way from its path to a `Database`: folder, lock, check, repair.
struct OpenedFile {
    let connection: Connection
    let lock: FolderLock
    let recovery: RecoveryReport?
    /// No other connection can open the file while this one does.
    let isAlone: Bool
    private let marker: String
    /// Held until the schema is up to date.
    private let gate: FolderGuard

    /// The file beside the store that says it once had contents, so that an empty or missing file is damage and not a first start.
    static func markerPath(_ path: String) -> String { path + ".created" }
    static func backupPath(_ path: String) -> String { path + ".backup" }

    /// - Parameter prepare: brings a copy of the backup up to date before it takes the place of a damaged file.
    init(
        path: String, applicationID: Int32, options: StoreOptions, prepare: @escaping (Connection) throws -> Void
    ) throws(StoreError) {
        let folder = FileSystem.folder(of: path)
        try FileSystem.makePrivateFolder(folder, holding: path)
        let gate = try FolderGuard(folder: folder, timeout: options.busyTimeout)
        var holder: String?
        if case .exclusive(let text) = options.access { holder = text }
        let lock = try FolderLock(folder: folder, holder: holder)
        let file = StoreFile(path: path, applicationID: applicationID, options: options, prepare: prepare)
        do throws(StoreError) {
            (connection, isAlone) = try file.openForReading()
            recovery = nil
        } catch  where error.code == .damaged {
            guard holder != nil || lock.becomeExclusive() else {
                throw StoreError(
                    .damaged, "\(path) is damaged and other processes use it: stop them, then start again", cause: error.cause)
            }
            (connection, recovery) = try file.repair(error)
            isAlone = false
            if holder == nil { lock.becomeShared() }
        }
        self.lock = lock
        self.gate = gate
        marker = OpenedFile.markerPath(path)
    }

    /// Writes the marker, once the file has its schema.
    func noteCreation() throws(StoreError) {
        guard !FileSystem.exists(marker) else { return }
        // The schema may so far stand in the log only.
        sqlite3_wal_checkpoint_v2(connection.handle, nil, SQLITE_CHECKPOINT_FULL, nil, nil)
        try FileSystem.write("The store beside this file has contents. Delete both to start afresh.\n", to: marker)
    }
}

/// Opening, checking and repairing the file at a path, with the folder's lock held.
private struct StoreFile {
    let path: String
    let applicationID: Int32
    let options: StoreOptions
    let prepare: (Connection) throws -> Void

    /// As `open`, where there is no space for what several processes share of the log (`-shm`): alone it can be in memory, so that what is
    /// stored can still be read.
    func openForReading() throws(StoreError) -> (Connection, isAlone: Bool) {
        let noSpace: StoreError
        do throws(StoreError) { return (try open(mayBeNew: false), false) } catch  where error.code == .diskFull { noSpace = error }
        do throws(StoreError) { return (try open(mayBeNew: false, alone: true), true) } catch  where error.code != .damaged {
            throw StoreError(.diskFull, "no space left to open \(path): free some space and try again", cause: noSpace.cause)
        }
    }

    /// - Throws: `damaged` when the contents are not those of a sound store; other errors leave the file alone.
    func open(mayBeNew: Bool, alone: Bool = false) throws(StoreError) -> Connection {
        let hadContents = !mayBeNew && FileSystem.exists(OpenedFile.markerPath(path))
        let size = try FileSystem.size(path) ?? 0
        if hadContents, size == 0 {
            throw StoreError(.damaged, "\(path) is damaged", cause: FileSystem.exists(path) ? "it is empty" : "it is missing")
        }
        try FileSystem.makePrivateFile(path)
        let connection = try Connection(path: path, flags: SQLITE_OPEN_READWRITE, busyTimeout: alone ? 0 : options.busyTimeout)
        if alone { try connection.execute("PRAGMA locking_mode = EXCLUSIVE") }
        if let fault = try connection.firstFault() {
            let found = Int32(truncatingIfNeeded: try connection.integer("PRAGMA application_id") ?? 0)
            if found != 0, found != applicationID, !hadContents { throw foreign(found) }
            throw StoreError(.damaged, "\(path) is damaged", cause: fault)
        }
        try check(connection, hadContents: hadContents)
        try configure(connection)
        return connection
    }

    private func check(_ connection: Connection, hadContents: Bool) throws(StoreError) {
        let found = Int32(truncatingIfNeeded: try connection.integer("PRAGMA application_id") ?? 0)
        if found == applicationID, found != 0 { return }
        let hasTables = try connection.integer("SELECT 1 FROM sqlite_schema LIMIT 1") != nil
        guard found == 0 else { throw foreign(found) }
        if hasTables, applicationID != 0 { throw foreign(found) }
        if hadContents, !hasTables { throw StoreError(.damaged, "\(path) is damaged", cause: "it has lost its contents") }
    }

    private func foreign(_ found: Int32) -> StoreError {
        StoreError(
            .foreignFile, "\(path) is not a store of this kind: name another folder",
            cause: "application_id \(found), expected \(applicationID)")
    }

    private func configure(_ connection: Connection) throws(StoreError) {
        guard try connection.text("PRAGMA journal_mode = WAL") == "wal" else {
            throw StoreError(
                .cannotOpen, "\(path) cannot have a write-ahead log: use a folder on a local disk that you may write to")
        }
        try connection.execute(
            """
            PRAGMA synchronous = \(options.durable ? "FULL" : "NORMAL");
            PRAGMA foreign_keys = ON; PRAGMA trusted_schema = OFF;
            PRAGMA journal_size_limit = 4194304
            """)
        if let pages = options.maximumPages { _ = try connection.integer("PRAGMA max_page_count = \(pages)") }
    }

    /// Sets the damaged file aside and opens the backup in its place, or a fresh file when there is no sound backup.
    func repair(_ damage: StoreError) throws(StoreError) -> (Connection, RecoveryReport) {
        var name = path + ".damaged-" + FileSystem.timestamp()
        if FileSystem.exists(name) { name += "-\(getpid())" }
        let copy = path + ".repairing"
        for suffix in ["", "-journal", "-wal", "-shm"] { unlink(copy + suffix) }
        let backup = OpenedFile.backupPath(path)
        var found = Backup.none
        if FileSystem.exists(backup) {
            var status = stat()
            let time: Int64? = stat(backup, &status) == 0 ? Int64(status.st_mtim.tv_sec) : nil
            try FileSystem.copy(backup, to: copy)
            do throws(StoreError) {
                try makeReady(copy)
                found = .sound(time ?? 0)
            } catch  where error.code == .damaged {
                found = .damaged(error.cause)
            }
        }
        if case .sound(let time) = found {
            // In the backup too: the next repair from it has to skip beyond what this one gives free. Where there is no space for another
            // copy the store itself is more important.
            do throws(StoreError) {
                try FileSystem.copy(copy, to: backup)
                try FileSystem.setTime(of: backup, to: time)
            } catch  where error.code == .diskFull {}
        }
        // From here on a crash leaves a file that is missing, which is repaired in the same way.
        var setAside = try moveAside(to: name)
        switch found {
        case .sound:
            // With all that follows from the repair: whatever happens next, nobody sees the one without the other.
            try FileSystem.move(copy, to: path)
            return (try open(mayBeNew: false), report(damage, setAside, found))
        case .damaged:
            // The copy goes aside, the backup itself is replaced by the next one.
            try FileSystem.move(copy, to: name + "-backup")
            setAside.append(name + "-backup")
        case .none: break
        }
        return (try open(mayBeNew: true), report(damage, setAside, found))
    }

    private enum Backup {
        case none
        /// When it was made.
        case sound(Int64)
        /// What is wrong with it.
        case damaged(String)
    }

    /// Checks a copy of the backup, and does in it what a repair asks for.
    private func makeReady(_ copy: String) throws(StoreError) {
        guard let size = try FileSystem.size(copy), size > 0 else {
            throw StoreError(.damaged, "\(copy) is damaged", cause: "it is empty")
        }
        try change(copy)
        // The connection is closed: its log is in the file.
        try FileSystem.syncFile(copy)
    }

    private func change(_ copy: String) throws(StoreError) {
        let connection = try Connection(path: copy, flags: SQLITE_OPEN_READWRITE, busyTimeout: 0)
        if let fault = try connection.firstFault() { throw StoreError(.damaged, "\(copy) is damaged", cause: fault) }
        try check(connection, hadContents: true)
        do { try prepare(connection) } catch { throw error as? StoreError ?? StoreError(.misuse, "\(error)") }
    }

    private func moveAside(to name: String) throws(StoreError) -> [String] {
        var moved: [String] = []
        for suffix in ["", "-wal"] where FileSystem.exists(path + suffix) {
            try FileSystem.move(path + suffix, to: name + suffix)
            moved.append(name + suffix)
        }
        unlink(path + "-shm")
        return moved
    }

    private func report(_ damage: StoreError, _ setAside: [String], _ backup: Backup) -> RecoveryReport {
        var message = "\(path) was damaged (\(damage.cause)). "
        var time: Int64?
        switch backup {
        case .sound(let made):
            time = made
            message += "Its last backup is in use: what was saved later is lost"
        case .damaged(let cause): message += "Its backup is damaged too (\(cause)): it starts empty"
        case .none: message += "There is no backup: it starts empty"
        }
        if let first = setAside.first { message += ". The damaged file is kept as \(first)" }
        if case .damaged = backup, let last = setAside.last { message += ", the backup as \(last)" }
        return RecoveryReport(damage: damage.cause, setAside: setAside, backupTime: time, message: message)
    }
}
