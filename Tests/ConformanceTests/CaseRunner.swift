import HearthTime
import HomeTestKit
import MatterController
import MatterModel
import MatterSimulator

/// Puts a device of a virtual home through a case, by the verbs of the machine interface.
///
/// Belongs to the home's timeline, on which the test's body runs.
final class CaseRunner {
    struct Failed: Error, CustomStringConvertible { let description: String }

    /// What a verb came to.
    struct Outcome {
        var members: JSONValue = .object([:])
        /// `SUCCESS`, or the name of the status.
        var status = "SUCCESS"
        var clusterStatus: UInt8?
        var message = ""
    }

    private let test: CaseFile.Case
    private let home: VirtualHome
    private let device: String
    private var controllers: [String: ControllerVerbs] = [:]
    private let simulator: SimulatorVerbs
    private var saved: [String: JSONValue] = [:]
    private var subscriptions: [String: Subscription] = [:]
    private var lastEvents: [String: UInt64] = [:]

    /// What a subscription has said and nobody has looked at.
    final class Lines: Sendable { let all = Locked<[JSONValue]>([]) }
    struct Subscription {
        let number: Int
        let lines: Lines
    }

    init(_ test: CaseFile.Case, home: VirtualHome, device: String) {
        (self.test, self.home, self.device) = (test, home, device)
        simulator = SimulatorVerbs(home.simulator)
        controllers["alpha"] = home.verbs(of: home.controller)
    }

    /// - Throws: `Failed` with the step that went otherwise.
    func run() async throws {
        for step in test.steps {
            do {
                if let problem = try await carryOut(step) { throw Failed(description: problem) }
            } catch let error as Failed {
                let journal = try await home.device(device).journal(last: 8).map { "    \($0.json().text())" }
                throw Failed(
                    description: (["\(test), \(step.text): \(error)", "  follows \(test.follows)", "  the device's last journal entries:"]
                        + journal).joined(separator: "\n"))
            }
        }
    }

    private func member(_ step: CaseFile.Step, _ name: String) -> JSONValue? { step[name].map { Expectation.resolve($0, saved) } }

    private func carryOut(_ step: CaseFile.Step) async throws -> String? {
        switch step.verb {
        case "read": return try await read(step)
        case "write": return try await write(step)
        case "invoke": return try await invoke(step)
        case "events": return try await events(step)
        case "subscribe": return try await subscribe(step)
        case "unsubscribe":
            guard let name = step.subject.string, let subscription = subscriptions.removeValue(forKey: name) else {
                return "there is no such subscription"
            }
            return expectSuccess(try await ask(step, ["do": "unsubscribe", "subscription": JSONValue(subscription.number)]))
        case "reports": return reports(step)
        case "wait":
            guard let span = step.subject.integer else { return "milliseconds are wanted" }
            try await home.advance(by: .milliseconds(span))
            return nil
        case "set":
            var request = try path(step, "attribute")
            (request["do"], request["device"], request["value"]) = ("set", .string(device), member(step, "value") ?? .null)
            return status(await simulate(request), step)
        case "trigger":
            var request = try path(step, "event")
            (request["do"], request["device"], request["fields"]) = ("trigger", .string(device), member(step, "fields") ?? .object([:]))
            return status(await simulate(request), step)
        case "power":
            var request: [String: JSONValue] = ["do": step.subject, "device": .string(device)]
            request["reason"] = member(step, "reason")
            return expectSuccess(await simulate(request))
        case "fault":
            var request = step.subject.object ?? [:]
            (request["do"], request["device"]) = ("fault", .string(device))
            return expectSuccess(await simulate(request))
        case "clearFaults": return expectSuccess(await simulate(["do": "clear-fault", "all": true]))
        case "pair": return try await pair(step)
        case "unpair": return expectSuccess(try await ask(step, ["do": "unpair"], by: step.subject.string))
        default: return "an unknown verb"
        }
    }

