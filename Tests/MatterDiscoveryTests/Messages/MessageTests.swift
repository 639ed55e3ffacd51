import HearthTime
import Testing

@testable import MatterDiscovery

/// Messages that differ in everything a message can have.
private struct Generator {
    var stream: RandomStream

    mutating func below(_ bound: Int) -> Int { Int(stream.below(UInt64(bound))) }
    mutating func bytes(_ count: Int) -> [UInt8] { (0..<count).map { _ in UInt8(truncatingIfNeeded: stream.bits()) } }

    mutating func name() -> DomainName {
        let labels = [
            "a", "B", "_tcp", "local", "_matter-tls", "2906C908D115D362-8FC7772401CD0696", "ü.\\",
            String(repeating: "x", count: 63),
        ]
        return (0..<below(5)).reduce(DomainName.root) { name, _ in name.prefixed(labels[below(labels.count)]) }
    }

    mutating func record() -> ResourceRecord {
        var record = ResourceRecord(
            name: name(), type: 0, recordClass: UInt16(below(0x8000)), flush: below(2) == 0,
            lifetime: UInt32(truncatingIfNeeded: stream.bits()), data: .other([]))
        switch below(7) {
        case 0: (record.type, record.data) = (RecordType.a, .address(bytes(4)))
        case 1: (record.type, record.data) = (RecordType.aaaa, .address(bytes(16)))
        case 2: (record.type, record.data) = (RecordType.ptr, .pointer(name()))
        case 3:
            let data = RecordData.service(priority: UInt16(below(65536)), weight: 1, port: UInt16(below(65536)), target: name())
            (record.type, record.data) = (RecordType.srv, data)
        case 4: (record.type, record.data) = (RecordType.txt, .text(bytes(below(300))))
        case 5: (record.type, record.data) = (RecordType.nsec, .nsec(types: Set((0..<below(5)).map { _ in UInt16(below(256)) })))
        default: (record.type, record.data) = (UInt16(300 + below(100)), .other(bytes(below(50))))
        }
        return record
    }

    mutating func message() -> Message {
        var message = Message(id: UInt16(below(65536)), flags: Message.Flags(rawValue: UInt16(below(65536))))
        message.questions = (0..<below(4)).map { _ in
            Question(name: name(), type: UInt16(below(65536)), questionClass: UInt16(below(0x8000)), unicast: below(2) == 0)
        }
        message.answers = (0..<below(6)).map { _ in record() }
        message.authorities = (0..<below(3)).map { _ in record() }
        message.additionals = (0..<below(6)).map { _ in record() }
        return message
    }
}

private func encode(_ message: Message, compressesTargets: Bool = true) -> [UInt8] {
    var writer = MessageWriter(compressesTargets: compressesTargets)
    for question in message.questions { writer.question(question) }
    for record in message.answers { writer.record(record, .answers) }
    for record in message.authorities { writer.record(record, .authorities) }
    for record in message.additionals { writer.record(record, .additionals) }
    return writer.finished(id: message.id, flags: message.flags)
}

private func generator(_ seed: Int) -> Generator {
    Generator(stream: RandomStream(seed: UInt64(seed), owner: "messages", purpose: "test"))
}

@Suite("DNS messages")
struct MessageTests {
    @Test("what is written is read again, with and without compressed targets")
    func roundTrip() throws {
        var generator = generator(1)
        for i in 0..<3000 {
            let message = generator.message()
            let read = try MessageReader.read(encode(message, compressesTargets: i % 2 == 0))
            #expect(read == message)
            // Names keep their case, though they compare without it.
            #expect(read.answers.map(\.name.wire) == message.answers.map(\.name.wire))
        }
    }

    @Test("no bytes make the reader trap, hang, or take more than they are")
    func hostile() {
        var generator = generator(2)
        for _ in 0..<20_000 {
            var bytes = encode(generator.message())
            switch generator.below(3) {
            case 0: bytes = Array(bytes.prefix(generator.below(bytes.count + 1)))
            case 1:
                for _ in 0...generator.below(8) {
                    bytes[generator.below(bytes.count)] = UInt8(truncatingIfNeeded: generator.stream.bits())
                }
            default: bytes = generator.bytes(generator.below(200))
            }
            if let message = try? MessageReader.read(bytes) {
                let count =
                    message.questions.count + message.answers.count + message.authorities.count + message.additionals.count
                #expect(count * 5 <= bytes.count)
                _ = message.answers.map(\.name.description)
            }
        }
    }

