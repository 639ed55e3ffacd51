import HearthTime

/// A network inside a process: acceptors listen under a name and a port, diallers connect, and every byte on the way is an entry of
/// the timeline. TLS runs over it as it does over sockets. Belongs to the timeline's thread.
public final class MemoryNetwork {
    /// What every piece of data takes from one end to the other; asked for each, so that a fault can change it.
    public var latency: Duration = .zero

    private let timeline: Timeline
    /// Open ends, until they close or the loop stops.
    private var open: [ObjectIdentifier: MemoryStream] = [:]
    private var listeners: [MemoryAddress: (MemoryStream, LinkOrigins) -> Void] = [:]

    init(timeline: Timeline) { self.timeline = timeline }

    /// The port that a listener gets that does not ask for one: Matter's, or the next free one under that name.
    private static let firstPort: UInt16 = 5540

    func listen(on wanted: MemoryAddress, _ accept: @escaping (MemoryStream, LinkOrigins) -> Void) throws(TLSError)
        -> MemoryAddress
    {
        var address = wanted
        if address.port == 0 {
            address.port = Self.firstPort
            while listeners[address] != nil, address.port < .max { address.port += 1 }
        }
        guard listeners[address] == nil else { throw TLSError(.system, "\(address) is in use") }
        listeners[address] = accept
        return address
    }

    func closed(_ stream: MemoryStream) { open[ObjectIdentifier(stream)] = nil }

    /// Nothing will arrive any more.
    func loopStops() {
        listeners = [:]
        // In no particular order: whoever is told now cannot cause anything any more.
        for stream in open.values { stream.user?.streamStops() }
        open = [:]
    }

    func stopListening(on address: MemoryAddress) { listeners[address] = nil }

    /// `done` gets this end, or nil when nobody listens, after the time that a round trip takes; unless cancelled before.
    func connect(
        to address: MemoryAddress, origins: LinkOrigins, _ done: @escaping (MemoryStream?) -> Void
    ) -> StreamTimer {
        var isCancelled = false
        timeline.after(latency, origin: origins.toAcceptor, phase: .delivery) {
            var dialled: MemoryStream?
            if !isCancelled, let accept = self.listeners[address] {
                let pair = MemoryStream.pair(self.timeline, origins: origins, latency: { self.latency })
                dialled = pair.dialler
                for stream in [pair.dialler, pair.acceptor] {
                    self.open[ObjectIdentifier(stream)] = stream
                    stream.network = self
                }
                accept(pair.acceptor, origins)
            }
            self.timeline.after(self.latency, origin: origins.toDialler, phase: .delivery) {
                if isCancelled { dialled?.close(reset: true) } else { done(dialled) }
            }
        }
        return StreamTimer { isCancelled = true }
    }
}