    // MARK: Asking

    /// `Cluster.Element` or `2/Cluster.Element`; the endpoint is 1 where nothing else is said.
    private func path(_ text: String, _ element: String) throws -> [String: JSONValue] {
        let parts = text.split(separator: "/", maxSplits: 1)
        let endpoint = parts.count == 2 ? UInt16(parts[0]) : 1
        let names = (parts.last ?? "").split(separator: ".", maxSplits: 1)
        guard let endpoint, names.count == 2 else { throw Failed(description: "'\(text)' is no path") }
        return ["endpoint": JSONValue(endpoint), "cluster": name(names[0]), element: name(names[1])]
    }

    private func name(_ text: Substring) -> JSONValue {
        if text.hasPrefix("0x"), let number = UInt32(text.dropFirst(2), radix: 16) { return JSONValue(number) }
        return .string(String(text))
    }

    private func path(_ step: CaseFile.Step, _ element: String) throws -> [String: JSONValue] {
        guard let text = step.subject.string else { throw Failed(description: "a path is wanted") }
        return try path(text, element)
    }

    private func ask(_ step: CaseFile.Step, _ request: [String: JSONValue], by: String? = nil) async throws -> Outcome {
        let who = by ?? step["by"]?.string ?? "alpha"
        guard let verbs = controllers[who] else { throw Failed(description: "'\(who)' has not been paired") }
        var request = request
        request["device"] = .string(device)
        do {
            return Outcome(members: try await verbs.perform(ControllerRequest(.object(request))).json)
        } catch {
            return Outcome(status: error.status, clusterStatus: error.clusterStatus, message: error.message)
        }
    }

    private func simulate(_ request: [String: JSONValue]) async -> Outcome {
        do {
            return Outcome(members: .object(try await simulator.perform(.object(request))))
        } catch {
            return Outcome(status: error.status, clusterStatus: error.clusterStatus, message: error.message)
        }
    }

    // MARK: Judging

    private func status(_ outcome: Outcome, _ step: CaseFile.Step) -> String? {
        let expected = step["status"]?.string ?? "SUCCESS"
        guard outcome.status == expected else { return "the status is \(outcome.status), not \(expected) \(outcome.message)" }
        if let wanted = step["clusterStatus"]?.integer, outcome.clusterStatus.map({ Int64($0) }) != wanted {
            return "the cluster status is \(outcome.clusterStatus.map { "\($0)" } ?? "absent"), not \(wanted)"
        }
        return nil
    }

    private func expectSuccess(_ outcome: Outcome) -> String? {
        outcome.status == "SUCCESS" ? nil : "\(outcome.status) \(outcome.message)"
    }

    private func value(_ value: JSONValue?, _ step: CaseFile.Step) -> String? {
        if let expected = member(step, "is"), let problem = Expectation.problem(value, expected) { return problem }
        if let bounds = member(step, "in"), let problem = Expectation.problem(value, within: bounds) { return problem }
        if let choices = member(step, "oneOf")?.array, !choices.contains(where: { Expectation.problem(value, $0) == nil }) {
            return "it is \(value?.text() ?? "absent"), not one of \(choices.map { $0.text() })"
        }
        for wanted in member(step, "contains")?.array ?? [] {
            guard value?.array?.contains(where: { Expectation.problem($0, wanted) == nil }) == true else {
                return "\(wanted.text()) is not in \(value?.text() ?? "it")"
            }
        }
        if let bits = step["has"]?.unsigned, let number = value?.unsigned, number & bits != bits {
            return "it is \(number), without \(bits)"
        }
        for name in step["absent"]?.array ?? [] where value?[name.string ?? ""] != nil {
            return "\(name.text()) is there: \(value?.text() ?? "")"
        }
        if let name = step["save"]?.string { saved[name] = value }
        return nil
    }

    // MARK: Verbs

