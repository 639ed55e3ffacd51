import Glibc
import HearthTime

/// How text looks on a terminal.
public enum Style: String, Sendable {
    case bold = "1"
    case dim = "2"
    case red = "31"
    case green = "32"
    case yellow = "33"
    case cyan = "36"
}

/// Standard output and standard error of a command. Results go to the one, everything else to the other.
///
/// Any thread may write; a call's text stays together. A reader that has gone (`hearth devices | head -1`) is no error: what is
/// written from then on is dropped, and `isBroken` tells a command that runs on and on.
public final class Terminal: Sendable {
    private struct State {
        var pending: [UInt8] = []
        var isBroken = false
        /// The reader of standard error was given up.
        var errorsAreBroken = false
        /// Why standard output takes no more, unless its reader has just gone.
        var failure: Int32?
        /// What a captured terminal was given.
        var captured = (output: [UInt8](), errors: [UInt8]())
        /// A progress line stands on standard error and must be wiped before other text.
        var transient = ""
    }

    private let state = Locked(State())
    private let output: Int32?
    private let errors: Int32?
    private let fixedWidth: Int?
    private let stop: OutputStop

    /// True when standard output is a terminal.
    public let isInteractive: Bool
    /// True when standard error is a terminal.
    public let errorsAreInteractive: Bool
    private let hasStyles: Bool
    private let errorsHaveStyles: Bool

    private init(
        output: Int32?, errors: Int32?, width: Int?, interactive: (Bool, Bool), styles: Bool, stop: OutputStop = .shared
    ) {
        self.output = output
        self.stop = stop
        self.errors = errors
        fixedWidth = width
        (isInteractive, errorsAreInteractive) = interactive
        hasStyles = styles && interactive.0
        errorsHaveStyles = styles && interactive.1
    }

    /// The process's own. Styles need a terminal, and neither `NO_COLOR` nor `TERM=dumb`.
    public static func standard() -> Terminal {
        func variable(_ name: String) -> String { getenv(name).map { String(cString: $0) } ?? "" }
        let term = variable("TERM")
        return Terminal(
            output: 1, errors: 2, width: Int(variable("COLUMNS")).flatMap { $0 > 0 ? $0 : nil },
            interactive: (isatty(1) == 1, isatty(2) == 1), styles: variable("NO_COLOR").isEmpty && term != "dumb" && !term.isEmpty
        )
    }

    /// One that keeps what is written, for tests and for commands within commands.
    public static func captured(width: Int = 80, isInteractive: Bool = false, hasStyles: Bool = false) -> Terminal {
        Terminal(output: nil, errors: nil, width: width, interactive: (isInteractive, isInteractive), styles: hasStyles)
    }

    /// One that writes to these descriptors, which stay the caller's.
    static func writing(output: Int32, errors: Int32, stop: OutputStop = .shared) -> Terminal {
        Terminal(output: output, errors: errors, width: 80, interactive: (false, false), styles: false, stop: stop)
    }

    /// What a captured terminal was given so far.
    public var outputText: String {
        flush()
        return state.withLock { String(decoding: $0.captured.output, as: UTF8.self) }
    }
    public var errorText: String { state.withLock { String(decoding: $0.captured.errors, as: UTF8.self) } }

    /// True when nobody reads standard output any more.
    public var isBroken: Bool { state.withLock { $0.isBroken } }

    /// The `errno` with which standard output refused what was written (a full disk); nil when all is well, or only the reader has gone.
    public var outputFailure: Int32? { state.withLock { $0.failure } }

    /// Cells in a line: of the terminal, else `COLUMNS`, else 80.
    public var width: Int {
        var size = winsize()
        for descriptor in [output, errors] {
            guard let descriptor, isatty(descriptor) == 1 else { continue }
            if ioctl(descriptor, UInt(TIOCGWINSZ), &size) == 0, size.ws_col > 0 { return Int(size.ws_col) }
        }
        return fixedWidth ?? 80
    }

    /// The width that tables are cut to: none where a program reads.
    public var tableWidth: Int? { isInteractive ? width : nil }

    /// `text` in `style` where standard output has styles.
    public func styled(_ text: String, _ style: Style) -> String { hasStyles ? Terminal.escape(text, style) : text }

    func styledForErrors(_ text: String, _ style: Style) -> String { errorsHaveStyles ? Terminal.escape(text, style) : text }

    private static func escape(_ text: String, _ style: Style) -> String { "\u{1B}[\(style.rawValue)m\(text)\u{1B}[0m" }
}

// MARK: - Writing

extension Terminal {
    /// Writes to standard output. On a terminal it is there at once, else with `flush`, with 64 KB, or at the end.
    public func write(_ text: String) {
        state.withLock { state in
            wipe(&state)
            state.pending.append(contentsOf: text.utf8)
            if isInteractive || state.pending.count >= 65_536 { send(&state) }
        }
    }

    /// Writes the text and a line feed to standard output.
    public func line(_ text: String = "") { write(text + "\n") }

    /// Hands over what is buffered: for each line of a command that goes on.
    public func flush() { state.withLock { send(&$0) } }

    /// Writes a line to standard error, at once.
    public func note(_ text: String) {
        state.withLock { state in
            wipe(&state)
            // What was printed before stands before it where both are the same terminal.
            if isInteractive { send(&state) }
            writeErrors(text + "\n", &state)
        }
    }

    /// Replaces the line that comes and goes on standard error; nothing where it is no terminal.
    func transient(_ text: String) {
        guard errorsAreInteractive else { return }
        state.withLock { state in
            guard state.transient != text else { return }
            wipe(&state)
            writeErrors(text, &state)
            state.transient = text
        }
    }

    private func wipe(_ state: inout State) {
        guard !state.transient.isEmpty else { return }
        state.transient = ""
        writeErrors("\r\u{1B}[K", &state)
    }

    private func send(_ state: inout State) {
        defer { state.pending.removeAll(keepingCapacity: true) }
        guard !state.pending.isEmpty, !state.isBroken else { return }
        guard let output else {
            state.captured.output += state.pending
            return
        }
        if let code = writeAll(state.pending, to: output) {
            state.isBroken = true
            if code != EPIPE, code != ECANCELED { state.failure = code }
        }
    }

    private func writeErrors(_ text: String, _ state: inout State) {
        guard let errors else {
            state.captured.errors += Array(text.utf8)
            return
        }
        if state.errorsAreBroken { return }
        if writeAll(Array(text.utf8), to: errors) == ECANCELED { state.errorsAreBroken = true }
    }

    /// The `errno` when it fails: EPIPE when nobody reads, ECANCELED when the program is to stop and the reader takes nothing. The process
    /// must ignore SIGPIPE, which `Program.run` sees to.
    private func writeAll(_ bytes: [UInt8], to descriptor: Int32) -> Int32? {
        bytes.withUnsafeBytes { stop.write($0, to: descriptor) }
    }
}
