import HearthIO
import HearthTime
import MatterDiscovery
import MatterTransport

/// What everything in a controller shares. Belongs to the timeline's thread.
final class ControllerContext {
    let timeline: Timeline
    let origin: Timeline.Origin
    let transport: TLSTransport
    let home: ControllerHome
    let resolver: AddressResolver
    let tickets = TicketStore()
    private(set) lazy var listener = ControllerListener(self)
    let settings: ControllerSettings
    /// Names the controller's links: part of the order of what arrives in virtual time.
    let name: String
    private(set) var random: RandomStream

    init(
        name: String, timeline: Timeline, transport: TLSTransport, home: ControllerHome, discovery: Discovery, settings: ControllerSettings,
        seed: UInt64
    ) {
        (self.name, self.timeline, self.transport, self.home, self.settings) = (name, timeline, transport, home, settings)
        origin = timeline.origin(name)
        resolver = AddressResolver(discovery: discovery, timeline: timeline, origin: origin, route: settings.route)
        random = RandomStream(seed: seed, owner: name, purpose: "back-off")
    }

    /// The time in seconds since 1970 by which the controller makes and judges certificates: its wall time, or what has certainly
    /// passed when its clock is behind that.
    var wallSeconds: Int64 { max(timeline.wall().components.seconds, home.lastKnownGoodTime) }

    /// A duration between half of `span` and `span`, so that many who wait do not all come back at once.
    func jittered(_ span: Duration) -> Duration { random.duration(in: span / 2...span) }
}

/// How patient a controller is. Model time unless said otherwise.
public struct ControllerSettings: Sendable {
    /// How long discovery may look for a device that waits to be paired.
    public var discovery: Duration = .seconds(10)
    /// How long it may look for another device with the same discriminator when the first was not the one.
    public var furtherDiscovery: Duration = .seconds(1)
    /// How long discovery may look for a paired device: mDNS asks at once and after 1 and 3 s.
    public var operationalDiscovery: Duration = .seconds(5)
    /// How long a device's last address is tried alone before discovery is asked as well.
    public var headStart: Duration = .milliseconds(250)
    /// How long an answer may take.
    public var answer: Duration = .seconds(10)
    /// The first and the longest wait before a lost subscription is tried again.
    public var backOff: ClosedRange<Duration> = .milliseconds(500)...(.seconds(60))
    /// An outage shorter than this is not reported.
    public var debounce: Duration = .seconds(5)
    /// How a discovered address is reached.
    public var route: @Sendable (SocketAddress) -> TransportAddress = { .socket($0) }

    /// Where the controller listens for devices that go on with its subscriptions after a restart, given the port (0 for a free one). Nil
    /// does not listen: the controller then subscribes anew by itself.
    public var listen: (@Sendable (UInt16) -> TransportAddress)?
    /// How long a device that is seen again has to go on with a subscription before the controller that listens subscribes anew.
    public var resumption: Duration = .milliseconds(500)

    public init() {}
}
