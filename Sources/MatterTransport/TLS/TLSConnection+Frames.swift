import COpenSSL
import HearthTime
import MatterMessage

// Input and output of frames once the handshake is done.
extension TLSConnection {
    /// Sends one message of at most `Frame.limit` bytes; a longer one ends the connection, since nothing sensible can follow. Does
    /// nothing on a connection that is not open.
    public func send(_ message: UnsafeRawBufferPointer) {
        guard phase == .open else { return }
        guard message.count <= Frame.limit else {
            return finish(TLSError(.closedHere, "a message of \(message.count) bytes exceeds \(Frame.limit)"))
        }
        pair?.sent(by: end)
        // One buffer and so one record for header and message.
        withUnsafeTemporaryAllocation(byteCount: Frame.headerSize + message.count, alignment: 4) { buffer in
            buffer.storeBytes(of: UInt32(message.count).littleEndian, as: UInt32.self)
            UnsafeMutableRawBufferPointer(rebasing: buffer[Frame.headerSize...]).copyMemory(from: message)
            write(UnsafeRawBufferPointer(buffer))
        }
    }

    /// A frame that belongs to the handshake.
    func write(framing message: [UInt8]) {
        let length = UInt32(message.count)
        let bytes = (0..<4).map { UInt8(truncatingIfNeeded: length >> (8 * $0)) } + message
        bytes.withUnsafeBytes { write($0) }
    }

    /// Writes bytes that are already framed.
    func write(_ bytes: UnsafeRawBufferPointer) {
        var rest = bytes
        if output.isEmpty {
            while !rest.isEmpty {
                if ERR_peek_error() != 0 { ERR_clear_error() }
                let count = SSL_write(ssl, rest.baseAddress, Int32(rest.count))
                if count > 0 {
                    rest = UnsafeRawBufferPointer(rebasing: rest[Int(count)...])
                    continue
                }
                if !wantsMore(count) { return }
                break
            }
        }
        if rest.isEmpty { return }
        if output.count + rest.count > transport.limits.output {
            return finish(TLSError(.outputOverflow, "the peer does not read"))
        }
        output.append(contentsOf: rest)
        updateWatch()
    }

    func flush() {
        var sent = 0
        while sent < output.count {
            ERR_clear_error()
            let count = output.withUnsafeBytes { bytes in
                let rest = UnsafeRawBufferPointer(rebasing: bytes[sent...])
                return SSL_write(ssl, rest.baseAddress, Int32(rest.count))
            }
            if count <= 0 {
                if !wantsMore(count) { return }
                break
            }
            sent += Int(count)
        }
        output.removeFirst(sent)
        if output.isEmpty { output = [] }
        updateWatch()
    }

    func updateWatch() { stream?.watch(readable: !isPaused || phase == .closing, writable: !output.isEmpty) }

    /// True when a write only has to wait; otherwise the connection is over.
    private func wantsMore(_ status: Int32) -> Bool {
        let code = SSL_get_error(ssl, status)
        if code == SSL_ERROR_WANT_WRITE || code == SSL_ERROR_WANT_READ { return true }
        finish(failure(.broken, "write"))
        return false
    }

    // MARK: Input

    /// Reads what there is, but leaves the loop to others after so many records: a peer that never stops must not keep the thread.
    private static var recordsPerTurn: Int { 16 }

    func readFrames() {
        var records = 0
        // One record at most fits; it is cut into frames in place.
        withUnsafeTemporaryAllocation(byteCount: 16 * 1024, alignment: 8) { buffer in
            while canRead {
                if records == Self.recordsPerTurn { return readLater() }
                records += 1
                if ERR_peek_error() != 0 { ERR_clear_error() }
                let count = SSL_read(ssl, buffer.baseAddress, Int32(buffer.count))
                if count > 0 {
                    decode(UnsafeRawBufferPointer(rebasing: buffer[..<Int(count)]))
                    continue
                }
                switch SSL_get_error(ssl, count) {
                case SSL_ERROR_WANT_READ: return limitFrame()
                case SSL_ERROR_WANT_WRITE:
                    stream?.watch(readable: true, writable: true)
                    return
                case SSL_ERROR_ZERO_RETURN: return peerClosed()
                // Before the first frame an alert is the acceptor's verdict on our certificate.
                default: return finish(failure(phase == .awaitingEstablished ? .handshake : .broken, "read"))
                }
            }
        }
    }

