import HearthTime
import MatterModel
import MatterTLV

/// Plays a scenario on a simulator: in virtual time it moves the clock, in real time it waits.
struct ScenarioPlayer {
    let simulator: Simulator
    private var timeline: Timeline { simulator.timeline }
    private var faults: [(name: String?, number: Int)] = []
    private var begin = ModelInstant.zero
    /// The first journal entry that belongs to the scenario.
    private var firstEntry: UInt64 = 0

    init(_ simulator: Simulator) { self.simulator = simulator }

    /// Plays every step, also after one that failed, and clears what faults are left of it, also when it is cancelled.
    /// - Throws: `SimulatorError.unknownDevice`, before anything is played; when time itself fails; `CancellationError`.
    mutating func play(_ scenario: Scenario) async throws -> [ScenarioOutcome] {
        try await check(scenario)
        var outcomes: [ScenarioOutcome] = []
        begin = timeline.now
        firstEntry = try await simulator.lastJournalNumber() + 1
        for (index, step) in scenario.steps.enumerated() {
            var problem: String?
            do {
                if let start = step.start { try await move(to: begin + start) }
                problem = try await perform(step.action)
            } catch  where error is TimelineError || error is CancellationError {
                await clearFaults()
                throw error
            } catch {
                problem = String(describing: error)
            }
            outcomes.append(
                ScenarioOutcome(
                    step: index + 1, title: step.action.title, isOK: problem == nil, message: problem.map { "\(step.place): \($0)" },
                    time: timeline.now))
        }
        await clearFaults()
        return outcomes
    }

    /// Hours may pass before a step meets a device that is not there.
    private func check(_ scenario: Scenario) async throws {
        let known = try await simulator.members().map(\.name)
        let mistakes = scenario.steps.compactMap { step -> String? in
            guard let name = step.action.device, !known.contains(name) else { return nil }
            return "\(step.place): \(DataModel.unknownName(name, "device", among: known, none: "none is running"))"
        }
        guard mistakes.isEmpty else {
            throw SimulatorError(.unknownDevice, "nothing was played: " + mistakes.joined(separator: "\n"))
        }
    }

    private func clearFaults() async { for fault in faults { try? await simulator.clearFault(fault.number) } }

    /// Nil when it went well, else why not.
    private mutating func perform(_ action: Scenario.Action) async throws -> String? {
        switch action {
        case .set(let device, let path, let value): try await simulator.set(device, path, value)
        case .trigger(let device, let path, let fields): _ = try await simulator.trigger(device, path, fields)
        case .fault(let device, let members, let name):
            faults.append((name, try await simulator.addFault(device, members)))
        case .clearFault(let name):
            let cleared = faults.filter { name == nil || $0.name == name }
            faults.removeAll { name == nil || $0.name == name }
            for fault in cleared { try await simulator.clearFault(fault.number) }
        case .expect(let device, let expectation, let limit): return try await expect(device, expectation, within: limit)
        case .advance(let span): try await move(to: timeline.now + span)
        case .power(let device, let power):
            switch power {
            case .stop: try await simulator.stop(device)
            case .kill: try await simulator.stop(device, abruptly: true)
            case .start: try await simulator.start(device)
            case .reboot: try await simulator.reboot(device)
            }
        }
        return nil
    }

    private func move(to instant: ModelInstant) async throws {
        let now = timeline.now
        guard instant > now else { return }
        if case .real = timeline.mode { try await timeline.sleep(for: instant - now) } else { try await timeline.advance(to: instant) }
    }

    /// Looks every 100 ms until it is so or the time is over.
    private func expect(_ device: String, _ expectation: Scenario.Expectation, within limit: Duration) async throws -> String? {
        let end = timeline.now + limit
        while true {
            guard let problem = try await problem(device, expectation) else { return nil }
            guard timeline.now < end else { return limit > .zero ? "\(problem), after \(Scenario.text(limit))" : problem }
            try await move(to: min(end, timeline.now + .milliseconds(100)))
        }
    }

    private func problem(_ device: String, _ expectation: Scenario.Expectation) async throws -> String? {
        switch expectation {
        case .equals(let path, let wanted):
            let value = try await simulator.value(device, path)
            if Self.isSame(value, wanted) { return nil }
            return "\(Scenario.title(device, path)) is \(Scenario.text(value, path)), not \(Scenario.text(wanted, path))"
        case .between(let path, let minimum, let maximum):
            let value = try await simulator.value(device, path)
            guard let number = value.plainNumber else {
                return "\(Scenario.title(device, path)) is \(ValueJSON.json(value).text()), which is no number"
            }
            if let minimum, number < minimum { return "\(Scenario.title(device, path)) is \(number), less than \(minimum)" }
            if let maximum, number > maximum { return "\(Scenario.title(device, path)) is \(number), more than \(maximum)" }
            return nil
        case .event(let path, let fields):
            let events = try await simulator.journal(
                device: device, kinds: [.event], endpoint: path.endpoint, cluster: path.cluster, from: firstEntry, limit: .max)
            let isThere = events.contains { entry in
                entry.event == path.event && (fields.members ?? []).allSatisfy { Self.isSame(entry.value?[$0.tag], $0.value) }
            }
            return isThere ? nil : "there was no such event \(Scenario.title(device, path))"
        }
    }

