import HearthTime
import MatterInteraction
import MatterModel

/// What a device is given by whoever runs it: time, memory, chance. Clusters reach it through their node.
public final class DeviceEnvironment {
    public let timeline: Timeline
    /// The device's place in the order of events at one instant.
    public let origin: Timeline.Origin
    public let store: any DeviceStore
    /// Names the device in random streams, so that one more device does not change the others.
    public let name: String
    public let seed: UInt64
    /// How far the device's clock is from the true time: a fault may set it.
    public var clockOffset: Duration = .zero

    /// - Parameter origin: registered by the host in a fixed order.
    public init(timeline: Timeline, origin: Timeline.Origin, store: any DeviceStore, name: String, seed: UInt64) {
        (self.timeline, self.origin, self.store, self.name, self.seed) = (timeline, origin, store, name, seed)
    }

    public var now: ModelInstant { timeline.now }

    /// Wall time as the device believes it, since 1970-01-01 UTC.
    public var wall: Duration { timeline.wall(offset: clockOffset) }

    /// Numbers for one purpose that depend on seed and name only. Not for keys.
    public func random(_ purpose: String) -> RandomStream { RandomStream(seed: seed, owner: name, purpose: purpose) }
}
