import HearthIO
import HearthTime
import MatterModel
import Testing

@testable import MatterDiscovery

/// Runs a script on a timeline's thread and collects what is said there, with the instant.
///
/// Why `@unchecked Sendable` is sound: its state is touched in entries of the timeline only, which one thread runs in order.
private final class Script: @unchecked Sendable {
    let timeline = Timeline(mode: .manual)
    private var lines: [String] = []
    private(set) lazy var registry = MemoryRegistry(timeline: timeline)
    var advertisements: [any Advertisement] = []

    func say(_ text: String) { lines.append("\(timeline.now.nanoseconds / 1_000_000) \(text)") }

    /// Runs `body` on the timeline and everything that is due up to `advance` from now; returns what was said.
    func play(advance: Duration = .zero, _ body: @escaping @Sendable (Script) throws -> Void) async throws -> [String] {
        timeline.post { [self] in
            lines = []
            do { try body(self) } catch { say("threw \(error)") }
            say("returned")
        }
        try await timeline.advance(by: advance)
        return try await timeline.run { self.lines }
    }

    func browse(_ label: String, _ subtype: String? = nil) {
        _ = registry.browse(.commissionable, subtype: subtype) { self.say("\(label) \($0.brief)") }
    }

    func advertise(_ instance: String, _ policy: NameConflictPolicy = .number, discriminator: UInt16 = 1) throws {
        let record = try CommissionableService(discriminator: discriminator).record(instance: instance, port: 5540)
        advertisements.append(try registry.advertise(record, onConflict: policy) { self.say("\(instance): \($0.brief)") })
    }
}

@Suite("The memory back end")
struct MemoryRegistryTests {
    @Test("tells searches what comes, changes and goes, later and in order")
    func lifeCycle() async throws {
        let script = Script()
        defer { script.timeline.shutdown() }
        let first = try await script.play { script in
            script.browse("all")
            script.browse("L1", "_L1")
            script.browse("L2", "_L2")
            try script.advertise("B")
            try script.advertise("A")
        }
        #expect(
            first == [
                "0 returned", "0 all found B", "0 L1 found B", "0 B: established", "0 all found A", "0 L1 found A",
                "0 A: established",
            ])
        let changed = try await script.play { script in
            let handle = script.advertisements[0]
            try handle.update(try CommissionableService(discriminator: 2).record(instance: "ignored", port: 5541))
            try handle.update(handle.record)
        }
        #expect(changed == ["0 returned", "0 all updated B", "0 L1 lost B", "0 L2 found B"])
        let gone = try await script.play { script in
            script.advertisements[0].withdraw()
            script.advertisements[0].withdraw()
            script.browse("new")
        }
        #expect(gone == ["0 returned", "0 all lost B", "0 L2 lost B", "0 new found A"])
    }

    @Test("a taken name is replaced as the policy says")
    func conflicts() async throws {
        let script = Script()
        defer { script.timeline.shutdown() }
        let lines = try await script.play { script in
            try script.advertise("A")
            try script.advertise("a")
            try script.advertise("A", .replace { $0 + "0" })
            try script.advertise("A", .fail)
        }
        #expect(
            lines == [
                "0 returned", "0 A: established", "0 a: renamed a -> a (2)", "0 a: established", "0 A: renamed A -> A0",
                "0 A: established", "0 A: failed nameTaken",
            ])
    }

    @Test("a name that is known is resolved, and an unknown one reported after its time")
    func resolve() async throws {
        let script = Script()
        defer { script.timeline.shutdown() }
        let lines = try await script.play(advance: .seconds(9)) { script in
            try script.advertise("A")
            for name in ["a", "C"] {
                _ = script.registry.resolve(ServiceName(name, .commissionable), timeout: .seconds(5)) {
                    script.say("\(name) \($0.brief)")
                }
            }
            let cancelled = script.registry.resolve(ServiceName("D", .commissionable), timeout: .seconds(1)) {
                script.say("D \($0.brief)")
            }
            cancelled.cancel()
        }
        #expect(lines == ["0 returned", "0 a found A", "0 A: established", "5000 C failed notFound"])
    }

    @Test("what was found has an address to connect to")
    func addresses() async throws {
        let script = Script()
        defer { script.timeline.shutdown() }
        let lines = try await script.play { script in
            let host = ServiceHost(name: "h", addresses: [.loopback6])
            for (name, host) in [("A", nil), ("B", host)] {
                let record = ServiceRecord(name: ServiceName(name, .operational), host: host, port: 7)
                _ = try script.registry.advertise(record, onConflict: .fail) { _ in }
            }
            _ = script.registry.browse(.operational) {
                if case .found(let service) = $0 { script.say("\(service.host) \(service.addresses)") }
            }
        }
        #expect(lines == ["0 returned", "0 memory.local [127.0.0.1:7]", "0 h.local [[::1]:7]"])
    }
}

extension BrowseEvent {
    var brief: String {
        switch self {
        case .found(let service): "found \(service.name.instance)"
        case .updated(let service): "updated \(service.name.instance)"
        case .lost(let name): "lost \(name.instance)"
        case .failed(let error): "failed \(error.code)"
        }
    }
}

extension AdvertisementEvent {
    var brief: String {
        switch self {
        case .established: "established"
        case .renamed(let from, let to): "renamed \(from) -> \(to)"
        case .failed(let error): "failed \(error.code)"
        }
    }
}
