import CSQLite
import Glibc

extension StoreError {
    /// The error that `connection` has just reported for the file at `path` (nil for a database in memory).
    ///
    /// - Parameter result: the result code of the call that failed, in its extended form.
    static func sqlite(_ result: Int32, connection: OpaquePointer?, path: String?, doing: String = "") -> StoreError {
        // SQLite notes the system's error for some calls only; of a write that failed in a commit it is what `errno` still holds.
        let left = errno
        let noted = connection.map { sqlite3_system_errno($0) } ?? 0
        let text =
            connection.flatMap { sqlite3_errmsg($0) }.map { String(cString: $0) } ?? String(cString: sqlite3_errstr(result))
        let systemError = isFromSystem(result) ? (noted == 0 ? left : noted) : 0
        var cause = "SQLite \(result): \(text)"
        if systemError != 0 { cause += ", \(describe(systemError))" }
        if !doing.isEmpty { cause += ", in \(doing)" }
        return of(result, systemError: systemError, file: path ?? "the database in memory", cause: cause)
    }

    private static func isFromSystem(_ result: Int32) -> Bool {
        let primary = result & 0xFF
        return primary == SQLITE_IOERR || primary == SQLITE_CANTOPEN || primary == SQLITE_FULL
    }

    private static func of(_ result: Int32, systemError: Int32, file: String, cause: String) -> StoreError {
        switch result & 0xFF {
        case SQLITE_FULL: return diskFull(file, cause: cause)
        case SQLITE_IOERR:
            // SQLite calls only ENOSPC "full"; for the user a quota or a limit on the file's size is the same thing.
            if [ENOSPC, EDQUOT, EFBIG].contains(systemError) { return diskFull(file, cause: cause) }
            return StoreError(.inputOutput, "cannot read or write \(file): check the disk, then start again", cause: cause)
        case SQLITE_READONLY, SQLITE_PERM:
            return StoreError(.readOnly, "\(file) cannot be written: check its owner and permissions", cause: cause)
        case SQLITE_CANTOPEN, SQLITE_AUTH:
            return StoreError(.cannotOpen, "cannot open \(file): check that its folder exists and is yours", cause: cause)
        case SQLITE_BUSY, SQLITE_LOCKED:
            return StoreError(.inUse, "another process keeps \(file) busy: try again when it is done", cause: cause)
        case SQLITE_CORRUPT, SQLITE_NOTADB:
            return StoreError(.damaged, "\(file) is damaged: start again to have it repaired from its backup", cause: cause)
        case SQLITE_CONSTRAINT: return StoreError(.constraint, "\(file) does not accept this value", cause: cause)
        case SQLITE_TOOBIG: return StoreError(.constraint, "a value is too large for \(file)", cause: cause)
        default: return StoreError(.misuse, "a statement on \(file) failed, which is a mistake in the program", cause: cause)
        }
    }

    private static func diskFull(_ file: String, cause: String) -> StoreError {
        StoreError(.diskFull, "no space left for \(file): this change was not saved; free some space and try again", cause: cause)
    }

    /// A failed system call on `path`; `code` is its `errno`.
    static func system(_ call: String, _ path: String, code: Int32 = errno) -> StoreError {
        let cause = "\(call): \(describe(code))"
        switch code {
        case ENOSPC, EDQUOT, EFBIG: return diskFull(path, cause: cause)
        case EROFS, EACCES, EPERM:
            return StoreError(.readOnly, "\(path) cannot be written: check its owner and permissions", cause: cause)
        case EIO: return StoreError(.inputOutput, "cannot read or write \(path): check the disk, then start again", cause: cause)
        default: return StoreError(.cannotOpen, "cannot use \(path)", cause: cause)
        }
    }

    static func describe(_ code: Int32) -> String {
        var text = [CChar](repeating: 0, count: 128)
        // Glibc's form under Swift's imports is XSI's: it fills the buffer. `strerror` is not safe among threads.
        _ = strerror_r(code, &text, text.count)
        let end = text.firstIndex(of: 0) ?? text.endIndex
        return String(decoding: text[..<end].map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }
}
