import HearthTime
import MatterInteraction
import MatterMessage
import MatterModel
import MatterTLV

/// What a device asks of whoever hosts it: things that lie outside the data model.
public protocol DeviceHost: AnyObject {
    /// A fabric came, went, or has new credentials: identities and advertisements follow.
    func fabricsChanged()
    /// The commissioning window opened or closed: the advertisement and the pairing protocol follow.
    func commissioningWindowChanged()
    /// Ends the sessions of a fabric; `spared` is closed too, but after its answer has gone out.
    func closeSessions(of fabric: FabricIndex, sparing spared: Session?)
    /// Ends the pairing session, if there is one.
    func closePairingSession()
}

/// A device: a node with its endpoints and the behaviour of every cluster on them. Knows no sockets and no files.
///
/// Belongs to the timeline's thread. Endpoints can come and go at run time.
public final class DeviceNode: NodeServer {
    public let environment: DeviceEnvironment
    public private(set) var endpoints: [EndpointServer] = []
    public let events: EventLog
    /// Commands in one invoke request, at most.
    public var maximumPathsPerInvoke = 1
    public weak var host: (any DeviceHost)?
    /// The server that reports changes; set by the host.
    public var interactions: InteractionServer?
    /// Decides who may do what; nil grants everything and is for tests of single clusters.
    public var accessControl: (any AccessDecision)?
    /// Fabrics, fail-safe, commissioning window, access control list: what belongs to the node as a whole.
    public private(set) lazy var commissioning = Commissioning(node: self)
    /// Sees every change of an attribute: the journal.
    public var onAttributeChanged: ((AttributePath) -> Void)?
    public private(set) var isRunning = false
    /// Why the node runs (Matter Core, 11.12.5.7): its host says so before it starts the node.
    public var bootReason = GeneralDiagnostics.BootReasonEnum.powerOnReboot
    /// The values for a start apply: when a software update restarts the node, everything is to be as it was before (Matter Application
    /// Clusters, 1.5.6.6, 1.6.6.14, 1.9.6.5 and 3.2.7.22).
    var appliesStartUpValues: Bool { bootReason != .softwareUpdateCompleted }
    /// When the node began to run; events of a node without wall time count from here.
    public private(set) var started: ModelInstant

    /// Endpoints of bridged devices that their bridge cannot reach at present.
    private(set) var unreachable: Set<EndpointID> = []

    private var timers: Set<Token> = []
    private var observers: [AttributePath: [() -> Void]] = [:]

    public init(environment: DeviceEnvironment) {
        self.environment = environment
        started = environment.now
        // The first event has the number 1, so that 0 stands for "all".
        let stored = environment.store.value(for: Self.eventBoundaryKey).flatMap { try? TLVValue(decoding: $0).unsigned }
        events = EventLog(boundary: stored ?? 1)
        events.reserve = { [unowned environment] in
            environment.store.put(TLVValue.unsigned($0).encoded(), for: Self.eventBoundaryKey)
        }
        events.onRecord = { [weak self] in self?.interactions?.eventRecorded($0) }
    }

    /// Where a node's store keeps the number from which events go on after a restart (Matter Core, 7.14.1.1).
    public static let eventBoundaryKey = "event-boundary"

    /// What stands there, moved on by `distance`; nil when it is no boundary.
    public static func eventBoundary(_ stored: [UInt8], after distance: UInt64) -> [UInt8]? {
        guard let boundary = try? TLVValue(decoding: stored).unsigned else { return nil }
        return TLVValue.unsigned(boundary &+ distance).encoded()
    }

    // MARK: Endpoints

    /// Nil when the node has no such endpoint.
    public func endpoint(_ id: EndpointID) -> EndpointServer? {
        let place = place(of: id)
        return place < endpoints.count && endpoints[place].id == id ? endpoints[place] : nil
    }

    /// Where an endpoint stands, or has to.
    private func place(of id: EndpointID) -> Int {
        var (low, high) = (0, endpoints.count)
        while low < high {
            let middle = (low + high) / 2
            if endpoints[middle].id < id { low = middle + 1 } else { high = middle }
        }
        return low
    }

    /// Adds an endpoint; when the node runs, its clusters start.
    public func add(_ endpoint: EndpointServer) {
        guard self.endpoint(endpoint.id) == nil else { return }
        endpoints.insert(endpoint, at: place(of: endpoint.id))
        if isRunning { for cluster in endpoint.clusters { (cluster as? Cluster)?.start() } }
        partsChanged()
    }

    /// Removes an endpoint with its clusters.
    public func removeEndpoint(_ id: EndpointID) {
        guard let endpoint = endpoint(id) else { return }
        endpoints.removeAll { $0.id == id }
        if isRunning { for cluster in endpoint.clusters { (cluster as? Cluster)?.stop() } }
        partsChanged()
    }

