/// Why the store could not do what it was asked: a code to act on, a message that says what to do, and the cause.
public struct StoreError: Error, Hashable, Sendable, CustomStringConvertible {
    /// What a caller can act on.
    public enum Code: Hashable, Sendable {
        /// Another process has the folder for itself, or keeps the file busy for longer than the busy timeout.
        case inUse
        /// A newer program made the file: its schema is unknown here.
        case newerSchema
        /// The file belongs to another application, or its migrations are not those of this program.
        case foreignFile
        /// No space is left (also a quota, or a limit on the file's size).
        case diskFull
        /// The file or its folder cannot be written.
        case readOnly
        /// The file or its folder cannot be opened or made.
        case cannotOpen
        /// The device below the file system failed.
        case inputOutput
        /// The file's contents are not what SQLite wrote. Opening it again repairs it.
        case damaged
        /// A value that a constraint of the schema forbids.
        case constraint
        /// A column of another type, or a row that is not there: the program and its schema disagree.
        case unexpectedValue
        /// A statement that SQLite does not accept, or a database that has been closed: a mistake in the program.
        case misuse
    }

    public let code: Code
    /// What happened and what to do about it, for a person; one line.
    public let message: String
    /// What SQLite or the system said; empty when the message says it all.
    public let cause: String

    public init(_ code: Code, _ message: String, cause: String = "") {
        self.code = code
        self.message = message
        self.cause = cause
    }

    public var description: String { cause.isEmpty ? message : "\(message) (\(cause))" }
}
