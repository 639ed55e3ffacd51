import HearthTime
import Testing

@testable import MatterDiscovery

@Suite("Discovery turned off")
struct DiscoveryOffTests {
    @Test("advertises quietly, and tells a search that it is off")
    func off() async throws {
        let timeline = Timeline(mode: .manual)
        defer { timeline.shutdown() }
        let said = try await timeline.run {
            try await withCheckedThrowingContinuation { (waiting: CheckedContinuation<String, any Error>) in
                timeline.post {
                    let discovery = Discovery.off(timeline: timeline)
                    do {
                        let record = ServiceRecord(name: ServiceName("A", .operational), port: 1)
                        let handle = try discovery.advertiser.advertise(record, onConflict: .fail) { _ in }
                        handle.withdraw()
                    } catch { return waiting.resume(throwing: error) }
                    discovery.browser.browse(.operational) { _ in waiting.resume(returning: "not cancelled") }.cancel()
                    _ = discovery.browser.browse(.operational) { waiting.resume(returning: $0.brief) }
                }
            }
        }
        #expect(said == "failed off")
    }
}
