import HearthTime

/// One discovery for all that live on a timeline: the simulator and the controller of one process share it. Made at first use.
public final class SharedDiscovery: Sendable {
    private let make: @Sendable () throws -> Discovery
    private let made: Confined<Discovery?>

    public init(timeline: Timeline, _ make: @escaping @Sendable () throws -> Discovery) {
        self.make = make
        made = Confined(sending: nil, on: timeline)
    }

    /// On the timeline's thread (checked). - Throws: what making it throws, each time anew.
    public func discovery() throws -> Discovery {
        if let made = made.value { return made }
        let new = try make()
        made.value = new
        return new
    }

    /// Withdraws everything and ends all searches. On the timeline's thread (checked).
    public func shutdown() {
        made.value?.shutdown()
        made.value = nil
    }
}