    private func read(_ step: CaseFile.Step) async throws -> String? {
        var request: [String: JSONValue] = ["do": "read", "paths": [.object(try path(step, "attribute"))]]
        request["fabricFiltered"] = step["fabricFiltered"]
        let outcome = try await ask(step, request)
        guard outcome.status == "SUCCESS" else { return "\(outcome.status) \(outcome.message)" }
        guard let item = outcome.members["values"]?[0] else { return "no value came" }
        let found = item["error"]?["status"]?.string ?? "SUCCESS"
        let expected = step["status"]?.string ?? "SUCCESS"
        guard found == expected else { return "the status is \(found), not \(expected)" }
        return expected == "SUCCESS" ? value(item["value"], step) : nil
    }

    private func timing(_ step: CaseFile.Step, _ isTimed: Bool) -> [String: JSONValue] {
        var members: [String: JSONValue] = [:]
        if let limit = step["timedMs"] {
            members["timedMs"] = limit
        } else if isTimed, step["timed"]?.boolean != false {
            members["timedMs"] = 10_000
        }
        members["invokeDelayMs"] = step["invokeDelayMs"]
        return members
    }

    private func write(_ step: CaseFile.Step) async throws -> String? {
        var request = try path(step, "attribute").merging(timing(step, false)) { $1 }
        (request["do"], request["value"]) = ("write", member(step, "value") ?? .null)
        return status(try await ask(step, request), step)
    }

    private func invoke(_ step: CaseFile.Step) async throws -> String? {
        var request = try path(step, "command")
        let command = request["cluster"]?.string.flatMap { DataModel.cluster(named: $0) }?
            .command(named: request["command"]?.string ?? "")
        request.merge(timing(step, command?.isTimed ?? false)) { $1 }
        (request["do"], request["fields"]) = ("invoke", member(step, "fields"))
        let outcome = try await ask(step, request)
        if let problem = status(outcome, step) { return problem }
        let fields = outcome.members["response"]?["fields"]
        if let expected = member(step, "response"), let problem = Expectation.problem(fields, expected, at: "the response") {
            return problem
        }
        for (name, bounds) in member(step, "responseIn")?.object ?? [:] {
            if let problem = Expectation.problem(fields?[name], within: bounds, at: name) { return problem }
        }
        return value(fields, step)
    }

    /// The events of a path that came since a step last asked for it.
    private func events(_ step: CaseFile.Step) async throws -> String? {
        guard let text = step.subject.string else { return "a path is wanted" }
        var request: [String: JSONValue] = ["do": "events", "paths": [.object(try path(text, "event"))]]
        if let last = lastEvents[text] { request["fromNumber"] = JSONValue(last + 1) }
        let outcome = try await ask(step, request)
        guard outcome.status == "SUCCESS" else { return "\(outcome.status) \(outcome.message)" }
        let found = outcome.members["events"]?.array ?? []
        if let last = found.compactMap({ $0["number"]?.unsigned }).max() { lastEvents[text] = last }
        if let expected = member(step, "are") {
            let fields = JSONValue.array(found.map { $0["fields"] ?? .null })
            if let problem = Expectation.problem(fields, expected, at: "the events") { return "\(problem) in \(fields.text())" }
        }
        if let count = step["count"]?.integer, found.count != count { return "\(found.count) events came, not \(count)" }
        return nil
    }

