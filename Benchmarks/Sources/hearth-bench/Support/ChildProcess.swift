import Glibc

/// Another program, spoken to by lines over its standard input and output.
final class ChildProcess {
    let pid: pid_t
    private let input: Int32
    private let output: Int32
    private var pending: [UInt8] = []
    private var hasEnded = false
    private var isInputOpen = true

    /// - Parameters:
    ///   - core: the processor that it has to stay on.
    ///   - prefix: a program, with its arguments, that becomes this one.
    init(_ program: String, _ arguments: [String], core: Int? = nil, after prefix: [String] = []) throws {
        var toChild: [Int32] = [0, 0]
        var fromChild: [Int32] = [0, 0]
        guard pipe(&toChild) == 0, pipe(&fromChild) == 0 else { throw BenchmarkError("no pipe") }
        for end in toChild + fromChild { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
        var actions = posix_spawn_file_actions_t()
        posix_spawn_file_actions_init(&actions)
        defer { posix_spawn_file_actions_destroy(&actions) }
        posix_spawn_file_actions_adddup2(&actions, toChild[0], 0)
        posix_spawn_file_actions_adddup2(&actions, fromChild[1], 1)
        // The threads of this process block signals, and a child would inherit that.
        var attributes = posix_spawnattr_t()
        posix_spawnattr_init(&attributes)
        defer { posix_spawnattr_destroy(&attributes) }
        var none = sigset_t()
        sigemptyset(&none)
        posix_spawnattr_setsigmask(&attributes, &none)
        posix_spawnattr_setflags(&attributes, Int16(POSIX_SPAWN_SETSIGMASK))
        let command = (core.map { ["taskset", "-c", String($0)] } ?? []) + prefix + [program] + arguments
        var words: [UnsafeMutablePointer<CChar>?] = command.map { strdup($0) } + [nil]
        defer { for word in words { free(word) } }
        var pid: pid_t = 0
        let status = posix_spawnp(&pid, command[0], &actions, &attributes, &words, environ)
        close(toChild[0])
        close(fromChild[1])
        (self.pid, input, output) = (pid, toChild[1], fromChild[0])
        guard status == 0 else { throw BenchmarkError("\(command[0]) cannot be started: \(String(cString: strerror(status)))") }
    }

    deinit { end() }

    /// The next line that it prints; nil at the end.
    func line() -> String? {
        while true {
            if let end = pending.firstIndex(of: 10) {
                defer { pending.removeFirst(end + 1) }
                return String(decoding: pending[..<end], as: UTF8.self)
            }
            var buffer = [UInt8](repeating: 0, count: 65536)
            let count = read(output, &buffer, buffer.count)
            if count <= 0 { return nil }
            pending.append(contentsOf: buffer[..<count])
        }
    }

    /// How many files and connections it has open.
    var descriptors: Int {
        guard let folder = opendir("/proc/\(pid)/fd") else { return 0 }
        defer { closedir(folder) }
        var count = 0
        while readdir(folder) != nil { count += 1 }
        return count - 2
    }

    func send(_ line: String) {
        var bytes = Array(line.utf8) + [10]
        _ = Glibc.write(input, &bytes, bytes.count)
    }

    private func closeInput() {
        if isInputOpen { close(input) }
        isInputOpen = false
    }

    /// Ends its input; everything that it still prints, and its exit status once it has ended by itself.
    func finish() -> (lines: [String], status: Int32) {
        closeInput()
        var lines: [String] = []
        while let line = line() { lines.append(line) }
        var status: Int32 = 0
        if !hasEnded { waitpid(pid, &status, 0) }
        hasEnded = true
        close(output)
        return (lines, status >> 8 & 0xFF)
    }

    /// Ends it.
    func end() {
        guard !hasEnded else { return }
        hasEnded = true
        kill(pid, SIGTERM)
        var status: Int32 = 0
        waitpid(pid, &status, 0)
        closeInput()
        close(output)
    }
}
