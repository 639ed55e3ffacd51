import MatterModel

/// What is behind one connection of a control socket: takes its requests in order, and answers when it can.
public protocol ControlSession: Sendable {
    /// Takes a request. Returns when the next one may come, which may be before this one has its answer. On the timeline.
    func receive(_ request: JSONValue) async
    /// Returns when every request has its answer. On the timeline.
    func finish() async
    /// The connection is gone; answers go nowhere.
    func close() async
}

/// Where a session's lines go; on the timeline's thread. What nobody has asked for may be dropped when the reader is slow.
public typealias ControlOutput = @Sendable (_ line: JSONValue, _ isUnasked: Bool) -> Void

/// Carries out one request after the other.
struct SequentialSession: ControlSession {
    let handler: ControlServer.Handler
    let output: ControlOutput

    func receive(_ request: JSONValue) async { output(await handler(request), false) }
    func finish() async {}
    func close() async {}
}
