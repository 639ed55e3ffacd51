import CommandLineKit
import HearthTime
import MatterController
import MatterInteraction
import MatterModel

let watchCommand = Command(
    "watch", summary: "Show changes and events of a device as they happen",
    discussion: """
        First the values as they are, then every change and event, until Ctrl-C. The subscription survives a restart of the device: a \
        short outage is not mentioned, a long one once; it ends when the device leaves the home. With --json it prints one object a line, as the verb 'subscribe' answers.
        """,
    examples: [
        Example("hearth watch lamp OnOff LevelControl.CurrentLevel", "A cluster and an attribute."),
        Example("hearth watch front-door DoorLock.LockOperation", "An event."),
        Example("hearth watch lamp OnOff.OnOff --count 1", "Ends after one report."),
    ],
    arguments: [
        DeviceArguments.target,
        .positional(
            "path", "CLUSTER[.ELEMENT]", help: "What to watch: attributes and events; without it everything", arity: .any,
            completion: DeviceArguments.element([.attribute, .event])),
        .option("min-interval", "S", help: "Seconds between two reports, at least", kind: .unsigned(0...65535), default: "0"),
        .option(
            "max-interval", "S", help: "Seconds between two signs of life, at most", kind: .unsigned(1...65535), default: "60"),
        .option("count", short: "n", "N", help: "End after so many reports; the first values are none", kind: .unsigned(1...1_000_000_000)),
    ] + HomeOptions.all,
    run: { arguments, terminal in
        let (name, endpoint) = RequestWords.target(try arguments.required("device"))
        let stop = try StopSignal()
        try await OpenHome.with(arguments, terminal) { home in
            let device = try await home.controller.device(name)
            let paths = try RequestWords.watchPaths(arguments.texts("path"), endpoint: endpoint, of: device)
            let watcher = Watcher(terminal, device.name, paths.attributes, arguments, stop)
            let result = try await home.verbs.perform(
                .subscribe(
                    device: device.nodeText, paths: paths.attributes, eventPaths: paths.events,
                    minimum: UInt16(clamping: arguments.unsigned("min-interval") ?? 0),
                    maximum: UInt16(clamping: arguments.unsigned("max-interval") ?? 60)),
                updates: { number, update in watcher.hear(number, update) })
            guard case .subscribed(let number, let values, let events) = result else { return }
            if arguments.flag("json") {
                terminal.line(result.json.text())
                terminal.flush()
            } else {
                watcher.print(values, events)
            }
            home.verbs.open(number)
            let code = try await stop.whileWatching { await stop.wait() }
            _ = try? await home.verbs.perform(.unsubscribe(number))
            if code != .ok { throw Quiet(exitCode: code, message: "") }
        }
    })

/// Prints what a subscription says, until there was enough of it.
private final class Watcher: Sendable {
    private let terminal: Terminal
    private let device: String
    private let asked: [AttributePathPattern]
    private let isJSON: Bool
    private let stop: StopSignal
    private let remaining: Locked<UInt64?>
    /// What was shown last of each attribute: after an outage all values come again, and only what is different is news.
    private let shown = Locked<[String: String]>([:])

    init(
        _ terminal: Terminal, _ device: String, _ asked: [AttributePathPattern], _ arguments: ParsedArguments, _ stop: StopSignal
    ) {
        (self.terminal, self.device, self.asked, self.stop) = (terminal, device, asked, stop)
        isJSON = arguments.flag("json")
        remaining = Locked(arguments.unsigned("count"))
    }

    func hear(_ number: Int, _ update: SubscriptionUpdate) {
        if stop.code != nil { return }
        if isJSON {
            terminal.line(ControllerVerbs.line(number, update).text())
            terminal.flush()
        } else {
            tell(update)
        }
        switch update {
        case .report: count()
        case .ended(let error): stop.give(Failures(error).exitCode)
        case .lost, .restored: break
        }
        if terminal.isBroken { stop.give(.ok) }
    }

    private func tell(_ update: SubscriptionUpdate) {
        switch update {
        case .report(let attributes, let events): print(attributes, events)
        case .lost: terminal.note("\(device) does not answer; waiting for it")
        case .restored: terminal.note("\(device) answers again")
        case .ended(let error): terminal.note("error: \(error)")
        }
    }

    private func count() {
        let isEnough = remaining.withLock { remaining -> Bool in
            guard let left = remaining else { return false }
            remaining = left &- 1
            return left <= 1
        }
        if isEnough { stop.give(.ok) }
    }

    func print(_ attributes: [AttributeReport], _ events: [EventReport]) {
        for report in ReportText.ofInterest(attributes, asked: asked) {
            let line = ReportText.line(report)
            let isNews = shown.withLock {
                $0.updateValue(line.value, forKey: "\(line.endpoint) \(line.cluster) \(line.element)") != line.value
            }
            if isNews { print(line, sign: "=") }
        }
        for report in events { print(ReportText.line(report), sign: "!") }
        terminal.flush()
    }

    private func print(_ line: ReportText.Line, sign: String) {
        let name = "\(device)/\(line.endpoint) \(line.cluster).\(line.element)"
        let value = TextWidth.harmless(line.value)
        terminal.line("\(name) \(sign) \(line.isFailure ? terminal.styled(value, .red) : value)")
    }
}
