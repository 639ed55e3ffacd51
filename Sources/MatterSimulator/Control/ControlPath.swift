import Glibc
import HearthIO

/// Where a control socket is reached. The socket itself has mode 0600 and lies in a folder of mode 0700 that is its owner's: the folder of
/// the path, when it is such a one or is made; in a folder that others may enter too, as `/tmp`, the path is a link to a socket in a folder
/// of its own.
struct ControlPath {
    /// Listens there.
    let descriptor: Int32
    /// What has to go at the end: the path, and the socket and the folder that it leads to.
    private let made: [String]

    /// - Throws: `SimulatorError.network`, when the path is too long for a socket or in use, or its folder is one where another user could
    ///   put something in its place.
    init(_ path: String) throws(SimulatorError) {
        do {
            try UnixSocket.check(path: path)
            if try Self.isPrivate(folderOf: path) {
                (descriptor, made) = (try UnixSocket.listen(path: path), [path])
            } else {
                (descriptor, made) = try Self.listen(behind: path)
            }
        } catch let error as SimulatorError {
            throw Self.refusal(path, error.message)
        } catch let error as IOError where error.code == EADDRINUSE || error.code == EEXIST {
            throw Self.refusal(path, "another simulator listens there, or something else has that name: stop it, or name another path")
        } catch {
            throw Self.refusal(path, "\(error)")
        }
    }

    /// Takes the names away; the descriptor is its user's.
    func remove() { for name in made { Glibc.remove(name) } }

    private static func refusal(_ path: String, _ reason: String) -> SimulatorError {
        SimulatorError(.network, "the control socket '\(path)' cannot be opened: \(reason)")
    }

    private static func parent(_ path: String) -> String {
        guard let slash = path.lastIndex(of: "/") else { return "." }
        return slash == path.startIndex ? "/" : String(path[..<slash])
    }

    /// Whether nobody else may enter the folder, which is made when it is not there.
    /// - Throws: when it is no folder, or others can take names away in it.
    private static func isPrivate(folderOf path: String) throws -> Bool {
        let folder = parent(path)
        if mkdir(folder, 0o700) == 0 { return true }
        guard errno == EEXIST else {
            throw SimulatorError(.network, "its folder '\(folder)' cannot be made: \(String(cString: strerror(errno)))")
        }
        var status = stat()
        guard stat(folder, &status) == 0 else { throw IOError("stat '\(folder)'") }
        guard status.st_mode & S_IFMT == S_IFDIR else { throw SimulatorError(.network, "'\(folder)' is no folder") }
        guard status.st_uid == geteuid() || status.st_uid == 0 else {
            throw SimulatorError(.network, "its folder '\(folder)' is another user's: name one of your own")
        }
        // In one like /tmp only the owner of a name can take it away.
        guard status.st_mode & 0o022 == 0 || status.st_mode & S_ISVTX != 0 else {
            let mode = String(status.st_mode & 0o7777, radix: 8)
            throw SimulatorError(
                .network, "others may change its folder '\(folder)' (mode \(mode)): name another, or close it with 'chmod 700'")
        }
        return status.st_uid == geteuid() && status.st_mode & 0o077 == 0
    }

    /// Listens in a new folder, and makes `path` a link to the socket there.
    private static func listen(behind path: String) throws -> (Int32, [String]) {
        try removeStale(path)
        let runtime = getenv("XDG_RUNTIME_DIR").map { String(cString: $0) } ?? ""
        let base = runtime.hasPrefix("/") && runtime.utf8.count < 60 && access(runtime, W_OK) == 0 ? runtime : "/tmp"
        // mkdtemp makes a folder of mode 0700 under a name that nobody else has, of these six letters. Short, since a socket's path must be.
        var template = Array("\(base)/hearth-XXXXXX".utf8CString)
        let folder = template.withUnsafeMutableBufferPointer { buffer in
            buffer.baseAddress.flatMap { mkdtemp($0) }.map { String(cString: $0) }
        }
        guard let folder else { throw IOError("mkdtemp in '\(base)'") }
        let socket = folder + "/control"
        do {
            let descriptor = try UnixSocket.listen(path: socket)
            guard symlink(socket, path) == 0 else {
                let error = IOError("link '\(path)'")
                close(descriptor)
                throw error
            }
            return (descriptor, [path, socket, folder])
        } catch {
            Glibc.remove(socket)
            Glibc.remove(folder)
            throw error
        }
    }

    /// Takes away what a simulator has left that was killed. What is served, or is something else, stays, and has the name.
    private static func removeStale(_ path: String) throws {
        var status = stat()
        guard lstat(path, &status) == 0, status.st_uid == geteuid() else { return }
        switch status.st_mode & S_IFMT {
        case S_IFSOCK: try UnixSocket.removeStale(path: path)
        case S_IFLNK:
            guard let target = target(of: path), target.hasSuffix("/control"), parent(target).contains("/hearth-") else { return }
            try UnixSocket.removeStale(path: target)
            guard access(target, F_OK) != 0 else { return }
            Glibc.remove(parent(target))
            Glibc.remove(path)
        default: break
        }
    }

    private static func target(of link: String) -> String? {
        withUnsafeTemporaryAllocation(of: CChar.self, capacity: Int(PATH_MAX)) { buffer in
            guard let start = buffer.baseAddress else { return nil }
            let count = readlink(link, start, buffer.count)
            guard count > 0, count < buffer.count else { return nil }
            return String(decoding: buffer[..<count].map { UInt8(bitPattern: $0) }, as: UTF8.self)
        }
    }
}