    @Test(
        "compression pointers lead back only",
        arguments: [[0xc0, 12], [0xc0, 14], [0xff, 0xff], [1, 0x61, 0xc0, 12], [0xc0], [0x40, 0], [0x80]])
    func pointers(name: [UInt8]) {
        let header: [UInt8] = [0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0]
        #expect(throws: MessageError.self) { try MessageReader.read(header + name + [0, 1, 0, 1]) }
    }

    @Test("a chain of pointers cannot build a name of more than 255 bytes")
    func longNames() {
        var bytes: [UInt8] = [0, 0, 0x80, 0, 0, 0, 0, 2, 0, 0, 0, 0]
        bytes += [0, 0, 16, 0, 1, 0, 0, 0, 0, 1, 0]  // a TXT record of 256 bytes that holds labels
        let start = bytes.count
        for _ in 0..<4 { bytes += [63] + [UInt8](repeating: 0x61, count: 63) }
        bytes += [0xc0, UInt8(start), 0, 1, 0, 1, 0, 0, 0, 0, 0, 0]
        #expect(throws: MessageError.self) { try MessageReader.read(bytes) }
    }

    @Test("a fixed message has the bytes of RFC 1035")
    func bytes() throws {
        let name = DomainName(ServiceName("A", .operational))
        let message = Message(
            id: 0x1234, flags: [.response, .authoritative],
            questions: [Question(name: name, type: RecordType.srv, unicast: true)],
            answers: [
                ResourceRecord(
                    name: name, type: RecordType.srv, flush: true, lifetime: 120,
                    data: .service(priority: 0, weight: 0, port: 5540, target: DomainName.local.prefixed("h")))
            ])
        let expected: [UInt8] =
            [0x12, 0x34, 0x84, 0, 0, 1, 0, 1, 0, 0, 0, 0] + [1] + Array("A".utf8) + [11] + Array("_matter-tls".utf8) + [4]
            + Array("_tcp".utf8) + [5] + Array("local".utf8) + [0, 0, 33, 0x80, 1]
            + [0xc0, 12, 0, 33, 0x80, 1, 0, 0, 0, 120, 0, 10, 0, 0, 0, 0, 0x15, 0xa4, 1] + Array("h".utf8) + [0xc0, 31]
        #expect(encode(message) == expected)
    }

    @Test("what is taken back leaves no trace")
    func takeBack() throws {
        var generator = generator(3)
        for _ in 0..<500 {
            let (first, second, third) = (generator.record(), generator.record(), generator.record())
            var writer = MessageWriter()
            writer.record(first, .answers)
            let mark = writer.mark
            writer.record(second, .additionals)
            writer.takeBack(to: mark)
            writer.record(third, .answers)
            #expect(writer.finished(flags: []) == encode(Message(answers: [first, third])))
        }
    }

    @Test("packets are filled, none beyond its limit, and nothing is lost")
    func packing() throws {
        var generator = generator(4)
        for _ in 0..<50 {
            let parts = (0..<60).map { _ in
                PacketPart(
                    questions: [Question(name: generator.name(), type: 1)], answers: [generator.record()],
                    additionals: [generator.record()], common: [(generator.below(2), [generator.record()])])
            }
            let packets = PacketPacker(flags: [], flagsBeforeLast: .truncated, limit: 1000).pack(parts)
            let messages = try packets.map { try MessageReader.read($0) }
            #expect(packets.allSatisfy { $0.count <= 1000 })
            #expect(messages.flatMap(\.answers) == parts.flatMap(\.answers))
            #expect(messages.flatMap(\.questions) == parts.flatMap(\.questions))
            #expect(messages.map { $0.flags.contains(.truncated) } == messages.indices.map { $0 < messages.count - 1 })
            // The next packet's first part would not have fitted.
            #expect(packets.dropLast().allSatisfy { $0.count > 200 })
        }
    }

    @Test("names compare without case, and print with escapes")
    func names() {
        #expect(DomainName.local.prefixed("A") == DomainName.local.prefixed("a"))
        #expect(DomainName.local.prefixed("A").hashValue == DomainName.local.prefixed("a").hashValue)
        #expect(DomainName.local.prefixed("[") != DomainName.local.prefixed("{"))
        #expect(DomainName(ServiceName("My.Lamp", .operational)).description == #"My\.Lamp._matter-tls._tcp.local"#)
        #expect(DomainName(.operational).parent?.parent == .local && DomainName.root.parent == nil)
        #expect(DomainName(.operational, subtype: "_I1").description == "_I1._sub._matter-tls._tcp.local")
    }
}
