import HearthTime
import MatterInteraction
import MatterMessage

/// A link that lets somebody look at its messages, and drop or delay them. Order is kept in each direction.
final class InterceptedLink: MessageLink {
    var onMessage: ((UnsafeRawBufferPointer) -> Void)?
    var onClose: ((LinkError?) -> Void)?
    /// What happens to a message; nil passes everything.
    var verdict: ((_ isOutgoing: Bool, ProtocolHeader, UnsafeRawBufferPointer) -> NodeInterceptions.FrameVerdict)?

    private let link: any MessageLink
    private let timeline: Timeline
    private let origin: Timeline.Origin
    /// When the last delayed message of a direction is due: nothing may overtake it.
    private var due: (incoming: ModelInstant, outgoing: ModelInstant) = (.zero, .zero)
    private var isClosed = false
    /// Answers that the session waits for.
    private var owed = 0
    /// Answers for which time stands still.
    private var told = 0
    /// Messages that a fault delays, either way. Time has to go on for them: nothing can be answered that has not gone, and what has come
    /// is to be seen later.
    private var delayed = 0
    /// A fault has let the last message vanish, or an answer: nobody need wait.
    private var isInVain = false

    init(_ link: any MessageLink, timeline: Timeline, origin: Timeline.Origin) {
        (self.link, self.timeline, self.origin) = (link, timeline, origin)
        // Not weak, which would slow down every use of this link: the deinit takes them back.
        link.onMessage = { [unowned self] in received($0) }
        link.onClose = { [unowned self] error in
            isClosed = true
            let callback = onClose
            (onMessage, onClose, verdict) = (nil, nil, nil)
            callback?(error)
        }
    }

    deinit { (link.onMessage, link.onClose) = (nil, nil) }

    var maximumMessageSize: Int { link.maximumMessageSize }
    func close() { afterOutgoing { $0.link.close() } }
    func abort(_ error: LinkError) { link.abort(error) }
    func pauseReading() { link.pauseReading() }
    func resumeReading() { link.resumeReading() }

    func expectAnswer() {
        guard !isInVain else { return }
        owed += 1
        tellWaits()
    }

    func answerArrived() {
        owed = max(0, owed - 1)
        tellWaits()
    }

    private func tellWaits() {
        let wanted = delayed > 0 ? 0 : owed
        while told < wanted {
            told += 1
            link.expectAnswer()
        }
        while told > wanted {
            told -= 1
            link.answerArrived()
        }
    }

    private func vanished() {
        (owed, isInVain) = (0, true)
        tellWaits()
    }

    func send(_ message: UnsafeRawBufferPointer) {
        guard !isClosed else { return }
        isInVain = false
        switch judge(true, message) {
        case .pass: if timeline.now >= due.outgoing { link.send(message) } else { later(true, .zero, message) }
        case .drop: vanished()
        case .delay(let span): later(true, span, message)
        case .reset: link.abort(LinkError(.closedHere, "a fault broke the connection"))
        }
    }

    private func received(_ message: UnsafeRawBufferPointer) {
        switch judge(false, message) {
        case .pass: if timeline.now >= due.incoming { onMessage?(message) } else { later(false, .zero, message) }
        case .drop: vanished()
        case .delay(let span): later(false, span, message)
        case .reset: link.abort(LinkError(.closedHere, "a fault broke the connection"))
        }
    }

    private func judge(_ isOutgoing: Bool, _ message: UnsafeRawBufferPointer) -> NodeInterceptions.FrameVerdict {
        guard let verdict, let (header, payload) = ProtocolHeader.split(message) else { return .pass }
        return verdict(isOutgoing, header, payload)
    }

    private func later(_ isOutgoing: Bool, _ span: Duration, _ message: UnsafeRawBufferPointer) {
        let bytes = Array(message)
        let when = max(timeline.now + span, isOutgoing ? due.outgoing : due.incoming)
        if isOutgoing { due.outgoing = when } else { due.incoming = when }
        delayed += 1
        tellWaits()
        timeline.after(when - timeline.now, origin: origin, phase: .delivery) { [weak self] in
            guard let self else { return }
            delayed -= 1
            guard !isClosed else { return }
            tellWaits()
            bytes.withUnsafeBytes { if isOutgoing { self.link.send($0) } else { self.onMessage?($0) } }
        }
    }

    private func afterOutgoing(_ body: @escaping (InterceptedLink) -> Void) {
        guard timeline.now < due.outgoing else { return body(self) }
        timeline.after(due.outgoing - timeline.now, origin: origin) { [self] in body(self) }
    }
}