    private var canRead: Bool { (phase == .open || phase == .awaitingEstablished) && !isPaused }

    /// Cuts `bytes`, or what was kept, into frames. The decoder is taken out meanwhile: what a frame causes may come back here.
    private func decode(_ bytes: UnsafeRawBufferPointer?) {
        var working = decoder
        decoder = FrameDecoder()
        do throws(TLSError) {
            if let bytes { try working.push(bytes) { deliver($0) } } else { try working.resume { deliver($0) } }
        } catch {
            finish(error)
        }
        if phase != .closed { decoder = working }
    }

    private func deliver(_ message: UnsafeRawBufferPointer) -> FrameDecoder.Verdict {
        switch phase {
        case .awaitingEstablished: establish(message)
        case .open:
            if mustDefer {
                report(.frame(Array(message)))
                pair?.received(by: end)
            } else {
                onMessage?(message)
            }
        case .connecting, .handshaking, .closing, .closed: break
        }
        if phase == .closed || phase == .closing { return .stop }
        return isPaused ? .pause : .next
    }

    /// Dialler: the acceptor's first frame.
    private func establish(_ message: UnsafeRawBufferPointer) {
        if let delay = Frame.busyDelay(message) {
            let why = mode == .pairing ? "is pairing with somebody else" : "has as many sessions of this home as it can serve"
            return finish(TLSError(.busy, "the device \(why); try again in \(delay)"))
        }
        guard message.elementsEqual(Frame.established) else {
            return finish(TLSError(.protocolViolation, "the first frame is not 'session established'"))
        }
        phase = .open
        cancelDeadline()
        let pair = pair
        report(.opened)
        pair?.established(.dialler)
        leaveOutsidePeer()
    }

    private func readLater() {
        _ = stream?.schedule(after: .zero) { [weak self] in
            if let self, self.canRead { self.readFrames() }
        }
    }

    /// A frame that has begun must end in time, or the peer ties up memory for nothing.
    private func limitFrame() {
        guard !decoder.isEmpty || SSL_has_pending(ssl) == 1 else {
            frameTimer?.cancel()
            frameTimer = nil
            return
        }
        guard frameTimer == nil else { return }
        let count = decoder.count
        frameTimer = stream?.schedule(after: transport.limits.frame) { [weak self] in
            guard let self, self.canRead else { return }
            self.frameTimer = nil
            // Others have been completed since: this one is younger.
            if self.decoder.count != count { return self.limitFrame() }
            self.finish(TLSError(.timedOut, "a frame did not come to its end"))
        }
    }

    // MARK: Flow control

    /// Stops reading: the peer's frames stay in the kernel, and at last with the peer. Frames that were read already are handed on
    /// after `resumeReading`.
    public func pauseReading() {
        guard phase == .open, !isPaused else { return }
        isPaused = true
        frameTimer?.cancel()
        frameTimer = nil
        pair?.paused(end, true)
        updateWatch()
    }

    /// Reads again. What waits is handed on soon, not from within this call.
    public func resumeReading() {
        guard isPaused else { return }
        isPaused = false
        guard phase == .open else { return }
        pair?.paused(end, false)
        updateWatch()
        if !deferred.isEmpty { scheduleReports() }
        // What OpenSSL and the decoder hold, epoll knows nothing of.
        _ = stream?.schedule(after: .zero) { [weak self] in self?.readOn() }
    }

    private func readOn() {
        guard canRead else { return }
        decode(nil)
        if canRead { readFrames() }
    }
}
