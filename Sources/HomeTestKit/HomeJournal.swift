import Glibc
import MatterModel
import MatterSimulator

/// What happened to the devices of a home, in order.
public struct HomeJournal: Sendable {
    let simulator: Simulator

    /// The entries of a device, of some kinds, of a cluster, of an attribute, command or event of it; nil stands for all.
    public func entries(
        device: String? = nil, kinds: Set<JournalEntry.Kind>? = nil, endpoint: EndpointID? = nil, cluster: ClusterID? = nil,
        attribute: AttributeID? = nil, command: CommandID? = nil, event: EventID? = nil
    ) async throws -> [JournalEntry] {
        try await simulator.journal(
            device: device, kinds: kinds, endpoint: endpoint, cluster: cluster, attribute: attribute, command: command, event: event,
            limit: .max)
    }

    /// The last entries of a device, oldest first.
    public func last(_ count: Int, of device: String) async throws -> [JournalEntry] {
        Array(try await entries(device: device).suffix(count))
    }

    /// One line of JSON an entry, keys sorted: two runs with the same seed and inputs give the same text.
    /// - Parameter redacted: PINs and credentials are left out; such a journal cannot be replayed in full.
    public func text(redacted: Bool = false) async throws -> String {
        try await entries().map { $0.json(redacted: redacted).text() + "\n" }.joined()
    }

    /// Feeds what was done so far to a fresh simulator and compares what came of it.
    public func replay(_ members: [Replay.Member], seed: UInt64) async throws -> Replay.Outcome {
        try await Replay.run(Replay.read(Array(text().utf8), file: "journal"), members: members, seed: seed)
    }
}
