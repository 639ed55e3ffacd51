import HearthTime
import MatterMessage
import MatterModel
import MatterTLV

/// The client side of the interaction model over one session. Used on the timeline's thread only.
public final class InteractionClient {
    public let session: Session
    let timeline: Timeline
    let origin: Timeline.Origin
    /// How long an answer may take unless a call says otherwise; model time.
    public var limit: Duration = .seconds(10)
    private var subscriptions: [SubscriptionID: ClientSubscription] = [:]

    public init(session: Session, timeline: Timeline, origin: Timeline.Origin) {
        (self.session, self.timeline, self.origin) = (session, timeline, origin)
    }

    // MARK: Requests

    /// Reads; the values of all chunks put together.
    public func read(_ selection: ReadSelection, limit: Duration? = nil) async throws -> ReportAccumulator {
        var report = ReportAccumulator()
        return try await converse(.readRequest, ReadRequest(selection).payload, limit) { exchange, opcode, payload in
            guard opcode == .reportData else { return nil }
            let chunk = try ReportData(decoding: payload)
            report.add(chunk)
            if !chunk.suppressesResponse || chunk.moreChunks { Self.acknowledge(exchange) }
            return chunk.moreChunks ? .wait : .done(report)
        }
    }

    /// Writes; a status for each path. A list that is too long for one message goes entry by entry.
    /// - Parameters:
    ///   - timed: milliseconds of a timed request before it; nil for none.
    ///   - delay: how long to wait between the timed request and the write: to provoke a time-out.
    public func write(
        _ writes: [AttributeData], timed: UInt16? = nil, delay: Duration = .zero, limit: Duration? = nil
    ) async throws -> [WriteResponse.Item] {
        let maximum = session.context.maximumMessageSize - 12
        var chunks = WriteChunks.split(writes, isTimed: timed != nil, maximum: maximum)[...]
        guard let first = chunks.popFirst() else { return [] }
        var items: [WriteResponse.Item] = []
        return try await converse(.writeRequest, first.payload, limit, timed: timed, delay: delay) { exchange, opcode, payload in
            guard opcode == .writeResponse else { return nil }
            items += try WriteResponse(decoding: payload).items
            guard let next = chunks.popFirst() else { return .done(items) }
            exchange.send(InteractionOpcode.writeRequest.rawValue, next.payload)
            return .wait
        }
    }

    /// Invokes; an answer for each command.
    public func invoke(
        _ commands: [CommandData], timed: UInt16? = nil, delay: Duration = .zero, limit: Duration? = nil
    ) async throws -> [CommandAnswer] {
        var answers: [CommandAnswer] = []
        let request = InvokeRequest(commands, isTimed: timed != nil)
        return try await converse(.invokeRequest, request.payload, limit, timed: timed, delay: delay) {
            exchange, opcode, payload in
            guard opcode == .invokeResponse else { return nil }
            let response = try InvokeResponse(decoding: payload)
            answers += response.answers
            if response.moreChunks { Self.acknowledge(exchange) }
            return response.moreChunks ? .wait : .done(answers)
        }
    }

    /// Subscribes; what comes later goes to the subscription's callbacks.
    public func subscribe(_ request: SubscribeRequest, limit: Duration? = nil) async throws -> (
        ClientSubscription, ReportAccumulator
    ) {
        var report = ReportAccumulator()
        return try await converse(.subscribeRequest, request.payload, limit) { [self] exchange, opcode, payload in
            switch opcode {
            case .reportData:
                report.add(try ReportData(decoding: payload))
                Self.acknowledge(exchange)
                return .wait
            case .subscribeResponse:
                let response = try SubscribeResponse(decoding: payload)
                let subscription = ClientSubscription(
                    id: response.subscription, maximumInterval: response.maximumInterval, client: self)
                subscriptions[subscription.id] = subscription
                subscription.watch()
                return .done((subscription, report))
            default: return nil
            }
        }
    }

    // MARK: Reports

    /// Handles the first message of an exchange that the peer began.
    public func accept(_ exchange: Exchange, _ opcode: UInt8, _ payload: UnsafeRawBufferPointer) {
        guard opcode == InteractionOpcode.reportData.rawValue else {
            exchange.send(InteractionOpcode.statusResponse.rawValue, StatusResponse(.invalidAction).payload)
            return exchange.close()
        }
        collect(exchange, payload, ReportAccumulator())
    }

    private func collect(_ exchange: Exchange, _ payload: UnsafeRawBufferPointer, _ before: ReportAccumulator) {
        var report = before
        guard let chunk = try? ReportData(decoding: payload), let id = chunk.subscription else {
            exchange.send(InteractionOpcode.statusResponse.rawValue, StatusResponse(.invalidAction).payload)
            return exchange.close()
        }
        guard let subscription = subscriptions[id] else {
            exchange.send(InteractionOpcode.statusResponse.rawValue, StatusResponse(.invalidSubscription).payload)
            return exchange.close()
        }
        report.add(chunk)
        subscription.watch()
        if !chunk.suppressesResponse || chunk.moreChunks { Self.acknowledge(exchange) }
        if chunk.moreChunks {
            exchange.onMessage = { [weak self] _, payload in self?.collect(exchange, payload, report) }
        } else {
            exchange.close()
            subscription.onReport?(report)
        }
    }

    /// Forgets a subscription; the publisher learns of it with its next report.
    public func unsubscribe(_ id: SubscriptionID) { subscriptions.removeValue(forKey: id)?.stop() }

    /// The session has ended: every subscription is lost.
    public func sessionEnded() {
        let lost = subscriptions.values.sorted { $0.id < $1.id }
        subscriptions = [:]
        for subscription in lost { subscription.lose() }
    }

