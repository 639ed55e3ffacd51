import HearthIO
import HearthTime
import MatterController
import MatterDiscovery
import MatterModel
import MatterSimulator
import MatterTransport

/// A home in a test: virtual devices and a controller in one process, in virtual time.
///
/// ```swift
/// try await VirtualHome.run(lamp) { home in
///     let device = try await home.pair("lamp")
///     try await home.controller.invoke(device.name, [...])
/// }
/// ```
///
/// Nothing sleeps, no port is fixed, and everything is closed at the end, also when the body throws. The body runs on the home's
/// timeline, so that `async let` and `home.advance` are exact.
public struct VirtualHome: Sendable {
    /// How controller and devices are connected.
    public enum Link: String, Sendable, CaseIterable {
        /// TLS over the memory of the process: the fastest, and no sockets.
        case memory
        /// TLS over TCP on 127.0.0.1.
        case loopback
    }

    /// How a home is made; the defaults suit most tests.
    public struct Options: Sendable {
        public var link = Link.memory
        /// `automatic` lets time jump whenever a call waits for it; `manual` moves it by `advance` only.
        public var mode = Timeline.Mode.automatic
        public var seed: UInt64 = 1
        /// Whether the journal has an entry for each attribute that is read.
        public var recordsReads = false
        /// How long, in real time, the clock waits for one thing that happens outside the process.
        public var patience: Duration = .seconds(30)
        public init() {}
    }

    public let timeline: Timeline
    public let simulator: Simulator
    /// The first controller, with a fabric of its own.
    public let controller: Controller
    public let options: Options
    let transport: TLSTransport
    let discovery: SharedDiscovery
    let more = MoreControllers()

    /// The clock of everything in the home.
    public var clock: HomeClock { HomeClock(timeline: timeline) }
    /// What happened to the devices.
    public var journal: HomeJournal { HomeJournal(simulator: simulator) }
    /// All controllers by name, in the order in which they came.
    public var controllers: [(name: String, controller: Controller)] { [(Self.firstName, controller)] + more.all }
    static let firstName = "controller"

    /// Runs `body` in a home with a device of each profile, switched on and ready to be paired.
    /// - Throws: what `body` throws, or why the home could not be made.
    public static func run<Result: Sendable>(
        _ profiles: DeviceProfile..., options: Options = Options(),
        body: @escaping @Sendable @concurrent (VirtualHome) async throws -> Result
    ) async throws -> Result {
        try await run(profiles, options: options, body: body)
    }

    public static func run<Result: Sendable>(
        _ profiles: [DeviceProfile], options: Options = Options(),
        body: @escaping @Sendable @concurrent (VirtualHome) async throws -> Result
    ) async throws -> Result {
        try await run(profiles.map { ($0, nil) }, options, nil, body)
    }

    /// The same with the devices of a fleet, under their names there. - Throws: `ProfileErrors` when some of it could not be read.
    public static func run<Result: Sendable>(
        fleet: Fleet, options: Options = Options(),
        body: @escaping @Sendable @concurrent (VirtualHome) async throws -> Result
    ) async throws -> Result {
        if !fleet.errors.isEmpty { throw ProfileErrors(errors: fleet.errors) }
        return try await run(fleet.members.map { ($0.profile, $0.name) }, options, nil, body)
    }

    private static func run<Result: Sendable>(
        _ profiles: [(DeviceProfile, String?)], _ options: Options, _ snapshot: HomeSnapshot?,
        _ body: @escaping @Sendable @concurrent (VirtualHome) async throws -> Result
    ) async throws -> Result {
        var limits = Timeline.Limits()
        limits.hold = options.patience
        // Not before the snapshot: its certificates are of that time.
        let runtime = try Runtime(mode: options.mode, seed: options.seed, epoch: snapshot?.wall, limits: limits)
        let result: Swift.Result<Result, any Error>
        do {
            let home = try await make(runtime, profiles, options, snapshot)
            do {
                result = .success(try await runtime.timeline.run { try await body(home) })
            } catch {
                result = .failure(error)
            }
            await home.close()
        } catch {
            runtime.shutdown()
            await runtime.ended()
            throw error
        }
        runtime.shutdown()
        await runtime.ended()
        return try result.get()
    }

    /// The same as a home was when a snapshot was taken of it: nothing has to be paired again. Profiles, names and controllers are
    /// the snapshot's; sessions and subscriptions are not in it.
    public static func run<Result: Sendable>(
        from snapshot: HomeSnapshot, options: Options? = nil,
        body: @escaping @Sendable @concurrent (VirtualHome) async throws -> Result
    ) async throws -> Result {
        try await run(snapshot.members.map { ($0.profile, $0.name) }, options ?? snapshot.options, snapshot, body)
    }

