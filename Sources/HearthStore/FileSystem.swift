import Glibc

/// The few things that the store does to files itself.
///
/// None of them opens a database file that SQLite may have open: closing any descriptor of a file drops all POSIX locks that the
/// process has on it, SQLite's among them.
enum FileSystem {
    static func folder(of path: String) -> String {
        guard let slash = path.lastIndex(of: "/") else { return "." }
        return slash == path.startIndex ? "/" : String(path[..<slash])
    }

    /// The size in bytes, nil when there is no such file.
    static func size(_ path: String) throws(StoreError) -> Int64? {
        var status = stat()
        if stat(path, &status) == 0 { return Int64(status.st_size) }
        if errno == ENOENT { return nil }
        throw .system("stat", path)
    }

    static func exists(_ path: String) -> Bool { access(path, F_OK) == 0 }

    /// Makes `path` and what is missing above it, for its owner alone. An existing folder is closed to others when nothing or
    /// only our file is in it; one that the user shares with other things is left as it is (the files are 0600 in any case).
    static func makePrivateFolder(_ path: String, holding file: String) throws(StoreError) {
        if mkdir(path, 0o700) == 0 { return }
        switch errno {
        case EEXIST:
            var status = stat()
            guard stat(path, &status) == 0 else { throw .system("stat", path) }
            guard status.st_mode & S_IFMT == S_IFDIR else {
                throw StoreError(.cannotOpen, "\(path) is not a folder: name another one")
            }
            if status.st_mode & 0o077 != 0, status.st_uid == geteuid(), exists(file) || isEmpty(path) { chmod(path, 0o700) }
        case ENOENT where path != folder(of: path):
            try makePrivateFolder(folder(of: path), holding: "/")
            guard mkdir(path, 0o700) == 0 || errno == EEXIST else { throw .system("mkdir", path) }
        default: throw .system("mkdir", path)
        }
    }

    private static func isEmpty(_ path: String) -> Bool {
        guard let folder = opendir(path) else { return false }
        defer { closedir(folder) }
        var entries = 0
        while readdir(folder) != nil { entries += 1 }
        return entries <= 2
    }

    /// Makes an empty file with mode 0600, or closes the one that is there to others.
    static func makePrivateFile(_ path: String) throws(StoreError) {
        let descriptor = open(path, O_CREAT | O_EXCL | O_WRONLY | O_CLOEXEC, 0o600)
        if descriptor >= 0 {
            close(descriptor)
        } else if errno == EEXIST {
            // A file of somebody else's is for SQLite to refuse.
            chmod(path, 0o600)
        } else {
            throw .system("open", path)
        }
    }

    /// Writes a small file that is complete or absent, whatever happens.
    static func write(_ text: String, to path: String) throws(StoreError) {
        let temporary = path + ".new"
        let descriptor = open(temporary, O_CREAT | O_TRUNC | O_WRONLY | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else { throw .system("open", temporary) }
        var bytes = Array(text.utf8)[...]
        while !bytes.isEmpty {
            let written = bytes.withUnsafeBytes { Glibc.write(descriptor, $0.baseAddress, $0.count) }
            if written < 0 {
                if errno == EINTR { continue }
                let error = StoreError.system("write", temporary)
                close(descriptor)
                unlink(temporary)
                throw error
            }
            bytes = bytes.dropFirst(written)
        }
        fsync(descriptor)
        close(descriptor)
        try move(temporary, to: path)
    }

    /// Replaces `target` by `source`, and makes that last over a power cut.
    static func move(_ source: String, to target: String) throws(StoreError) {
        guard rename(source, target) == 0 else { throw .system("rename", source) }
        syncFolder(of: target)
    }

    static func syncFile(_ path: String) throws(StoreError) {
        let descriptor = open(path, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { throw .system("open", path) }
        defer { close(descriptor) }
        guard fsync(descriptor) == 0 else { throw .system("fsync", path) }
    }

    /// Best effort: some file systems cannot.
    static func syncFolder(of path: String) {
        let descriptor = open(folder(of: path), O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        if descriptor >= 0 {
            fsync(descriptor)
            close(descriptor)
        }
    }

    /// A copy with mode 0600 that is complete or absent. `source` must not be open in SQLite.
    static func copy(_ source: String, to target: String) throws(StoreError) {
        let temporary = target + ".new"
        let input = open(source, O_RDONLY | O_CLOEXEC)
        guard input >= 0 else { throw .system("open", source) }
        defer { close(input) }
        let output = open(temporary, O_CREAT | O_TRUNC | O_WRONLY | O_CLOEXEC, 0o600)
        guard output >= 0 else { throw .system("open", temporary) }
        while true {
            let moved = sendfile(output, input, nil, 1 << 20)
            if moved == 0 { break }
            if moved < 0, errno != EINTR {
                let error = StoreError.system("sendfile", temporary)
                close(output)
                unlink(temporary)
                throw error
            }
        }
        let synced = fsync(output)
        let code = errno
        close(output)
        guard synced == 0 else { throw .system("fsync", temporary, code: code) }
        try move(temporary, to: target)
    }

    /// When a file was changed, in seconds since 1970.
    static func setTime(of path: String, to seconds: Int64) throws(StoreError) {
        let time = timespec(tv_sec: Int(seconds), tv_nsec: 0)
        guard utimensat(AT_FDCWD, path, [time, time], 0) == 0 else { throw .system("utimensat", path) }
    }

    /// The host's time in UTC, as in `20261130T021500Z`: for the names of files only.
    static func timestamp() -> String {
        var now = time(nil)
        var parts = tm()
        gmtime_r(&now, &parts)
        func digits(_ number: Int32, _ width: Int) -> String {
            let text = String(number)
            return String(repeating: "0", count: max(0, width - text.count)) + text
        }
        let date = digits(parts.tm_year + 1900, 4) + digits(parts.tm_mon + 1, 2) + digits(parts.tm_mday, 2)
        return date + "T" + digits(parts.tm_hour, 2) + digits(parts.tm_min, 2) + digits(parts.tm_sec, 2) + "Z"
    }
}
