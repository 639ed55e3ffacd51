import CLinux
import Glibc

/// Non-blocking Unix domain stream sockets, for control interfaces.
public enum UnixSocket {
    /// Longest path in bytes (unix(7)).
    public static let maximumPathLength = 107

    /// Whether a socket can have this path. - Throws: `IOError`: EINVAL when it is empty or has a zero byte, ENAMETOOLONG when it is longer
    /// than `maximumPathLength` bytes.
    public static func check(path: String) throws { _ = try address(path) }

    /// Listens at `path`, for this user alone (mode 0600). A socket file that nobody serves any more is replaced; unlinking it at
    /// the end is the caller's.
    /// - Throws: `IOError`: ENAMETOOLONG when the path is longer than `maximumPathLength` bytes, EADDRINUSE when somebody serves it
    ///   or another kind of file is there.
    public static func listen(path: String, backlog: Int32 = 64) throws -> Int32 {
        var name = try address(path)
        try removeStale(path: path)
        let fd = try Socket.make(AF_UNIX)
        do {
            // The file must never be open to others, not even between bind and chmod; the mode of the socket becomes the file's.
            guard fchmod(fd, 0o600) == 0 else { throw IOError("fchmod") }
            guard withSystem(&name, { Glibc.bind(fd, $0, $1) }) == 0 else { throw IOError("bind '\(path)'") }
            do {
                guard chmod(path, 0o600) == 0 else { throw IOError("chmod '\(path)'") }
                guard Glibc.listen(fd, backlog) == 0 else { throw IOError("listen") }
            } catch {
                unlink(path)
                throw error
            }
            return fd
        } catch {
            Glibc.close(fd)
            throw error
        }
    }

    /// Connects to `path`. - Throws: `IOError`: ENOENT or ECONNREFUSED when nobody serves it, EAGAIN when its queue is full.
    public static func connect(path: String) throws -> Int32 {
        var name = try address(path)
        let fd = try Socket.make(AF_UNIX)
        guard withSystem(&name, { Glibc.connect(fd, $0, $1) }) == 0 else {
            let error = IOError("connect '\(path)'")
            Glibc.close(fd)
            throw error
        }
        return fd
    }

    /// The next waiting connection and the user at its other end, or nil when there is none. - Throws: `IOError`.
    public static func accept(_ listener: Int32) throws -> (fd: Int32, user: UInt32)? {
        guard let fd = try Socket.acceptAny(listener) else { return nil }
        do {
            return (fd, try peerUser(fd))
        } catch {
            Glibc.close(fd)
            throw error
        }
    }

    /// The user id of the process at the other end (SO_PEERCRED). - Throws: `IOError`.
    public static func peerUser(_ fd: Int32) throws -> UInt32 {
        var (user, process): (UInt32, Int32) = (0, 0)
        guard linux_peer_user(fd, &user, &process) == 0 else { throw IOError("getsockopt") }
        return user
    }

    /// Takes away a socket file whose server was killed: it would block the next one for ever. Who serves it accepts connections.
    public static func removeStale(path: String) throws {
        var status = stat()
        guard lstat(path, &status) == 0, status.st_mode & S_IFMT == S_IFSOCK else { return }
        do {
            Glibc.close(try connect(path: path))
        } catch let error as IOError where error.code == ECONNREFUSED {
            unlink(path)
        } catch {
            return  // bind will say what is wrong
        }
    }

    private static func address(_ path: String) throws -> sockaddr_un {
        let bytes = [UInt8](path.utf8)
        guard !bytes.isEmpty, !bytes.contains(0) else { throw IOError("the socket path '\(path)'", code: EINVAL) }
        guard bytes.count <= maximumPathLength else {
            throw IOError(
                "the socket path '\(path)' has \(bytes.count) bytes, at most \(maximumPathLength) go", code: ENAMETOOLONG)
        }
        var name = sockaddr_un()
        name.sun_family = sa_family_t(AF_UNIX)
        withUnsafeMutableBytes(of: &name.sun_path) { $0.copyBytes(from: bytes) }
        return name
    }

    private static func withSystem<R>(_ name: inout sockaddr_un, _ body: (UnsafePointer<sockaddr>, socklen_t) -> R) -> R {
        withUnsafePointer(to: &name) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { body($0, socklen_t(MemoryLayout<sockaddr_un>.size)) }
        }
    }
}