    func lost(_ subscription: ClientSubscription) {
        guard subscriptions.removeValue(forKey: subscription.id) != nil else { return }
        subscription.lose()
    }

    // MARK: Conversations

    private enum Step<Result> {
        case wait
        case done(Result)
    }

    private static func acknowledge(_ exchange: Exchange) {
        exchange.send(InteractionOpcode.statusResponse.rawValue, StatusResponse(.success).payload)
    }

    /// Sends a request and hands every message of its exchange to `step`, which gives nil for one that does not belong there.
    private func converse<Result>(
        _ opcode: InteractionOpcode, _ payload: [UInt8], _ limit: Duration?, timed: UInt16? = nil, delay: Duration = .zero,
        _ step: @escaping (Exchange, InteractionOpcode, UnsafeRawBufferPointer) throws -> Step<Result>?
    ) async throws -> Result {
        guard session.isOpen else { throw InteractionError.sessionEnded(nil) }
        let limit = limit ?? self.limit
        let exchange = session.begin(.interactionModel)
        let outcome: Box<Result> = try await withCheckedThrowingContinuation { continuation in
            var timer: Token?
            let finish = { [timeline] (outcome: Swift.Result<Result, any Error>) in
                guard exchange.isOpen || timer != nil else { return }
                if let timer { timeline.cancel(timer) }
                timer = nil
                exchange.close()
                continuation.resume(with: outcome.map(Box.init))
            }
            let request = { exchange.send(opcode.rawValue, payload) }
            var awaitsTimedAnswer = timed != nil
            exchange.onSessionEnd = { finish(.failure(InteractionError.sessionEnded($0))) }
            exchange.onMessage = { [timeline, origin] opcode, payload in
                do {
                    if opcode == InteractionOpcode.statusResponse.rawValue {
                        let status = try StatusResponse(decoding: payload).status
                        guard awaitsTimedAnswer, status == .success else { throw InteractionError.refused(Status(status)) }
                        awaitsTimedAnswer = false
                        if delay > .zero { timeline.after(delay, origin: origin) { request() } } else { request() }
                        return
                    }
                    guard let known = InteractionOpcode(rawValue: opcode), let next = try step(exchange, known, payload) else {
                        throw InteractionError.malformed("opcode \(opcode) is not an answer")
                    }
                    if case .done(let result) = next { finish(.success(result)) }
                } catch let error as TLVError {
                    finish(.failure(InteractionError.malformed(error.description)))
                } catch {
                    finish(.failure(error))
                }
            }
            timer = timeline.after(limit + delay, origin: origin) { finish(.failure(InteractionError.noResponse(after: limit))) }
            if let timed {
                exchange.send(InteractionOpcode.timedRequest.rawValue, TimedRequest(timeout: timed).payload)
            } else {
                request()
            }
        }
        return outcome.value
    }

    /// Carries a result through a continuation that both ends use on the timeline's thread.
    ///
    /// Why `@unchecked Sendable` is sound: it is made by a callback on the timeline's thread and opened by `converse`, which runs on the
    /// same thread because its callers are actors of that timeline.
    private struct Box<Value>: @unchecked Sendable { let value: Value }
}

/// A subscription as its subscriber keeps it.
public final class ClientSubscription {
    public let id: SubscriptionID
    /// Seconds between two reports, at most.
    public let maximumInterval: UInt16
    /// A report came, whole.
    public var onReport: ((ReportAccumulator) -> Void)?
    /// No report came in time, or the session ended. Called once.
    public var onLost: (() -> Void)?

    private weak var client: InteractionClient?
    private var timer: Token?

    init(id: SubscriptionID, maximumInterval: UInt16, client: InteractionClient) {
        (self.id, self.maximumInterval, self.client) = (id, maximumInterval, client)
    }

    /// Waits for the next report: the maximum interval and what a slow network may take.
    func watch() {
        guard let client else { return }
        if let timer { client.timeline.cancel(timer) }
        timer = client.timeline.after(.seconds(Int64(maximumInterval)) + .seconds(5), origin: client.origin) { [weak self] in
            guard let self else { return }
            self.client?.lost(self)
        }
    }

    func stop() {
        if let timer { client?.timeline.cancel(timer) }
        timer = nil
    }

    func lose() {
        stop()
        let callback = onLost
        (onLost, onReport) = (nil, nil)
        callback?()
    }
}

/// Splits writes over as many messages as they need.
enum WriteChunks {
    static func split(_ writes: [AttributeData], isTimed: Bool, maximum: Int) -> [WriteRequest] {
        let whole = WriteRequest(writes, isTimed: isTimed)
        if whole.payload.count <= maximum { return writes.isEmpty ? [] : [whole] }
        // Too long: lists go entry by entry, the first message emptying the list.
        let parts = writes.flatMap { data -> [AttributeData] in
            guard case .array(let entries) = data.value, data.path.listIndex == .whole else { return [data] }
            let empty = AttributeData(data.path, .array([]), version: data.version)
            return [empty] + entries.map { AttributeData(WireAttributePath(data.path.pattern, listIndex: .append), $0) }
        }
        var chunks: [WriteRequest] = []
        var current: [AttributeData] = []
        for part in parts {
            if !current.isEmpty, WriteRequest(current + [part], isTimed: isTimed, moreChunks: true).payload.count > maximum {
                chunks.append(WriteRequest(current, isTimed: isTimed, moreChunks: true))
                current = []
            }
            current.append(part)
        }
        chunks.append(WriteRequest(current, isTimed: isTimed))
        return chunks
    }
}
