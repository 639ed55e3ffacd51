import Glibc
import HearthIO
@testable import HearthTime

@testable import MatterDiscovery

/// Whether this machine carries IPv4 multicast on its loopback interface, found out by sending one.
enum LoopbackMulticast {
    static let isPossible: Bool = {
        do {
            guard let loopback = try NetworkInterface.all().first(where: { $0.isLoopback && $0.isUp }) else { return false }
            // Not the group and port of mDNS: nobody is to be disturbed.
            let group = IPAddress(bytes: [239, 255, 77, 77]) ?? .loopback4
            let socket = try DatagramSocket(SocketAddress(group, port: 0))
            try socket.setMulticastInterface(loopback.index)
            try socket.join(group, interface: loopback.index)
            let port = try socket.localAddress().port
            guard try socket.send([1], to: SocketAddress(group, port: port), interface: loopback.index) else { return false }
            var entry = pollfd(fd: socket.fd, events: Int16(POLLIN), revents: 0)
            return poll(&entry, 1, 1000) == 1
        } catch { return false }
    }()

    static let skipReason =
        "the loopback interface carries no IPv4 multicast here: the builtin back end is not tested over sockets"
}

/// One process of a test: a timeline in real mode with its loop, and discovery on it.
///
/// Why `@unchecked Sendable` is sound: `discovery` and `state` are touched by closures on the timeline's thread only.
final class Process<State>: @unchecked Sendable {
    let runtime: Runtime
    var discovery: Discovery?
    var state: State

    init(_ state: sending State) throws {
        runtime = try Runtime(mode: .real(speed: 1))
        self.state = state
    }

    /// Runs `body` on the timeline's thread.
    func on<R: Sendable>(_ body: @escaping @Sendable (Process) throws -> R) async throws -> R {
        try await withCheckedThrowingContinuation { (waiting: CheckedContinuation<R, any Error>) in
            let accepted = runtime.timeline.post { waiting.resume(with: Result { try body(self) }) }
            if !accepted { waiting.resume(throwing: TimelineError.ended) }
        }
    }

    func start(_ backEnd: Discovery.BackEnd = .builtin, interface: String? = "lo") async throws {
        try await on { process in
            process.discovery = try Discovery.make(
                backEnd: backEnd, interface: interface, loop: process.runtime.loop, timeline: process.runtime.timeline)
        }
    }

    /// Waits until `condition` holds on the timeline's thread; false when it does not in time.
    func wait(
        upTo limit: Duration = .seconds(30), for condition: @escaping @Sendable (Process) -> Bool
    ) async throws -> Bool {
        try await withCheckedThrowingContinuation { (waiting: CheckedContinuation<Bool, any Error>) in
            let deadline = EventLoop.now() + UInt64(limit.wholeNanoseconds)
            runtime.timeline.post { self.check(condition, deadline, waiting) }
        }
    }

    private func check(
        _ condition: @escaping @Sendable (Process) -> Bool, _ deadline: UInt64, _ waiting: CheckedContinuation<Bool, any Error>
    ) {
        if condition(self) { return waiting.resume(returning: true) }
        if EventLoop.now() > deadline { return waiting.resume(returning: false) }
        runtime.loop.schedule(after: .milliseconds(5)) { self.check(condition, deadline, waiting) }
    }

    func end() async throws {
        try await on { process in
            process.discovery?.shutdown()
            process.discovery = nil
        }
        runtime.shutdown()
        await runtime.ended()
    }
}
