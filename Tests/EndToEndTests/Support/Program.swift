import Glibc
import HearthTime
import MatterModel

/// A program that a test runs. Reading waits for what is to come, in real time, and gives up after a while; nothing sleeps.
final class Program {
    struct Failed: Error, CustomStringConvertible { let description: String }

    /// How long a test waits for a line or an end before it fails: never reached when all is well.
    static let patience: Int32 = 60_000

    private let pid: pid_t
    private var input: Int32
    private var output: LineStream
    private var errors: LineStream
    private var status: Int32?

    /// The built command-line program, beside the tests.
    static let hearth: String = {
        // The tests' own image lies in the build folder.
        var path = [UInt8](repeating: 0, count: 4096)
        let count = readlink("/proc/self/exe", &path, path.count)
        var candidates = CommandLine.arguments
        if count > 0 { candidates.append(String(decoding: path[..<count], as: UTF8.self)) }
        for candidate in candidates {
            guard let slash = candidate.lastIndex(of: "/") else { continue }
            let sibling = candidate[..<slash] + "/hearth"
            if access(String(sibling), X_OK) == 0 { return String(sibling) }
        }
        preconditionFailure("hearth is not beside the tests: \(candidates)")
    }()

    /// The package's folder.
    static let package: String = {
        var parts = #filePath.split(separator: "/").map(String.init)
        parts.removeLast(4)  // Support, EndToEndTests, Tests and the file itself
        return "/" + parts.joined(separator: "/")
    }()

    /// The text of a file.
    static func contents(_ path: String) throws -> String {
        let descriptor = open(path, O_RDONLY)
        guard descriptor >= 0 else { throw Failed(description: "\(path) cannot be read") }
        defer { close(descriptor) }
        var bytes: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 65_536)
        while true {
            let count = read(descriptor, &buffer, buffer.count)
            if count <= 0 { return String(decoding: bytes, as: UTF8.self) }
            bytes += buffer[..<count]
        }
    }

    /// Starts `hearth`, or another program, with these words.
    init(_ words: [String], environment: [String: String] = [:], path: String = Program.hearth) throws {
        // One at a time: between `pipe` and `fcntl` another child would inherit the ends.
        let started = Self.spawning.withLock { _ in Self.spawn(path, words, environment) }
        guard let started else { throw Failed(description: "'\(path)' cannot be started") }
        (pid, input) = (started.pid, started.input)
        (output, errors) = (LineStream(started.output), LineStream(started.errors))
    }

    private static let spawning = Locked(())

    private static func spawn(
        _ path: String, _ words: [String], _ environment: [String: String]
    ) -> (pid: pid_t, input: Int32, output: Int32, errors: Int32)? {
        var pipes: [[Int32]] = [[-1, -1], [-1, -1], [-1, -1]]
        for index in pipes.indices {
            guard pipe(&pipes[index]) == 0 else { return nil }
            for end in pipes[index] { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
        }
        var actions = posix_spawn_file_actions_t()
        posix_spawn_file_actions_init(&actions)
        defer { posix_spawn_file_actions_destroy(&actions) }
        posix_spawn_file_actions_adddup2(&actions, pipes[0][0], 0)
        posix_spawn_file_actions_adddup2(&actions, pipes[1][1], 1)
        posix_spawn_file_actions_adddup2(&actions, pipes[2][1], 2)
        let arguments = ([path] + words).map { strdup($0) }
        let variables = self.environment(environment).map { strdup($0) }
        defer { for word in arguments + variables { free(word) } }
        var child = pid_t()
        let result = posix_spawn(&child, path, &actions, nil, arguments + [nil], variables + [nil])
        close(pipes[0][0])
        close(pipes[1][1])
        close(pipes[2][1])
        guard result == 0 else { return nil }
        return (child, pipes[0][1], pipes[1][0], pipes[2][0])
    }

    /// Only what a test means to pass, so that the user's own home and settings play no part.
    private static func environment(_ own: [String: String]) -> [String] {
        var all = [
            "PATH": "/usr/bin:/bin", "HOME": "/nonexistent", "LANG": "C.UTF-8", "HEARTH_PROFILES": package + "/device-profiles",
        ]
        for (name, value) in own { all[name] = value }
        return all.map { "\($0.key)=\($0.value)" }
    }

    deinit {
        closeInput()
        output.close()
        errors.close()
        if status == nil {
            kill(pid, SIGKILL)
            waitpid(pid, nil, 0)
        }
    }

    // MARK: Talking to it

    func send(_ line: String) {
        let bytes = Array((line + "\n").utf8)
        var sent = 0
        while sent < bytes.count {
            let count = bytes[sent...].withUnsafeBytes { Glibc.write(input, $0.baseAddress, $0.count) }
            if count < 0, errno != EINTR { return }
            sent += max(0, count)
        }
    }

    /// Sends the line again and again until the program takes no more, or has taken it `most` times. - Returns: how often it was sent.
    func sendUntilStuck(_ line: String, most: Int) -> Int {
        let bytes = Array((line + "\n").utf8)
        _ = fcntl(input, F_SETFL, O_NONBLOCK)
        defer { _ = fcntl(input, F_SETFL, 0) }
        var sent = 0
        while sent < most {
            // A line that is shorter than PIPE_BUF goes whole or not at all.
            if write(input, bytes, bytes.count) == bytes.count {
                sent += 1
                continue
            }
            var wanted = pollfd(fd: input, events: Int16(POLLOUT), revents: 0)
            if poll(&wanted, 1, 500) == 0 { break }
        }
        return sent
    }

    func send(_ json: JSONValue) { send(json.text()) }

    func closeInput() {
        guard input >= 0 else { return }
        close(input)
        input = -1
    }

    /// Reads nothing more of its standard output, as `head` does when it has enough.
    func closeOutput() { output.close() }

    /// The next line of its standard output; nil when there is none any more. - Throws: when none comes.
    func line() throws -> String? { try output.next(Self.patience) }

    /// The next line as JSON.
    func json() throws -> JSONValue {
        guard let line = try line() else {
            throw Failed(description: "no more output; errors: \(try errors.rest(Self.patience))")
        }
        return try JSONValue(parsing: line)
    }

    /// Lines until one of which `isWanted` says yes.
    func json(where isWanted: (JSONValue) -> Bool) throws -> JSONValue {
        while true {
            let value = try json()
            if isWanted(value) { return value }
        }
    }

    /// The answer to a request that is sent with the id.
    func answer(_ id: Int64, _ request: [String: JSONValue]) throws -> JSONValue {
        var request = request
        request["id"] = .integer(id)
        send(.object(request))
        return try json { $0["id"] == .integer(id) }
    }

    func signal(_ number: Int32) { kill(pid, number) }

    /// Lets the pipe of its standard output hold a page only. Call it before anything else.
    func narrowOutput() { output.narrow() }

    /// Something lies in the pipe of its standard output, which takes nothing more then when it has been narrowed.
    var outputIsFull: Bool { output.waiting > 0 }

    /// Its exit code when it ends although nobody reads its standard output; negative the signal that ended it.
    func finishUnread() throws -> Int32 {
        // Its end of this pipe is closed when it has ended.
        _ = try errors.rest(Self.patience)
        return try ended()
    }

    /// Its exit code when it ends, negative the signal that ended it, with all it had to say.
    func finish() throws -> Result {
        closeInput()
        let text = try output.rest(Self.patience)
        let errorText = try errors.rest(Self.patience)
        return Result(code: try ended(), output: text, errors: errorText)
    }

    private func ended() throws -> Int32 {
        var value: Int32 = 0
        while waitpid(pid, &value, 0) < 0 {
            if errno != EINTR { throw Failed(description: "the program cannot be waited for") }
        }
        status = value
        let signal = value & 0x7F
        return signal == 0 ? (value >> 8) & 0xFF : -signal
    }

    struct Result: Sendable, Equatable {
        var code: Int32
        var output: String
        var errors: String

        /// The only JSON document of the output.
        var json: JSONValue? { try? JSONValue(parsing: output) }
    }

    /// Runs `hearth` to its end.
    static func run(_ words: String..., environment: [String: String] = [:], input: String? = nil) throws -> Result {
        try run(words, environment: environment, input: input)
    }

    static func run(_ words: [String], environment: [String: String] = [:], input: String? = nil) throws -> Result {
        let program = try Program(words, environment: environment)
        if let input { program.send(input) }
        return try program.finish()
    }
}

