import Glibc
import HearthIO
import HearthTime
import MachineInterface
import MatterModel
import Testing

@testable import MatterSimulator

/// What a client that does not read, or only writes, can cost: bounded by docs/machine-interface.md.
@Suite struct ControlLimitTests {
    /// A server of its own whose handler is the test's.
    private func withServer(
        clientLimit: Int = ControlServer.standardClientLimit, handler: @escaping ControlServer.Handler,
        _ body: @Sendable (String) async throws -> Void
    ) async throws {
        var template = Array("/tmp/hearth-limits-XXXXXX".utf8CString)
        let made = template.withUnsafeMutableBufferPointer { buffer in
            buffer.baseAddress.flatMap { mkdtemp($0) }.map { String(cString: $0) }
        }
        let folder = try #require(made)
        defer { rmdir(folder) }
        let path = folder + "/control"
        let runtime = try Runtime(mode: .real(speed: 1))
        let (timeline, loop) = (runtime.timeline, runtime.loop)
        let server = try await timeline.call("listen") {
            Confined(
                try ControlServer(
                    path: path, role: .simulator, loop: loop, timeline: timeline, clientLimit: clientLimit, handler: handler),
                on: timeline)
        }
        let result: Result<Void, any Error>
        do { result = .success(try await body(path)) } catch { result = .failure(error) }
        try await timeline.call("close") { server.value.close() }
        runtime.shutdown()
        await runtime.ended()
        try result.get()
    }

    private static func request(_ number: Int, length: Int) -> String {
        let rest = String(repeating: "x", count: length)
        return "{\"id\":\(number),\"do\":\"something\",\"rest\":\"\(rest)\"}\n"
    }

    @Test func nothingIsCarriedOutForWhoDoesNotReadTheAnswers() async throws {
        let handled = Locked(0)
        let long = String(repeating: "a", count: 100_000)
        let answer: ControlServer.Handler = { request in
            handled.withLock { $0 += 1 }
            return ["id": request["id"] ?? .null, "ok": true, "long": .string(long)]
        }
        try await withServer(handler: answer) { path in
            let client = try LineClient(path)
            let count = 400
            let writer = try client.sending((0..<count).map { Self.request($0, length: 20) })
            #expect(client.line()?["hello"] == "hearth")
            // 1 MiB waits in the server, a little in the sockets.
            _ = handled.wait { $0 >= 10 ? true : nil }
            for number in 0..<count {
                #expect(handled.withLock { $0 } - number <= 10 + client.kernelLimit / 100_000)
                #expect(client.line()?["id"] == JSONValue(number))
            }
            writer.join()
        }
    }

    /// 256 short requests, or a megabyte of long ones, wait in the server and a little in the sockets; the client waits with the rest.
    @Test(arguments: [(4000, 1000), (20, 900_000)]) func requestsWaitWithTheirClient(_ count: Int, _ length: Int) async throws {
        let gate = Locked(false)
        let waiting = WaitingHandler()
        try await withServer(handler: { await waiting.passes($0) ? ["id": $0["id"] ?? .null] : .null }) { path in
            let client = try LineClient(path)
            let writer = try client.sending((0..<count).map { Self.request($0, length: length) }) { gate.withLock { $0 = true } }
            #expect(client.line()?["hello"] == "hearth")
            await waiting.arrived()
            #expect(client.isStuck { gate.withLock { $0 } })
            waiting.open()
            for number in 0..<count { #expect(client.line()?["id"] == JSONValue(number)) }
            writer.join()
        }
    }

    @Test func whoComesWhenThereAreEnoughIsTold() async throws {
        try await withServer(clientLimit: 2, handler: { ["id": $0["id"] ?? .null] }) { path in
            let first = try LineClient(path)
            #expect(first.line()?["hello"] == "hearth")
            do {
                let second = try LineClient(path)
                #expect(second.line()?["hello"] == "hearth")
                let third = try LineClient(path)
                let refusal = third.line()
                #expect(refusal?["ok"] == false)
                #expect(refusal?["error"]?["message"]?.string?.contains("2 clients") == true)
                #expect(third.line() == nil)
            }
            // When one has gone there is room again, as soon as that has been noticed.
            while true {
                let next = try LineClient(path)
                if next.line()?["hello"] == "hearth" { break }
            }
        }
    }
}

/// Holds the first request until it is told to go on.
private final class WaitingHandler: Sendable {
    private struct State {
        var isOpen = false
        var hasArrived = false
        var held: [CheckedContinuation<Void, Never>] = []
        var watching: CheckedContinuation<Void, Never>?
    }
    private let state = Locked(State())

