import Glibc
import HearthIO
import HearthTime
import MachineInterface
import MatterModel

/// One client of the control socket.
final class ControlConnection: LoopHandler {
    /// Bytes of a request, at most.
    private static let requestLimit = 1 << 20
    /// Bytes that wait for a slow reader, at most; then announcements are dropped, and requests wait. One answer may go beyond it.
    private static let outputLimit = 1 << 20
    /// Requests that wait or run, at most; then no more input is read.
    private static let pendingLimit = 256
    /// Bytes of requests that wait, beyond which the same holds.
    private static let pendingBytesLimit = 1 << 20

    private let fd: Int32
    private let loop: EventLoop
    private let timeline: Timeline
    private var session: (any ControlSession)?
    private let onClose: () -> Void
    private var input: [UInt8] = []
    private var output: [UInt8] = []
    private var requests: [(json: JSONValue, size: Int)] = []
    private var requestBytes = 0
    private var isBusy = false
    private var isTakingLines = false
    /// The request that is being carried out; one whose caller has gone, such as a scenario of hours, is cancelled.
    private var running: Task<Void, any Error>?
    /// Every request has its answer, and no more come.
    private var isFinished = false
    private var isClosed = false
    private var inputEnded = false
    private var dropped = 0

    init(
        _ fd: Int32, loop: EventLoop, timeline: Timeline, session: (@escaping ControlOutput) -> any ControlSession,
        onClose: @escaping () -> Void
    ) {
        (self.fd, self.loop, self.timeline, self.onClose) = (fd, loop, timeline, onClose)
        let connection = Confined(Weak(value: self), on: timeline)
        self.session = session { line, isUnasked in
            guard let me = connection.value.value else { return }
            if isUnasked { me.announce(line) } else { me.send(line) }
        }
    }

    func start(_ hello: JSONValue) throws {
        try loop.register(fd, .readable, self)
        send(hello)
    }

    func ready(_ events: ReadyEvents) {
        if events.contains(.writable) { flush() }
        if !isClosed, !events.isDisjoint(with: [.readable, .failed]) { receive() }
        // Not who has only said all and waits for the answers.
        if !events.isDisjoint(with: .failed) {
            running?.cancel()
            // Who is gone will not read either; and the loop would tell so again and again.
            if isFull { close() }
        }
    }

    /// No more requests are taken for now.
    private var isFull: Bool {
        output.count >= Self.outputLimit || requests.count + (isBusy ? 1 : 0) >= Self.pendingLimit
            || requestBytes >= Self.pendingBytesLimit
    }

    private func receive() {
        var chunk = [UInt8](repeating: 0, count: 65_536)
        while !isClosed, !inputEnded, !isFull {
            let count = read(fd, &chunk, chunk.count)
            if count < 0 { return errno == EAGAIN || errno == EINTR ? () : close() }
            if count == 0 {
                inputEnded = true
                watch()
                return next()
            }
            input += chunk[..<count]
            takeLines()
        }
        watch()
    }

    /// Takes what has come, as far as there is room for it.
    private func takeLines() {
        // What is answered at once comes back here.
        guard !isTakingLines else { return }
        isTakingLines = true
        defer { isTakingLines = false }
        var start = 0
        while !isClosed, !isFull, let end = input[start...].firstIndex(of: 0x0A) {
            let line = Array(input[start..<end])
            start = end + 1
            take(line)
        }
        input.removeFirst(start)
        guard !isFull, input.count > Self.requestLimit else { return }
        input = []
        send(MachineInterface.failure(.null, .badRequest("a line is longer than \(Self.requestLimit) bytes")))
        close()
    }

    private func take(_ line: [UInt8]) {
        if line.allSatisfy({ $0 == 0x20 || $0 == 0x09 || $0 == 0x0D }) { return }
        do throws(JSONError) {
            requests.append((try JSONValue(parsing: line), line.count))
            requestBytes += line.count
            next()
        } catch {
            send(MachineInterface.failure(.null, .badRequest("the line is not JSON: \(error)")))
        }
    }

    /// Carries the next request out when the one before is done.
    private func next() {
        guard !isBusy, !isClosed, output.count < Self.outputLimit, let session else { return }
        guard !requests.isEmpty || inputEnded else { return }
        if isFinished { return output.isEmpty ? close() : () }
        isBusy = true
        let isLast = requests.isEmpty
        let taken = isLast ? nil : requests.removeFirst()
        requestBytes -= taken?.size ?? 0
        let request = taken?.json
        let connection = Confined(Weak(value: self), on: timeline)
        running = timeline.spawn("control request") {
            if let request { await session.receive(request) } else { await session.finish() }
            connection.value.value?.taken(isLast: isLast)
        }
    }

    private func taken(isLast: Bool) {
        isBusy = false
        running = nil
        isFinished = isLast
        proceed()
    }

    /// There may be room for requests again.
    private func proceed() {
        guard !isClosed, !isTakingLines else { return }
        next()
        takeLines()
        watch()
    }

    func announce(_ line: JSONValue) {
        guard output.count < Self.outputLimit else {
            dropped += 1
            return
        }
        if dropped > 0 {
            write(["dropped": JSONValue(dropped)])
            dropped = 0
        }
        send(line)
    }

    private func send(_ line: JSONValue) {
        guard !isClosed else { return }
        write(line)
        flush()
    }

    private func write(_ line: JSONValue) {
        output += Array(line.text().utf8)
        output.append(0x0A)
    }

    private func flush() {
        var sent = 0
        while sent < output.count {
            let count = output.withUnsafeBytes { bytes in
                Glibc.send(fd, UnsafeRawBufferPointer(rebasing: bytes[sent...]).baseAddress, bytes.count - sent, Int32(MSG_NOSIGNAL))
            }
            if count <= 0 {
                if errno == EAGAIN || errno == EINTR { break }
                return close()
            }
            sent += count
        }
        output.removeFirst(sent)
        watch()
        if sent > 0 { proceed() }
    }

    private func watch() {
        guard !isClosed else { return }
        var events: ReadyEvents = inputEnded || isFull ? [] : [.readable]
        if !output.isEmpty { events.insert(.writable) }
        loop.watch(fd, events)
    }

    func close() {
        guard !isClosed else { return }
        isClosed = true
        loop.unregister(fd)
        Glibc.close(fd)
        if let session { timeline.spawn("control ends") { await session.close() } }
        session = nil
        onClose()
    }

    func loopStops() { close() }

    private struct Weak { weak var value: ControlConnection? }
}
