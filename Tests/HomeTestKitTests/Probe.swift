import Glibc
import HearthTime
import Testing

/// `home-probe` in a process of its own, with a hash seed of its own.
enum Probe {
    struct Failure: Error, CustomStringConvertible { let description: String }

    /// The profiles of this repository.
    static let profiles = (#filePath.split(separator: "/").dropLast(3).map { "/" + $0 } + ["/device-profiles"]).joined()

    private static let spawning = Locked(())

    /// What it prints, line by line, once it has ended well.
    static func run(_ arguments: [String]) throws -> [String] {
        let program = try find()
        var ends: [Int32] = [0, 0]
        guard pipe(&ends) == 0 else { throw Failure(description: "no pipe: \(errno)") }
        var child = pid_t()
        // Under a lock, so that another one that starts at the same time does not keep this one's pipe open.
        let code = spawning.withLock { _ in
            for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
            var actions = posix_spawn_file_actions_t()
            posix_spawn_file_actions_init(&actions)
            posix_spawn_file_actions_adddup2(&actions, ends[1], 1)
            var strings = ([program] + arguments).map { strdup($0) } + [nil]
            let code = posix_spawn(&child, program, &actions, nil, &strings, environ)
            posix_spawn_file_actions_destroy(&actions)
            for string in strings { free(string) }
            return code
        }
        close(ends[1])
        defer { close(ends[0]) }
        guard code == 0 else { throw Failure(description: "\(program) cannot be started: error \(code)") }
        var output: [UInt8] = []
        var chunk = [UInt8](repeating: 0, count: 65_536)
        while true {
            let count = read(ends[0], &chunk, chunk.count)
            if count < 0, errno == EINTR { continue }
            guard count > 0 else { break }
            output += chunk[..<count]
        }
        var status: Int32 = 0
        while waitpid(child, &status, 0) < 0, errno == EINTR {}
        let lines = output.split(separator: 0x0A).map { String(decoding: $0, as: UTF8.self) }
        guard status == 0 else { throw Failure(description: "home-probe ended with \(status): \(lines.last ?? "nothing")") }
        return lines
    }

    /// Beside the test bundle, whether that is the process itself or was given to a helper of the toolchain.
    private static func find() throws -> String {
        var link = [UInt8](repeating: 0, count: 4096)
        let count = link.withUnsafeMutableBytes { bytes in bytes.baseAddress.map { readlink("/proc/self/exe", $0, bytes.count) } ?? -1 }
        let own = String(decoding: link[..<max(0, count)], as: UTF8.self)
        for candidate in [own] + CommandLine.arguments {
            guard let slash = candidate.lastIndex(of: "/") else { continue }
            let sibling = candidate[..<slash] + "/home-probe"
            if access(String(sibling), X_OK) == 0 { return String(sibling) }
        }
        throw Failure(description: "home-probe is not beside the tests: build all products first")
    }
}
