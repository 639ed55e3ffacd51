import COpenSSL
import HearthTime
import MatterMessage

// How a connection ends.
extension TLSConnection {
    /// Hands over what was sent, then ends the connection in order. `onClose` follows with nil, at the latest after
    /// `TransportLimits.closing`. While the connection is still being made it is given up.
    public func close() { close(because: nil) }

    /// The same; `reason` is only remembered.
    func close(because reason: TLSError?) {
        switch phase {
        case .connecting, .handshaking, .awaitingEstablished: finish(TLSError(.closedHere, "the connection was given up"))
        case .closing, .closed: break
        case .open:
            phase = .closing
            closeReason = reason
            deferred.removeAll { if case .frame = $0 { true } else { false } }
            cancelTimers()
            deadline = stream?.schedule(after: transport.limits.closing) { [weak self] in self?.finish(self?.closeReason) }
            updateWatch()
            continueClosing()
        }
    }

    /// Ends the connection at once; the peer sees it break. `onClose` follows with `error`.
    public func abort(_ error: LinkError) {
        let code: TLSError.Code =
            switch error.code {
            case .broken: .broken
            case .protocolViolation: .protocolViolation
            case .timedOut: .timedOut
            case .closedHere: .closedHere
            }
        finish(TLSError(code, error.message), reset: true)
    }

    /// Flush, then TLS's closing message, then the end of our direction, then wait for the peer's: closing earlier could reset the
    /// connection and destroy the last answer on its way.
    func continueClosing() {
        if !output.isEmpty { flush() }
        guard phase == .closing, output.isEmpty else { return }
        if !hasSentEnd {
            ERR_clear_error()
            if SSL_shutdown(ssl) < 0, SSL_get_error(ssl, -1) == SSL_ERROR_WANT_WRITE {
                stream?.watch(readable: true, writable: true)
                return
            }
            hasSentEnd = true
            stream?.finishWriting()
            pair?.closing()
            updateWatch()
        }
        discardInput()
    }

    /// What the peer still sends is for nobody; bounded, as all reading.
    private func discardInput() {
        guard let stream else { return }
        withUnsafeTemporaryAllocation(byteCount: 16 * 1024, alignment: 8) { buffer in
            for _ in 0..<16 {
                switch stream.read(into: buffer) {
                case .bytes: continue
                case .wouldBlock: return
                case .end, .failed: return finish(closeReason)
                }
            }
        }
    }

    /// The peer has ended the session in order.
    func peerClosed() {
        if phase == .awaitingEstablished {
            return finish(TLSError(.closedByPeer, "the peer closed before the session was established"))
        }
        finish(nil)
    }

    /// The end, now. `reset` lets the peer see a broken connection; `stopping` means that no entry will run any more.
    func finish(_ error: TLSError?, reset: Bool = false, stopping: Bool = false) {
        guard phase != .closed else { return }
        let established = phase == .open || phase == .awaitingEstablished || phase == .closing
        if established, !reset, !hasSentEnd, !isInsideSSL {
            let isPolite =
                switch error?.code {
                case nil, .wrongPeer, .protocolViolation, .busy, .closedHere, .timedOut: true
                default: false
                }
            ERR_clear_error()
            if isPolite { SSL_shutdown(ssl) }
        }
        // SSL_free marks the session as not resumable unless the closing message was sent; a broken connection is no reason.
        if established { SSL_set_shutdown(ssl, SSL_SENT_SHUTDOWN | SSL_RECEIVED_SHUTDOWN) }
        phase = .closed
        closeReason = error ?? closeReason
        cancelTimers()
        connector?.cancel()
        connector = nil
        stream?.close(reset: reset)
        stream = nil
        free()
        (output, decoder) = ([], FrameDecoder())
        answersOwed = 0
        updateAnswerHold()
        forgetPairKey()
        let admission = transport.admission
        var acceptor: TLSAcceptor?
        if case .acceptor(let mine) = role {
            acceptor = mine
            mine.forget(self)
            admission.leave(self)
        }
        admission.freeSlot(self)
        role = .none
        if error != nil, reset || error?.code == .closedHere || stopping { deferred = deferred.filter { $0.isOpened } }
        report(.closed(acceptor))
        if stopping { tellAll() }
        pair?.ended(end)
        pair = nil
    }

    private func cancelTimers() {
        cancelDeadline()
        frameTimer?.cancel()
        frameTimer = nil
        if let pairingTimer { transport.timeline.cancel(pairingTimer) }
        pairingTimer = nil
    }
}