    func passes(_ request: JSONValue) async -> Bool {
        await withCheckedContinuation { continuation in
            let (goesOn, watching) = state.withLock { state -> (Bool, CheckedContinuation<Void, Never>?) in
                state.hasArrived = true
                if !state.isOpen { state.held.append(continuation) }
                defer { state.watching = nil }
                return (state.isOpen, state.watching)
            }
            watching?.resume()
            if goesOn { continuation.resume() }
        }
        return true
    }

    func arrived() async {
        await withCheckedContinuation { continuation in
            let isThere = state.withLock { state -> Bool in
                if !state.hasArrived { state.watching = continuation }
                return state.hasArrived
            }
            if isThere { continuation.resume() }
        }
    }

    func open() {
        let held = state.withLock { state -> [CheckedContinuation<Void, Never>] in
            state.isOpen = true
            defer { state.held = [] }
            return state.held
        }
        for one in held { one.resume() }
    }
}

/// A blocking client whose writing and reading may be two threads.
private final class LineClient: Sendable {
    private let fd: Int32
    private let input = Locked<[UInt8]>([])

    init(_ path: String) throws {
        fd = try UnixSocket.connect(path: path)
        _ = fcntl(fd, F_SETFL, fcntl(fd, F_GETFL) & ~O_NONBLOCK)
        var limit = timeval(tv_sec: 30, tv_usec: 0)
        setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &limit, socklen_t(MemoryLayout<timeval>.size))
    }

    deinit { close(fd) }

    /// What may lie between the two ends, in bytes.
    var kernelLimit: Int {
        var size: Int32 = 0
        var length = socklen_t(4)
        getsockopt(fd, SOL_SOCKET, SO_SNDBUF, &size, &length)
        return 2 * Int(size)
    }

    /// Sends from a thread of its own; `done` is called when the last byte is on its way.
    func sending(_ lines: [String], done: @escaping @Sendable () -> Void = {}) throws -> SystemThread {
        let fd = fd
        return try SystemThread {
            for line in lines {
                let bytes = Array(line.utf8)
                var sent = 0
                while sent < bytes.count {
                    let count = bytes[sent...].withUnsafeBytes { send(fd, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL)) }
                    if count <= 0 { return }
                    sent += count
                }
            }
            done()
        }
    }

    /// Nothing more can be sent, for longer than a server needs that reads.
    func isStuck(orHasSentAll isDone: () -> Bool) -> Bool {
        var quiet = 0
        while quiet < 5 {
            if isDone() { return false }
            var wanted = pollfd(fd: fd, events: Int16(POLLOUT), revents: 0)
            quiet = poll(&wanted, 1, 50) == 0 ? quiet + 1 : 0
        }
        return true
    }

    /// The next line; nil at the end, or when nothing comes.
    func line() -> JSONValue? {
        while true {
            let line = input.withLock { input -> [UInt8]? in
                guard let end = input.firstIndex(of: 0x0A) else { return nil }
                defer { input.removeSubrange(...end) }
                return Array(input[..<end])
            }
            if let line { return try? JSONValue(parsing: line) }
            var chunk = [UInt8](repeating: 0, count: 65_536)
            let count = read(fd, &chunk, chunk.count)
            guard count > 0 else { return nil }
            input.withLock { $0 += chunk[..<count] }
        }
    }
}
