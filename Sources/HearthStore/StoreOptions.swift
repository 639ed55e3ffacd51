/// How a file is opened.
public struct StoreOptions: Sendable {
    /// Who may use the folder at a time.
    public enum Access: Sendable {
        /// One process has the folder for itself. `holder` says who that is (`hearth simulate apartment.yaml`), for the message
        /// to the process that comes second.
        case exclusive(holder: String)
        /// Several processes share the folder, with short transactions.
        case shared
    }

    public var access: Access
    /// True: a commit also survives a power cut (`synchronous=FULL`, about ten times as slow). False: it survives the death of
    /// the process.
    public var durable: Bool
    /// Milliseconds to wait for another process's write before `StoreError.Code.inUse`.
    public var busyTimeout: Int32
    /// Pages in the write-ahead log (4 KB each) from which the background thread moves them into the file.
    public var checkpointPages: Int32
    /// The most pages (4 KB each) that the file may have; nil for as many as the disk has.
    public var maximumPages: Int?
    /// What has to be changed in a backup that takes the place of a damaged file, such as numbers that skip ahead: it is done before
    /// anybody sees the repaired file, all of it or nothing. The schema is up to date then.
    public var afterRepair: (@Sendable (Database) throws -> Void)?

    public init(
        access: Access, durable: Bool = false, busyTimeout: Int32 = 5_000, checkpointPages: Int32 = 1_000,
        maximumPages: Int? = nil, afterRepair: (@Sendable (Database) throws -> Void)? = nil
    ) {
        self.access = access
        self.durable = durable
        self.busyTimeout = busyTimeout
        self.checkpointPages = checkpointPages
        self.maximumPages = maximumPages
        self.afterRepair = afterRepair
    }
}

/// What was done about a damaged file when it was opened. The owner tells the user; the next start finds a sound file and has
/// nothing to report.
///
/// Whatever was saved after the backup is lost. Numbers that must never be used twice (events, counters) have to skip ahead:
/// `StoreOptions.afterRepair`.
public struct RecoveryReport: Hashable, Sendable {
    /// What is wrong with the file.
    public let damage: String
    /// Where the damaged files are now; empty when there was nothing to keep.
    public let setAside: [String]
    /// When the backup in use was made, in seconds since 1970 UTC; nil when there was none and the store starts empty.
    public let backupTime: Int64?
    /// All of it for a person, in one line.
    public let message: String
}
