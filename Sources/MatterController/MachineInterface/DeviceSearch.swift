import HearthIO
import HearthTime
import MatterDiscovery

/// Looks for devices that wait to be paired.
public enum DeviceSearch {
    /// Everything that is seen within `span` of model time, by name.
    /// - Parameter found: hears of each device as it is seen first, on the timeline's thread.
    /// - Throws: `DiscoveryError` when there is no discovery.
    public static func run(
        _ discovery: SharedDiscovery, on timeline: Timeline, for span: Duration,
        found: @escaping @Sendable (FoundDevice) -> Void = { _ in }
    ) async throws -> [FoundDevice] {
        try await timeline.call("discover") {
            let seen = Confined(Seen(), on: timeline)
            let search = try Confined(
                discovery.discovery().browser.browse(.commissionable) { event in seen.value.take(event, found) }, on: timeline)
            defer { search.value.cancel() }
            try await timeline.sleep(for: span)
            let outcome = seen.value
            if let failure = outcome.failure { throw failure }
            return outcome.devices.values.sorted { ($0.name, $0.service.discriminator) < ($1.name, $1.service.discriminator) }
        }
    }

    /// What a search has seen.
    private struct Seen {
        var devices: [String: FoundDevice] = [:]
        var failure: DiscoveryError?

        mutating func take(_ event: BrowseEvent, _ found: (FoundDevice) -> Void) {
            switch event {
            case .found(let service), .updated(let service):
                guard let text = try? CommissionableService(text: service.text), text.mode != .closed else { return }
                let device = FoundDevice(
                    name: text.deviceName ?? service.name.instance, service: text, addresses: service.addresses)
                let isNew = devices[service.name.instance] == nil
                devices[service.name.instance] = device
                if isNew { found(device) }
            case .lost(let name): devices[name.instance] = nil
            case .failed(let error): failure = error
            }
        }
    }
}
