import Glibc
import HearthIO

/// Opens a control socket where nobody but its owner gets at it: mode 0600, in a folder of mode 0700 that the owner has.
enum ControlFolder {
    /// Listens on `path`, whose folder is made when it is not there. A folder that is there stays as it is: one that others may enter
    /// is refused, for its owner to decide.
    static func listen(_ path: String) throws(SimulatorError) -> Int32 {
        do {
            try UnixSocket.check(path: path)
            try prepare(for: path)
            return try UnixSocket.listen(path: path)
        } catch let error as SimulatorError {
            throw refusal(path, error.message)
        } catch let error as IOError where error.code == EADDRINUSE {
            throw refusal(path, "another simulator listens there, or something else has that name: stop it, or name another path")
        } catch {
            throw refusal(path, "\(error)")
        }
    }

    private static func refusal(_ path: String, _ reason: String) -> SimulatorError {
        SimulatorError(.network, "the control socket '\(path)' cannot be opened: \(reason)")
    }

    /// Makes the folder, or sees that nobody else may enter the one that is there.
    private static func prepare(for path: String) throws {
        let parts = path.split(separator: "/", omittingEmptySubsequences: false)
        let parent = parts.dropLast().joined(separator: "/")
        let folder = parent.isEmpty ? (parts.count > 1 ? "/" : ".") : parent
        if mkdir(folder, 0o700) == 0 { return }
        guard errno == EEXIST else {
            throw SimulatorError(.network, "its folder '\(folder)' cannot be made: \(String(cString: strerror(errno)))")
        }
        var status = stat()
        guard stat(folder, &status) == 0 else { throw IOError("stat '\(folder)'") }
        guard status.st_mode & S_IFMT == S_IFDIR else { throw SimulatorError(.network, "'\(folder)' is no folder") }
        // Also a folder such as /tmp: a name in it is for everybody to see, and to take before us.
        let own = (parts.dropLast() + ["private", parts.last ?? ""]).joined(separator: "/")
        let advice = "name one that is not there and is made, such as '\(own)'"
        guard status.st_uid == geteuid() else {
            throw SimulatorError(.network, "its folder '\(folder)' is another user's: \(advice)")
        }
        guard status.st_mode & 0o077 == 0 else {
            let mode = String(status.st_mode & 0o7777, radix: 8)
            // What others may write to is shared with them on purpose, as /tmp is: root is not to close that.
            let closing = status.st_mode & 0o022 == 0 ? ", or close it with 'chmod 700'" : ""
            throw SimulatorError(.network, "its folder '\(folder)' is open to other users (mode \(mode)): \(advice)\(closing)")
        }
    }
}
