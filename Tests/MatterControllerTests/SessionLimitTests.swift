import HearthIO
import HearthTime
import HomeTestKit
import MatterController
import MatterDiscovery
import MatterInteraction
import MatterModel
import MatterNode
import MatterSimulator
import MatterTransport
import Testing

/// What sessions may cost a device, and what a controller does when the device has ended its session for that reason.
@Suite(.timeLimit(.minutes(10))) struct SessionLimitTests {
    private static func light(_ name: String) -> DeviceProfile { DeviceProfile(name: name, endpoints: [.init(1, deviceTypes: [0x0100])]) }
    private static let onOff = ReadSelection(attributes: [AttributePathPattern(1, OnOff.id, OnOff.Attributes.onOff)])

    /// Opens another controller of the same home.
    private typealias Opening = @Sendable (String) async throws -> Controller

    /// A simulator with one or more lamps, paired with the first controller.
    private func home(
        _ mode: Timeline.Mode, _ limits: SessionLimits, lamps: [String] = ["lamp"], memory: Bool = true,
        _ body: @escaping @Sendable (Simulator, Controller, _ open: @escaping Opening) async throws -> Void
    ) async throws {
        // A machine may be busy with other things for long: what counts here is the order of events.
        var patience = Timeline.Limits()
        patience.hold = .seconds(60)
        let runtime = try Runtime(mode: mode, seed: 1, limits: patience)
        let timeline = runtime.timeline
        let transport = TLSTransport(runtime)
        let shared = SharedDiscovery(timeline: timeline) { Discovery.memory(MemoryRegistry(timeline: timeline)) }
        var configuration = Simulator.Configuration()
        configuration.sessionLimits = limits
        configuration.listenAddress = { memory ? .memory(MemoryAddress("lamp", port: $0)) : .loopback($0) }
        var settings = ControllerSettings()
        settings.route = { memory ? .memory(MemoryAddress("lamp", port: $0.port)) : .socket($0) }
        let result: Result<Void, any Error>
        do {
            let simulator = try await Simulator.open(configuration, transport: transport, discovery: shared)
            let first = try await Controller.open(store: .memory, transport: transport, discovery: shared, settings: settings)
            for lamp in lamps {
                let device = try await simulator.add(Self.light(lamp))
                let place: TransportAddress = memory ? .memory(MemoryAddress("lamp", port: device.port)) : .loopback(device.port)
                try await first.pair(device.qrCode, name: lamp, address: place)
            }
            let snapshot = try await first.snapshot()
            let others = Locked<[Controller]>([])
            try await body(simulator, first) { [settings] name in
                let controller = try await Controller.open(
                    name: name, store: .snapshot(snapshot), transport: transport, discovery: shared, settings: settings)
                others.withLock { $0.append(controller) }
                return controller
            }
            for controller in others.withLock({ $0 }) + [first] { await controller.close() }
            await simulator.close()
            result = .success(())
        } catch {
            result = .failure(error)
        }
        runtime.shutdown()
        await runtime.ended()
        try result.get()
    }

    /// The operational sessions of a device that have ended.
    private static func ends(_ simulator: Simulator, _ device: String) async throws -> Int {
        try await simulator.journal(device: device, kinds: [.sessionEnd]).count { $0.note != "pairing" }
    }

    @Test(arguments: [true, false]) func theSessionThatIsUsedLeastGivesWay(memory: Bool) async throws {
        var limits = SessionLimits()
        limits.perFabric = 3
        try await home(.automatic, limits, memory: memory) { simulator, first, open in
            // In the order of their last use: first, b, a.
            let (a, b) = (try await open("a"), try await open("b"))
            for controller in [a, first, b, a] { _ = try await controller.read("lamp", Self.onOff) }
            #expect(try await Self.ends(simulator, "lamp") == 0)
            let c = try await open("c")
            _ = try await c.read("lamp", Self.onOff)
            #expect(try await Self.ends(simulator, "lamp") == 1)
            // The others still have theirs.
            for controller in [b, a, c] { _ = try await controller.read("lamp", Self.onOff) }
            #expect(try await Self.ends(simulator, "lamp") == 1)
            // Who has lost its session makes another at the next request, and notices nothing.
            _ = try await first.read("lamp", Self.onOff)
            #expect(try await Self.ends(simulator, "lamp") == 2)
        }
    }

    @Test(arguments: [true, false]) func whenAllHaveSubscriptionsTheNewcomerIsToldSo(memory: Bool) async throws {
        var limits = SessionLimits()
        limits.perFabric = 3
        try await home(.automatic, limits, memory: memory) { simulator, first, open in
            let request = SubscribeRequest(Self.onOff, keepsSubscriptions: true, minimumInterval: 0, maximumInterval: 600)
            let (a, b) = (try await open("a"), try await open("b"))
            let numbers = Locked<[Int]>([])
            for controller in [first, a, b] {
                let (number, _) = try await controller.subscribe("lamp", request) { _ in }
                numbers.withLock { $0.append(number) }
            }
            let c = try await open("c")
            let failure = await #expect(throws: ControllerError.self) { try await c.read("lamp", Self.onOff) }
            #expect(failure?.code == .unreachable)
            #expect(failure?.message.contains("as many sessions of this home as it can serve; try again in 60.0 seconds") == true)
            #expect(try await Self.ends(simulator, "lamp") == 0)
        }
    }

    /// Real time, since only that makes a peer idle; the limit is short and nothing but the end of a session is waited for.
    @Test func anIdleSessionEndsAndTheNextRequestMakesAnother() async throws {
        var limits = SessionLimits()
        limits.idle = .milliseconds(200)
        try await home(.real(speed: 1), limits, lamps: ["lamp", "bulb"], memory: false) { simulator, first, _ in
            let updates = Locked<[String]>([])
            let request = SubscribeRequest(Self.onOff, minimumInterval: 0, maximumInterval: 600)
            _ = try await first.subscribe("lamp", request) { update in
                switch update {
                case .report: updates.withLock { $0.append("report") }
                case .lost, .restored, .ended: updates.withLock { $0.append("outage") }
                }
            }
            // It may have been idle before.
            let before = try await Self.ends(simulator, "lamp")
            for _ in 1...3 {
                let ended = try await Self.ends(simulator, "bulb")
                _ = try await first.read("bulb", Self.onOff)
                while try await Self.ends(simulator, "bulb") == ended { await Task.yield() }
            }
            // The subscription has kept the other session, through three times the limit.
            _ = try await first.read("lamp", Self.onOff)
            #expect(try await Self.ends(simulator, "lamp") == before)
            #expect(updates.withLock { $0 }.allSatisfy { $0 == "report" })
        }
    }

    /// Links in memory know no idle peers, and in virtual time neither do sockets whose two ends are both inside.
    @Test(arguments: [true, false]) func inVirtualTimeNobodyIsIdle(memory: Bool) async throws {
        var limits = SessionLimits()
        limits.idle = .milliseconds(1)
        try await home(.automatic, limits, memory: memory) { simulator, first, _ in
            for _ in 0..<50 {
                try await simulator.timeline.advance(by: .seconds(3600))
                _ = try await first.read("lamp", Self.onOff)
            }
            #expect(try await Self.ends(simulator, "lamp") == 0)
        }
    }
}
