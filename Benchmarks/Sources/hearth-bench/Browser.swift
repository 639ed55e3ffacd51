import Glibc
import HearthIO
import HearthTime
import MatterDiscovery

/// Our own browser in a process of its own, for machines without another one. Speaks as reference/browse.py does, but overhears no
/// probes.
enum Browser {
    static func run(count: Int, interface: String?) async throws {
        let runtime = try Runtime(mode: .real(speed: 1))
        let (loop, timeline) = (runtime.loop, runtime.timeline)
        let discovery = SharedDiscovery(timeline: timeline) {
            try Discovery.make(backEnd: .builtin, interface: interface, loop: loop, timeline: timeline)
        }
        let end = try await timeline.call("browse") { try await Watch(discovery.discovery().browser, count, loop).end() }
        if let end { say("resolved \(end)") } else { say("missing some") }
        runtime.shutdown()
        await runtime.ended()
    }

    /// Belongs to the timeline's thread.
    private final class Watch {
        private var found: Set<ServiceName> = []
        private var searches: [any ServiceSearch] = []
        private var waiting: CheckedContinuation<Double?, Never>?
        private let (browser, count, loop): (any ServiceBrowser, Int, EventLoop)

        init(_ browser: any ServiceBrowser, _ count: Int, _ loop: EventLoop) {
            (self.browser, self.count, self.loop) = (browser, count, loop)
        }

        /// When everything was resolved; nil when it was not within a minute.
        func end() async -> Double? {
            for type in [ServiceType.commissionable, .operational] {
                searches.append(
                    browser.browse(type, subtype: nil) { event in
                        if case .found(let service) = event { self.found.insert(service.name) }
                        if self.found.count >= self.count { self.finish(seconds()) }
                    })
            }
            loop.schedule(after: .seconds(60)) { self.finish(nil) }
            say("browsing")
            return await withCheckedContinuation { waiting = $0 }
        }

        private func finish(_ time: Double?) {
            waiting?.resume(returning: time)
            waiting = nil
        }
    }
}

/// Writes a line at once.
func say(_ line: String, to file: Int32 = 1) {
    let bytes = Array(line.utf8) + [10]
    _ = bytes.withUnsafeBytes { Glibc.write(file, $0.baseAddress, $0.count) }
}
