import Glibc
import MatterController
import MatterModel

/// Writes lines of JSON to a descriptor from a thread of its own, so that a slow reader does not stop the clock. Answers are kept
/// however long it takes; of what nobody asked for, what is too much is dropped and counted.
///
/// Why `@unchecked Sendable` is sound: everything that changes is reached between lock and unlock of `mutex` only.
final class LineWriter: @unchecked Sendable {
    /// Lines of reports that wait, at most.
    static let unaskedLimit = 1000

    private let descriptor: Int32
    private let mutex = UnsafeMutablePointer<pthread_mutex_t>.allocate(capacity: 1)
    private let condition = UnsafeMutablePointer<pthread_cond_t>.allocate(capacity: 1)
    private var lines: [(text: String, isUnasked: Bool)] = []
    private var unasked = 0
    private var dropped = 0
    private var isEnding = false
    private var isBroken = false
    private var thread = pthread_t()

    /// - Parameter onBroken: called once, on the writer's thread, when nobody reads any more.
    init(_ descriptor: Int32, onBroken: @escaping @Sendable () -> Void) {
        self.descriptor = descriptor
        pthread_mutex_init(mutex, nil)
        pthread_cond_init(condition, nil)
        final class Box: Sendable {
            let body: @Sendable () -> Void
            init(_ body: @escaping @Sendable () -> Void) { self.body = body }
        }
        let box = Unmanaged.passRetained(Box { self.run(onBroken) })
        let status = pthread_create(
            &thread, nil,
            { argument in
                guard let argument else { return nil }
                Unmanaged<Box>.fromOpaque(argument).takeRetainedValue().body()
                return nil
            }, box.toOpaque())
        precondition(status == 0, "no thread for the output: error \(status)")
    }

    deinit {
        pthread_mutex_destroy(mutex)
        pthread_cond_destroy(condition)
        mutex.deallocate()
        condition.deallocate()
    }

    /// Adds a line. Never waits.
    func add(_ line: JSONValue, _ kind: MachineSession.LineKind) {
        let text = line.text() + "\n"
        pthread_mutex_lock(mutex)
        defer { pthread_mutex_unlock(mutex) }
        if isBroken { return }
        let isUnasked = kind == .unasked
        if isUnasked, unasked >= Self.unaskedLimit {
            dropped += 1
            return
        }
        // What was dropped is told in its place: before the first line that is kept again.
        if dropped > 0 {
            lines.append(("{\"dropped\":\(dropped)}\n", false))
            dropped = 0
        }
        if isUnasked { unasked += 1 }
        lines.append((text, isUnasked))
        pthread_cond_signal(condition)
    }

    /// Returns when everything is written, or cannot be.
    func finish() {
        pthread_mutex_lock(mutex)
        if dropped > 0 { lines.append(("{\"dropped\":\(dropped)}\n", false)) }
        dropped = 0
        isEnding = true
        pthread_cond_signal(condition)
        pthread_mutex_unlock(mutex)
        pthread_join(thread, nil)
    }

    private func run(_ onBroken: () -> Void) {
        while true {
            pthread_mutex_lock(mutex)
            while lines.isEmpty, !isEnding { pthread_cond_wait(condition, mutex) }
            // A few at a time: what is still in the queue counts against the limit, what is being written does not.
            let batch = Array(lines.prefix(64))
            lines.removeFirst(batch.count)
            unasked -= batch.count { $0.isUnasked }
            pthread_mutex_unlock(mutex)
            if batch.isEmpty { return }
            guard write(batch.map(\.text).joined()) else {
                pthread_mutex_lock(mutex)
                isBroken = true
                lines = []
                pthread_mutex_unlock(mutex)
                return onBroken()
            }
        }
    }

    private func write(_ text: String) -> Bool {
        var text = text
        return text.withUTF8 { bytes in
            var rest = UnsafeRawBufferPointer(bytes)
            while !rest.isEmpty {
                let count = Glibc.write(descriptor, rest.baseAddress, rest.count)
                if count > 0 {
                    rest = UnsafeRawBufferPointer(rebasing: rest[count...])
                } else if errno == EAGAIN {
                    var wait = pollfd(fd: descriptor, events: Int16(POLLOUT), revents: 0)
                    poll(&wait, 1, -1)
                } else if errno != EINTR {
                    return false
                }
            }
            return true
        }
    }
}
