import HearthIO
import HearthTime
import MatterDiscovery
import MatterModel
import MatterTransport
import Testing

@testable import MatterSimulator

/// What a device has kept, and cannot be used.
@Suite struct StoredDeviceTests {
    private func withSimulator<Result>(
        _ store: Simulator.Store, _ body: (Simulator) async throws -> Result
    ) async throws -> Result {
        let runtime = try Runtime(mode: .manual, seed: 1)
        let timeline = runtime.timeline
        let discovery = SharedDiscovery(timeline: timeline) { Discovery.memory(MemoryRegistry(timeline: timeline)) }
        var configuration = Simulator.Configuration()
        configuration.store = store
        configuration.listenAddress = { .memory(MemoryAddress("home", port: $0)) }
        let simulator = try await Simulator.open(configuration, transport: TLSTransport(runtime), discovery: discovery)
        let result: Swift.Result<Result, any Error>
        do { result = .success(try await body(simulator)) } catch { result = .failure(error) }
        await simulator.close()
        try? await timeline.call("close discovery") { discovery.shutdown() }
        runtime.shutdown()
        await runtime.ended()
        return try result.get()
    }

    private static let lamp = DeviceProfile(name: "lamp", endpoints: [.init(1, deviceTypes: [0x0100])])

    /// Neither a new setup code, nor an end for the other devices.
    @Test(arguments: [[0x15, 0xFF], [0x15, 0x18]]) func oneThatLostItsMakingIsToldAndLeftOut(_ record: [UInt8]) async throws {
        let (snapshot, lock) = try await withSimulator(.memory) { simulator in
            _ = try await simulator.add(Self.lamp)
            let lock = try await simulator.add(Self.lamp, name: "lock")
            return (try await simulator.snapshot(), lock)
        }
        var entries = snapshot.entries
        let place = try #require(entries.firstIndex { $0.namespace == "lamp" && $0.key == SimulatedDevice.birthKey })
        entries[place].value = record
        try await withSimulator(.snapshot(SimulatorSnapshot(entries: entries))) { simulator in
            var refused: SimulatorError?
            do { _ = try await simulator.add(Self.lamp) } catch { refused = error as? SimulatorError }
            #expect(refused?.code == .store && refused?.message.hasPrefix("lamp: ") == true, "\(String(describing: refused))")
            let again = try await simulator.add(Self.lamp, name: "lock")
            #expect(again.setupCode == lock.setupCode)
            let names = try await simulator.allDevices().map(\.name)
            #expect(names == ["lock"])
        }
    }
}
