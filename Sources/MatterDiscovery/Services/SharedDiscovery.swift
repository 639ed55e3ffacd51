import HearthTime

/// One discovery for all that live on a timeline: the simulator and the controller of one process share it. Made at first use.
///
/// Why `@unchecked Sendable` is sound: `discovery` and `shutdown` stop the process on any other thread than the timeline's, and nothing
/// else reaches what changes.
public final class SharedDiscovery: @unchecked Sendable {
    private let timeline: Timeline
    private let make: @Sendable () throws -> Discovery
    private var made: Discovery?

    public init(timeline: Timeline, _ make: @escaping @Sendable () throws -> Discovery) {
        (self.timeline, self.make) = (timeline, make)
    }

    /// On the timeline's thread. - Throws: what making it throws, each time anew.
    public func discovery() throws -> Discovery {
        precondition(timeline.isCurrentThread, "discovery belongs to the timeline's thread")
        if let made { return made }
        let new = try make()
        made = new
        return new
    }

    /// Withdraws everything and ends all searches. On the timeline's thread.
    public func shutdown() {
        precondition(timeline.isCurrentThread, "discovery belongs to the timeline's thread")
        made?.shutdown()
        made = nil
    }
}
