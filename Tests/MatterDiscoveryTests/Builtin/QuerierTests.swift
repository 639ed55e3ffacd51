import HearthIO
import MatterModel
import Testing

@testable import MatterDiscovery

@Suite("The browser")
struct QuerierTests {
    private let peer = PacketSource(
        link: LinkID(interface: 1, family: .v4), address: SocketAddress(IPAddress(bytes: [192, 0, 2, 9])!, port: 5353))

    /// A browser alone on the wire, and what it asks.
    private final class Alone {
        let querier = Querier(random: { $0.lowerBound })
        var now: Milliseconds = 0
        var asked: [String] = []
        var told: [String] = []
        let links = [LinkID(interface: 1, family: .v4)]

        init() { querier.setLinks(links, at: 0) }

        func run(_ span: Milliseconds) {
            let end = now + span
            poll()
            while let next = querier.deadline, next <= end {
                now = max(now, next)
                poll()
            }
            now = end
        }

        func poll() {
            for packet in querier.poll(at: now) {
                let message = (try? MessageReader.read(packet.bytes)) ?? Message()
                asked.append("\(now) " + message.brief.joined(separator: " ") + (message.flags.contains(.truncated) ? " TC" : ""))
            }
            for event in querier.takeEvents() { event() }
        }

        func hear(_ answers: [ResourceRecord], additionals: [ResourceRecord] = [], from source: PacketSource) {
            querier.handle(Message(flags: .response, answers: answers, additionals: additionals), from: source, at: now)
            poll()
        }

        func browse(_ subtype: String? = nil) -> Int {
            querier.browse(.commissionable, subtype: subtype, at: now) { self.told.append("\(self.now) \($0.brief)") }
        }
    }

    private func records(
        _ name: String, port: UInt16 = 5540, text: String = "D=1", address: [UInt8] = [192, 0, 2, 9],
        _ lifetimes: (UInt32, UInt32) = (4500, 120)
    ) -> [ResourceRecord] {
        let type = DomainName(.commissionable)
        let instance = type.prefixed(name)
        let host = DomainName.local.prefixed("h")
        let location = RecordData.service(priority: 0, weight: 0, port: port, target: host)
        return [
            ResourceRecord(name: host, type: RecordType.a, flush: true, lifetime: lifetimes.1, data: .address(address)),
            ResourceRecord(
                name: instance, type: RecordType.txt, flush: true, lifetime: lifetimes.0,
                data: .text([UInt8(text.utf8.count)] + Array(text.utf8))),
            ResourceRecord(name: instance, type: RecordType.srv, flush: true, lifetime: lifetimes.1, data: location),
            ResourceRecord(name: type, type: RecordType.ptr, flush: false, lifetime: lifetimes.0, data: .pointer(instance)),
        ]
    }

    @Test("a question is repeated after 1, 2, 4 … 60 seconds")
    func backOff() {
        let alone = Alone()
        _ = alone.browse()
        alone.run(200_000)
        let times = alone.asked.map { Int($0.split(separator: " ")[0]) ?? -1 }
        #expect(zip(times.dropFirst(), times).map { $0 - $1 } == [1000, 2000, 4000, 8000, 16000, 32000, 60000, 60000])
        #expect(alone.asked.first == "20 ? _matter-tlsc._tcp.local PTR")
    }

    @Test("a service is found when all its records are there, whatever their order")
    func found() {
        let alone = Alone()
        _ = alone.browse()
        alone.run(50)
        alone.hear(records("A"), from: peer)
        #expect(alone.told == ["50 found A"])
        alone.hear([records("B")[3]], additionals: Array(records("B").dropLast()), from: peer)
        #expect(alone.told == ["50 found A", "50 found B"])
        alone.hear(records("A"), from: peer)
        #expect(alone.told.count == 2)
        alone.hear(records("A", text: "D=2"), from: peer)
        alone.hear(records("A", port: 9, text: "D=2"), from: peer)
        #expect(alone.told.suffix(2) == ["50 updated A", "50 updated A"])
    }

