import HearthIO
import HearthTime
import MachineInterface
import MatterController
import MatterDiscovery
import MatterModel
import MatterSimulator
import MatterTransport

/// Devices and a controller in one process and on one clock, with one control socket for both: what `hearth lab` is.
public struct Lab: Sendable {
    /// How a lab is made; by default in memory, with time that stands until it is moved.
    public struct Options: Sendable {
        /// `manual` moves time by the verb `clock` only.
        public var mode = Timeline.Mode.manual
        public var link = VirtualHome.Link.memory
        public var seed: UInt64 = 0
        /// A folder for the state of both; nil keeps it in memory.
        public var folder: String?
        public init() {}
    }

    public let runtime: Runtime
    public let simulator: Simulator
    public let controller: Controller
    let discovery: SharedDiscovery
    let server: Confined<ControlServer?>

    /// Opens a lab without devices. - Throws: `StoreError`, `SimulatorError`, `ControllerError`.
    public static func open(_ options: Options = Options()) async throws -> Lab {
        // What is kept has certificates of real days.
        let runtime = try Runtime(
            mode: options.mode, seed: options.seed, epoch: options.folder == nil ? nil : Timeline.systemEpoch())
        do {
            let timeline = runtime.timeline
            let transport = TLSTransport(runtime)
            let discovery = SharedDiscovery(timeline: timeline) { Discovery.memory(MemoryRegistry(timeline: timeline)) }
            var home = VirtualHome.Options()
            (home.link, home.seed) = (options.link, options.seed)
            var configuration = Simulator.Configuration()
            configuration.seed = options.seed
            configuration.holder = "hearth lab"
            configuration.route = { [link = options.link] found in VirtualHome.address(link, port: found.port) }
            configuration.listenAddress = { [link = options.link] in VirtualHome.address(link, port: $0) }
            if let folder = options.folder { configuration.store = .folder(folder + "/devices", durable: false) }
            let simulator = try await Simulator.open(configuration, transport: transport, discovery: discovery)
            let controller = try await Controller.open(
                store: options.folder.map { .folder($0 + "/home") } ?? .memory, transport: transport, discovery: discovery,
                settings: VirtualHome.settings(home), seed: options.seed)
            return Lab(
                runtime: runtime, simulator: simulator, controller: controller, discovery: discovery,
                server: Confined(sending: nil, on: timeline))
        } catch {
            runtime.shutdown()
            await runtime.ended()
            throw error
        }
    }

    /// Opens the control socket, for its owner alone; it is closed with the lab.
    /// - Throws: `SimulatorError.network` when the path is too long for a socket or in use, or when others may change its folder.
    public func openControl(path: String) async throws {
        try await runtime.timeline.call("open control") {
            server.value = try ControlServer(path: path, role: .lab, loop: runtime.loop, timeline: runtime.timeline) { output in
                session(output)
            }
        }
    }

    /// A stream of requests of its own, as a connection to the control socket is.
    public func session(_ output: @escaping ControlOutput) -> LabSession {
        LabSession(
            SimulatorVerbs(simulator), ControllerVerbs(controller, discovery: discovery), timeline: runtime.timeline, output: output)
    }

    /// Closes the socket, the controller and the devices, and ends the timeline.
    public func close() async {
        let (server, discovery) = (server, discovery)
        try? await runtime.timeline.call("close control") {
            server.value?.close()
            server.value = nil
        }
        await controller.close()
        await simulator.close()
        try? await runtime.timeline.call("close discovery") { discovery.shutdown() }
        runtime.shutdown()
        await runtime.ended()
    }
}
