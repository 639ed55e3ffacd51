import HearthTime
import HomeTestKit
import MatterController
import MatterInteraction
import MatterModel
import MatterSimulator

/// Ten hours of an apartment in virtual time: every device paired and everything of it subscribed to, as a controller does. What time
/// costs when nobody does anything.
enum VirtualTimeSuite {
    static func run(_ report: inout Report, _ options: Options) async throws {
        let fleet = try ProfileLibrary.standard().fleet("apartment")
        var (times, entries) = ([Double](), [Double]())
        for _ in 0..<options.rounds {
            let (time, count) = try await VirtualHome.run(fleet: fleet) { home in
                try await home.pairAll()
                let request = SubscribeRequest(
                    ReadSelection(attributes: [AttributePathPattern()], events: [EventPathPattern()]), minimumInterval: 1,
                    maximumInterval: 3600)
                for member in fleet.members { _ = try await home.controller.subscribe(member.name, request) { _ in } }
                let (before, start) = (home.timeline.statistics.entries, seconds())
                try await home.advance(by: .seconds(36_000))
                return (seconds() - start, home.timeline.statistics.entries - before)
            }
            times.append(time)
            entries.append(Double(count))
        }
        report.add(
            "virtual-time", "ten hours of apartment.yaml, \(fleet.members.count) devices", median(times), "s", limit: 1,
            [("least", times.min() ?? 0), ("most", times.max() ?? 0), ("entries of the timeline", median(entries))])
    }
}
