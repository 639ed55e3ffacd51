import HearthTime
import MatterMessage

// What a connection tells its user, and when.
extension TLSConnection {
    enum Report {
        case opened
        case frame([UInt8])
        case closed(TLSAcceptor?)

        var isOpened: Bool { if case .opened = self { true } else { false } }
        var isClosed: Bool { if case .closed = self { true } else { false } }
    }

    /// In virtual time what a socket brings becomes an entry: the timeline orders it, not the kernel. What comes through memory is in
    /// an entry already, and in real time the kernel's order is as good as any.
    var mustDefer: Bool {
        guard stream?.isOrdered != true else { return false }
        return !deferred.isEmpty || transport.registry.isVirtual
    }

    /// Tells the user, now or in an entry of its own. The end always comes in an entry, since it may be caused by a call of the user.
    func report(_ report: Report) {
        if mustDefer || report.isClosed {
            deferred.append(report)
            updateAnswerHold()
            if report.isClosed {
                if transport.registry.isStopped { return tellAll() }
                transport.registry.isOver(self)
            }
            transport.timeline.after(.zero, origin: origin, phase: .delivery) { self.runReport() }
        } else {
            tell(report)
        }
    }

    /// The timeline is ending: now or never.
    func tellAll() {
        while !deferred.isEmpty { tell(deferred.removeFirst()) }
    }

    /// Whether the peer may be in another process: the two ends are connected neither in memory nor, in virtual time, with each other.
    public var isFromOutside: Bool { stream?.isOrdered == false && pair == nil }

    /// After a pause: an entry for each that waits.
    func scheduleReports() {
        for _ in deferred { transport.timeline.after(.zero, origin: origin, phase: .delivery) { self.runReport() } }
    }

    private func runReport() {
        // A pause keeps frames, but not once the connection is over: the end must be told after them.
        guard let first = deferred.first, !isPaused || phase == .closed else { return }
        deferred.removeFirst()
        tell(first)
        updateAnswerHold()
    }

    private func tell(_ report: Report) {
        switch report {
        case .opened:
            wasReported = true
            if case .acceptor(let acceptor) = role { return acceptor.opened(self) }
            let completion = completion
            self.completion = nil
            completion?(.success(self))
        case .frame(let message): message.withUnsafeBytes { onMessage?($0) }
        case .closed(let acceptor):
            transport.registry.isTold(self)
            let (completion, callback) = (completion, onClose)
            (self.completion, onMessage, onClose) = (nil, nil, nil)
            if origins.isOwned, !isAcceptorEnd { transport.registry.giveBack(origins) }
            if let completion { return completion(.failure(closeReason ?? TLSError(.closedHere, "the connection was given up"))) }
            acceptor?.ended(self)
            callback?(closeReason?.linkError)
        }
    }
}

// Peers outside the process, in virtual time.
extension TLSConnection {
    /// Something was sent whose answer is to count as instantaneous: model time stands still until `answerArrived` or the end of the
    /// connection, but no longer than the timeline's limit for a hold. Does nothing in real time, nor when the peer is inside.
    public func expectAnswer() {
        guard phase == .open, pair == nil, stream?.isOrdered == false, transport.registry.isVirtual else { return }
        answersOwed += 1
        updateAnswerHold()
    }

    /// An answer that was expected has come, or nobody waits for it any more.
    public func answerArrived() {
        guard answersOwed > 0 else { return }
        answersOwed -= 1
        updateAnswerHold()
    }

    /// No hold while something waits for its entry: entries do not run under a hold, and this may be the answer.
    func updateAnswerHold() {
        let needed = answersOwed > 0 && deferred.isEmpty && phase == .open
        if needed, answerHold == nil {
            answerHold = transport.timeline.hold("answer from \(address?.description ?? "outside")")
        } else if !needed, let hold = answerHold {
            answerHold = nil
            transport.timeline.release(hold)
        }
    }

    /// Dialler, once established: an end that no acceptor here has taken is outside.
    func leaveOutsidePeer() {
        forgetPairKey()
        if pair?.hasAcceptor == false { pair = nil }
    }

    func forgetPairKey() {
        if let pairKey { transport.registry.forget(pairKey) }
        pairKey = nil
    }
}
