import HearthTime
import MatterController
import MatterModel
import MatterSimulator

/// A whole home at one moment: what its devices and controllers keep over a restart. Not in it: the time, sessions, subscriptions, what
/// devices are in the middle of, faults and the journal.
public struct HomeSnapshot: Sendable {
    let options: VirtualHome.Options
    let wall: Duration
    let members: [Replay.Member]
    let devices: SimulatorSnapshot
    let controllers: [(name: String, snapshot: ControllerSnapshot)]

    func store(of name: String) -> Controller.Store? {
        controllers.first { $0.name == name }.map { .snapshot($0.snapshot) }
    }
}

extension VirtualHome {
    /// What the home is now, for `restore`, or for `VirtualHome.run(from:)` of as many tests as there are.
    public func snapshot() async throws -> HomeSnapshot {
        var saved: [(name: String, snapshot: ControllerSnapshot)] = []
        for (name, controller) in controllers { saved.append((name, try await controller.snapshot())) }
        return try await HomeSnapshot(
            options: options, wall: timeline.wall(), members: simulator.members(), devices: simulator.snapshot(), controllers: saved)
    }

    /// Makes the home what it was when `snapshot` was taken of it. Devices that run lose their power and get it back; time goes on.
    /// - Throws: `ControllerError.badRequest` when the snapshot is of another home.
    public func restore(_ snapshot: HomeSnapshot) async throws {
        for (name, saved) in snapshot.controllers { try await controller(name).restore(saved) }
        try await simulator.restore(snapshot.devices)
    }
}
