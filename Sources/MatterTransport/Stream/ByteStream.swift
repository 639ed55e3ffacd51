/// What a stream tells whoever uses it. Calls come on the timeline's thread and never from within a call to the stream.
protocol ByteStreamUser: AnyObject {
    /// The stream can be read, or written, as far as it is watched for that, or has failed, which is always told.
    func streamIsReady(readable: Bool, writable: Bool, failed: Bool)
    /// The timeline stops: let go now, nothing will be called any more.
    func streamStops()
}

/// An ordered stream of bytes between two ends, not blocking: a socket or a pair of queues in memory. TLS runs over it through
/// `StreamBIO`, so that one code path serves both.
///
/// A class and not a protocol: the calls from the BIO are then plain virtual calls.
class ByteStream {
    enum Outcome: Equatable {
        /// That many bytes, at least one.
        case bytes(Int)
        /// Nothing now; `streamIsReady` follows when the stream is watched for it.
        case wouldBlock
        /// The peer has ended its direction in order.
        case end
        /// The connection is broken.
        case failed
    }

    /// Kept while the stream is open, so that an open connection needs no other owner.
    final var user: (any ByteStreamUser)?

    /// Reads what is there, at most as much as fits.
    func read(into buffer: UnsafeMutableRawBufferPointer) -> Outcome { .failed }
    /// Takes what fits.
    func write(_ bytes: UnsafeRawBufferPointer) -> Outcome { .failed }
    /// What `user` wants to be told about. Told again as long as it is so.
    func watch(readable: Bool, writable: Bool) {}
    /// No more bytes will be written; the peer reads the end after what was written.
    func finishWriting() {}
    /// Lets the stream go. With `reset` the peer sees a broken connection and what it has not read yet is lost.
    func close(reset: Bool) {}
    /// Runs `body` on the timeline's thread after `delay`: of real time for what has sockets, of model time for what has none.
    func schedule(after delay: Duration, _ body: @escaping () -> Void) -> StreamTimer { StreamTimer {} }
    /// Whether what it reports is ordered by the timeline already. A socket's reports come as the kernel pleases.
    var isOrdered: Bool { false }
}

/// A timer that can be cancelled, of either kind.
struct StreamTimer {
    let cancel: () -> Void
}
