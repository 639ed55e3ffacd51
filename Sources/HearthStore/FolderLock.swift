import Glibc

/// Who uses a folder: one process for itself, or several that share it. The kernel drops it with the process, so that a crash
/// leaves nothing to clean up.
///
/// `flock` belongs to the open file, not to the process: two locks in one process exclude each other as well.
final class FolderLock {
    let path: String
    private let descriptor: Int32

    /// - Parameter holder: what the process does, for the message to whoever comes second; nil to share the folder.
    init(folder: String, holder: String?) throws(StoreError) {
        path = folder + "/lock"
        descriptor = open(path, O_CREAT | O_RDWR | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else { throw .system("open", path) }
        do throws(StoreError) {
            try FolderLock.take(descriptor, folder: folder, holder: holder)
        } catch {
            close(descriptor)
            throw error
        }
    }

    /// Said to the kernel, not left to `close`: a child that is just being started may hold the same open file for a moment.
    deinit {
        flock(descriptor, LOCK_UN)
        close(descriptor)
    }

    private static func take(_ descriptor: Int32, folder: String, holder: String?) throws(StoreError) {
        while flock(descriptor, (holder == nil ? LOCK_SH : LOCK_EX) | LOCK_NB) != 0 {
            let code = errno
            if code == EINTR { continue }
            guard code == EWOULDBLOCK else { throw .system("flock", folder, code: code) }
            let other = read(descriptor)
            let who = other.isEmpty ? "by another process" : "by process \(other)"
            throw StoreError(.inUse, "state folder \(folder) is in use \(who): stop it, or name another folder")
        }
        // A holder that was killed left its text behind.
        if holder != nil || !read(descriptor).isEmpty { ftruncate(descriptor, 0) }
        if let holder { write("\(getpid()) (\(holder))", to: descriptor) }
    }

    /// Keeps the sharers out while the file is repaired; false when there are some.
    func becomeExclusive() -> Bool { flock(descriptor, LOCK_EX | LOCK_NB) == 0 }

    func becomeShared() { flock(descriptor, LOCK_SH) }

    private static func read(_ descriptor: Int32) -> String {
        var bytes = [UInt8](repeating: 0, count: 512)
        let count = pread(descriptor, &bytes, bytes.count, 0)
        return count > 0 ? String(decoding: bytes[..<count], as: UTF8.self) : ""
    }

    private static func write(_ text: String, to descriptor: Int32) {
        // What cannot be written (a full disk) is missing in a message and nowhere else.
        let bytes = Array(text.utf8.prefix(512))
        _ = pwrite(descriptor, bytes, bytes.count, 0)
    }
}

/// Held for the moment in which a file is opened, repaired or backed up, so that processes that share a folder do so one at a
/// time. It is a lock on the folder itself.
final class FolderGuard {
    private let descriptor: Int32

    /// - Parameter timeout: milliseconds to wait for another process.
    init(folder: String, timeout: Int32) throws(StoreError) {
        descriptor = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard descriptor >= 0 else { throw .system("open", folder) }
        var waited: Int32 = 0
        while flock(descriptor, LOCK_EX | LOCK_NB) != 0 {
            let code = errno
            if code == EINTR { continue }
            // A file system without locks on folders (NFS) leaves it to SQLite's own.
            guard code == EWOULDBLOCK else { return }
            guard waited < timeout else {
                close(descriptor)
                throw StoreError(.inUse, "another process keeps \(folder) busy: try again when it is done")
            }
            usleep(5_000)
            waited += 5
        }
    }

    deinit { close(descriptor) }
}
