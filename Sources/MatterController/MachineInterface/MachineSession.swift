import HearthTime
import MachineInterface
import MatterModel

/// A stream of requests and its answers: what `hearth shell --json` is behind its standard input and output.
///
/// Requests to one device run in the order of their arrival, others at the same time. An actor of the controller's timeline.
public actor MachineSession {
    /// What a line is, for an output that may have to drop some.
    public enum LineKind: Sendable {
        case answer
        /// A report or a state of a subscription: nobody asked for this one line.
        case unasked
    }

    public nonisolated var unownedExecutor: UnownedSerialExecutor { timeline.asUnownedSerialExecutor() }
    private let timeline: Timeline
    private let verbs: ControllerVerbs
    private let output: @Sendable (JSONValue, LineKind) -> Void

    /// Requests that wait or run, at most: then `receive` waits, and with it whoever writes the requests.
    private static let pendingLimit = 256
    /// Bytes of them, beyond which the same holds.
    private static let pendingBytesLimit = 4 << 20
    private var pending = 0
    private var pendingBytes = 0
    private var waiting: [CheckedContinuation<Void, Never>] = []
    private var isStopping = false
    private var queues: [String: [@Sendable () async -> Void]] = [:]
    private var subscribedDevices: [Int: String] = [:]

    /// - Parameter output: takes a line; on the timeline's thread, which it must not block.
    public init(_ verbs: ControllerVerbs, output: @escaping @Sendable (JSONValue, LineKind) -> Void) {
        (timeline, self.verbs, self.output) = (verbs.controller.timeline, verbs, output)
    }

    /// Takes a line without its end. Returns when there is room for another; call it again only then, so that the order is kept.
    public func receive(_ line: [UInt8]) async {
        if line.allSatisfy({ $0 == 0x20 || $0 == 0x09 || $0 == 0x0D }) { return }
        let json: JSONValue
        do throws(JSONError) {
            json = try JSONValue(parsing: line)
        } catch {
            return refuse(.null, .badRequest("the line is not JSON: \(error)"))
        }
        await receive(json, size: line.count)
    }

    /// Takes a request that is parsed already.
    /// - Parameter size: how many bytes it had, where that is known.
    public func receive(_ json: JSONValue, size: Int = 0) async {
        let id: JSONValue
        do throws(MachineError) { id = try MachineInterface.id(of: json) } catch { return refuse(.null, error) }
        let request: ControllerRequest
        do throws(MachineError) { request = try ControllerRequest(json) } catch { return refuse(id, error) }
        let key = await queue(of: request)
        while pending >= Self.pendingLimit || pendingBytes >= Self.pendingBytesLimit, !isStopping {
            await withCheckedContinuation { waiting.append($0) }
        }
        if isStopping { return }
        pending += 1
        pendingBytes += size
        enqueue(key) { [self] in
            await run(id, request)
            await release(size)
        }
    }

    /// A line that cannot be taken at all, such as one that is too long.
    public func refuse(_ message: String) { refuse(.null, .badRequest(message)) }

    /// Takes nothing more, and lets nobody wait: for who is told to stop. What runs is ended with the controller.
    public func stop() {
        isStopping = true
        resumeWaiting()
    }

    /// Returns when every request that was received has its answer, or with `stop`.
    public func finish() async {
        while pending > 0, !isStopping { await withCheckedContinuation { waiting.append($0) } }
    }

    // MARK: Order

    /// The queue that a request joins: its device's; nil for one that waits for nobody.
    private func queue(of request: ControllerRequest) async -> String? {
        switch request {
        // What follows a pairing and names its device belongs behind it.
        case .pair(_, let name, _): return name?.lowercased()
        case .unsubscribe(let number): return subscribedDevices[number]
        default: break
        }
        guard let text = request.device else { return nil }
        // A name is its own queue. A node id joins that of the name.
        if ElementNames.number(text) != nil, let device = try? await verbs.controller.device(text) {
            return device.name.lowercased()
        }
        return text.lowercased()
    }

    private func enqueue(_ key: String?, _ job: @escaping @Sendable () async -> Void) {
        guard let key else { return start(nil, job) }
        if queues[key] == nil {
            queues[key] = []
            start(key, job)
        } else {
            queues[key]?.append(job)
        }
    }

    /// Model time that a request may take where time jumps to what it waits for, so that one that never ends does not keep time running.
    private static let requestLimit: Duration = .seconds(3600)

    private func start(_ key: String?, _ job: @escaping @Sendable () async -> Void) {
        let timeline = timeline
        timeline.spawn("request") { [self] in
            // Whoever waits for the answer is outside: time that jumps on for such calls does so for this one.
            try? await timeline.serve("request", deadline: Self.requestLimit) { await job() }
            await ended(key)
        }
    }

    private func release(_ size: Int) { pendingBytes -= size }

    private func resumeWaiting() {
        let all = waiting
        waiting = []
        for one in all { one.resume() }
    }

    private func ended(_ key: String?) {
        pending -= 1
        resumeWaiting()
        guard let key, var queue = queues[key] else { return }
        if queue.isEmpty {
            queues[key] = nil
        } else {
            let next = queue.removeFirst()
            queues[key] = queue
            start(key, next)
        }
    }

    // MARK: Answers

    private func run(_ id: JSONValue, _ request: ControllerRequest) async {
        let output = output
        do throws(MachineError) {
            let result = try await verbs.perform(
                request, updates: { number, update in output(ControllerVerbs.line(number, update), .unasked) })
            if case .subscribed(let number, _, _) = result, let device = request.device {
                subscribedDevices[number] = device.lowercased()
            }
            if case .unsubscribe(let number) = request { subscribedDevices[number] = nil }
            answer(id, result.json)
            if case .subscribed(let number, _, _) = result { verbs.open(number) }
        } catch {
            refuse(id, error)
        }
    }

    private func refuse(_ id: JSONValue, _ error: MachineError) { output(MachineInterface.failure(id, error), .answer) }

    private func answer(_ id: JSONValue, _ members: JSONValue) {
        var members = members.object ?? [:]
        members["id"] = id
        output(.object(members), .answer)
    }
}
