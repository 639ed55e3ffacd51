import HearthTime
import MachineInterface
import MatterDiscovery
import MatterInteraction
import MatterModel
import MatterTLV
import MatterTransport

/// The controller's verbs, one implementation for `hearth shell --json`, for every command, and for a home in a test.
///
/// It may be used from any task, and several verbs may run at a time; `MachineSession` adds the order that a stream of requests needs.
public final class ControllerVerbs: Sendable {
    public let controller: Controller
    private let discovery: SharedDiscovery
    private let subscriptions = Locked<[Int: Gate]>([:])

    public init(_ controller: Controller, discovery: SharedDiscovery) {
        (self.controller, self.discovery) = (controller, discovery)
    }

    /// Carries out one request.
    /// - Parameters:
    ///   - progress: hears the stages of a pairing, on the timeline's thread.
    ///   - found: hears of each device of a search, on the timeline's thread.
    ///   - updates: hears what a subscription has to say, on the timeline's thread; not before `open(_:)` is called with the number
    ///     of the subscription, so that nothing overtakes the answer.
    public func perform(
        _ request: ControllerRequest, progress: @escaping @Sendable (PairingStage) -> Void = { _ in },
        found: @escaping @Sendable (FoundDevice) -> Void = { _ in },
        updates: @escaping @Sendable (Int, SubscriptionUpdate) -> Void = { _, _ in }
    ) async throws(MachineError) -> ControllerResult {
        do {
            switch request {
            case .pair(let code, let name, let address):
                let route = address.map { TransportAddress.socket($0) }
                return .paired(try await controller.pair(code, name: name, address: route, progress: progress))
            case .unpair(let device, let force): return try await unpair(device, force)
            case .devices: return .devices(try await reachableDevices())
            case .discover(let span):
                return .discovered(try await DeviceSearch.run(discovery, on: controller.timeline, for: span, found: found))
            case .read(let device, let paths, let fabricFiltered):
                let selection = ReadSelection(attributes: paths, isFabricFiltered: fabricFiltered)
                return .values(try await controller.read(device, selection).attributes)
            case .write(let device, let path, let value, let timing): return try await write(device, path, value, timing)
            case .invoke(let device, let path, let fields, let timing): return try await invoke(device, path, fields, timing)
            case .events(let device, let paths, let from):
                return .events(try await controller.read(device, ReadSelection(events: paths, eventMinimum: from)).events)
            case .subscribe(let device, let paths, let eventPaths, let minimum, let maximum):
                let wire = SubscribeRequest(
                    ReadSelection(attributes: paths, events: eventPaths), minimumInterval: minimum, maximumInterval: maximum)
                return try await subscribe(device, wire, updates)
            case .unsubscribe(let number):
                guard subscriptions.withLock({ $0.removeValue(forKey: number) }) != nil else {
                    throw MachineError.badRequest("there is no subscription \(number)")
                }
                try await controller.unsubscribe(number)
                return .done
            case .openWindow(let device, let timeout): return .window(try await controller.openWindow(device, timeout: timeout))
            case .whoAmI: return .identity(try await controller.whoAmI())
            }
        } catch {
            throw MachineError(from: error)
        }
    }

    // MARK: The home

    private func unpair(_ name: String, _ force: Bool) async throws -> ControllerResult {
        let device = try await controller.device(name)
        try await controller.unpair(name, force: force)
        // The controller ends what was subscribed there without a word.
        let over = subscriptions.withLock { all in
            let over = all.filter { $0.value.nodeID == device.nodeID }
            for number in over.keys { all[number] = nil }
            return over
        }
        for (_, gate) in over.sorted(by: { $0.key < $1.key }) {
            gate.take(.ended(ControllerError(.unknownDevice, "\(device.name) has left the home")))
        }
        return .done
    }

    /// How long `devices` waits for one that does not answer: somebody looks at the list.
    private static let reachLimit: Duration = .seconds(3)

    private func reachableDevices() async throws -> [(device: PairedDevice, isReachable: Bool)] {
        let controller = controller
        let found = try await controller.timeline.call("devices") {
            let devices = try await controller.devices()
            return try await withThrowingTaskGroup(of: (Int, Bool).self) { group in
                for (index, device) in devices.enumerated() {
                    group.addTask(executorPreference: controller.timeline) {
                        (index, await Self.isReachable(device.nodeText, controller))
                    }
                }
                var reachable = [Bool](repeating: false, count: devices.count)
                for try await (index, isReachable) in group { reachable[index] = isReachable }
                // One that has turned out to have forgotten the home is no longer in it.
                let now = try await controller.devices()
                return zip(devices, reachable).compactMap { asked, isReachable in
                    now.first { $0.nodeID == asked.nodeID }.map { Reach(device: $0, isReachable: isReachable) }
                }
            }
        }
        return found.map { ($0.device, $0.isReachable) }
    }

    private struct Reach: Sendable {
        var device: PairedDevice
        var isReachable: Bool
    }

    /// Whether the device answers within the limit. The attempt itself goes on: who asks next may profit from it.
    private static func isReachable(_ device: String, _ controller: Controller) async -> Bool {
        let timeline = controller.timeline
        return await withCheckedContinuation { continuation in
            let waiting = Locked<CheckedContinuation<Bool, Never>?>(continuation)
            let finish: @Sendable (Bool) -> Void = { answer in
                let first = waiting.withLock { waiting -> CheckedContinuation<Bool, Never>? in
                    defer { waiting = nil }
                    return waiting
                }
                first?.resume(returning: answer)
            }
            let limit = timeline.schedule(after: reachLimit) { finish(false) }
            timeline.spawn("reach") {
                let answer = await controller.isReachable(device)
                timeline.cancel(limit)
                finish(answer)
            }
        }
    }

