import Glibc
import HearthIO
import HearthTime

/// The `builtin` back end: responder and browser of our own over sockets, in I/O time on the thread of a loop.
///
/// It publishes a host name of its own and never the machine's, nor reverse names, so that it gets along with an Avahi daemon on
/// the same machine. What is asked of it in one turn goes out together.
final class BuiltinDiscovery: ServiceAdvertiser, ServiceBrowser {
    private let loop: EventLoop
    private let monitor: LinkMonitor
    private let responder: Responder
    private let querier: Querier
    private var sockets: [LinkID: LinkSocket] = [:]
    /// Packets on their way out. A fleet's answer is spread over some milliseconds, so that no receiver's buffer overflows.
    private var queue: [Outgoing] = []
    private var sentOfQueue = 0
    private var timer: (id: TimerID, due: Milliseconds)?
    /// What our responder sent lately comes back to us, and must not be judged by what has changed since.
    private var echoes: [Int: Milliseconds] = [:]
    private var isStopped = false

    /// How many packets may leave at once, and then one in two milliseconds. Other responders keep the system's default buffer, which
    /// takes some 50 full packets, and an Avahi daemon needs a millisecond for one.
    private static let burst = 24
    private static let pause: Milliseconds = 4
    private var allowance = BuiltinDiscovery.burst
    private var allowanceTime: Milliseconds = 0
    /// Milliseconds between two packets. A goodbye that is lost leaves a device listed for an hour: those go more slowly.
    private var spacing: Milliseconds = 2

    /// On the loop's thread. - Throws: `DiscoveryError`: no such interface, or port 5353 cannot be shared.
    init(loop: EventLoop, interface: String? = nil) throws(DiscoveryError) {
        self.loop = loop
        monitor = LinkMonitor(loop: loop, interface: interface)
        let random: RandomDelay = { Milliseconds.random(in: $0) }
        responder = Responder(
            newHostLabel: { "hearth-" + String(UInt64.random(in: 1 << 44..<1 << 48), radix: 16) }, random: random)
        querier = Querier(random: random)
        let failure = openSockets(try monitor.current())
        if let failure, sockets.isEmpty {
            throw DiscoveryError(.socket, "no socket for multicast DNS (port 5353)", cause: "\(failure)")
        }
        monitor.watch { [weak self] in self?.interfacesChanged() }
    }

    /// The host name that services have which bring none, for example `hearth-3f2a91c07b11.local`.
    var hostName: String? { responder.ownHost.map { $0.name.description } }

    // MARK: Links

    private func interfacesChanged() {
        guard !isStopped, let links = try? monitor.current() else { return }
        _ = openSockets(links)
        wake()
    }

    /// Opens and closes sockets so that there is one for every link. Returns what went wrong with the last that did not open.
    private func openSockets(_ links: [LinkID: [IPAddress]]) -> (any Error)? {
        var failure: (any Error)?
        for (link, socket) in sockets where links[link] == nil {
            socket.close()
            sockets[link] = nil
        }
        for link in links.keys.sorted() where sockets[link] == nil {
            do {
                sockets[link] = try LinkSocket(
                    link, loop: loop, received: { [weak self] in self?.received($1, from: $0) },
                    drained: { [weak self] in self?.pump() })
            } catch { failure = error }
        }
        let open = links.filter { sockets[$0.key] != nil }
        responder.setLinks(open, at: now())
        querier.setLinks(open.keys.sorted(), at: now())
        return failure
    }

    // MARK: Packets

    private func now() -> Milliseconds { Milliseconds(clamping: EventLoop.now() / 1_000_000) }

    private func received(_ bytes: [UInt8], from source: PacketSource) {
        guard !isStopped, bytes.count >= 12 else { return }
        let isEcho = echoes[hash(bytes)] != nil
        let isResponse = bytes[2] & 0x80 != 0
        // Nothing here reads it: do not take it apart.
        if isResponse ? (isEcho || responder.claims.isEmpty) && querier.isIdle : isEcho || responder.claims.isEmpty { return }
        guard let message = try? MessageReader.read(bytes) else { return }
        let now = now()
        if !isEcho { responder.handle(message, from: source, at: now) }
        querier.handle(message, from: source, at: now)
    }

    private func hash(_ bytes: [UInt8]) -> Int {
        var hasher = Hasher()
        bytes.withUnsafeBytes { hasher.combine(bytes: $0) }
        return hasher.finalize()
    }

    /// Sends what is due, tells what is new, and sees to it that it is called again in time.
    private func pump() {
        guard !isStopped else { return }
        for _ in 0..<100 {
            let now = now()
            collect(at: now)
            let events = responder.takeEvents() + querier.takeEvents()
            for event in events { event() }
            if isStopped { return }
            if events.isEmpty { break }
        }
        transmit()
        arm()
    }

    private func collect(at now: Milliseconds) {
        let answers = responder.poll(at: now)
        if !answers.isEmpty {
            if echoes.count > 1024 { echoes = echoes.filter { $0.value > now } }
            for packet in answers where packet.to == nil { echoes[hash(packet.bytes)] = now + 5000 }
        }
        queue += answers
        queue += querier.poll(at: now)
    }