    /// Numbers are the same whatever their sign's encoding.
    private static func isSame(_ value: TLVValue?, _ wanted: TLVValue) -> Bool {
        if value == wanted { return true }
        guard let number = value?.plainNumber, let other = wanted.plainNumber else { return false }
        return number == other
    }
}

extension TLVValue {
    fileprivate var plainNumber: Double? {
        switch self {
        case .signed(let number): Double(number)
        case .unsigned(let number): Double(number)
        case .float(let number): Double(number)
        case .double(let number): number
        default: nil
        }
    }
    fileprivate var members: [TLVElement]? { if case .structure(let members) = self { members } else { nil } }
    fileprivate subscript(tag: TLVTag) -> TLVValue? { members?.first { $0.tag == tag }?.value }
}

extension Scenario {
    /// A value as people read it.
    static func text(_ value: TLVValue, _ path: AttributePath) -> String {
        guard let attribute = DataModel.cluster(id: path.cluster)?.attribute(id: path.attribute) else {
            return ValueJSON.json(value).text()
        }
        return ValueText(attribute, in: path.cluster).format(value)
    }

    /// `250 ms`, `1 min 30 s`, `2 h`.
    static func text(_ span: Duration) -> String {
        let (seconds, fraction) = span.components
        let milliseconds = fraction / 1_000_000_000_000_000
        let parts = [(seconds / 3600, "h"), (seconds / 60 % 60, "min"), (seconds % 60, "s"), (milliseconds, "ms")].filter { $0.0 > 0 }
        return parts.isEmpty ? "0 s" : parts.map { "\($0.0) \($0.1)" }.joined(separator: " ")
    }

    static func title(_ device: String, _ path: AttributePath) -> String {
        let definition = DataModel.cluster(id: path.cluster)
        let attribute = definition?.attribute(id: path.attribute)?.name ?? path.attribute.description
        return "\(device)/\(path.endpoint) \(definition?.name ?? path.cluster.description).\(attribute)"
    }

    static func title(_ device: String, _ path: EventPath) -> String {
        let definition = DataModel.cluster(id: path.cluster)
        let event = definition?.event(id: path.event)?.name ?? path.event.description
        return "\(device)/\(path.endpoint) \(definition?.name ?? path.cluster.description).\(event)"
    }
}

extension Scenario.Action {
    /// The device that the step names; nil when it is about all of them, or about time.
    var device: String? {
        switch self {
        case .set(let device, _, _), .trigger(let device, _, _), .expect(let device, _, _), .power(let device, _): device
        case .fault(let device, _, _): device
        case .clearFault, .advance: nil
        }
    }

    /// A few words for people.
    var title: String {
        switch self {
        case .set(let device, let path, let value): "set \(Scenario.title(device, path)) to \(Scenario.text(value, path))"
        case .trigger(let device, let path, _): "trigger \(Scenario.title(device, path))"
        case .fault(let device, let members, _): "fault \(members["kind"]?.string ?? "") on \(device ?? "all devices")"
        case .clearFault(let name): "clear \(name.map { "fault \($0)" } ?? "all faults")"
        case .expect(let device, .equals(let path, let value), _):
            "expect \(Scenario.title(device, path)) to be \(Scenario.text(value, path))"
        case .expect(let device, .between(let path, _, _), _): "expect \(Scenario.title(device, path)) within bounds"
        case .expect(let device, .event(let path, _), _): "expect the event \(Scenario.title(device, path))"
        case .advance(let span): "wait \(Scenario.text(span))"
        case .power(let device, let power): "\(power.rawValue) \(device)"
        }
    }
}

extension Simulator {
    /// Plays a scenario step by step; one that fails does not keep the others from being played.
    /// - Throws: `SimulatorError.unknownDevice` when a step names none of this simulator's, before anything is played; `TimelineError` when
    ///   time itself fails.
    public nonisolated func play(_ scenario: Scenario) async throws -> [ScenarioOutcome] {
        var player = ScenarioPlayer(self)
        return try await player.play(scenario)
    }
}
