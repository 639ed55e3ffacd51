import Glibc

/// Reads lines from a descriptor until it ends, or until another descriptor becomes readable. Blocks its thread.
struct LineReader {
    enum Line {
        case text([UInt8])
        /// A line longer than the limit; it was skipped.
        case tooLong
    }

    /// The longest line, in bytes.
    static let limit = 4 << 20

    private let descriptor: Int32
    private let stop: Int32
    private var buffer: [UInt8] = []
    /// How much of the buffer is known to have no line end.
    private var searched = 0
    private var isSkipping = false
    private var hasEnded = false

    init(_ descriptor: Int32, stop: Int32) { (self.descriptor, self.stop) = (descriptor, stop) }

    /// The next line without its end; nil at the end of input or when told to stop.
    mutating func next() -> Line? {
        while true {
            if let end = buffer[searched...].firstIndex(of: UInt8(ascii: "\n")) {
                let line = Array(buffer[..<end])
                buffer.removeSubrange(...end)
                searched = 0
                if isSkipping {
                    isSkipping = false
                    return .tooLong
                }
                return .text(line)
            }
            searched = buffer.count
            if buffer.count > Self.limit {
                isSkipping = true
                buffer = []
                searched = 0
            }
            if hasEnded {
                guard !buffer.isEmpty || isSkipping else { return nil }
                // The last line has no end; after it there is nothing.
                defer { (buffer, searched, isSkipping) = ([], 0, false) }
                return isSkipping ? .tooLong : .text(buffer)
            }
            if !fill() { return nil }
        }
    }

    /// False when told to stop.
    private mutating func fill() -> Bool {
        var wanted = [
            pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0), pollfd(fd: stop, events: Int16(POLLIN), revents: 0),
        ]
        while poll(&wanted, 2, -1) < 0 { if errno != EINTR { return false } }
        if wanted[1].revents != 0 { return false }
        var bytes = [UInt8](repeating: 0, count: 65_536)
        let count = read(descriptor, &bytes, bytes.count)
        if count > 0 {
            buffer += bytes[..<count]
        } else if count == 0 || (errno != EINTR && errno != EAGAIN) {
            hasEnded = true
        }
        return true
    }
}
