import HearthTime

/// What long work is doing, on standard error: a line that changes on a terminal, plain lines elsewhere.
///
/// Use it as stages (`stage`), as a count (`advance`), or both. It has no clock: it draws when it is told something new.
public final class Progress: Sendable {
    private struct State {
        var stage: String?
        var done = 0
        var announced = -1
        var hasEnded = false
    }

    private let terminal: Terminal
    private let label: String
    private let total: Int
    private let state = Locked(State())

    /// - Parameters:
    ///   - label: what is being done: `Starting devices`.
    ///   - total: how many steps `advance` counts; 0 for stages alone.
    public init(_ terminal: Terminal, _ label: String, total: Int = 0) {
        self.terminal = terminal
        self.label = label
        self.total = max(0, total)
    }

    /// Ends the stage before, if any, and begins this one.
    public func stage(_ name: String) {
        let before = state.withLock { state in
            defer { state.stage = name }
            return state.stage
        }
        if terminal.errorsAreInteractive {
            if let before { terminal.note(mark("✓", .green, before)) }
            terminal.transient("… \(name)")
        } else {
            terminal.note("\(label): \(name)")
        }
    }

    /// Says that `done` steps of the total are done. Elsewhere than on a terminal every tenth of the total is a line.
    public func advance(to done: Int) {
        guard total > 0 else { return }
        let done = min(max(0, done), total)
        let isNews = state.withLock { state in
            state.done = done
            let tenth = done * 10 / total
            defer { state.announced = max(tenth, state.announced) }
            return tenth > state.announced && tenth > 0
        }
        if terminal.errorsAreInteractive {
            terminal.transient(bar(done))
        } else if isNews {
            terminal.note("\(label): \(done) of \(total)")
        }
    }

    /// One step more.
    public func advance() { advance(to: state.withLock { $0.done } + 1) }

    /// All is done; `text` says the result in a line.
    public func finish(_ text: String? = nil) { end(text, "✓", .green) }

    /// It failed in the present stage. The error itself is told by whoever catches it.
    public func fail() { end(state.withLock { $0.stage }.map { "\($0): failed" }, "✗", .red) }

    private func end(_ text: String?, _ sign: String, _ style: Style) {
        let (first, stage) = state.withLock { state in
            defer { state.hasEnded = true }
            return (!state.hasEnded, state.stage)
        }
        guard first else { return }
        terminal.transient("")
        if terminal.errorsAreInteractive, let line = text ?? stage {
            terminal.note(mark(sign, style, line))
        } else if let text {
            terminal.note("\(label): \(text)")
        }
    }

    private func mark(_ sign: String, _ style: Style, _ text: String) -> String {
        "\(terminal.styledForErrors(sign, style)) \(text)"
    }

    private func bar(_ done: Int) -> String {
        let count = " \(done)/\(total)"
        let cells = min(30, max(5, terminal.width - TextWidth.of(label) - TextWidth.of(count) - 4))
        let full = total > 0 ? done * cells / total : 0
        let drawn = String(repeating: "█", count: full) + String(repeating: "░", count: cells - full)
        return TextWidth.truncated("\(label) \(drawn)\(count)", to: max(1, terminal.width - 1))
    }
}
