import CommandLineKit
import HearthTime
import MatterController
import MatterModel

/// Writes lines of JSON to a descriptor from a thread of its own, so that a slow reader does not stop the clock. Answers are kept
/// however long it takes; of what nobody asked for, what is too much is dropped and counted.
final class LineWriter: Sendable {
    /// Lines of reports that wait, at most.
    static let unaskedLimit = 1000
    /// Bytes that wait for the reader, at most, before no more requests are taken.
    static let outputLimit = 1 << 20

    private struct State {
        var lines: [(text: String, isUnasked: Bool)] = []
        var unasked = 0
        /// Bytes that wait or are being written.
        var unread = 0
        var dropped = 0
        var isEnding = false
        var isBroken = false

        /// What was dropped is told in its place.
        mutating func tellDropped() {
            guard dropped > 0 else { return }
            let text = "{\"dropped\":\(dropped)}\n"
            lines.append((text, false))
            unread += text.utf8.count
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
            state.unread += text.utf8.count
        }
    }

    /// Returns when the reader has read so much that there is room for more answers, or reads no more. For a thread that may block.
    func awaitRoom() { _ = state.wait { $0.unread < Self.outputLimit || $0.isBroken ? true : nil } }

    /// Returns when everything is written, or cannot be: after a signal a reader that takes nothing is given up after a second.
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
            let text = batch.joined()
            guard write(text) else {
                state.withLock { state in
                    state.isBroken = true
                    state.lines = []
                }
                return onBroken()
            }
            state.withLock { $0.unread -= text.utf8.count }
        }
    }

    /// False when nobody reads any more, or when it has to end and the reader takes nothing.
    private func write(_ text: String) -> Bool {
        var text = text
        return text.withUTF8 { OutputStop.shared.write(UnsafeRawBufferPointer($0), to: descriptor) == nil }
    }
}
