import HearthTime

/// One end of a pair of byte queues. What one end writes reaches the other through an entry of the timeline, so that the order
/// of everything is the timeline's and nothing depends on the machine.
final class MemoryStream: ByteStream {
    /// Bytes that were written in one instant and arrive in one.
    private final class Chunk {
        var bytes: [UInt8]
        let due: ModelInstant
        var delivered = false
        init(_ bytes: [UInt8], due: ModelInstant) { (self.bytes, self.due) = (bytes, due) }
    }
    private enum Arrival {
        case chunk(Chunk)
        case end
        case broken
    }

    /// Bytes that one direction holds before its writer has to wait.
    static let capacity = 256 * 1024

    private let timeline: Timeline
    /// Of what arrives here.
    private let origin: Timeline.Origin
    private let latency: () -> Duration
    /// Nil once either end is closed.
    private var peer: MemoryStream?
    weak var network: MemoryNetwork?

    private var inbox: [UInt8] = []
    private var inboxStart = 0
    private var hasEnded = false
    private var isBroken = false

    /// Written here and not yet read there.
    private var unread = 0
    private var lastDue = ModelInstant.zero
    private var lastChunk: Chunk?
    private var isFinished = false
    private var isClosed = false

    private var wantsRead = false
    private var wantsWrite = false
    private var isNoticeScheduled = false

    private init(_ timeline: Timeline, _ origin: Timeline.Origin, _ latency: @escaping () -> Duration) {
        (self.timeline, self.origin, self.latency) = (timeline, origin, latency)
    }

    /// Two ends; each origin orders what arrives at that end.
    static func pair(
        _ timeline: Timeline, origins: LinkOrigins, latency: @escaping () -> Duration
    ) -> (dialler: MemoryStream, acceptor: MemoryStream) {
        let dialler = MemoryStream(timeline, origins.toDialler, latency)
        let acceptor = MemoryStream(timeline, origins.toAcceptor, latency)
        (dialler.peer, acceptor.peer) = (acceptor, dialler)
        return (dialler, acceptor)
    }

    override var isOrdered: Bool { true }

    override func read(into buffer: UnsafeMutableRawBufferPointer) -> Outcome {
        let count = min(buffer.count, inbox.count - inboxStart)
        guard count > 0 else { return isBroken ? .failed : hasEnded ? .end : .wouldBlock }
        buffer.copyBytes(from: inbox[inboxStart..<inboxStart + count])
        inboxStart += count
        if inboxStart == inbox.count {
            inbox = []
            inboxStart = 0
        }
        peer?.wasRead(count)
        return .bytes(count)
    }

    override func write(_ bytes: UnsafeRawBufferPointer) -> Outcome {
        guard !isClosed, !isFinished, !isBroken, peer != nil else { return .failed }
        let count = min(bytes.count, Self.capacity - unread)
        guard count > 0 else { return .wouldBlock }
        unread += count
        let part = UnsafeRawBufferPointer(rebasing: bytes[..<count])
        let due = nextDue()
        if let chunk = lastChunk, !chunk.delivered, chunk.due == due {
            chunk.bytes.append(contentsOf: part)
        } else {
            let chunk = Chunk(Array(part), due: due)
            lastChunk = chunk
            send(.chunk(chunk), due)
        }
        return .bytes(count)
    }

    override func watch(readable: Bool, writable: Bool) {
        (wantsRead, wantsWrite) = (readable, writable)
        noticeIfReady()
    }

    override func finishWriting() {
        guard !isFinished, !isClosed else { return }
        isFinished = true
        send(.end, nextDue())
    }

    override func close(reset: Bool) {
        guard !isClosed else { return }
        if reset { send(.broken, nextDue()) } else { finishWriting() }
        isClosed = true
        user = nil
        network?.closed(self)
        (inbox, inboxStart, lastChunk) = ([], 0, nil)
        peer?.peerHasClosed()
        peer = nil
    }

    override func schedule(after delay: Duration, _ body: @escaping () -> Void) -> StreamTimer {
        let token = timeline.after(delay, origin: origin, body)
        return StreamTimer { [timeline] in timeline.cancel(token) }
    }

    // MARK: Inside

    /// A stream never reorders: not before what was sent before.
    private func nextDue() -> ModelInstant {
        lastDue = max(lastDue, timeline.now + latency())
        return lastDue
    }

    private func send(_ arrival: Arrival, _ due: ModelInstant) {
        guard let peer else { return }
        timeline.after(due - timeline.now, origin: peer.origin, phase: .delivery) { peer.arrive(arrival) }
    }

    private func arrive(_ arrival: Arrival) {
        if case .chunk(let chunk) = arrival { chunk.delivered = true }
        if isClosed { return }
        switch arrival {
        case .chunk(let chunk): inbox.append(contentsOf: chunk.bytes)
        case .end: hasEnded = true
        case .broken:
            isBroken = true
            (inbox, inboxStart) = ([], 0)
        }
        if isBroken {
            user?.streamIsReady(readable: true, writable: true, failed: true)
        } else if wantsRead {
            user?.streamIsReady(readable: true, writable: false, failed: false)
        }
        noticeIfReady()
    }

    /// What this end wrote is read there, so that there is room again.
    private func wasRead(_ count: Int) {
        unread -= count
        noticeIfReady()
    }

    /// The other end is gone. What it wrote still arrives; what this end writes goes nowhere.
    private func peerHasClosed() {
        peer = nil
        unread = 0
        noticeIfReady()
    }

    private var canRead: Bool { inboxStart < inbox.count || hasEnded || isBroken }
    private var canWrite: Bool { isBroken || peer == nil || unread < Self.capacity }

    /// Level-triggered, as epoll is: told again in an entry of its own as long as something is ready and wanted.
    private func noticeIfReady() {
        guard !isNoticeScheduled, !isClosed, wantsRead && canRead || wantsWrite && canWrite else { return }
        isNoticeScheduled = true
        timeline.after(.zero, origin: origin, phase: .delivery) { self.notice() }
    }

    private func notice() {
        isNoticeScheduled = false
        guard !isClosed, wantsRead && canRead || wantsWrite && canWrite else { return }
        user?.streamIsReady(readable: wantsRead && canRead, writable: wantsWrite && canWrite, failed: isBroken)
        noticeIfReady()
    }
}