    private func transmit() {
        let now = now()
        allowance = min(Self.burst, allowance + Int(clamping: (now - allowanceTime) / spacing))
        if now - allowanceTime >= spacing { allowanceTime = now }
        while sentOfQueue < queue.count, allowance > 0 {
            let packet = queue[sentOfQueue]
            guard sockets[packet.link]?.send(packet) ?? true else { break }
            sentOfQueue += 1
            allowance -= 1
        }
        if sentOfQueue == queue.count {
            queue = []
            sentOfQueue = 0
        }
    }

    private func arm() {
        let now = now()
        let waiting = queue.isEmpty ? nil : now + Self.pause
        let due = [responder.deadline, querier.deadline, waiting].compactMap { $0 }.min().map { max($0, now) }
        if let timer {
            if timer.due == due { return }
            loop.cancel(timer.id)
            self.timer = nil
        }
        guard let due else { return }
        let id = loop.schedule(after: .milliseconds(due - now)) { [weak self] in
            self?.timer = nil
            self?.pump()
        }
        timer = (id, due)
    }

    /// Something was asked for: it is done when the present turn is over.
    private func wake() {
        if let timer, timer.due == .min { return }
        if let timer { loop.cancel(timer.id) }
        let id = loop.schedule(after: .zero) { [weak self] in
            self?.timer = nil
            self?.pump()
        }
        timer = (id, .min)
    }

    // MARK: Services

    func advertise(
        _ record: ServiceRecord, onConflict policy: NameConflictPolicy, _ event: @escaping (AdvertisementEvent) -> Void
    ) throws(DiscoveryError) -> any Advertisement {
        try record.validate()
        let handle = Handle(self, record)
        guard !isStopped else { return handle }
        handle.id = responder.add(record, policy, at: now()) { [weak handle] in
            // Events wait in a queue: the service may have been withdrawn meanwhile.
            guard handle?.isWithdrawn != true else { return }
            event($0)
        }
        wake()
        return handle
    }

    private final class Handle: Advertisement {
        private let discovery: BuiltinDiscovery
        private var last: ServiceRecord
        var id = 0
        var isWithdrawn = false

        init(_ discovery: BuiltinDiscovery, _ record: ServiceRecord) {
            self.discovery = discovery
            last = record
        }

        var record: ServiceRecord { discovery.responder.record(id) ?? last }

        func update(_ record: ServiceRecord) throws(DiscoveryError) {
            try record.validate()
            guard !isWithdrawn, !discovery.isStopped else { return }
            discovery.responder.update(id, record, at: discovery.now())
            discovery.wake()
        }

        func withdraw() {
            guard !isWithdrawn, !discovery.isStopped else { return }
            last = record
            isWithdrawn = true
            discovery.responder.remove(id)
            discovery.wake()
        }
    }

    func browse(_ type: ServiceType, subtype: String?, _ event: @escaping (BrowseEvent) -> Void) -> any ServiceSearch {
        guard !isStopped else { return Search(self, 0) }
        let id = querier.browse(type, subtype: subtype, at: now(), event)
        wake()
        return Search(self, id)
    }

    func resolve(_ name: ServiceName, timeout: Duration?, _ event: @escaping (BrowseEvent) -> Void) -> any ServiceSearch {
        guard !isStopped else { return Search(self, 0) }
        var wasFound = false
        let search = Search(
            self,
            querier.resolve(name, at: now()) {
                wasFound = true
                event($0)
            })
        if let timeout {
            search.timer = loop.schedule(after: timeout) { [weak self] in
                guard self?.querier.isSearching(search.id) == true, !wasFound else { return }
                event(.failed(DiscoveryError(.notFound, "\(name) was not found on the network")))
            }
        }
        wake()
        return search
    }

    private final class Search: ServiceSearch {
        private weak var discovery: BuiltinDiscovery?
        let id: Int
        var timer: TimerID?

        init(_ discovery: BuiltinDiscovery, _ id: Int) {
            self.discovery = discovery
            self.id = id
        }

        func cancel() {
            guard let discovery, !discovery.isStopped else { return }
            discovery.querier.cancel(id)
            if let timer { discovery.loop.cancel(timer) }
            timer = nil
        }
    }

    /// Says goodbye for everything and closes the sockets. The goodbyes have left when this returns, which for a thousand
    /// services takes up to a second.
    func stop() {
        guard !isStopped else { return }
        responder.removeAll()
        queue = Array(queue[sentOfQueue...]) + responder.poll(at: now())
        sentOfQueue = 0
        isStopped = true
        spacing = 4
        for attempt in 0..<2000 where !queue.isEmpty {
            if attempt > 0 { usleep(1000) }
            transmit()
        }
        if let timer { loop.cancel(timer.id) }
        timer = nil
        monitor.stop()
        for socket in sockets.values { socket.close() }
        sockets = [:]
    }
}
