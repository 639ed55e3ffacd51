import Glibc
import HearthIO
import HearthTime
import MachineInterface
import MatterModel

/// The control socket: JSON Lines over a Unix socket that only its owner may use. Belongs to the timeline's thread.
///
/// The requests of a connection reach its session one after the other, in the order of their arrival.
public final class ControlServer: LoopHandler {
    /// Carries a request out and gives its answer. Runs on the timeline.
    public typealias Handler = @Sendable (JSONValue) async -> JSONValue

    public let path: String
    private let loop: EventLoop
    private let timeline: Timeline
    private let role: MachineInterface.Role
    private let makeSession: (@escaping ControlOutput) -> any ControlSession
    private let place: ControlPath
    private var listener: Int32
    private var connections: [Int32: ControlConnection] = [:]

    /// Listens on `path`, whose folder is made when it is not there.
    /// - Throws: `SimulatorError.network` when the path is too long for a socket or in use, or when others may change its folder; `IOError`.
    public convenience init(
        path: String, role: MachineInterface.Role, loop: EventLoop, timeline: Timeline, handler: @escaping Handler
    ) throws {
        try self.init(path: path, role: role, loop: loop, timeline: timeline) { SequentialSession(handler: handler, output: $0) }
    }

    /// The same with a session of its own for each connection.
    public init(
        path: String, role: MachineInterface.Role, loop: EventLoop, timeline: Timeline,
        session: @escaping (@escaping ControlOutput) -> any ControlSession
    ) throws {
        (self.path, self.role, self.loop, self.timeline, makeSession) = (path, role, loop, timeline, session)
        place = try ControlPath(path)
        listener = place.descriptor
        do { try loop.register(listener, .readable, self) } catch {
            Glibc.close(listener)
            place.remove()
            throw error
        }
    }

    public func ready(_ events: ReadyEvents) {
        while listener >= 0 {
            do {
                guard let accepted = try UnixSocket.accept(listener) else { return }
                guard accepted.user == geteuid() else {
                    Log.simulator.warning("user \(accepted.user) tried the control socket and was refused")
                    Glibc.close(accepted.fd)
                    continue
                }
                let connection = ControlConnection(accepted.fd, loop: loop, timeline: timeline, session: makeSession) { [weak self] in
                    self?.connections[accepted.fd] = nil
                }
                connections[accepted.fd] = connection
                try connection.start(MachineInterface.hello(role))
            } catch {
                return Log.simulator.warning("the control socket: \(error)")
            }
        }
    }

    /// Says something that nobody has asked for to everybody who is connected.
    public func announce(_ line: JSONValue) { for (_, connection) in connections { connection.announce(line) } }

    public func close() {
        guard listener >= 0 else { return }
        loop.unregister(listener)
        Glibc.close(listener)
        listener = -1
        place.remove()
        for connection in Array(connections.values) { connection.close() }
    }

    public func loopStops() { close() }
}

/// One client of the control socket.
final class ControlConnection: LoopHandler {
    /// Bytes of a request, at most.
    private static let requestLimit = 1 << 20
    /// Bytes that wait for a slow reader, at most; then announcements are dropped, and requests wait.
    private static let outputLimit = 1 << 20

    private let fd: Int32
    private let loop: EventLoop
    private let timeline: Timeline
    private var session: (any ControlSession)?
    private let onClose: () -> Void
    private var input: [UInt8] = []
    private var output: [UInt8] = []
    private var requests: [JSONValue] = []
    private var isBusy = false
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
        if !events.isDisjoint(with: .failed) { running?.cancel() }
    }

    private func receive() {
        var chunk = [UInt8](repeating: 0, count: 65_536)
        while !isClosed, !inputEnded {
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
    }

    private func takeLines() {
        var start = 0
        while let end = input[start...].firstIndex(of: 0x0A) {
            let line = Array(input[start..<end])
            start = end + 1
            take(line)
        }
        input.removeFirst(start)
        guard input.count > Self.requestLimit else { return }
        input = []
        send(MachineInterface.failure(.null, .badRequest("a line is longer than \(Self.requestLimit) bytes")))
        close()
    }

    private func take(_ line: [UInt8]) {
        if line.allSatisfy({ $0 == 0x20 || $0 == 0x09 || $0 == 0x0D }) { return }
        do throws(JSONError) {
            requests.append(try JSONValue(parsing: line))
            next()
        } catch {
            send(MachineInterface.failure(.null, .badRequest("the line is not JSON: \(error)")))
        }
    }

    /// Carries the next request out when the one before is done.
    private func next() {
        guard !isBusy, !isClosed, let session else { return }
        guard !requests.isEmpty || inputEnded else { return }
        if isFinished { return output.isEmpty ? close() : () }
        isBusy = true
        // Not nil, which a JSON value can be too.
        let request: JSONValue? = requests.isEmpty ? .none : .some(requests.removeFirst())
        let connection = Confined(Weak(value: self), on: timeline)
        running = timeline.spawn("control request") {
            let isLast: Bool
            if case .some(let request) = request {
                isLast = false
                await session.receive(request)
            } else {
                isLast = true
                await session.finish()
            }
            connection.value.value?.taken(isLast: isLast)
        }
    }

    private func taken(isLast: Bool) {
        isBusy = false
        running = nil
        isFinished = isLast
        next()
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
        if output.isEmpty, inputEnded { next() }
    }

    private func watch() {
        guard !isClosed else { return }
        var events: ReadyEvents = inputEnded ? [] : [.readable]
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

extension Simulator {
    /// Opens the control socket, for its owner alone. - Returns: when it listens; it is closed with the simulator.
    /// - Throws: `SimulatorError.network` when the path is too long for a socket or in use, or when others may change its folder.
    public nonisolated func openControl(path: String, loop: EventLoop) async throws {
        try await timeline.call("open control") { try await self.openControlInside(path, loop) }
    }
}
