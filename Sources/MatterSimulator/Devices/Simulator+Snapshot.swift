import HearthTime
import MatterNode

/// What the devices of a simulator keep over a restart, all of it, at one moment.
public struct SimulatorSnapshot: Sendable {
    var entries: [StoredEntry]
}

extension Simulator {
    /// The memory of all devices as it is now. What they do at the moment, such as a transition, is not in it.
    public nonisolated func snapshot() async throws -> SimulatorSnapshot {
        try await timeline.call("snapshot") { await self.snapshotInside() }
    }
    private func snapshotInside() -> SimulatorSnapshot {
        // Who had subscribed is not in it: those who start from it have not.
        SimulatorSnapshot(entries: services.hub.storedEntries().filter { $0.key != NodeHost.subscriptionsKey })
    }

    /// Gives every device the memory that it had, or none when it had none yet, as if its power had failed then and come back now.
    public nonisolated func restore(_ snapshot: SimulatorSnapshot) async throws {
        try await timeline.call("restore") { try await self.restoreInside(snapshot) }
    }

    private func restoreInside(_ snapshot: SimulatorSnapshot) throws {
        let running = devices.filter(\.isRunning)
        for device in running { device.stop(abruptly: true) }
        services.hub.replace(with: snapshot.entries)
        for device in running { try device.start() }
    }
}
