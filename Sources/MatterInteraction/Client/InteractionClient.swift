import HearthTime
import MatterMessage
import MatterModel
import MatterTLV

/// The client side of the interaction model over one session. Used on the timeline's thread only.
public final class InteractionClient {
    public let session: Session
    let timeline: Timeline
    let origin: Timeline.Origin
    /// How long the peer may be silent while its answer, or the next part of it, is awaited, unless a call says otherwise; model time.
    public var limit: Duration = .seconds(10)
    private var subscriptions: [SubscriptionID: ClientSubscription] = [:]
    /// A publisher goes on with a subscription that this session does not know: after its restart it connects to its subscriber. Give
    /// what `make` makes of the subscription's maximum interval to take it, or nil to let the publisher end it.
    public var takeUp: ((_ id: SubscriptionID, _ make: (UInt16) -> ClientSubscription) -> ClientSubscription?)?

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
        var chunks = try WriteChunks.split(writes, isTimed: timed != nil, maximum: maximum)[...]
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
        collect(exchange, opcode, payload, ReportAccumulator())
    }

    private func collect(_ exchange: Exchange, _ opcode: UInt8, _ payload: UnsafeRawBufferPointer, _ before: ReportAccumulator) {
        func refuse(_ status: StatusCode) {
            exchange.send(InteractionOpcode.statusResponse.rawValue, StatusResponse(status).payload)
            exchange.close()
        }
        guard opcode == InteractionOpcode.reportData.rawValue, let chunk = try? ReportData(decoding: payload),
            let id = chunk.subscription,
            id == before.subscription ?? id
        else { return refuse(.invalidAction) }
        guard let subscription = subscriptions[id] ?? takenUp(id) else { return refuse(.invalidSubscription) }
        var report = before
        report.add(chunk)
        subscription.watch()
        if !chunk.suppressesResponse || chunk.moreChunks { Self.acknowledge(exchange) }
        guard chunk.moreChunks else {
            exchange.close()
            return subscription.deliver(report)
        }
        // A peer that stops in the middle must not keep the exchange.
        let end = timeline.after(limit, origin: origin) { exchange.close() }
        exchange.onSessionEnd = { [timeline] _ in timeline.cancel(end) }
        exchange.onMessage = { [weak self, timeline] opcode, payload in
            timeline.cancel(end)
            guard let self else { return exchange.close() }
            collect(exchange, opcode, payload, report)
        }
    }

    private func takenUp(_ id: SubscriptionID) -> ClientSubscription? {
        let taken = takeUp?(id) { ClientSubscription(id: id, maximumInterval: $0, client: self) }
        if let taken { subscriptions[id] = taken }
        return taken
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
    ///
    /// Ends with what `step` gives, or an error: a refusal, silence, the session's end, or the cancellation of the calling task.
    private func converse<Result>(
        _ opcode: InteractionOpcode, _ payload: [UInt8], _ limit: Duration?, timed: UInt16? = nil, delay: Duration = .zero,
        _ step: @escaping (Exchange, InteractionOpcode, UnsafeRawBufferPointer) throws -> Step<Result>?
    ) async throws -> Result {
        guard session.isOpen else { throw InteractionError.sessionEnded(nil) }
        let maximum = session.context.maximumMessageSize - 12
        guard payload.count <= maximum else {
            throw InteractionError.refused(
                Status(.resourceExhausted, "a request of \(payload.count) bytes does not fit into a message of \(maximum)"))
        }
        try Task.checkCancellation()
        let limit = limit ?? self.limit
        let exchange = session.begin(.interactionModel)
        guard exchange.isOpen else { throw InteractionError.sessionEnded(nil) }
        let conversation = Conversation<Result>(exchange, timeline)
        let request = {
            exchange.send(opcode.rawValue, payload)
            exchange.expectAnswer()
        }
        // Anew with each message: a large report over a slow link takes long and is no silence.
        let arm = { [timeline, origin] (wait: Duration) in
            if let timer = conversation.timer { timeline.cancel(timer) }
            conversation.timer = timeline.after(limit + wait, origin: origin) {
                conversation.finish(.failure(InteractionError.noResponse(after: limit)))
            }
        }
        var awaitsTimedAnswer = timed != nil
        exchange.onSessionEnd = { conversation.finish(.failure(InteractionError.sessionEnded($0))) }
        exchange.onMessage = { [timeline, origin] opcode, payload in
            do {
                if opcode == InteractionOpcode.statusResponse.rawValue {
                    let status = try StatusResponse(decoding: payload).status
                    guard awaitsTimedAnswer, status == .success else { throw InteractionError.refused(Status(status)) }
                    awaitsTimedAnswer = false
                    arm(delay)
                    if delay > .zero { timeline.after(delay, origin: origin) { request() } } else { request() }
                    return
                }
                guard !awaitsTimedAnswer, let known = InteractionOpcode(rawValue: opcode),
                    let next = try step(exchange, known, payload)
                else { throw InteractionError.malformed("opcode \(opcode) is not an answer") }
                if case .done(let result) = next {
                    conversation.finish(.success(result))
                } else {
                    arm(.zero)
                    exchange.expectAnswer()
                }
            } catch let error as TLVError {
                conversation.finish(.failure(InteractionError.malformed(error.description)))
            } catch {
                conversation.finish(.failure(error))
            }
        }
        arm(.zero)
        return try await conversation.outcome {
            if let timed {
                exchange.send(InteractionOpcode.timedRequest.rawValue, TimedRequest(timeout: timed).payload)
                exchange.expectAnswer()
            } else {
                request()
            }
        }
    }
}