    @Test("what is missing is asked for, and not again once it is there")
    func missing() {
        let alone = Alone()
        _ = alone.browse()
        alone.run(50)
        alone.hear([records("A")[3]], from: peer)
        alone.run(400)
        #expect(
            alone.asked.last
                == "150 ? A._matter-tlsc._tcp.local TXT ? A._matter-tlsc._tcp.local SRV")
        alone.hear([records("A")[2], records("A")[1]], from: peer)
        alone.run(300)
        #expect(alone.asked.last == "550 ? h.local A ? h.local AAAA")
        #expect(alone.told.isEmpty)
        alone.hear([records("A")[0]], from: peer)
        #expect(alone.told == ["750 found A"])
        let count = alone.asked.filter { !$0.contains("PTR") }.count
        alone.run(10_000)
        #expect(alone.asked.filter { !$0.contains("PTR") }.count == count)
    }

    @Test("known answers go with the question, as long as more than half their lifetime is left")
    func knownAnswers() {
        let alone = Alone()
        _ = alone.browse()
        alone.run(50)
        alone.hear(records("A"), from: peer)
        alone.run(1000)
        #expect(alone.asked.last == "1020 ? _matter-tlsc._tcp.local PTR = _matter-tlsc._tcp.local PTR 4499")
        alone.run(2_300_000)
        #expect(alone.asked.last { $0.contains("PTR") }?.hasSuffix("? _matter-tlsc._tcp.local PTR") == true)
    }

    @Test("many known answers take several packets, all but the last marked")
    func manyKnownAnswers() {
        let alone = Alone()
        _ = alone.browse()
        alone.run(50)
        for i in 0..<200 { alone.hear(records("S\(i)"), from: peer) }
        alone.asked = []
        alone.run(1000)
        #expect(alone.asked.count > 1)
        #expect(alone.asked.dropLast().allSatisfy { $0.hasSuffix("TC") } && alone.asked.last?.hasSuffix("TC") == false)
        #expect(alone.asked.filter { $0.contains("?") }.count == 1)
        #expect(alone.asked.reduce(0) { $0 + $1.split(separator: "=").count - 1 } == 200)
    }

    @Test("a record is asked for at 80, 85, 90 and 95 % of its life, and then it is gone")
    func ageing() {
        let alone = Alone()
        _ = alone.browse()
        alone.run(50)
        alone.hear(records("A"), from: peer)
        alone.asked = []
        alone.run(125_000)
        let times = alone.asked.filter { $0.contains("SRV") }.prefix(4).map { (Int($0.split(separator: " ")[0]) ?? 0) }
        #expect(times == [96_250, 102_250, 108_250, 114_250])
        #expect(alone.told == ["50 found A", "120250 lost A"])
        // An answer in time keeps it.
        alone.hear(records("A"), from: peer)
        for _ in 0..<10 {
            alone.run(100_000)
            alone.hear(records("A"), from: peer)
        }
        #expect(alone.told.dropFirst(2) == ["125050 found A"])
    }

    @Test("a goodbye counts after a second, unless somebody still has the record")
    func goodbye() {
        let alone = Alone()
        _ = alone.browse()
        alone.run(50)
        alone.hear(records("A"), from: peer)
        alone.hear(records("B"), from: peer)
        alone.hear(records("A", (0, 0)), from: peer)
        alone.hear(records("B", (0, 0)), from: peer)
        alone.run(500)
        alone.hear(records("B"), from: peer)
        alone.run(2000)
        #expect(alone.told == ["50 found A", "50 found B", "1250 lost A"])
    }

    @Test("a cache-flush bit voids the addresses that came before")
    func flush() {
        let alone = Alone()
        var addresses: [[SocketAddress]] = []
        _ = alone.querier.browse(.commissionable, subtype: nil, at: 0) {
            switch $0 {
            case .found(let service), .updated(let service): addresses.append(service.addresses)
            default: break
            }
        }
        alone.hear(records("A"), from: peer)
        alone.run(2000)
        alone.hear([records("A", address: [192, 0, 2, 10])[0]], from: peer)
        alone.run(2000)
        #expect(addresses.map { $0.map(\.address.description) } == [["192.0.2.9"], ["192.0.2.9", "192.0.2.10"], ["192.0.2.10"]])
    }

    @Test("link-local addresses have their interface, and come last")
    func scopes() {
        let alone = Alone()
        var addresses: [SocketAddress] = []
        _ = alone.querier.browse(.commissionable, subtype: nil, at: 0) {
            if case .updated(let service) = $0 { addresses = service.addresses }
        }
        let host = DomainName.local.prefixed("h")
        let all: [[UInt8]] = [
            [0xfe, 0x80] + [UInt8](repeating: 0, count: 13) + [1], [0xfd, 0] + [UInt8](repeating: 0, count: 13) + [2],
        ]
        alone.hear(records("A"), from: peer)
        alone.hear(
            all.map { ResourceRecord(name: host, type: RecordType.aaaa, flush: true, lifetime: 120, data: .address($0)) },
            from: peer)
        #expect(addresses.map(\.description) == ["192.0.2.9:5540", "[fd00::2]:5540", "[fe80::1%1]:5540"])
    }

    @Test("a second search is told what is known; a cancelled one nothing")
    func severalSearches() {
        let alone = Alone()
        let first = alone.browse()
        alone.hear(records("A"), from: peer)
        let second = alone.browse()
        alone.run(10)
        #expect(alone.told == ["0 found A", "0 found A"])
        alone.querier.cancel(first)
        alone.hear(records("A", port: 1), from: peer)
        #expect(alone.told.count == 3)
        alone.querier.cancel(second)
        alone.querier.cancel(second)
        alone.hear(records("A", port: 2), from: peer)
        #expect(alone.told.count == 3)
        #expect(alone.querier.instances.isEmpty && alone.querier.hosts.isEmpty && alone.querier.questions.isEmpty)
    }

    @Test("a name that is known is asked for at once, and no type is browsed")
    func resolve() {
        let alone = Alone()
        _ = alone.querier.resolve(ServiceName("A", .commissionable), at: 0) { alone.told.append("\(alone.now) \($0.brief)") }
        alone.run(5000)
        #expect(alone.asked.map { $0.split(separator: " ")[0] } == ["0", "1000", "3000"])
        #expect(alone.asked.allSatisfy { !$0.contains("PTR") })
        alone.hear(Array(records("A").reversed()), from: peer)
        #expect(alone.told == ["5000 found A"])
    }

    @Test("what nobody asked for is not kept, and neither is what does not belong")
    func strangers() {
        let alone = Alone()
        _ = alone.browse("_L1")
        alone.hear(records("A"), from: peer)
        alone.hear(
            [
                ResourceRecord(
                    name: DomainName(.commissionable, subtype: "_L1"), type: RecordType.ptr, flush: false, lifetime: 10,
                    data: .pointer(DomainName(.operational).prefixed("x")))
            ], from: peer)
        var other = peer
        other = PacketSource(link: peer.link, address: SocketAddress(peer.address.address, port: 40000))
        alone.hear(records("A"), from: other)
        #expect(alone.querier.instances.isEmpty && alone.querier.hosts.isEmpty)
    }

    @Test("a flood of names stays within its bound")
    func flood() {
        let alone = Alone()
        _ = alone.browse()
        let type = DomainName(.commissionable)
        for batch in 0..<21 {
            alone.hear(
                (0..<1000).map {
                    ResourceRecord(
                        name: type, type: RecordType.ptr, flush: false, lifetime: 4500,
                        data: .pointer(type.prefixed("\(batch)-\($0)")))
                }, from: peer)
        }
        #expect(alone.querier.instances.count == Querier.maximumInstances)
    }
}

