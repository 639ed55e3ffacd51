import HearthIO
import HearthTime
import HomeTestKit
import MatterController
import MatterDiscovery
import MatterInteraction
import MatterModel
import MatterSimulator
import MatterTLV
import MatterTransport
import Testing

/// Devices and controller on two clocks: each is outside for the other. What one waits for from the other takes it no time.
@Suite struct OutsidePeerTests {
    private static let light = DeviceProfile(name: "lamp", endpoints: [.init(1, deviceTypes: [0x0101])])
    private static let onOff = AttributePathPattern(1, OnOff.id, OnOff.Attributes.onOff)

    /// A runtime for each side, ended at the end.
    private func apart(
        devices: Timeline.Mode, controller: Timeline.Mode, _ body: (Simulator, DeviceInfo, Controller) async throws -> Void
    ) async throws {
        var limits = Timeline.Limits()
        limits.hold = .seconds(10)
        let here = try Runtime(mode: devices, seed: 1, epoch: Timeline.systemEpoch(), limits: limits)
        let there = try Runtime(mode: controller, seed: 2, epoch: Timeline.systemEpoch(), limits: limits)
        func discovery(_ runtime: Runtime) -> SharedDiscovery {
            let timeline = runtime.timeline
            return SharedDiscovery(timeline: timeline) { Discovery.memory(MemoryRegistry(timeline: timeline)) }
        }
        var configuration = Simulator.Configuration()
        configuration.listenAddress = { .loopback($0) }
        do {
            let simulator = try await Simulator.open(configuration, transport: TLSTransport(here), discovery: discovery(here))
            let device = try await simulator.add(Self.light)
            let controller = try await Controller.open(store: .memory, transport: TLSTransport(there), discovery: discovery(there))
            try await controller.pair(device.qrCode, name: "lamp", address: .loopback(device.port))
            try await body(simulator, device, controller)
            await controller.close()
            await simulator.close()
        } catch {
            for runtime in [here, there] { runtime.shutdown() }
            for runtime in [here, there] { await runtime.ended() }
            throw error
        }
        for runtime in [here, there] { runtime.shutdown() }
        for runtime in [here, there] { await runtime.ended() }
    }

    @Test func aSubscriberOutsideHearsEveryReportOfAnHour() async throws {
        try await apart(devices: .manual, controller: .real(speed: 1)) { simulator, _, controller in
            // Keep-alives carry nothing that a subscriber is told of, so that the device has to change.
            let heard = Locked(0)
            let request = SubscribeRequest(
                ReadSelection(attributes: [Self.onOff]), minimumInterval: 0, maximumInterval: 60)
            _ = try await controller.subscribe("lamp", request) { update in
                if case .report = update { heard.withLock { $0 += 1 } }
            }
            for round in 0..<60 {
                try await simulator.set("lamp", AttributePath(1, OnOff.id, OnOff.Attributes.onOff), .boolean(round % 2 == 0))
                // Longer than the device waits for an acknowledgement.
                try await simulator.timeline.advance(by: .seconds(61))
            }
            #expect(heard.withLock { $0 } == 60)
            #expect(simulator.timeline.failures.isEmpty)
            let ends = try await simulator.journal(device: "lamp", kinds: [.sessionEnd]).filter { $0.note != "pairing" }
            #expect(ends.isEmpty)
        }
    }

    /// A message that a fault delays needs time to pass, and one that it drops is never answered: the clock must not wait for either.
    @Test func faultsOfMessagesDoNotStopTheClock() async throws {
        try await apart(devices: .manual, controller: .real(speed: 1)) { simulator, _, controller in
            let heard = Locked(0)
            let request = SubscribeRequest(
                ReadSelection(attributes: [Self.onOff]), minimumInterval: 0, maximumInterval: 60)
            _ = try await controller.subscribe("lamp", request) { update in
                if case .report = update { heard.withLock { $0 += 1 } }
            }
            let slow = try await simulator.addFault("lamp", ["kind": "delay", "delayMs": 700])
            for round in 0..<5 {
                try await simulator.set("lamp", AttributePath(1, OnOff.id, OnOff.Attributes.onOff), .boolean(round % 2 == 0))
                try await simulator.timeline.advance(by: .seconds(5))
            }
            #expect(heard.withLock { $0 } == 5)
            try await simulator.clearFault(slow)
            _ = try await simulator.addFault("lamp", ["kind": "offline"])
            try await simulator.set("lamp", AttributePath(1, OnOff.id, OnOff.Attributes.onOff), .boolean(false))
            try await simulator.timeline.advance(by: .seconds(60))
            #expect(simulator.timeline.failures.isEmpty)
        }
    }

    @Test func aControllerOnItsOwnClockNeedsNoTimeForAnAnswer() async throws {
        try await apart(devices: .real(speed: 1), controller: .automatic) { _, _, controller in
            let before = controller.timeline.now
            for _ in 0..<20 { _ = try await controller.read("lamp", ReadSelection(attributes: [Self.onOff])) }
            #expect(controller.timeline.now == before)
            #expect(controller.timeline.failures.isEmpty)
        }
    }
}
