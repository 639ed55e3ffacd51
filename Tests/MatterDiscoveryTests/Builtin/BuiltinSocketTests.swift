@testable import HearthIO
import MatterModel
import Testing

@testable import MatterDiscovery

private struct Seen {
    var found: [String: ResolvedService] = [:]
    var lost: [String] = []
    var events: [String] = []
    var handles: [any Advertisement] = []
}

@Suite(
    "The builtin back end over sockets",
    .enabled(if: LoopbackMulticast.isPossible, "\(LoopbackMulticast.skipReason)"))
struct BuiltinSocketTests {
    /// A type that no other test uses, so that tests may run beside each other.
    private func randomType() throws -> ServiceType {
        try ServiceType("_h" + String(UInt32.random(in: 0 ... .max), radix: 16) + "._tcp")
    }

    private func browse(_ process: Process<Seen>, _ type: ServiceType) async throws {
        try await process.on { process in
            _ = process.discovery?.browser.browse(type) { event in
                switch event {
                case .found(let service), .updated(let service): process.state.found[service.name.instance] = service
                case .lost(let name):
                    process.state.found[name.instance] = nil
                    process.state.lost.append(name.instance)
                case .failed(let error): process.state.events.append("failed \(error)")
                }
            }
        }
    }

    private func advertise(_ process: Process<Seen>, _ records: [ServiceRecord], _ policy: NameConflictPolicy = .number)
        async throws
    {
        nonisolated(unsafe) let policy = policy  // without captured state in these tests
        try await process.on { process in
            for record in records {
                guard let advertiser = process.discovery?.advertiser else { continue }
                let handle = try advertiser.advertise(record, onConflict: policy) {
                    process.state.events.append("\(record.name.instance) \($0.brief)")
                }
                process.state.handles.append(handle)
            }
        }
    }

    @Test("a service is found, changes, and is lost when its process ends")
    func life() async throws {
        let type = try randomType()
        let (device, controller) = (try Process(Seen()), try Process(Seen()))
        try await device.start()
        try await controller.start()
        try await browse(controller, type)
        let record = ServiceRecord(name: ServiceName("Lamp", type), subtypes: ["_L1"], port: 5540, text: TextRecord([("D", "1")]))
        try await advertise(device, [record])
        #expect(try await controller.wait { $0.state.found["Lamp"] != nil })
        let found = try #require(try await controller.on { $0.state.found["Lamp"] })
        #expect(found.port == 5540 && found.text["D"] == "1" && found.addresses.contains(SocketAddress(.loopback4, port: 5540)))
        #expect(found.host.hasPrefix("hearth-") && found.host.hasSuffix(".local"))
        try await device.on { process in
            var changed = record
            changed.text = TextRecord([("D", "2")])
            try process.state.handles[0].update(changed)
        }
        #expect(try await controller.wait { $0.state.found["Lamp"]?.text["D"] == "2" })
        try await device.end()
        #expect(try await controller.wait { $0.state.lost == ["Lamp"] })
        try await controller.end()
    }

    @Test("two processes with one name agree who has it")
    func conflict() async throws {
        let type = try randomType()
        let (first, second, third) = (try Process(Seen()), try Process(Seen()), try Process(Seen()))
        for process in [first, second, third] { try await process.start() }
        let record = ServiceRecord(name: ServiceName("Lamp", type), port: 1)
        try await advertise(first, [record])
        #expect(try await first.wait { $0.state.events == ["Lamp established"] })
        try await advertise(second, [record])
        try await advertise(third, [record], .fail)
        #expect(try await second.wait { $0.state.events == ["Lamp renamed Lamp -> Lamp (2)", "Lamp established"] })
        #expect(try await third.wait { $0.state.events == ["Lamp failed nameTaken"] })
        for process in [first, second, third] { try await process.end() }
    }

    @Test("a known name is resolved, in the same process too; an unknown one is reported")
    func resolve() async throws {
        let type = try randomType()
        let process = try Process(Seen())
        try await process.start()
        try await advertise(process, [ServiceRecord(name: ServiceName("A", type), port: 7)])
        try await process.on { process in
            for name in ["A", "B"] {
                _ = process.discovery?.browser.resolve(ServiceName(name, type), timeout: name == "B" ? .milliseconds(50) : nil) {
                    process.state.events.append("\(name): \($0.brief)")
                }
            }
        }
        #expect(try await process.wait { Set(["A: found A", "B: failed notFound"]).isSubset(of: $0.state.events) })
        try await process.end()
    }

    @Test("a fleet of 300 is found whole")
    func fleet() async throws {
        let type = try randomType()
        let (device, controller) = (try Process(Seen()), try Process(Seen()))
        try await device.start()
        try await controller.start()
        try await browse(controller, type)
        let records = (0..<300).map {
            ServiceRecord(name: ServiceName("S\($0)", type), subtypes: ["_L\($0)"], port: 1, text: TextRecord([("D", "\($0)")]))
        }
        try await advertise(device, records)
        #expect(try await controller.wait { $0.state.found.count == 300 })
        try await device.end()
        #expect(try await controller.wait { $0.state.lost.count == 300 && $0.state.found.isEmpty })
        try await controller.end()
    }

    @Test("an interface that is not there is named, with those that are")
    func interface() async throws {
        let process = try Process(Seen())
        let error = try await process.on { process -> DiscoveryError? in
            do throws(DiscoveryError) {
                _ = try Discovery.make(
                    backEnd: .builtin, interface: "none7", loop: process.runtime.loop, timeline: process.runtime.timeline)
                return nil
            } catch { return error }
        }
        #expect(error?.code == .noInterface && error?.message.contains("lo") == true)
        try await process.end()
    }
}

@Suite("Which links are used")
struct LinkChoiceTests {
    private func interface(_ index: UInt32, _ name: String, up: Bool = true, multicast: Bool = true, _ addresses: [IPAddress])
        -> NetworkInterface
    {
        NetworkInterface(
            name: name, index: index, isUp: up, isLoopback: name == "lo", supportsMulticast: multicast,
            isPointToPoint: name.hasPrefix("tun"),
            addresses: addresses)
    }

    @Test("all that can multicast, and the loopback when there is nothing else")
    func choice() throws {
        let four = IPAddress(bytes: [192, 0, 2, 1])!
        let lo = interface(1, "lo", multicast: false, [.loopback4, .loopback6])
        let eth = interface(2, "eth0", [four, .loopback6])
        let others = [
            interface(3, "eth1", up: false, [four]), interface(4, "tun0", [four]), interface(5, "eth2", []),
            interface(6, "d", multicast: false, [four]),
        ]
        let chosen = try LinkMonitor.links(of: [lo, eth] + others, nil)
        #expect(chosen.keys.sorted() == [LinkID(interface: 2, family: .v4), LinkID(interface: 2, family: .v6)])
        #expect(chosen.values.allSatisfy { $0 == [four, .loopback6] })
        #expect(try LinkMonitor.links(of: [lo] + others, nil).keys.sorted() == [LinkID(interface: 1, family: .v4)])
        #expect(try LinkMonitor.links(of: [lo, eth], "lo").keys.sorted() == [LinkID(interface: 1, family: .v4)])
        #expect(try LinkMonitor.links(of: others, "eth1").isEmpty)
        #expect(throws: DiscoveryError.self) { try LinkMonitor.links(of: [lo], "eth0") }
    }
}
