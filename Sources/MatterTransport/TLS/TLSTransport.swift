import HearthIO
import HearthTime

/// What all TLS links of one timeline share: limits, the network in memory, and which loopback sockets belong together. One a
/// process, or one a home in a test; acceptors are made by `listen`, connections by `dial`.
///
/// Why `@unchecked Sendable` is sound: the only properties that are not Sendable are the four private ones, whose accessors stop the
/// process on any other thread than the timeline's; when that ends, the watcher empties them, so that the last release of the
/// transport elsewhere frees nothing of anybody's.
public final class TLSTransport: @unchecked Sendable {
    public let timeline: Timeline
    public let loop: EventLoop
    public let limits: TransportLimits
    private let confinedAdmission: AdmissionControl
    private let confinedRegistry: LinkRegistry
    private let confinedMemory: MemoryNetwork
    private var confinedWatcher: StopWatcher?

    public init(_ runtime: Runtime, limits: TransportLimits = TransportLimits()) {
        (timeline, loop, self.limits) = (runtime.timeline, runtime.loop, limits)
        confinedAdmission = AdmissionControl(runtime.loop, limits)
        confinedRegistry = LinkRegistry(timeline: runtime.timeline)
        confinedMemory = MemoryNetwork(timeline: runtime.timeline)
    }

    /// `part`, on the timeline's thread only.
    @inline(__always)
    private func confined<Part>(_ part: Part) -> Part {
        precondition(timeline.isCurrentThread, "the transport belongs to the timeline's thread")
        return part
    }

    var admission: AdmissionControl { confined(confinedAdmission) }
    var registry: LinkRegistry { confined(confinedRegistry) }

    /// Before anything that has to hear of the loop's end. A loop that has stopped already needs no watching.
    func watchForTheEnd() {
        guard confined(confinedWatcher) == nil else { return }
        let (memory, registry) = (memory, registry)
        confinedWatcher = try? StopWatcher(loop) {
            memory.loopStops()
            registry.loopStops()
        }
    }

    /// The network in memory. On the timeline's thread.
    public var memory: MemoryNetwork { confined(confinedMemory) }

    /// What waits and what is being worked on now. On the timeline's thread.
    public var load: TransportLoad { admission.load }
}

/// How busy a transport is.
public struct TransportLoad: Sendable, Equatable {
    /// Accepted connections that are not authenticated.
    public var unauthenticated = 0
    /// Handshakes that have begun.
    public var handshakes = 0
    /// Handshakes that wait for their turn.
    public var waiting = 0
    /// Acceptors that have stopped accepting until there is room.
    public var pausedAcceptors = 0
}
