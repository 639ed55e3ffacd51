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
    /// Clients at a time, at most; who comes then is told and sent away.
    private let clientLimit: Int
    /// Somebody could not be taken in, and waits; told once.
    private var isPaused = false

    /// How many clients a control socket has at a time.
    public static let standardClientLimit = 512

    /// Listens on `path`, whose folder is made when it is not there.
    /// - Throws: `SimulatorError.network` when the path is too long for a socket or in use, or when others may change its folder; `IOError`.
    public convenience init(
        path: String, role: MachineInterface.Role, loop: EventLoop, timeline: Timeline, clientLimit: Int = standardClientLimit,
        handler: @escaping Handler
    ) throws {
        try self.init(path: path, role: role, loop: loop, timeline: timeline, clientLimit: clientLimit) {
            SequentialSession(handler: handler, output: $0)
        }
    }

    /// The same with a session of its own for each connection.
    public init(
        path: String, role: MachineInterface.Role, loop: EventLoop, timeline: Timeline, clientLimit: Int = standardClientLimit,
        session: @escaping (@escaping ControlOutput) -> any ControlSession
    ) throws {
        self.clientLimit = clientLimit
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
                guard let accepted = try UnixSocket.accept(listener) else {
                    // Everybody is in: what comes next is told again.
                    isPaused = false
                    return
                }
                guard accepted.user == geteuid() else {
                    Log.simulator.warning("user \(accepted.user) tried the control socket and was refused")
                    Glibc.close(accepted.fd)
                    continue
                }
                guard connections.count < clientLimit else {
                    Self.sendAway(accepted.fd, "this control socket has \(clientLimit) clients and takes no more: end some of them")
                    continue
                }
                let connection = ControlConnection(accepted.fd, loop: loop, timeline: timeline, session: makeSession) { [weak self] in
                    self?.connections[accepted.fd] = nil
                }
                connections[accepted.fd] = connection
                try connection.start(MachineInterface.hello(role))
            } catch {
                return pause(error)
            }
        }
    }

    /// Out of descriptors or memory: who waits at the socket makes it readable without end, so that it is left alone for a moment.
    private func pause(_ error: any Error) {
        if !isPaused { Log.simulator.warning("the control socket takes nobody in for now: \(error)") }
        isPaused = true
        loop.watch(listener, [])
        loop.schedule(after: .milliseconds(100)) { [weak self] in
            guard let self, listener >= 0 else { return }
            loop.watch(listener, .readable)
        }
    }

    /// A socket that has just been made has room for a line.
    private static func sendAway(_ fd: Int32, _ reason: String) {
        let line = MachineInterface.failure(.null, MachineError(MachineError.unreachableStatus, reason)).text() + "\n"
        let bytes = Array(line.utf8)
        _ = bytes.withUnsafeBytes { Glibc.send(fd, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL)) }
        Glibc.close(fd)
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

extension Simulator {
    /// Opens the control socket, for its owner alone. - Returns: when it listens; it is closed with the simulator.
    /// - Throws: `SimulatorError.network` when the path is too long for a socket or in use, or when others may change its folder.
    public nonisolated func openControl(path: String, loop: EventLoop) async throws {
        try await timeline.call("open control") { try await self.openControlInside(path, loop) }
    }
}