    // MARK: Interactions

    private func write(
        _ device: String, _ path: AttributePath, _ value: TLVValue, _ timing: ControllerRequest.Timing
    ) async throws -> ControllerResult {
        let items = try await controller.write(
            device, [AttributeData(WireAttributePath(path), value)], timed: timing.limit, delay: timing.delay)
        guard !items.isEmpty else {
            throw MachineError(MachineError.noResponseStatus, "\(device) did not say what became of the write")
        }
        // A long list is written entry by entry: the first refusal counts.
        if let refused = items.first(where: { !$0.status.isSuccess }) {
            let attribute = "\(ElementNames.name(path.cluster)).\(ElementNames.name(path.attribute, in: path.cluster))"
            let hint = RefusalHint.write(path, value, refused.status.code)
            throw MachineError(refused.status, "\(await name(of: device)) refused the write of \(attribute): \(refused.status)\(hint)")
        }
        return .done
    }

    /// What people call the device, however the request named it.
    private func name(of device: String) async -> String { (try? await controller.device(device).name) ?? device }

    private func invoke(
        _ device: String, _ path: CommandPath, _ fields: TLVValue, _ timing: ControllerRequest.Timing
    ) async throws -> ControllerResult {
        let answers = try await controller.invoke(
            device, [CommandData(WireCommandPath(path), fields)], timed: timing.limit, delay: timing.delay)
        guard let answer = answers.first else {
            throw MachineError(MachineError.noResponseStatus, "\(device) did not say what became of the command")
        }
        switch answer.outcome {
        case .status(let status) where status.isSuccess: return .response(nil)
        case .status(let status):
            let name = ElementNames.name(path.command, in: path.cluster, .request)
            let hint = RefusalHint.invoke(path, fields, status.code)
            throw MachineError(status, "\(await self.name(of: device)) refused \(name): \(status)\(hint)")
        case .response(let fields):
            guard let command = answer.path.command else {
                throw MachineError(MachineError.noResponseStatus, "\(device) answered with a command that has no id")
            }
            return .response(
                ControllerResult.Response(cluster: answer.path.cluster ?? path.cluster, command: command, fields: fields))
        }
    }

    // MARK: Subscriptions

    private func subscribe(
        _ device: String, _ request: SubscribeRequest, _ updates: @escaping @Sendable (Int, SubscriptionUpdate) -> Void
    ) async throws -> ControllerResult {
        let paired = try await controller.device(device)
        let gate = Gate(paired.nodeID, updates)
        let (number, report) = try await controller.subscribe(device, request) { [self] event in
            let isHeard = gate.take(event)
            // Over: its number is free of meaning. Where the answer is still to come `open` needs it.
            if case .ended = event, isHeard { subscriptions.withLock { $0[gate.number] = nil } }
        }
        gate.number = number
        subscriptions.withLock { $0[number] = gate }
        return .subscribed(number, values: report.attributes, events: report.events)
    }

    /// Lets the updates of a subscription through, those first that came in the meantime. To be called when its answer is on its way.
    public func open(_ subscription: Int) {
        guard let gate = subscriptions.withLock({ $0[subscription] }) else { return }
        gate.open()
    }

    /// Holds back what a subscription says until its answer is given.
    private final class Gate: Sendable {
        private struct State {
            var number = 0
            var isOpen = false
            var waiting: [SubscriptionUpdate] = []
        }
        let nodeID: NodeID
        private let updates: @Sendable (Int, SubscriptionUpdate) -> Void
        private let state = Locked(State())

        init(_ nodeID: NodeID, _ updates: @escaping @Sendable (Int, SubscriptionUpdate) -> Void) {
            (self.nodeID, self.updates) = (nodeID, updates)
        }

        var number: Int {
            get { state.withLock { $0.number } }
            set { state.withLock { $0.number = newValue } }
        }

        /// - Returns: false when it was kept for later.
        @discardableResult
        func take(_ update: SubscriptionUpdate) -> Bool {
            let number: Int? = state.withLock { state in
                if !state.isOpen { state.waiting.append(update) }
                return state.isOpen ? state.number : nil
            }
            if let number { updates(number, update) }
            return number != nil
        }

        func open() {
            // One at a time, so that what comes meanwhile keeps its place.
            while true {
                let next = state.withLock { state -> (Int, SubscriptionUpdate)? in
                    guard !state.waiting.isEmpty else {
                        state.isOpen = true
                        return nil
                    }
                    return (state.number, state.waiting.removeFirst())
                }
                guard let next else { return }
                updates(next.0, next.1)
            }
        }
    }

    /// The line of the machine interface for an update; nil for one that has none.
    public static func line(_ subscription: Int, _ update: SubscriptionUpdate) -> JSONValue {
        let number = JSONValue.integer(Int64(subscription))
        switch update {
        case .report(let attributes, let events):
            return ["report": number, "values": ReportJSON.json(attributes), "events": ReportJSON.json(events)]
        case .lost: return ["subscription": number, "state": "lost"]
        case .restored: return ["subscription": number, "state": "restored"]
        // No member `error`: a client takes a line with that and without an id for the answer to a line that could not be read.
        case .ended(let error): return ["subscription": number, "state": "ended", "reason": .string(MachineError(from: error).message)]
        }
    }
}