    private func subscribe(_ step: CaseFile.Step) async throws -> String? {
        let who = step["by"]?.string ?? "alpha"
        guard let verbs = controllers[who] else { return "'\(who)' has not been paired" }
        func paths(_ list: JSONValue?, _ element: String) throws -> JSONValue {
            .array(try (list?.array ?? []).map { .object(try path($0.string ?? "", element)) })
        }
        let request: JSONValue = [
            "do": "subscribe", "device": .string(device), "paths": try paths(step.subject, "attribute"),
            "eventPaths": try paths(step["events"], "event"), "minIntervalS": step["min"] ?? 0, "maxIntervalS": step["max"] ?? 60,
        ]
        let outcome: Outcome
        do {
            let lines = Lines()
            let result = try await verbs.perform(
                ControllerRequest(request),
                updates: { number, update in lines.all.withLock { $0.append(ControllerVerbs.line(number, update)) } })
            outcome = Outcome(members: result.json)
            if case .subscribed(let number, _, _) = result {
                subscriptions[step["as"]?.string ?? "it"] = Subscription(number: number, lines: lines)
                verbs.open(number)
            }
        } catch {
            outcome = Outcome(status: error.status, clusterStatus: error.clusterStatus, message: error.message)
        }
        if let problem = status(outcome, step) { return problem }
        guard let primed = member(step, "primed") else { return nil }
        return Expectation.problem(
            .array((outcome.members["values"]?.array ?? []).map { $0["value"] ?? .null }), primed, at: "the priming report")
    }

    /// What came over a subscription since the last look: exact values, or how many, or the last one, for each path.
    private func reports(_ step: CaseFile.Step) -> String? {
        guard let subscription = subscriptions[step.subject.string ?? ""] else { return "there is no such subscription" }
        let lines = subscription.lines.all.withLock { lines in
            defer { lines = [] }
            return lines
        }
        let values = lines.flatMap { $0["values"]?.array ?? [] }
        let events = lines.flatMap { $0["events"]?.array ?? [] }
        if step["none"]?.boolean == true, !values.isEmpty || !events.isEmpty {
            return "there were reports: \(JSONValue.array(values + events).text())"
        }
        func of(_ path: String, _ items: [JSONValue], _ element: String) -> [JSONValue] {
            let parts = path.split(separator: "/", maxSplits: 1)
            let endpoint = parts.count == 2 ? Int64(parts[0]) : 1
            return items.filter { item in
                let name = "\(item["cluster"]?.string ?? "").\(item[element]?.string ?? "")"
                return item["endpoint"]?.integer == endpoint && name == parts.last.map(String.init)
            }
        }
        for (path, expected) in (member(step, "values")?.object ?? [:]).sorted(by: { $0.key < $1.key }) {
            let found = JSONValue.array(of(path, values, "attribute").map { $0["value"] ?? .null })
            if let problem = Expectation.problem(found, expected, at: path) { return "\(problem): \(found.text())" }
        }
        for (path, bounds) in (step["counts"]?.object ?? [:]).sorted(by: { $0.key < $1.key }) {
            let count = of(path, values, "attribute").count
            if let problem = Expectation.problem(JSONValue(count), within: bounds, at: "the number of reports of \(path)") {
                return problem
            }
        }
        for (path, expected) in (member(step, "last")?.object ?? [:]).sorted(by: { $0.key < $1.key }) {
            if let problem = Expectation.problem(of(path, values, "attribute").last?["value"], expected, at: path) { return problem }
        }
        for (path, expected) in (member(step, "events")?.object ?? [:]).sorted(by: { $0.key < $1.key }) {
            let found = JSONValue.array(of(path, events, "event").map { $0["fields"] ?? .null })
            if let problem = Expectation.problem(found, expected, at: path) { return "\(problem): \(found.text())" }
        }
        return nil
    }

    /// One more controller with a fabric of its own, let in by the first.
    private func pair(_ step: CaseFile.Step) async throws -> String? {
        guard let name = step.subject.string else { return "a name is wanted" }
        let window = try await ask(step, ["do": "open-window", "timeoutS": 180], by: "alpha")
        guard window.status == "SUCCESS" else { return "\(window.status) \(window.message)" }
        let verbs = home.verbs(of: try await home.addController(name))
        controllers[name] = verbs
        return status(
            try await ask(step, ["do": "pair", "code": window.members["qr"] ?? .null, "name": .string(device)], by: name), step)
    }
}