/// Lines from a descriptor.
struct LineStream {
    private var descriptor: Int32
    private var buffer: [UInt8] = []

    /// F_SETPIPE_SZ of fcntl(2): a page.
    func narrow() { _ = fcntl(descriptor, 1031, 4096) }

    /// Bytes that lie in the pipe.
    var waiting: Int {
        var count: Int32 = 0
        _ = ioctl(descriptor, UInt(FIONREAD), &count)
        return Int(count)
    }
    private var hasEnded = false

    init(_ descriptor: Int32) { self.descriptor = descriptor }

    mutating func close() {
        if descriptor >= 0 { Glibc.close(descriptor) }
        (descriptor, hasEnded) = (-1, true)
    }

    mutating func next(_ patience: Int32) throws -> String? {
        while true {
            if let end = buffer.firstIndex(of: UInt8(ascii: "\n")) {
                let line = String(decoding: buffer[..<end], as: UTF8.self)
                buffer.removeSubrange(...end)
                return line
            }
            if hasEnded {
                defer { buffer = [] }
                return buffer.isEmpty ? nil : String(decoding: buffer, as: UTF8.self)
            }
            try fill(patience)
        }
    }

    mutating func rest(_ patience: Int32) throws -> String {
        while !hasEnded { try fill(patience) }
        defer { buffer = [] }
        return String(decoding: buffer, as: UTF8.self)
    }

    private mutating func fill(_ patience: Int32) throws {
        var wanted = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
        let ready = poll(&wanted, 1, patience)
        if ready == 0 {
            throw Program.Failed(description: "nothing came for \(patience) ms after: \(String(decoding: buffer, as: UTF8.self))")
        }
        if ready < 0, errno != EINTR { throw Program.Failed(description: "poll failed") }
        var bytes = [UInt8](repeating: 0, count: 65_536)
        let count = read(descriptor, &bytes, bytes.count)
        if count > 0 { buffer += bytes[..<count] } else if count == 0 { hasEnded = true }
    }
}