@Suite("Responder and browser together")
struct MulticastLabTests {
    @Test("a browser sees what comes, changes and goes on another host", arguments: 1...5)
    func life(seed: Int) throws {
        let lab = Lab(seed: UInt64(seed))
        let (device, controller) = (lab.node("h"), lab.node("c"))
        lab.browse(controller)
        lab.browse(controller, subtype: "_L1")
        let id = lab.advertise(device, "A", subtypes: ["_L1"], text: [("D", "1")])
        lab.run(5000)
        var record = try #require(device.responder.record(id))
        record.subtypes = ["_L2"]
        record.port = 6000
        device.responder.update(id, record, at: lab.now)
        lab.run(5000)
        device.responder.remove(id)
        lab.run(5000)
        let told = lab.told.map { String($0.split(separator: " ", maxSplits: 1)[1]) }
        #expect(
            Set(told) == ["h/A: established", "c found A", "c updated A", "c lost A"]
                && told.filter { $0 == "c found A" }.count == 2
                && told.filter { $0 == "c lost A" }.count == 2)
    }

    @Test("services stay found for hours, and are lost when their host goes silent")
    func hours() {
        let lab = Lab()
        let (device, controller) = (lab.node("h"), lab.node("c"))
        for i in 0..<20 { lab.advertise(device, "S\(i)") }
        lab.browse(controller)
        lab.run(3 * 3_600_000)
        #expect(lab.told.filter { $0.contains("found") }.count == 20)
        #expect(!lab.told.contains { $0.contains("lost") })
        lab.clear()
        device.isDeaf = true
        lab.run(130_000)
        #expect(lab.told.filter { $0.contains("lost") }.count == 20)
    }

    @Test("a browser that comes later finds a thousand services within a second, in few packets")
    func fleet() {
        let lab = Lab()
        let (device, controller) = (lab.node("h"), lab.node("c"))
        for i in 0..<1000 { lab.advertise(device, "S\(i)", subtypes: ["_L\(i)"], text: [("D", "\(i)"), ("CM", "1")]) }
        lab.run(10_000)
        lab.clear()
        lab.browse(controller)
        lab.run(1000)
        #expect(lab.told.filter { $0.contains("found") }.count == 1000)
        #expect(lab.wire.count < 120)
    }
}
