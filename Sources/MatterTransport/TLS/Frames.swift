/// Frames on the wire: a 32-bit little-endian length and that many bytes, which are one message.
public enum Frame {
    /// The longest message in bytes.
    public static let limit = 64_000
    static let headerSize = 4

    /// The acceptor's first frame: a Secure Channel StatusReport, general code SUCCESS, protocol code
    /// SESSION_ESTABLISHMENT_SUCCESS (Matter Core, 4.11.1.4), on exchange 0.
    static let established: [UInt8] = statusReport(general: 0, code: 0)

    /// The acceptor's first frame when it is pairing with somebody else, or has no place for another session: general code BUSY (8), protocol code BUSY (4) and the
    /// least time to wait in milliseconds (Matter Core, 4.11.1.5).
    static func busy(retryAfter: Duration) -> [UInt8] {
        let milliseconds = retryAfter / .milliseconds(1)
        return statusReport(general: 8, code: 4) + bytes(UInt16(max(0, min(milliseconds, 65_535))))
    }

    /// How long a peer that answered BUSY wants to be left alone, or nil when `message` is something else.
    static func busyDelay(_ message: UnsafeRawBufferPointer) -> Duration? {
        let head = statusReport(general: 8, code: 4)
        guard message.count == head.count + 2, message.prefix(head.count).elementsEqual(head) else { return nil }
        return .milliseconds(Int(UInt16(littleEndian: message.loadUnaligned(fromByteOffset: head.count, as: UInt16.self))))
    }

    /// Exchange flags, opcode 0x40, exchange id, protocol id; then general code, protocol id and protocol code.
    private static func statusReport(general: UInt16, code: UInt16) -> [UInt8] {
        [0x00, 0x40, 0x00, 0x00, 0x00, 0x00] + bytes(general) + [0x00, 0x00, 0x00, 0x00] + bytes(code)
    }

    private static func bytes(_ value: UInt16) -> [UInt8] {
        [UInt8(truncatingIfNeeded: value), UInt8(truncatingIfNeeded: value >> 8)]
    }
}

/// Cuts a byte stream into frames. Whole frames are handed on in place; only what cannot be handed on yet is copied, and its
/// memory is let go when it has been, so that an idle connection has no buffer.
struct FrameDecoder {
    enum Verdict {
        /// Go on with the next frame.
        case next
        /// This frame was taken; keep what follows for `resume`.
        case pause
        /// The connection has ended: forget what follows.
        case stop
    }

    private(set) var pending: [UInt8] = []
    /// Frames cut so far. Tells whether a frame that was half read is still the same one.
    private(set) var count: UInt64 = 0

    /// Whether a frame has begun and is not complete, or is kept for `resume`.
    var isEmpty: Bool { pending.isEmpty }

    /// Feeds `bytes`; `deliver` gets each message.
    /// - Throws: `protocolViolation` for a length beyond the limit, before anything of it is stored.
    mutating func push(_ bytes: UnsafeRawBufferPointer, _ deliver: (UnsafeRawBufferPointer) -> Verdict) throws(TLSError) {
        if pending.isEmpty {
            let used = try cut(bytes, deliver)
            if let used, used < bytes.count { pending.append(contentsOf: bytes[used...]) }
            return
        }
        pending.append(contentsOf: bytes)
        try resume(deliver)
    }

    /// Hands on what was kept.
    mutating func resume(_ deliver: (UnsafeRawBufferPointer) -> Verdict) throws(TLSError) {
        if pending.isEmpty { return }
        // Taken out while frames are handed on, so that a frame's bytes cannot move under it.
        let whole = pending
        pending = []
        var result: Result<Int?, TLSError> = .success(nil)
        whole.withUnsafeBytes { buffer in
            do throws(TLSError) { result = .success(try cut(buffer, deliver)) } catch { result = .failure(error) }
        }
        if let used = try result.get(), used < whole.count { pending = used == 0 ? whole : Array(whole[used...]) }
    }

    /// Returns how many bytes were used, or nil when `deliver` said stop.
    private mutating func cut(
        _ bytes: UnsafeRawBufferPointer, _ deliver: (UnsafeRawBufferPointer) -> Verdict
    ) throws(TLSError) -> Int? {
        var used = 0
        while bytes.count - used >= Frame.headerSize {
            let length = Int(UInt32(littleEndian: bytes.loadUnaligned(fromByteOffset: used, as: UInt32.self)))
            guard length <= Frame.limit else {
                throw TLSError(.protocolViolation, "a frame of \(length) bytes exceeds \(Frame.limit)")
            }
            guard bytes.count - used - Frame.headerSize >= length else { break }
            let start = used + Frame.headerSize
            used = start + length
            count &+= 1
            switch deliver(UnsafeRawBufferPointer(rebasing: bytes[start..<used])) {
            case .next: continue
            case .pause: return used
            case .stop: return nil
            }
        }
        return used
    }
}
