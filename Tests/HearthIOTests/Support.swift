import CLinux
import Glibc
import HearthTime
import Testing

@testable import HearthIO

/// Collects lines from any thread.
final class Lines: Sendable {
    private let stored = Locked<[String]>([])
    var lines: [String] { stored.withLock { $0 } }
    func add(_ line: String) { stored.withLock { $0.append(line) } }
}

extension Runtime {
    /// Runs `body` on the timeline's thread as one job and returns what it returns.
    func onThread<Value: Sendable>(_ body: @escaping @Sendable () throws -> Value) async throws -> Value {
        try await withCheckedThrowingContinuation { waiting in
            if !timeline.post({ waiting.resume(with: Result { try body() }) }) { waiting.resume(throwing: TimelineError.ended) }
        }
    }

    /// Runs `body` on the thread with a callback that ends the wait.
    func untilDone<Value: Sendable>(_ body: @escaping @Sendable (@escaping (Value) -> Void) throws -> Void) async throws -> Value {
        try await withCheckedThrowingContinuation { waiting in
            let accepted = timeline.post {
                do { try body { waiting.resume(returning: $0) } } catch { waiting.resume(throwing: error) }
            }
            if !accepted { waiting.resume(throwing: TimelineError.ended) }
        }
    }
}

/// A handler made of closures. Closes its descriptor when the loop stops.
final class Handler: LoopHandler {
    let fd: Int32
    private let loop: EventLoop
    private let onReady: (Handler, ReadyEvents) -> Void
    var onStop: (() -> Void)?

    @discardableResult
    init(_ loop: EventLoop, _ fd: Int32, _ events: ReadyEvents, _ onReady: @escaping (Handler, ReadyEvents) -> Void) throws {
        (self.loop, self.fd, self.onReady) = (loop, fd, onReady)
        try loop.register(fd, events, self)
    }

    func ready(_ events: ReadyEvents) { onReady(self, events) }

    func loopStops() {
        onStop?()
        end()
    }

    func end() {
        loop.unregister(fd)
        Socket.close(fd)
    }
}

/// Two connected stream sockets. The first is non-blocking, for the loop; the second blocks, for a peer outside.
func socketPair() throws -> (inside: Int32, outside: Int32) {
    var ends: [Int32] = [-1, -1]
    guard socketpair(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0, &ends) == 0 else { throw IOError("socketpair") }
    _ = fcntl(ends[0], F_SETFL, O_NONBLOCK)
    return (ends[0], ends[1])
}

func readAll(_ fd: Int32) -> [UInt8]? {
    var bytes = [UInt8](repeating: 0, count: 65_536)
    let count = read(fd, &bytes, bytes.count)
    return count < 0 ? nil : [UInt8](bytes[..<count])
}

func writeAll(_ fd: Int32, _ bytes: [UInt8]) { #expect(write(fd, bytes, bytes.count) == bytes.count) }

/// True when this machine has ::1.
let hasIPv6: Bool = {
    let interfaces = (try? NetworkInterface.all()) ?? []
    return interfaces.contains { $0.addresses.contains(.loopback6) }
}()
