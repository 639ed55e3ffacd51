import HearthIO
import HearthStore
import HearthTime
import MachineInterface
import MatterCredentials
import MatterDevice
import MatterDiscovery
import MatterInteraction
import MatterModel
import MatterNode
import MatterTLV
import MatterTransport

/// Virtual devices in one process.
///
/// An actor of one timeline; every method may be called from any task.
public actor Simulator {
    public nonisolated let timeline: Timeline
    public nonisolated var unownedExecutor: UnownedSerialExecutor { timeline.asUnownedSerialExecutor() }

    /// Where devices keep what must survive a restart.
    public enum Store: Sendable {
        /// A folder, held by this process alone. `durable` also survives a power cut.
        case folder(String, durable: Bool)
        case memory
        /// In memory, with what another simulator's devices had.
        case snapshot(SimulatorSnapshot)
    }

    /// How a simulator runs.
    public struct Configuration: Sendable {
        public var store: Store = .memory
        public var seed: UInt64 = 0
        /// Where the discriminators begin, which two simulators on one host should not share; nil lets `seed` decide, or chance where
        /// that is 0 and time is real.
        public var discriminatorSeed: UInt64?
        /// How a discovered address is reached: that of a subscriber, after a restart.
        public var route: @Sendable (SocketAddress) -> TransportAddress = { .socket($0) }
        /// Where a device listens, given its port (0 for a free one).
        public var listenAddress: @Sendable (UInt16) -> TransportAddress = { .socket(SocketAddress(.any6, port: $0)) }
        /// Host name and addresses to advertise; nil leaves them to the discovery.
        public var advertisedHost: ServiceHost?
        /// What sessions may cost each device.
        public var sessionLimits = SessionLimits()
        /// Entries that the journal keeps.
        public var journalCapacity = 20_000
        /// Whether the journal has an entry for each attribute that a peer reads; it costs more than the read itself.
        public var recordsReads = false
        /// Said to others who want the state folder.
        public var holder = "hearth simulate"
        public init() {}
    }

    let services: NodeServices
    nonisolated let seed: UInt64
    private(set) var devices: [SimulatedDevice] = []
    private var attestations: [UInt32: DeviceAttestation] = [:]
    private let journal: Journal
    private var faults: [FaultInfo] = []
    private var lastFault = 0
    /// When faults strike, in a replay.
    var script: ReplayScript?
    /// Where this simulator's discriminators begin: two simulators on one host should not have the same.
    private let discriminatorSeed: UInt64
    private var control: ControlServer?

    /// Opens a simulator without devices. - Throws: `SimulatorError`, `StoreError` (with who holds the folder), `DiscoveryError`.
    public static func open(
        _ configuration: Configuration = Configuration(), transport: TLSTransport, discovery: SharedDiscovery
    ) async throws -> Simulator {
        let timeline = transport.timeline
        return try await timeline.call("open simulator") {
            let hub: StoreHub
            switch configuration.store {
            case .folder(let path, let durable):
                hub = try StoreHub(
                    folder: path, durable: durable, holder: configuration.holder, timeline: timeline, loop: transport.loop)
            case .memory: hub = try StoreHub(inMemoryOn: timeline)
            case .snapshot(let snapshot):
                hub = try StoreHub(inMemoryOn: timeline)
                hub.replace(with: snapshot.entries)
            }
            let services = try NodeServices(
                timeline: timeline, transport: transport, discovery: discovery.discovery(), hub: hub,
                advertisedHost: configuration.advertisedHost, sessionLimits: configuration.sessionLimits,
                route: configuration.route, listenAddress: configuration.listenAddress)
            return Simulator(services, configuration)
        }
    }

    private init(_ services: sending NodeServices, _ configuration: Configuration) {
        timeline = services.timeline
        self.services = services
        seed = configuration.seed
        discriminatorSeed = configuration.discriminatorSeed ?? Self.discriminatorSeed(services.timeline.mode, configuration.seed)
        journal = Journal(
            timeline: services.timeline, capacity: configuration.journalCapacity, recordsReads: configuration.recordsReads)
    }

    private static func discriminatorSeed(_ mode: Timeline.Mode, _ seed: UInt64) -> UInt64 {
        guard case .real = mode, seed == 0 else { return seed }
        return randomSeed()
    }

    /// A seed that nobody else has.
    public static func randomSeed() -> UInt64 { Crypto.random(8).reduce(0) { $0 << 8 | UInt64($1) } }

    /// Switches every device off and ends the use of the store. - Returns: what could not be stored and is lost; nil when all is stored.
    @discardableResult
    public nonisolated func close() async -> SimulatorError? {
        // Without the timeline, which has been shut down, nothing can be said.
        (try? await timeline.call("close simulator") { await self.closeInside() }) ?? nil
    }
    private func closeInside() -> SimulatorError? {
        control?.close()
        control = nil
        for device in devices { device.stop() }
        devices = []
        return services.hub.close().map { SimulatorError(.store, "\($0)") }
    }

    /// Returns when what has been done so far, to one device or to all, is stored.
    /// - Throws: `SimulatorError.store` when the store refuses it; it is kept in memory, and tried again.
    nonisolated func stored(_ device: String?) async throws {
        try await timeline.call("store") { try await self.storedInside(device) }
    }
    private func storedInside(_ device: String?) async throws {
        let hub = services.hub
        let refusal = await withCheckedContinuation { (continuation: CheckedContinuation<StoreError?, Never>) in
            hub.whenDecided(device) { continuation.resume(returning: $0) }
        }
        guard let refusal else { return }
        throw SimulatorError(
            .store, "it is done, but lost if the simulator ends before it can be stored, which is tried again and again: \(refusal)")
    }

    /// What to tell the user once: a damaged store was replaced by its backup.
    public nonisolated func storeRecovery() async -> String? {
        try? await timeline.call("recovery") { await self.recoveryMessage() }
    }
    private func recoveryMessage() -> String? { services.hub.recovery?.message }

    func openControlInside(_ path: String, _ loop: EventLoop) throws {
        let verbs = SimulatorVerbs(self)
        control = try ControlServer(path: path, role: .simulator, loop: loop, timeline: timeline) { request in
            var id = JSONValue.null
            do throws(MachineError) {
                id = try MachineInterface.id(of: request)
                return MachineInterface.answer(id, try await verbs.perform(request))
            } catch {
                return MachineInterface.failure(id, error)
            }
        }
    }

    // MARK: Devices

    /// Adds a device and switches it on.
    /// - Parameters:
    ///   - name: unique in the simulator, and its name in the store; nil takes the profile's, with a number when that is taken.
    ///   - port: to listen on; 0 for a free one, or the one that it had before.
    ///   - room: where it is, for people.
    public nonisolated func add(
        _ profile: DeviceProfile, name: String? = nil, room: String? = nil, port: UInt16 = 0
    ) async throws -> DeviceInfo {
        try await timeline.call("add device") { try await self.addInside(profile, name, room, port) }
    }

    private func addInside(_ profile: DeviceProfile, _ name: String?, _ room: String?, _ port: UInt16) throws -> DeviceInfo {
        guard name ?? profile.name != JournalEntry.everyDevice else {
            throw SimulatorError(.badRequest, "'\(JournalEntry.everyDevice)' stands for every device: give the device another name")
        }
        if let name, devices.contains(where: { $0.name == name }) {
            throw SimulatorError(.badRequest, "there is a device '\(name)' already: give each its own name")
        }
        let device = try SimulatedDevice(
            name: name ?? freeName(profile.name), profile: profile, index: devices.count, port: port, services: services,
            attestation: attestation(of: profile), journal: journal,
            discriminatorSeed: discriminatorSeed, seed: seed)
        device.room = room
        // A fault that is set on all devices is set on later ones too.
        for info in faults where info.device == nil { try install(info, on: device) }
        try device.start()
        devices.append(device)
        return device.info
    }

    private func freeName(_ base: String) -> String {
        var (name, number) = (base, 2)
        while devices.contains(where: { $0.name == name }) {
            name = "\(base)-\(number)"
            number += 1
        }
        return name
    }

    /// Devices of one product share their attestation, as development credentials may.
    private func attestation(of profile: DeviceProfile) throws -> DeviceAttestation {
        let key = UInt32(profile.vendorID.rawValue) << 16 | UInt32(profile.productID)
        if let known = attestations[key] { return known }
        let made = try DevelopmentAttestation.credentials(
            vendorID: profile.vendorID, productID: profile.productID, deviceTypeID: profile.endpoints.first?.deviceTypes.first ?? 0x0016)
        attestations[key] = made
        return made
    }

    /// Every device, running or not, in the order in which they were added.
    public nonisolated func allDevices() async throws -> [DeviceInfo] {
        try await timeline.call("devices") { await self.infos() }
    }
    private func infos() -> [DeviceInfo] { devices.map(\.info) }

    /// Returns when every running device is on the network.
    public nonisolated func advertised() async throws {
        try await timeline.call("advertise") { await self.waitUntilAdvertised() }
    }

    private func waitUntilAdvertised() async {
        for device in devices {
            guard let host = device.host, !host.isAdvertised else { continue }
            await withCheckedContinuation { (continuation: CheckedContinuation<Void, Never>) in
                device.onAdvertised = { [weak device] in
                    device?.onAdvertised = {}
                    continuation.resume()
                }
            }
        }
    }

    /// What each device was made of.
    public nonisolated func members() async throws -> [Replay.Member] {
        try await timeline.call("members") { await self.membersInside() }
    }
    private func membersInside() -> [Replay.Member] { devices.map { Replay.Member($0.profile, name: $0.name) } }

    func device(_ name: String) throws -> SimulatedDevice {
        if let device = devices.first(where: { $0.name == name }) { return device }
        throw SimulatorError(.unknownDevice, DataModel.unknownName(name, "device", among: devices.map(\.name), none: "none is running"))
    }

    private func running(_ name: String) throws -> NodeHost {
        guard let host = try device(name).host else {
            throw SimulatorError(.badRequest, "\(name) is switched off: start it first")
        }
        return host
    }

    // MARK: Power

    /// Switches a device off; `abruptly` as when the power fails.
    public nonisolated func stop(_ name: String, abruptly: Bool = false) async throws {
        try await timeline.call("stop") { try await self.stopInside(name, abruptly) }
    }
    private func stopInside(_ name: String, _ abruptly: Bool) throws {
        let device = try device(name)
        control(name, abruptly ? "kill" : "stop")
        device.stop(abruptly: abruptly)
    }
    public nonisolated func start(_ name: String) async throws {
        try await timeline.call("start") { try await self.startInside(name) }
    }
    private func startInside(_ name: String) throws {
        let device = try device(name)
        control(name, "start")
        try device.start()
    }
    /// Cuts the power and gives it back.
    /// - Parameter reason: what the device says of it (Matter Core, 11.12.4.3). After a software update no value for a start applies.
    public nonisolated func reboot(_ name: String, reason: GeneralDiagnostics.BootReasonEnum = .powerOnReboot) async throws {
        try await timeline.call("reboot") { try await self.rebootInside(name, reason) }
    }
    private func rebootInside(_ name: String, _ reason: GeneralDiagnostics.BootReasonEnum) throws {
        let device = try device(name)
        control(name, "reboot", reason == .powerOnReboot ? nil : ["reason": JSONValue(reason.rawValue)])
        device.stop(abruptly: true)
        try device.start(reason)
    }
    /// Makes the device as it left the factory: in no fabric, with its first values, and with the passcode on its label. Its events are
    /// counted on.
    public nonisolated func factoryReset(_ name: String) async throws {
        try await timeline.call("factory reset") { try await self.resetInside(name) }
    }
    private func resetInside(_ name: String) throws {
        let device = try device(name)
        control(name, "factory-reset")
        device.stop(abruptly: true)
        DeviceNode.factoryReset(device.store, sparing: [SimulatedDevice.birthKey])
        try device.start()
    }

    // MARK: Hands on the device

    /// Changes an attribute at the device itself: a hand on the switch, a warmer room.
    public nonisolated func set(_ name: String, _ path: AttributePath, _ value: TLVValue) async throws {
        try await timeline.call("set") { try await self.setInside(name, path, value) }
    }
    private func setInside(_ name: String, _ path: AttributePath, _ value: TLVValue) throws {
        let cluster = try cluster(name, path.endpoint, path.cluster)
        guard let attribute = cluster.attribute(path.attribute) else { throw refused(name, Status(.unsupportedAttribute)) }
        do throws(Status) {
            try cluster.check(attribute, value)
            journal.record(name, .set) { entry in
                (entry.endpoint, entry.cluster, entry.attribute) = (path.endpoint, path.cluster, path.attribute)
                entry.value = value
            }
            try cluster.setLocally(attribute, value)
        } catch {
            let reason = error.code == .unsupportedWrite ? " (the device derives \(attribute.name) itself: it cannot be set)" : ""
            throw SimulatorError(.refused, "\(name): \(error)\(reason)", status: error)
        }
    }

    /// The only endpoint of a device that has the cluster. - Throws: `SimulatorError` when there is none, or more than one.
    public nonisolated func onlyEndpoint(_ name: String, with cluster: ClusterID) async throws -> EndpointID {
        try await timeline.call("endpoint") { try await self.onlyEndpointInside(name, cluster) }
    }
    private func onlyEndpointInside(_ name: String, _ cluster: ClusterID) throws -> EndpointID {
        let endpoints = try running(name).node.endpoints.filter { $0.cluster(cluster) != nil }.map(\.id)
        guard let only = endpoints.first else { throw refused(name, Status(.unsupportedCluster)) }
        guard endpoints.count == 1 else {
            let list = endpoints.map { "\(name)/\($0)" }.joined(separator: ", ")
            throw SimulatorError(.badRequest, "several endpoints have the cluster: say which, as in \(name)/\(only) (there are \(list))")
        }
        return only
    }

    /// Raises an event at the device itself: a press, a jam.
    public nonisolated func trigger(_ name: String, _ path: EventPath, _ fields: TLVValue) async throws -> EventNumber {
        try await timeline.call("trigger") { try await self.triggerInside(name, path, fields) }
    }
    private func triggerInside(_ name: String, _ path: EventPath, _ fields: TLVValue) throws -> EventNumber {
        let cluster = try cluster(name, path.endpoint, path.cluster)
        guard let event = cluster.event(path.event) else { throw refused(name, Status(.unsupportedEvent)) }
        journal.record(name, .trigger) { entry in
            (entry.endpoint, entry.cluster, entry.event) = (path.endpoint, path.cluster, path.event)
            entry.value = fields
        }
        do throws(Status) { return try cluster.triggerLocally(event, fields) } catch { throw refused(name, error) }
    }

    /// The value of an attribute as the device has it now, whoever may read it.
    public nonisolated func value(_ name: String, _ path: AttributePath) async throws -> TLVValue {
        try await timeline.call("value") { try await self.valueInside(name, path) }
    }
    private func valueInside(_ name: String, _ path: AttributePath) throws -> TLVValue {
        let cluster = try cluster(name, path.endpoint, path.cluster)
        guard let attribute = cluster.attribute(path.attribute) else { throw refused(name, Status(.unsupportedAttribute)) }
        do throws(Status) { return try cluster.read(attribute, .local()) } catch { throw refused(name, error) }
    }

    /// Presses the device's pairing button: it can be paired with the passcode on its label.
    public nonisolated func openWindow(_ name: String, timeout: Duration = .seconds(900)) async throws -> DeviceInfo {
        try await timeline.call("open window") { try await self.openWindowInside(name, timeout) }
    }
    private func openWindowInside(_ name: String, _ timeout: Duration) throws -> DeviceInfo {
        let host = try running(name)
        control(name, "open-window", ["timeoutS": .integer(timeout.components.seconds)])
        do throws(Status) { try host.node.commissioning.window.openBasic(for: timeout) } catch { throw refused(name, error) }
        return try device(name).info
    }

    private func cluster(_ name: String, _ endpoint: EndpointID, _ cluster: ClusterID) throws -> Cluster {
        guard let server = try running(name).node.endpoint(endpoint) else { throw refused(name, Status(.unsupportedEndpoint)) }
        guard let cluster = server.cluster(cluster) as? Cluster else { throw refused(name, Status(.unsupportedCluster)) }
        return cluster
    }

    private func refused(_ name: String, _ status: Status) -> SimulatorError {
        SimulatorError(.refused, "\(name): \(status)", status: status)
    }

    // MARK: Faults

    /// Sets a fault on a device, or on all of them. `members` are those of the machine interface: `kind`, its parameters, `skip`,
    /// `count`, `probability`. - Returns: the fault's number. - Throws: `SimulatorError.badRequest`.
    public nonisolated func addFault(_ device: String?, _ members: [String: JSONValue]) async throws -> Int {
        try await timeline.call("fault") { try await self.addFaultInside(device, members) }
    }
    private func addFaultInside(_ device: String?, _ members: [String: JSONValue]) throws -> Int {
        let targets = try device.map { [try self.device($0)] } ?? devices
        // Checked even when there is no device yet.
        let fault = try FaultKinds.make(members) { RandomStream(seed: seed, owner: "check", purpose: $0) }
        try check(fault, targets, device)
        lastFault += 1
        let info = FaultInfo(number: lastFault, device: device, kind: members["kind"]?.string ?? "", members: members)
        for target in targets { try install(info, on: target) }
        faults.append(info)
        let detail = info.json.object
        control(device ?? JournalEntry.everyDevice, "fault", detail)
        return info.number
    }

    /// One of the devices at least must have what the fault is about. - Throws: `SimulatorError.badRequest` that names what they lack.
    private func check(_ fault: Fault, _ targets: [SimulatedDevice], _ name: String?) throws {
        let lacking = targets.map { $0.node.flatMap { fault.lacking($0) } }
        guard let what = lacking.first ?? nil, !lacking.contains(nil) else { return }
        let who = name.map { "\($0) has no" } ?? "no device has"
        throw SimulatorError(.badRequest, "\(who) \(what): the fault '\(type(of: fault).kind)' could never take effect there")
    }

    private func install(_ info: FaultInfo, on device: SimulatedDevice) throws {
        let fault = try FaultKinds.make(info.members) { kind in
            RandomStream(seed: seed, owner: device.name, purpose: "fault \(info.number) \(kind)")
        }
        fault.onFire = { [weak device] what in
            guard let device else { return }
            device.journal.record(device.name, .fault) { $0.note = "\(info.kind): \(what)" }
        }
        if let script {
            fault.decide = { [weak device] what in
                guard let device else { return false }
                return script.takes(device.name, "\(info.kind): \(what)", device.timeline.now)
            }
        }
        device.faults.add(info.number, fault, to: device)
        device.faultsChanged()
    }

    /// The faults that are set, of all devices.
    public nonisolated func allFaults() async throws -> [FaultInfo] { try await timeline.call("faults") { await self.faultsInside() } }
    private func faultsInside() -> [FaultInfo] { faults }

    /// Clears one fault, or all (nil).
    public nonisolated func clearFault(_ number: Int?) async throws {
        try await timeline.call("clear fault") { try await self.clearFaultInside(number) }
    }
    private func clearFaultInside(_ number: Int?) throws {
        if let number, !faults.contains(where: { $0.number == number }) {
            throw SimulatorError(.badRequest, "there is no fault \(number): see 'faults'")
        }
        let device = number.flatMap { number in faults.first { $0.number == number } }?.device
        control(device ?? JournalEntry.everyDevice, "clear-fault", number.map { ["fault": JSONValue($0)] } ?? ["all": true])
        for device in devices {
            if let number { device.faults.remove(number, from: device) } else { device.faults.removeAll(from: device) }
            device.faultsChanged()
        }
        faults.removeAll { number == nil || $0.number == number }
    }

    // MARK: Journal

    /// Notes what somebody does to a device.
    private func control(_ device: String, _ verb: String, _ detail: [String: JSONValue]? = nil) {
        journal.record(device, .control) { ($0.note, $0.detail) = (verb, detail) }
    }

    /// The number of the last entry; 0 before the first.
    public nonisolated func lastJournalNumber() async throws -> UInt64 { try await timeline.call("journal") { await self.lastEntry() } }
    private func lastEntry() -> UInt64 { journal.lastNumber }

    /// Entries of the journal from a number on: the first, at most `limit`, or with `last` the last, at most so many. Of `attribute`,
    /// `command` and `event` those of any that is given.
    /// - Throws: `SimulatorError.gone` below the oldest, `unknownDevice`.
    public nonisolated func journal(
        device: String? = nil, kinds: Set<JournalEntry.Kind>? = nil, endpoint: EndpointID? = nil, cluster: ClusterID? = nil,
        attribute: AttributeID? = nil, command: CommandID? = nil, event: EventID? = nil, from number: UInt64? = nil, limit: Int = 1000,
        last: Int? = nil
    ) async throws -> [JournalEntry] {
        let filter = Journal.Filter(
            device: device, kinds: kinds, endpoint: endpoint, cluster: cluster, attribute: attribute, command: command, event: event)
        return try await timeline.call("journal") { try await self.entries(number, limit, last, filter) }
    }
    private func entries(_ number: UInt64?, _ limit: Int, _ last: Int?, _ filter: Journal.Filter) throws -> [JournalEntry] {
        if let device = filter.device, device != JournalEntry.everyDevice { _ = try self.device(device) }
        return try journal.entries(from: number, limit: limit, last: last, filter)
    }

    /// Calls `listener` on the timeline's thread for each entry from now on, until `stopListening`.
    /// - Parameter earlier: hears first, and on the same thread, each entry that there is already.
    public nonisolated func listen(
        earlier: (@Sendable (JournalEntry) -> Void)? = nil, _ listener: @escaping @Sendable (JournalEntry) -> Void
    ) async throws -> Int {
        try await timeline.call("listen") { await self.listenInside(earlier, listener) }
    }
    private func listenInside(
        _ earlier: (@Sendable (JournalEntry) -> Void)?, _ listener: @escaping @Sendable (JournalEntry) -> Void
    ) -> Int {
        if let earlier, journal.firstNumber <= journal.lastNumber {
            for number in journal.firstNumber...journal.lastNumber { if let entry = journal.entry(number) { earlier(entry) } }
        }
        return journal.listen { listener($0) }
    }
    public nonisolated func stopListening(_ number: Int) async throws {
        try await timeline.call("stop listening") { await self.stopListeningInside(number) }
    }
    private func stopListeningInside(_ number: Int) { journal.listeners[number] = nil }
}

/// A fault that is set.
public struct FaultInfo: Sendable {
    public var number: Int
    /// Nil for all devices.
    public var device: String?
    public var kind: String
    /// As it was asked for.
    public var members: [String: JSONValue]
}
