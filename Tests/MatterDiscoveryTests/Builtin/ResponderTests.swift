import HearthIO
import MatterModel
import Testing

@testable import MatterDiscovery

private let type = DomainName(.commissionable)
private func instance(_ name: String) -> DomainName { type.prefixed(name) }
private func query(_ questions: [Question], known: [ResourceRecord] = [], flags: Message.Flags = []) -> Message {
    Message(flags: flags, questions: questions, answers: known)
}
private func pointer(to name: String, _ lifetime: UInt32) -> ResourceRecord {
    ResourceRecord(name: type, type: RecordType.ptr, flush: false, lifetime: lifetime, data: .pointer(instance(name)))
}

@Suite("The responder: probing and announcing")
struct ResponderProbingTests {
    @Test("a service is probed for three times, announced twice, and said goodbye to")
    func life() {
        let lab = Lab()
        let node = lab.node("h")
        let id = lab.advertise(node, "A", subtypes: ["_L1"], text: [("D", "1")])
        lab.run(3000)
        let probe = [
            "? h.local ANY", "? A._matter-tlsc._tcp.local ANY", "~ h.local A", "~ A._matter-tlsc._tcp.local SRV",
        ]
        let host = ["h.local A 120 !", "h.local NSEC 120 !"]
        let announcement =
            [
                "= h.local A 120 !", "= _matter-tlsc._tcp.local PTR 4500", "= _L1._sub._matter-tlsc._tcp.local PTR 4500",
                "= A._matter-tlsc._tcp.local SRV 120 !", "= A._matter-tlsc._tcp.local TXT 4500 !",
            ] + host.map { "+ " + $0 }
        #expect(lab.wire.map(\.message.brief) == [probe, probe, probe, announcement, announcement])
        let first = lab.wire[0].at
        #expect((0...250).contains(first))
        #expect(lab.wire.map { $0.at - first } == [0, 250, 500, 750, 1750])
        #expect(lab.told == ["\(first + 750) h/A: established"])
        lab.clear()
        node.responder.remove(id)
        lab.run(3000)
        #expect(
            lab.wire.map(\.message.brief) == [
                [
                    "= _matter-tlsc._tcp.local PTR 0", "= _L1._sub._matter-tlsc._tcp.local PTR 0",
                    "= A._matter-tlsc._tcp.local SRV 0 !",
                ]
            ])
        #expect(node.responder.deadline == nil && node.responder.claims.isEmpty && node.responder.index.isEmpty)
    }

    @Test("a name that somebody has is not taken: number, replacement or failure")
    func conflict() {
        let lab = Lab()
        let (first, second) = (lab.node("h"), lab.node("g"))
        lab.advertise(first, "A")
        lab.run(2000)
        lab.clear()
        lab.advertise(second, "A")
        lab.advertise(second, "a", .replace { $0 + "0" }, port: 2)
        lab.advertise(second, "A", .fail)
        lab.run(5000)
        let told = lab.told.map { $0.split(separator: " ", maxSplits: 1)[1] }
        #expect(
            Set(told) == [
                "g/A: renamed A -> A (2)", "g/A: established", "g/a: renamed a -> a0", "g/a: established",
                "g/A: failed nameTaken",
            ])
        #expect(told.count == 5)
    }

    @Test("of two that probe at the same time the one with the greater records wins")
    func tieBreak() {
        for seed in 1...20 {
            let lab = Lab(seed: UInt64(seed))
            let (lesser, greater) = (lab.node("h"), lab.node("i"))
            lab.advertise(lesser, "A", port: 1)
            lab.advertise(greater, "A", port: 2)
            lab.run(6000)
            let events = lab.told.map { String($0.split(separator: " ", maxSplits: 1)[1]) }
            // Whoever probes first may have won before the other starts; never do both have the name.
            #expect(events.filter { $0.contains("established") }.count == 2)
            #expect(events.filter { $0.contains("renamed A -> A (2)") }.count == 1)
        }
    }

    @Test("records compare by class, type and data")
    func comparison() {
        func record(_ type: UInt16, _ data: [UInt8]) -> ResourceRecord {
            ResourceRecord(name: .local, type: type, flush: false, lifetime: 1, data: .other(data))
        }
        #expect(Responder.isGreater([record(1, [169, 254, 200, 50])], than: [record(1, [169, 254, 99, 200])]))
        #expect(!Responder.isGreater([record(1, [169, 254, 99, 200])], than: [record(1, [169, 254, 200, 50])]))
        #expect(Responder.isGreater([record(28, [0])], than: [record(1, [255])]))
        #expect(Responder.isGreater([record(1, [1]), record(1, [2])], than: [record(1, [1])]))
        #expect(!Responder.isGreater([record(1, [1])], than: [record(1, [1])]))
    }

    @Test("a host name that is taken is replaced, and the services point to the new one")
    func hostConflict() throws {
        let lab = Lab()
        let node = lab.node("h")
        lab.advertise(node, "A")
        lab.run(3000)
        lab.clear()
        let rival = ResourceRecord(
            name: DomainName.local.prefixed("H"), type: RecordType.a, flush: true, lifetime: 120, data: .address([10, 0, 0, 1]))
        // The first contradiction makes it probe again, the second, an answer to the probes, makes it give in.
        lab.inject(Message(flags: .response, answers: [rival]))
        lab.run(300)
        lab.inject(Message(flags: .response, answers: [rival]))
        lab.run(4000)
        let last = try #require(lab.wire.last?.message)
        #expect(last.brief.contains("= h-2.local A 120 !"))
        let targets = last.answers.compactMap {
            if case .service(_, _, _, let target) = $0.data { target.description } else { nil }
        }
        #expect(targets == ["h-2.local"])
    }

    @Test("many that start together share packets, and all are established after a second")
    func fleet() {
        let lab = Lab()
        let node = lab.node("h")
        for i in 0..<300 {
            let instance = OperationalService(compressedFabric: 1, node: NodeID(UInt64(i))).instance
            lab.advertise(node, instance, .fail, subtypes: ["_I0000000000000001"])
        }
        lab.run(1100)
        #expect(lab.told.count == 300 && lab.told.allSatisfy { $0.hasSuffix("established") })
        #expect(lab.wire.count < 100)
        #expect(lab.wire.allSatisfy { $0.bytes.count <= MulticastDNS.payload })
    }

    @Test("fifteen conflicts in ten seconds slow it down")
    func slowDown() {
        let lab = Lab()
        let node = lab.node("h")
        var number = 0
        lab.advertise(
            node, "A",
            .replace { _ in
                number += 1
                return "A\(number)"
            })
        // Somebody who claims every name that is probed for.
        for _ in 0..<200 {
            lab.run(50)
            for sent in lab.wire {
                let claims = sent.message.questions.filter { $0.name.firstLabel?.hasPrefix("A") == true }.map {
                    ResourceRecord(name: $0.name, type: RecordType.txt, flush: true, lifetime: 120, data: .text([1, 1]))
                }
                if !claims.isEmpty { lab.inject(Message(flags: .response, answers: claims)) }
            }
        }
        #expect((15...17).contains(number))
    }
}

