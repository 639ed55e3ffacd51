import HearthTime

/// A loopback connection with both of its ends on one timeline in virtual time. It stops the clock while the kernel has something
/// of it on the way: while it connects, from each frame's write until its read, and from a close until the other end has seen it.
/// How long the kernel takes then cannot be seen in model time.
final class InsidePair {
    enum End { case dialler, acceptor }
    private enum Stage { case absent, connecting, established, ended }

    /// What is on the way to one end.
    private struct Direction {
        var inFlight = 0
        var hold: Timeline.Hold?
        /// The reading end has asked for a pause: what is on the way then may take model time, and must not stop it.
        var isPaused = false
    }

    let origins: LinkOrigins
    private let timeline: Timeline
    private var dialler = Stage.connecting
    private var acceptor = Stage.absent
    private var toDialler = Direction()
    private var toAcceptor = Direction()
    private var connectHold: Timeline.Hold?
    private var closeHold: Timeline.Hold?
    /// Called once when the connection is established at both ends or has failed.
    var onConnectDone: ((InsidePair) -> Void)?

    init(_ timeline: Timeline, _ origins: LinkOrigins) {
        (self.timeline, self.origins) = (timeline, origins)
        connectHold = timeline.hold("connecting \(origins.name)")
    }

    deinit { for hold in [connectHold, closeHold, toDialler.hold, toAcceptor.hold] { hold.map { timeline.release($0) } } }

    // MARK: Connecting

    /// False when an acceptor's end has joined already.
    func join() -> Bool {
        guard acceptor == .absent else { return false }
        acceptor = .connecting
        return true
    }

    var hasAcceptor: Bool { acceptor != .absent }

    func established(_ end: End) {
        if end == .dialler { dialler = .established } else { acceptor = .established }
        checkConnected()
    }

    func renewConnectHold() {
        guard let hold = connectHold else { return }
        connectHold = timeline.hold("connecting \(origins.name)")
        timeline.release(hold)
    }

    private func checkConnected() {
        guard let hold = connectHold, dialler != .connecting, acceptor != .connecting else { return }
        connectHold = nil
        timeline.release(hold)
        onConnectDone?(self)
        onConnectDone = nil
    }

    // MARK: Frames

    /// A frame is about to be written by `end`.
    func sent(by end: End) {
        if end == .dialler { Self.sent(&toAcceptor, timeline, origins) } else { Self.sent(&toDialler, timeline, origins) }
    }

    /// A frame has been read by `end`; what it causes is queued already.
    func received(by end: End) {
        if end == .dialler { Self.received(&toDialler, timeline, origins) } else { Self.received(&toAcceptor, timeline, origins) }
    }

    func paused(_ end: End, _ isPaused: Bool) {
        if end == .dialler {
            Self.paused(&toDialler, isPaused, timeline, origins)
        } else {
            Self.paused(&toAcceptor, isPaused, timeline, origins)
        }
        checkClose()
    }

    private static func sent(_ direction: inout Direction, _ timeline: Timeline, _ origins: LinkOrigins) {
        direction.inFlight += 1
        if direction.hold == nil, !direction.isPaused { direction.hold = timeline.hold("frame of \(origins.name)") }
    }

    private static func received(_ direction: inout Direction, _ timeline: Timeline, _ origins: LinkOrigins) {
        direction.inFlight = max(0, direction.inFlight - 1)
        guard let hold = direction.hold else { return }
        // Renewed with every frame: a long burst is not a stuck one.
        direction.hold = direction.inFlight > 0 ? timeline.hold("frame of \(origins.name)") : nil
        timeline.release(hold)
    }

    private static func paused(_ direction: inout Direction, _ isPaused: Bool, _ timeline: Timeline, _ origins: LinkOrigins) {
        direction.isPaused = isPaused
        if isPaused, let hold = direction.hold {
            direction.hold = nil
            timeline.release(hold)
        } else if !isPaused, direction.inFlight > 0, direction.hold == nil {
            direction.hold = timeline.hold("frame of \(origins.name)")
        }
    }

    // MARK: The end

    private var isHalfClosed = false

    /// `end` has written its last and waits for the other, or has let go.
    func closing() {
        isHalfClosed = true
        checkClose()
    }

    /// `end` is over: nothing is on the way to it any more.
    func ended(_ end: End) {
        if end == .dialler {
            dialler = .ended
            Self.clear(&toDialler, timeline)
        } else {
            acceptor = .ended
            Self.clear(&toAcceptor, timeline)
        }
        checkConnected()
        isHalfClosed = true
        checkClose()
    }

    private static func clear(_ direction: inout Direction, _ timeline: Timeline) {
        direction.inFlight = 0
        if let hold = direction.hold { timeline.release(hold) }
        direction.hold = nil
        direction.isPaused = false
    }

    private func checkClose() {
        let open = dialler != .ended || acceptor == .connecting || acceptor == .established
        let needed = isHalfClosed && hasAcceptor && open && !toDialler.isPaused && !toAcceptor.isPaused
        if needed, closeHold == nil {
            closeHold = timeline.hold("close of \(origins.name)")
        } else if !needed, let hold = closeHold {
            closeHold = nil
            timeline.release(hold)
        }
    }
}
