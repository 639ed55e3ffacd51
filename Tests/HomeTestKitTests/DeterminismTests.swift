import HearthTime
import HomeTestKit
import MatterController
import MatterInteraction
import MatterModel
import MatterSimulator
import Testing

/// The same seed, profiles and inputs give the same journal, byte for byte, in two processes: twelve devices, two fabrics, calls side by
/// side, and faults that strike by chance.
@Suite struct DeterminismTests {
    /// Over links that carry messages, TLS over memory, and TLS over TCP.
    @Test(arguments: ["link"] + VirtualHome.Link.allCases.map(\.rawValue)) func twoProcessesWriteTheSameJournal(_ way: String) throws {
        let first = try Probe.run([way, "7", Probe.profiles])
        let second = try Probe.run([way, "7", Probe.profiles])
        #expect(first.count > 2000)
        // Enough happened to be different.
        for fault in ["delay", "drop-reports", "reset", "half-open", "slow-answer", "wrong-status", "jammed-lock", "reboot"] {
            #expect(first.contains { $0.contains("\"note\":\"\(fault): ") }, "\(fault) never struck")
        }
        if let difference = zip(first, second).first(where: { $0 != $1 }) {
            Issue.record("first difference:\n\(difference.0)\n\(difference.1)")
        }
        #expect(first.count == second.count)
    }

    @Test func theWayInBetweenDoesNotMatter() throws {
        let (memory, loopback) = (try Probe.run(["memory", "8", Probe.profiles]), try Probe.run(["loopback", "8", Probe.profiles]))
        #expect(memory == loopback)
    }

    /// A fresh simulator does what the twelve devices did, faults and all, without either controller.
    @Test(arguments: ["1", "7"]) func theJournalOfTheDayIsReplayed(_ seed: String) throws {
        let outcome = try JSONValue(parsing: Array((Probe.run(["replay", seed, Probe.profiles]).first ?? "").utf8))
        #expect(outcome["same"] == true, "\(outcome.text())")
        #expect(outcome["inputs"]?.integer ?? 0 > 50)
        #expect(outcome["compared"]?.integer ?? 0 > 300)
    }

    @Test func anotherSeedGivesAnotherJournal() throws {
        let (first, second) = (try Probe.run(["memory", "9", Probe.profiles]), try Probe.run(["memory", "10", Probe.profiles]))
        #expect(first != second)
    }

    /// A clock that is moved jumps from entry to entry: a home at rest costs next to nothing.
    @Test func tenHoursOfAnApartmentAreFewEntries() async throws {
        let fleet = try ProfileLibrary(folders: [Probe.profiles]).fleet("apartment")
        try await VirtualHome.run(fleet: fleet) { home in
            try await home.pairAll()
            let reports = Locked(0)
            let request = SubscribeRequest(
                ReadSelection(attributes: [AttributePathPattern()], events: [EventPathPattern()]), minimumInterval: 1, maximumInterval: 3600
            )
            for member in fleet.members {
                _ = try await home.controller.subscribe(member.name, request) { _ in reports.withLock { $0 += 1 } }
            }
            try await home.advance(by: .seconds(60))
            let before = home.timeline.statistics.entries
            try await home.advance(by: .seconds(36_000))
            let entries = home.timeline.statistics.entries - before
            // A keep-alive of each subscription an hour, and what a message costs; a room that cools down.
            #expect(entries < 12 * 10 * 20, "\(entries) entries")
            #expect(home.timeline.statistics.foreignJobs == 0)
        }
    }
}
