import Glibc
import HearthIO
import HearthTime

/// A program that a test runs, with its output in memory. Without Foundation, whose `Process` and pipes go through Dispatch: that
/// crashes now and then when descriptors are closed while it watches them (Swift 6.3.1).
final class ChildProcess {
    private let pid: pid_t
    private var input: Int32
    private let output: Int32
    private var bytes: [UInt8] = []
    private var status: Int32?

    init(_ path: String, _ arguments: [String]) throws {
        // One at a time: between `pipe` and `fcntl` another child would inherit the ends.
        (pid, input, output) = try Self.spawning.withLock { _ in try Self.spawn(path, arguments) }
        _ = fcntl(output, F_SETFL, O_NONBLOCK)
    }

    private static let spawning = Locked(())

    private static func spawn(_ path: String, _ arguments: [String]) throws -> (pid_t, Int32, Int32) {
        var (toChild, fromChild): ([Int32], [Int32]) = ([-1, -1], [-1, -1])
        guard pipe(&toChild) == 0, pipe(&fromChild) == 0 else { throw IOError("pipe") }
        for end in toChild + fromChild { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
        var actions = posix_spawn_file_actions_t()
        posix_spawn_file_actions_init(&actions)
        defer { posix_spawn_file_actions_destroy(&actions) }
        posix_spawn_file_actions_adddup2(&actions, toChild[0], 0)
        posix_spawn_file_actions_adddup2(&actions, fromChild[1], 1)
        posix_spawn_file_actions_adddup2(&actions, fromChild[1], 2)
        var child = pid_t()
        let words = ([path] + arguments).map { strdup($0) }
        defer { for word in words { free(word) } }
        let result = posix_spawn(&child, path, &actions, nil, words + [nil], environ)
        close(toChild[0])
        close(fromChild[1])
        guard result == 0 else {
            close(toChild[1])
            close(fromChild[0])
            throw IOError("posix_spawn", code: result)
        }
        return (child, toChild[1], fromChild[0])
    }

    deinit {
        closeInput()
        close(output)
        if status == nil {
            kill(pid, SIGKILL)
            waitpid(pid, nil, 0)
        }
    }

    /// What it has printed so far, errors among it.
    var text: String {
        var buffer = [UInt8](repeating: 0, count: 16 * 1024)
        while true {
            let count = read(output, &buffer, buffer.count)
            if count <= 0 { break }
            bytes += buffer[..<count]
        }
        return String(decoding: bytes, as: UTF8.self)
    }

    /// Whether it has ended; what it printed is complete then.
    var hasEnded: Bool {
        if status != nil { return true }
        var value: Int32 = 0
        guard waitpid(pid, &value, WNOHANG) == pid else { return false }
        status = value
        return true
    }

    func closeInput() {
        guard input >= 0 else { return }
        close(input)
        input = -1
    }
}
