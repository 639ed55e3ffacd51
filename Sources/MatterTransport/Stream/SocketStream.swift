import Glibc
import HearthIO

/// A connected TCP socket, watched by the event loop.
final class SocketStream: ByteStream, LoopHandler {
    private let loop: EventLoop
    /// -1 once closed.
    private(set) var fd: Int32
    private var watched: ReadyEvents = []
    private var finished = false
    /// False once the kernel had less than was asked for: what comes later, epoll reports, since it is level-triggered.
    private var mayHaveInput = true

    /// Takes `fd` over. - Throws: `IOError`; the descriptor is then closed.
    init(_ fd: Int32, loop: EventLoop) throws(IOError) {
        (self.loop, self.fd) = (loop, fd)
        super.init()
        do {
            try loop.register(fd, [], self)
        } catch {
            self.fd = -1
            Glibc.close(fd)
            throw error as? IOError ?? IOError("epoll_ctl")
        }
    }

    deinit { if fd >= 0 { Glibc.close(fd) } }

    func ready(_ events: ReadyEvents) {
        mayHaveInput = true
        let failed = events.contains(.failed)
        user?.streamIsReady(
            readable: events.contains(.readable) || failed, writable: events.contains(.writable) || failed, failed: failed)
    }

    func loopStops() { user?.streamStops() }

    override func read(into buffer: UnsafeMutableRawBufferPointer) -> Outcome {
        guard mayHaveInput else { return .wouldBlock }
        let received = recv(fd, buffer.baseAddress, buffer.count, 0)
        if received > 0 {
            mayHaveInput = received == buffer.count
            return .bytes(received)
        }
        if received == 0 { return .end }
        return errno == EAGAIN || errno == EINTR ? .wouldBlock : .failed
    }

    override func write(_ bytes: UnsafeRawBufferPointer) -> Outcome {
        let sent = send(fd, bytes.baseAddress, bytes.count, Int32(MSG_NOSIGNAL))
        if sent >= 0 { return .bytes(sent) }
        return errno == EAGAIN || errno == EINTR ? .wouldBlock : .failed
    }

    override func watch(readable: Bool, writable: Bool) {
        var events: ReadyEvents = []
        if readable { events.insert(.readable) }
        if writable { events.insert(.writable) }
        if events == watched || fd < 0 { return }
        watched = events
        loop.watch(fd, events)
    }

    override func finishWriting() {
        if fd < 0 || finished { return }
        finished = true
        shutdown(fd, Int32(SHUT_WR))
    }

    override func close(reset: Bool) {
        guard fd >= 0 else { return }
        let closing = fd
        if reset {
            TCPSocket.resetOnClose(closing)
        } else {
            finishWriting()
            drain()
        }
        fd = -1
        user = nil
        loop.unregister(closing)
        Glibc.close(closing)
    }

    /// Closing with unread input would reset the connection and with it destroy what the peer has not read yet, for example the
    /// alert that says why. What has come is therefore read away, but no flood of it.
    private func drain() {
        mayHaveInput = true
        withUnsafeTemporaryAllocation(byteCount: 16 * 1024, alignment: 8) { buffer in
            for _ in 0..<8 {
                guard case .bytes = read(into: buffer) else { return }
            }
        }
    }

    override func schedule(after delay: Duration, _ body: @escaping () -> Void) -> StreamTimer {
        let id = loop.schedule(after: delay, body)
        return StreamTimer { [loop] in loop.cancel(id) }
    }
}
