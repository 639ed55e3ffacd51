import Glibc
import Synchronization

/// The one diagnostic log. Lines go to standard error, never to standard output, which belongs to a command's result.
///
/// Callers never pass passcodes, keys or PINs. Model facts belong to the journal and not here.
public struct Log: Sendable {
    /// How much a line matters; a level shows itself and everything graver.
    public enum Level: Int, Sendable, Comparable, CaseIterable {
        /// Something that should work does not.
        case error = 0
        /// Something looks wrong but goes on.
        case warning
        /// What an operator may want to know.
        case info
        /// What only a developer wants to know.
        case debug

        public static func < (left: Self, right: Self) -> Bool { left.rawValue < right.rawValue }

        /// The level that `name` names, in any case; nil for another word.
        public init?(name: String) {
            guard let level = Self.allCases.first(where: { "\($0)" == name.lowercased() }) else { return nil }
            self = level
        }
    }

    /// Gets every line that is shown, without a line end. Called on the thread that logs.
    public typealias Sink = @Sendable (Level, String) -> Void

    private struct Output: Sendable { var sink: Sink? }
    private static let output = Locked(Output())
    private static let threshold = Atomic<Int>(
        (getenv("HEARTH_LOG").flatMap { Level(name: String(cString: $0)) } ?? .warning).rawValue)

    /// What part of the program speaks, for example `tls`.
    public let subsystem: String

    /// A log of one part of the program.
    public init(_ subsystem: String) { self.subsystem = subsystem }

    /// What is shown: at first what the environment variable `HEARTH_LOG` says (`error`, `warning`, `info`, `debug`), else warnings.
    public static var level: Level {
        get { Level(rawValue: threshold.load(ordering: .relaxed)) ?? .warning }
        set { threshold.store(newValue.rawValue, ordering: .relaxed) }
    }

    /// Sends lines to `sink` instead of standard error; nil goes back to that. Returns the sink before. For tests.
    @discardableResult
    public static func setSink(_ sink: Sink?) -> Sink? {
        output.withLock { output in
            defer { output.sink = sink }
            return output.sink
        }
    }

    /// True when a line of `level` is shown, for callers whose line is dear to make.
    public static func shows(_ level: Level) -> Bool { level.rawValue <= threshold.load(ordering: .relaxed) }

    /// Logs what should work and does not.
    public func error(_ message: @autoclosure () -> String) { write(.error, message) }
    /// Logs what looks wrong.
    public func warning(_ message: @autoclosure () -> String) { write(.warning, message) }
    /// Logs what an operator may want to know.
    public func info(_ message: @autoclosure () -> String) { write(.info, message) }
    /// Logs what a developer may want to know.
    public func debug(_ message: @autoclosure () -> String) { write(.debug, message) }

    private func write(_ level: Level, _ message: () -> String) {
        guard Self.shows(level) else { return }
        let line = "\(level) \(subsystem): \(Self.oneLine(message()))"
        if let sink = Self.output.withLock({ $0.sink }) { return sink(level, line) }
        var text = "\(Self.timestamp()) \(line)\n"
        text.withUTF8 { bytes in
            // One call a line, so that lines of several threads do not mix; what a full pipe refuses is lost.
            var rest = UnsafeRawBufferPointer(bytes)
            while !rest.isEmpty {
                let count = Glibc.write(STDERR_FILENO, rest.baseAddress, rest.count)
                if count < 0 && errno == EINTR { continue }
                guard count > 0 else { return }
                rest = UnsafeRawBufferPointer(rebasing: rest[count...])
            }
        }
    }

    /// What a peer sent may stand in a message: it must not be able to forge a line or to drive a terminal.
    private static func oneLine(_ message: String) -> String {
        func isControl(_ scalar: Unicode.Scalar) -> Bool { scalar.value < 0x20 || (0x7f...0x9f).contains(scalar.value) }
        guard message.unicodeScalars.contains(where: isControl) else { return message }
        return message.unicodeScalars.reduce(into: "") { text, scalar in
            if isControl(scalar) {
                text += "\\u{" + String(scalar.value, radix: 16) + "}"
            } else {
                text.unicodeScalars.append(scalar)
            }
        }
    }

    /// The system's time, UTC, to the millisecond, in the form of ISO 8601.
    private static func timestamp() -> String {
        var now = timespec()
        clock_gettime(CLOCK_REALTIME, &now)
        var parts = tm()
        gmtime_r(&now.tv_sec, &parts)
        func padded(_ value: Int, _ width: Int) -> String {
            let digits = String(value)
            return String(repeating: "0", count: max(0, width - digits.count)) + digits
        }
        let date = [Int(parts.tm_year) + 1900, Int(parts.tm_mon) + 1, Int(parts.tm_mday)].map { padded($0, 2) }
        let time = [Int(parts.tm_hour), Int(parts.tm_min), Int(parts.tm_sec)].map { padded($0, 2) }
        return date.joined(separator: "-") + "T" + time.joined(separator: ":") + "." + padded(now.tv_nsec / 1_000_000, 3) + "Z"
    }
}