    private static func make(
        _ runtime: Runtime, _ profiles: [(DeviceProfile, String?)], _ options: Options, _ snapshot: HomeSnapshot?
    ) async throws -> VirtualHome {
        let timeline = runtime.timeline
        let transport = TLSTransport(runtime)
        let discovery = SharedDiscovery(timeline: timeline) { Discovery.memory(MemoryRegistry(timeline: timeline)) }
        var configuration = Simulator.Configuration()
        (configuration.seed, configuration.recordsReads) = (options.seed, options.recordsReads)
        if let snapshot { configuration.store = .snapshot(snapshot.devices) }
        configuration.route = { [link = options.link] found in address(link, port: found.port) }
        configuration.listenAddress = { [link = options.link] in address(link, port: $0) }
        let simulator = try await Simulator.open(configuration, transport: transport, discovery: discovery)
        for (profile, name) in profiles { _ = try await simulator.add(profile, name: name) }
        let home = try await VirtualHome(
            timeline: timeline, simulator: simulator,
            controller: Controller.open(
                name: firstName, store: snapshot?.store(of: firstName) ?? .memory, transport: transport, discovery: discovery,
                settings: settings(options), seed: options.seed),
            options: options, transport: transport, discovery: discovery)
        for other in snapshot?.controllers.dropFirst() ?? [] { _ = try await home.open(other.name, .snapshot(other.snapshot)) }
        try await simulator.advertised()
        return home
    }

    static func address(_ link: Link, port: UInt16) -> TransportAddress {
        switch link {
        case .memory: .memory(MemoryAddress("home", port: port))
        case .loopback: .loopback(port)
        }
    }

    static func settings(_ options: Options) -> ControllerSettings {
        var settings = ControllerSettings()
        settings.listen = { [link = options.link] in address(link, port: $0) }
        settings.route = { [link = options.link] found in address(link, port: found.port) }
        return settings
    }

    func close() async {
        for other in more.all.reversed() { await other.controller.close() }
        await controller.close()
        await simulator.close()
        let discovery = discovery
        try? await timeline.call("close discovery") { discovery.shutdown() }
    }

    // MARK: For tests

    /// Moves time on: everything that is due happens, each at its instant.
    public func advance(by span: Duration) async throws { try await timeline.advance(by: span) }

    /// Pairs a device of the simulator with its own code.
    @discardableResult
    public func pair(_ name: String) async throws -> PairedDevice {
        guard let info = try await simulator.allDevices().first(where: { $0.name == name }) else {
            throw SimulatorError(.unknownDevice, "the home has no device '\(name)'")
        }
        return try await controller.pair(info.qrCode, name: name)
    }

    /// Pairs every device.
    @discardableResult
    public func pairAll() async throws -> [PairedDevice] {
        var paired: [PairedDevice] = []
        for info in try await simulator.allDevices() { paired.append(try await controller.pair(info.qrCode, name: info.name)) }
        return paired
    }

    /// The verbs of the machine interface, carried out by a controller of this home.
    public func verbs(of controller: Controller) -> ControllerVerbs { ControllerVerbs(controller, discovery: discovery) }

    /// One more controller, with a fabric of its own; `name` is none of another's. It is closed with the home.
    public func addController(_ name: String) async throws -> Controller { try await open(name, .memory) }

    private func open(_ name: String, _ store: Controller.Store) async throws -> Controller {
        guard !controllers.contains(where: { $0.name == name }) else {
            throw ControllerError(.badRequest, "there is a controller '\(name)' already: give each its own name")
        }
        let controller = try await Controller.open(
            name: name, store: store, transport: transport, discovery: discovery, settings: Self.settings(options), seed: options.seed)
        more.add(name, controller)
        return controller
    }

    /// The controller of a name. - Throws: `ControllerError.badRequest`.
    public func controller(_ name: String) throws -> Controller {
        guard let found = controllers.first(where: { $0.name == name }) else {
            throw ControllerError(
                .badRequest, "there is no controller '\(name)': there are \(controllers.map(\.name).joined(separator: ", "))")
        }
        return found.controller
    }
}

/// The controllers beside the first.
final class MoreControllers: Sendable {
    private let controllers = Locked<[(name: String, controller: Controller)]>([])
    var all: [(name: String, controller: Controller)] { controllers.withLock { $0 } }
    func add(_ name: String, _ controller: Controller) { controllers.withLock { $0.append((name, controller)) } }
}