@Suite("The responder: answering")
struct ResponderAnsweringTests {
    private func ready(_ text: [(String, String)] = []) -> (Lab, Lab.Node, Int) {
        let lab = Lab()
        let node = lab.node("h")
        let id = lab.advertise(node, "A", subtypes: ["_L1"], text: text)
        lab.advertise(node, "B")
        lab.run(5000)
        lab.clear()
        return (lab, node, id)
    }

    @Test("a question for a type gets all services with their records, after a short random delay")
    func shared() {
        let (lab, _, _) = ready()
        lab.inject(query([Question(name: type, type: RecordType.ptr)]))
        lab.run(500)
        #expect(
            lab.wire.map(\.message.brief) == [
                [
                    "= _matter-tlsc._tcp.local PTR 4500", "= _matter-tlsc._tcp.local PTR 4500",
                    "+ A._matter-tlsc._tcp.local SRV 120 !", "+ A._matter-tlsc._tcp.local TXT 4500 !",
                    "+ B._matter-tlsc._tcp.local SRV 120 !", "+ B._matter-tlsc._tcp.local TXT 4500 !", "+ h.local A 120 !",
                    "+ h.local NSEC 120 !",
                ]
            ])
        #expect((20...120).contains(lab.wire[0].at))
        #expect(lab.wire[0].message.flags == [.response, .authoritative] && lab.wire[0].message.id == 0)
    }

    @Test("what only we can answer is answered at once", arguments: ["a._MATTER-tlsc._tcp", "A._matter-tlsc._tcp"])
    func unique(name: String) {
        let (lab, _, _) = ready([("D", "1")])
        let asked = name.split(separator: ".").reversed().reduce(DomainName.local) { $0.prefixed($1) }
        lab.inject(query([Question(name: asked, type: RecordType.any)]))
        lab.run(500)
        #expect(
            lab.wire.map(\.message.brief) == [
                [
                    "= A._matter-tlsc._tcp.local SRV 120 !", "= A._matter-tlsc._tcp.local TXT 4500 !", "+ h.local A 120 !",
                    "+ h.local NSEC 120 !",
                ]
            ])
        #expect(lab.wire.map(\.at) == [0])
    }

    @Test("what a name of ours does not have is denied")
    func negative() {
        let (lab, _, _) = ready()
        lab.inject(query([Question(name: DomainName.local.prefixed("h"), type: RecordType.aaaa)]))
        lab.inject(query([Question(name: instance("A"), type: RecordType.a)]))
        lab.run(100)
        #expect(lab.wire.map(\.message.brief) == [["= h.local NSEC 120 !"], ["= A._matter-tlsc._tcp.local NSEC 120 !"]])
        #expect(lab.wire[0].message.answers.map(\.data) == [.nsec(types: [RecordType.a])])
    }

    @Test("what nobody here has is not answered")
    func unknown() {
        let (lab, _, _) = ready()
        lab.inject(query([Question(name: instance("C"), type: RecordType.any)]))
        lab.inject(query([Question(name: type, type: RecordType.srv)]))
        lab.inject(query([Question(name: type, type: RecordType.ptr, questionClass: 3)]))
        lab.inject(query([Question(name: type, type: RecordType.ptr)], flags: Message.Flags(rawValue: 0x0800)))
        lab.inject(query([Question(name: type, type: RecordType.ptr)], flags: Message.Flags(rawValue: 3)))
        lab.run(1000)
        #expect(lab.wire.isEmpty)
    }

    @Test("types and subtypes are listed")
    func enumeration() {
        let (lab, node, id) = ready()
        lab.inject(query([Question(name: .serviceTypes, type: RecordType.ptr)]))
        lab.inject(query([Question(name: DomainName(.commissionable, subtype: "_L1"), type: RecordType.ptr)]))
        lab.run(500)
        let answers = lab.wire.flatMap(\.message.answers)
        #expect(Set(answers.map(\.data)) == [.pointer(type), .pointer(instance("A"))])
        lab.clear()
        node.responder.remove(id)
        lab.run(1500)
        lab.clear()
        lab.inject(query([Question(name: DomainName(.commissionable, subtype: "_L1"), type: RecordType.ptr)]))
        lab.run(500)
        #expect(lab.wire.isEmpty)
    }

    @Test("known answers are not repeated, unless they are old")
    func knownAnswers() {
        let (lab, _, _) = ready()
        let question = [Question(name: type, type: RecordType.ptr)]
        lab.inject(query(question, known: [pointer(to: "A", 2250), pointer(to: "B", 2249)]))
        lab.run(500)
        #expect(lab.wire.map { $0.message.answers.map(\.data) } == [[.pointer(instance("B"))]])
        lab.clear()
        lab.run(1500)
        lab.inject(query(question, known: [pointer(to: "a", 4500), pointer(to: "B", 4500)]))
        lab.run(500)
        #expect(lab.wire.isEmpty)
    }

    @Test("known answers that come in further packets are waited for")
    func truncated() {
        let (lab, _, _) = ready()
        let question = [Question(name: type, type: RecordType.ptr)]
        lab.inject(query(question, flags: .truncated))
        lab.run(300)
        lab.inject(Message(answers: [pointer(to: "A", 4500)]))
        lab.run(1000)
        #expect(lab.wire.map { $0.message.answers.map(\.data) } == [[.pointer(instance("B"))]])
        #expect((400...500).contains(lab.wire.first?.at ?? 0))
    }

    @Test("nothing is multicast twice within a second, and then it is")
    func rateLimit() {
        let (lab, _, _) = ready()
        for _ in 0..<10 {
            lab.inject(query([Question(name: instance("A"), type: RecordType.srv)]))
            lab.run(50)
        }
        lab.run(3000)
        #expect(lab.wire.map(\.at) == [0, 1000])
    }

    @Test("a unicast answer is given when asked for and everybody has heard it lately")
    func unicast() {
        let (lab, _, _) = ready()
        let asker = SocketAddress(IPAddress(bytes: [192, 0, 2, 99])!, port: 5353)
        let question = [Question(name: instance("A"), type: RecordType.srv, unicast: true)]
        lab.inject(query(question))
        lab.run(100)
        #expect(lab.wire.map(\.to) == [asker])
        lab.clear()
        lab.run(31_000)
        lab.inject(query(question))
        lab.run(100)
        #expect(lab.wire.map(\.to) == [nil])
    }

    @Test("an ordinary resolver gets an ordinary answer")
    func legacy() {
        let (lab, _, _) = ready()
        let asker = SocketAddress(IPAddress(bytes: [192, 0, 2, 99])!, port: 40000)
        var message = query([Question(name: instance("A"), type: RecordType.srv, unicast: true)])
        message.id = 0xabcd
        lab.inject(message, from: asker)
        #expect(lab.wire.map(\.to) == [asker])
        let answer = lab.wire[0].message
        #expect(answer.id == 0xabcd)
        #expect(
            answer.brief == [
                "? A._matter-tlsc._tcp.local SRV", "= A._matter-tlsc._tcp.local SRV 10", "+ h.local A 10", "+ h.local NSEC 10",
            ])
        // Not more than a packet, and the asker is told that there is more.
        for i in 0..<200 { lab.advertise(lab.nodes[0], "S\(i)") }
        lab.run(3000)
        lab.clear()
        lab.inject(query([Question(name: type, type: RecordType.ptr)]), from: asker)
        #expect(lab.wire.count == 1 && lab.wire[0].bytes.count <= MulticastDNS.payload)
        #expect(lab.wire[0].message.flags.contains(.truncated))
    }

    @Test("a change is announced, and the subtype that went is said goodbye to")
    func update() throws {
        let (_, node, id) = ready([("CM", "1")])
        var record = try #require(node.responder.record(id))
        record.subtypes = ["_L2"]
        record.text = TextRecord([("CM", "0")])
        record.name.instance = "ignored"
        node.responder.update(id, record, at: 1_000_000)
        node.responder.update(id, record, at: 1_000_000)
        let goodbye = node.responder.poll(at: 1_000_000).compactMap { try? MessageReader.read($0.bytes).brief }
        #expect(
            goodbye == [
                [
                    "= _matter-tlsc._tcp.local PTR 4500", "= _L2._sub._matter-tlsc._tcp.local PTR 4500",
                    "= A._matter-tlsc._tcp.local SRV 120 !", "= A._matter-tlsc._tcp.local TXT 4500 !", "+ h.local A 120 !",
                    "+ h.local NSEC 120 !",
                ], ["= _L1._sub._matter-tlsc._tcp.local PTR 0"],
            ])
    }

    @Test("another's answer to the same question about types spares ours")
    func duplicates() {
        let (lab, _, _) = ready()
        lab.inject(query([Question(name: .serviceTypes, type: RecordType.ptr)]))
        lab.inject(
            Message(
                flags: .response,
                answers: [
                    ResourceRecord(name: .serviceTypes, type: RecordType.ptr, flush: false, lifetime: 4500, data: .pointer(type))
                ]))
        lab.run(500)
        #expect(lab.wire.isEmpty)
    }

    @Test("a new link is probed on before it is answered on; the old one goes on")
    func links() {
        let (lab, node, _) = ready()
        let added = LinkID(interface: 2, family: .v6)
        node.responder.setLinks([node.link: [node.address], added: [.loopback6]], at: lab.now)
        lab.inject(query([Question(name: instance("A"), type: RecordType.srv)]))
        #expect(lab.wire.count == 1)
        lab.run(3000)
        let brief = lab.wire.map { ($0.message.questions.count, $0.message.answers.count) }
        #expect(brief.map(\.0) == [0, 3, 3, 3, 0, 0])
        #expect(lab.wire.last?.message.brief.contains("= h.local AAAA 120 !") == true)
    }
}
