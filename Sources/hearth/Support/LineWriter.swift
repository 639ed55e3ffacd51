import Glibc
import HearthTime
import MatterController
import MatterModel

/// Writes lines of JSON to a descriptor from a thread of its own, so that a slow reader does not stop the clock. Answers are kept
/// however long it takes; of what nobody asked for, what is too much is dropped and counted.
final class LineWriter: Sendable {
    /// Lines of reports that wait, at most.
    static let unaskedLimit = 1000

    private struct State {
        var lines: [(text: String, isUnasked: Bool)] = []
        var unasked = 0
        var dropped = 0
        var isEnding = false
        var isBroken = false

        /// What was dropped is told in its place.
        mutating func tellDropped() {
            guard dropped > 0 else { return }
            lines.append(("{\"dropped\":\(dropped)}\n", false))
            dropped = 0
        }
    }

    private let descriptor: Int32
    private let state = Locked(State())
    private let thread = Locked<SystemThread?>(nil)

    /// - Parameter onBroken: called once, on the writer's thread, when nobody reads any more.
    init(_ descriptor: Int32, onBroken: @escaping @Sendable () -> Void) {
        self.descriptor = descriptor
        do throws(SystemThread.Failure) {
            let started = try SystemThread { self.run(onBroken) }
            thread.withLock { $0 = started }
        } catch {
            preconditionFailure("no thread for the output: \(error)")
        }
    }

    /// Adds a line. Never waits.
    func add(_ line: JSONValue, _ kind: MachineSession.LineKind) {
        let text = line.text() + "\n"
        let isUnasked = kind == .unasked
        state.withLock { state in
            if state.isBroken { return }
            if isUnasked, state.unasked >= Self.unaskedLimit {
                state.dropped += 1
                return
            }
            // Before the first line that is kept again.
            state.tellDropped()
            if isUnasked { state.unasked += 1 }
            state.lines.append((text, isUnasked))
        }
    }

    /// Returns when everything is written, or cannot be.
    func finish() {
        state.withLock { state in
            state.tellDropped()
            state.isEnding = true
        }
        let started = thread.withLock { thread in
            defer { thread = nil }
            return thread
        }
        started?.join()
    }

    private func run(_ onBroken: () -> Void) {
        while true {
            // A few at a time: what is still in the queue counts against the limit, what is being written does not.
            let batch: [String] = state.wait { state in
                guard !state.lines.isEmpty || state.isEnding else { return nil }
                let batch = state.lines.prefix(64)
                state.lines.removeFirst(batch.count)
                state.unasked -= batch.count { $0.isUnasked }
                return batch.map(\.text)
            }
            if batch.isEmpty { return }
            guard write(batch.joined()) else {
                state.withLock { state in
                    state.isBroken = true
                    state.lines = []
                }
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
