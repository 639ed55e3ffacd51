import HearthTime

/// A link between two ends in one process and one timeline: a send is an entry of the timeline, and nothing else happens.
///
/// Delivers in order whatever the latency (due = the later of the message before and now + latency).
public final class MemoryLink: MessageLink {
    public var onMessage: ((UnsafeRawBufferPointer) -> Void)?
    public var onClose: ((LinkError?) -> Void)?
    public let maximumMessageSize: Int
    /// How long a message from this end travels; asked once a message.
    public var latency: () -> Duration = { .zero }

    private let timeline: Timeline
    private let origin: Timeline.Origin
    private weak var peer: MemoryLink?
    private var latest = ModelInstant.zero
    private var isClosed = false
    private var isPaused = false
    /// What came while reading was paused, in order; nil is the orderly end.
    private var held: [[UInt8]?] = []

    private init(timeline: Timeline, name: String, maximumMessageSize: Int) {
        (self.timeline, self.maximumMessageSize) = (timeline, maximumMessageSize)
        origin = timeline.origin(name)
    }

    /// Makes both ends. On the timeline's thread. Keep both: an end that is let go is a connection that broke.
    public static func pair(timeline: Timeline, name: String, maximumMessageSize: Int = 64_000) -> (MemoryLink, MemoryLink) {
        let first = MemoryLink(timeline: timeline, name: name + ">", maximumMessageSize: maximumMessageSize)
        let second = MemoryLink(timeline: timeline, name: name + "<", maximumMessageSize: maximumMessageSize)
        first.peer = second
        second.peer = first
        return (first, second)
    }

    deinit {
        // Elsewhere there is no turn to end it in: whoever drops links on another thread has dropped the timeline too.
        guard !isClosed, let peer, timeline.isCurrentThread else { return }
        timeline.after(.zero, origin: origin, phase: .delivery) { [weak peer] in
            peer?.end(LinkError(.broken, "the peer went away"))
        }
    }

    public func send(_ message: UnsafeRawBufferPointer) {
        guard !isClosed else { return }
        let bytes = Array(message)
        deliver { $0.arrive(bytes) }
    }

    public func close() {
        guard !isClosed else { return }
        isClosed = true
        deliver { $0.end(nil) }
        timeline.after(.zero, origin: origin) { [self] in finish(nil) }
    }

    public func abort(_ error: LinkError) {
        guard !isClosed else { return }
        isClosed = true
        deliver { $0.end(LinkError(.broken, "the peer broke the connection")) }
        timeline.after(.zero, origin: origin) { [self] in finish(error) }
    }

    public func pauseReading() { isPaused = true }

    public func resumeReading() {
        guard isPaused else { return }
        isPaused = false
        guard !held.isEmpty else { return }
        // Not from within this call: the caller may be in the middle of a message.
        timeline.after(.zero, origin: origin, phase: .delivery) { [weak self] in self?.release() }
    }

    private func release() {
        while !isPaused, !isClosed, !held.isEmpty {
            if let bytes = held.removeFirst() { take(bytes) } else { end(nil) }
        }
    }

    private func deliver(_ what: @escaping (MemoryLink) -> Void) {
        latest = max(latest, timeline.now + latency())
        timeline.after(latest - timeline.now, origin: origin, phase: .delivery) { [weak peer] in
            if let peer { what(peer) }
        }
    }

    private func arrive(_ bytes: [UInt8]) {
        guard !isClosed else { return }
        // Behind what is still held, even when reading has been resumed.
        if isPaused || !held.isEmpty { held.append(bytes) } else { take(bytes) }
    }

    private func take(_ bytes: [UInt8]) { bytes.withUnsafeBytes { onMessage?($0) } }

    /// The peer's end. An orderly one comes after what was sent before it; a broken connection loses that.
    private func end(_ error: LinkError?) {
        guard !isClosed else { return }
        if error == nil, isPaused || !held.isEmpty { return held.append(nil) }
        isClosed = true
        finish(error)
    }

    private func finish(_ error: LinkError?) {
        let callback = onClose
        (onMessage, onClose) = (nil, nil)
        held = []
        callback?(error)
    }
}