    /// The cluster of a kind on an endpoint, for clusters that act together.
    public func cluster<Kind: Cluster>(_ kind: Kind.Type, at endpoint: EndpointID) -> Kind? {
        for cluster in self.endpoint(endpoint)?.clusters ?? [] { if let match = cluster as? Kind { return match } }
        return nil
    }

    /// Every cluster of a kind on the node, in the order of endpoints.
    public func clusters<Kind>(_ kind: Kind.Type) -> [Kind] {
        endpoints.flatMap { endpoint in endpoint.clusters.compactMap { $0 as? Kind } }
    }

    private func partsChanged() {
        guard isRunning else { return }
        for endpoint in endpoints {
            (endpoint.cluster(Descriptor.id) as? Cluster)?.touch(Descriptor.Attributes.partsList)
        }
    }

    /// The bridge has found or lost a device: the endpoint that stands for it, with all that belong to it.
    func setReachable(_ isReachable: Bool, _ endpoint: EndpointID) {
        var (device, open) = (Set<EndpointID>(), [endpoint])
        while let next = open.popLast() {
            guard device.insert(next).inserted else { continue }
            open += cluster(DescriptorCluster.self, at: next)?.parts ?? []
        }
        if isReachable { unreachable.subtract(device) } else { unreachable.formUnion(device) }
    }

    // MARK: Running

    /// Starts every cluster, endpoint by endpoint.
    public func start() {
        guard !isRunning else { return }
        isRunning = true
        started = environment.now
        for endpoint in endpoints { for cluster in endpoint.clusters { (cluster as? Cluster)?.start() } }
    }

    /// Records ShutDown, the last event before an orderly `stop` (Matter Core, 11.1.6.2). Those who have subscribed to it hear of it when
    /// its host says so to the interaction server; only numbers of events are kept over a restart, so nobody can read it afterwards.
    public func announceShutDown() {
        guard isRunning else { return }
        cluster(BasicInformationCluster.self, at: 0)?.shuttingDown()
    }

    /// Stops every cluster and cancels all timers: the power is gone.
    public func stop() {
        guard isRunning else { return }
        isRunning = false
        for endpoint in endpoints { for cluster in endpoint.clusters { (cluster as? Cluster)?.stop() } }
        for timer in timers { environment.timeline.cancel(timer) }
        timers = []
        observers = [:]
        interactions?.stop()
    }

    @discardableResult
    func after(_ delay: Duration, _ body: @escaping () -> Void) -> Token {
        let slot = TimerSlot()
        let token = environment.timeline.after(delay, origin: environment.origin) { [weak self] in
            if let token = slot.token { self?.timers.remove(token) }
            body()
        }
        slot.token = token
        timers.insert(token)
        return token
    }

    func cancel(_ token: Token) {
        timers.remove(token)
        environment.timeline.cancel(token)
    }

    /// Lets a timer's body know its own token.
    private final class TimerSlot { var token: Token? }

    // MARK: What clusters tell

    /// Runs `body` whenever the attribute changes, until the node stops: for a cluster that acts on what another does, such as a meter
    /// beside a switch. To be called in `start`.
    func observe(_ endpoint: EndpointID, _ cluster: ClusterID, _ attribute: AttributeID, _ body: @escaping () -> Void) {
        observers[AttributePath(endpoint, cluster, attribute), default: []].append(body)
    }

    func attributeChanged(_ path: AttributePath) {
        guard isRunning else { return }
        if !observers.isEmpty, let bodies = observers[path] { for body in bodies { body() } }
        onAttributeChanged?(path)
        interactions?.attributeChanged(path)
    }

    func record(_ path: EventPath, priority: EventPriority, fields: TLVValue, fabric: FabricIndex?) -> EventNumber {
        let milliseconds = environment.wall.wholeNanoseconds / 1_000_000
        return events.record(
            path, priority: priority, timestamp: .epoch(milliseconds: UInt64(max(0, milliseconds))), fields: fields, fabricIndex: fabric)
    }

    /// A fabric is gone: every cluster forgets what belonged to it.
    public func forget(_ fabric: FabricIndex) {
        for cluster in clusters(Cluster.self) { cluster.fabricRemoved(fabric) }
        events.forget(fabric)
        interactions?.endSubscriptions(of: fabric)
    }

    // MARK: NodeServer

    public func allows(_ privilege: Privilege, on cluster: ClusterID, at endpoint: EndpointServer, for peer: SessionContext) -> Bool {
        accessControl?.allows(privilege, on: cluster, at: endpoint, for: peer) ?? true
    }
}

/// Whether a peer has a privilege (Matter Core, 9.10.5).
public protocol AccessDecision: AnyObject {
    func allows(_ privilege: Privilege, on cluster: ClusterID, at endpoint: EndpointServer, for peer: SessionContext) -> Bool
}
