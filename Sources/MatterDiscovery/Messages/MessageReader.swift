/// Reads DNS messages that anybody may have sent. Every read is checked; memory is bounded by the message's own size, since the
/// shortest entry takes bytes too; a compression pointer must point before the name it stands in, so that there are no loops.
struct MessageReader {
    private let bytes: UnsafeRawBufferPointer
    private var position = 0

    /// - Throws: `MessageError` when `bytes` are not exactly one well-formed message.
    static func read(_ bytes: [UInt8]) throws(MessageError) -> Message {
        let result = bytes.withUnsafeBytes { buffer -> Result<Message, MessageError> in
            do throws(MessageError) {
                var reader = MessageReader(bytes: buffer)
                return .success(try reader.message())
            } catch { return .failure(error) }
        }
        return try result.get()
    }

    private init(bytes: UnsafeRawBufferPointer) { self.bytes = bytes }

    private mutating func message() throws(MessageError) -> Message {
        var message = Message(id: try u16(), flags: Message.Flags(rawValue: try u16()))
        let (questions, answers, authorities, additionals) = (try u16(), try u16(), try u16(), try u16())
        for _ in 0..<questions { message.questions.append(try question()) }
        message.answers = try records(answers)
        message.authorities = try records(authorities)
        message.additionals = try records(additionals)
        return message
    }

    private mutating func question() throws(MessageError) -> Question {
        let name = try name()
        let (type, bits) = (try u16(), try u16())
        return Question(name: name, type: type, questionClass: bits & 0x7fff, unicast: bits & 0x8000 != 0)
    }

    private mutating func records(_ count: UInt16) throws(MessageError) -> [ResourceRecord] {
        var records: [ResourceRecord] = []
        // A record takes 11 bytes at least: a count that the message cannot hold reserves nothing.
        records.reserveCapacity(min(Int(count), (bytes.count - position) / 11))
        for _ in 0..<count { records.append(try record()) }
        return records
    }

    private mutating func record() throws(MessageError) -> ResourceRecord {
        let name = try name()
        let (type, bits, lifetime, length) = (try u16(), try u16(), try u32(), Int(try u16()))
        let end = position + length
        guard end <= bytes.count else { throw fail("a record's data runs over the end") }
        let data = try data(type, end)
        guard position == end else { throw fail("a record's data has another length than its fields") }
        return ResourceRecord(
            name: name, type: type, recordClass: bits & 0x7fff, flush: bits & 0x8000 != 0, lifetime: lifetime, data: data)
    }

    private mutating func data(_ type: UInt16, _ end: Int) throws(MessageError) -> RecordData {
        switch type {
        case RecordType.a, RecordType.aaaa:
            guard end - position == (type == RecordType.a ? 4 : 16) else { throw fail("an address of the wrong length") }
            return .address(rest(to: end))
        case RecordType.ptr: return .pointer(try name())
        case RecordType.srv:
            let (priority, weight, port) = (try u16(), try u16(), try u16())
            return .service(priority: priority, weight: weight, port: port, target: try name())
        case RecordType.txt: return .text(rest(to: end))
        case RecordType.nsec:
            _ = try name()
            return .nsec(types: try bitmap(end))
        default: return .other(rest(to: end))
        }
    }

    /// The type bitmap of an NSEC record (RFC 4034, 4.1.2); of its windows only the first concerns mDNS.
    private mutating func bitmap(_ end: Int) throws(MessageError) -> Set<UInt16> {
        var types: Set<UInt16> = []
        while position < end {
            let window = try u8()
            let length = Int(try u8())
            guard (1...32).contains(length), position + length <= end else { throw fail("a type bitmap of the wrong length") }
            for i in 0..<length where window == 0 {
                for bit in 0..<8 where bytes[position + i] & (0x80 >> UInt8(bit)) != 0 { types.insert(UInt16(i * 8 + bit)) }
            }
            position += length
        }
        return types
    }

    private mutating func name() throws(MessageError) -> DomainName {
        var wire: [UInt8] = []
        wire.reserveCapacity(64)
        var at = position
        // Where the present piece began: a pointer leads to before it, which ends all chains.
        var pieceStart = position
        var jumped = false
        while true {
            guard at < bytes.count else { throw fail("a name runs over the end") }
            let length = bytes[at]
            switch length & 0xc0 {
            case 0:
                let next = at + 1 + Int(length)
                guard next <= bytes.count else { throw fail("a label runs over the end") }
                guard wire.count + 1 + Int(length) + (length == 0 ? 0 : 1) <= 255 else {
                    throw fail("a name of more than 255 bytes")
                }
                wire.append(contentsOf: UnsafeRawBufferPointer(rebasing: bytes[at..<next]))
                at = next
                if length == 0 {
                    if !jumped { position = at }
                    return DomainName(unchecked: wire)
                }
            case 0xc0:
                guard at + 1 < bytes.count else { throw fail("a compression pointer runs over the end") }
                let target = Int(length & 0x3f) << 8 | Int(bytes[at + 1])
                guard target < pieceStart else { throw fail("a compression pointer that does not point back") }
                if !jumped { position = at + 2 }
                jumped = true
                at = target
                pieceStart = target
            default: throw fail("a label of an unknown kind")
            }
        }
    }

    private func fail(_ reason: String) -> MessageError { MessageError(reason: reason, offset: position) }

    private mutating func rest(to end: Int) -> [UInt8] {
        defer { position = end }
        return Array(bytes[position..<end])
    }

    private mutating func u8() throws(MessageError) -> UInt8 {
        guard position < bytes.count else { throw fail("the message ends early") }
        defer { position += 1 }
        return bytes[position]
    }

    private mutating func u16() throws(MessageError) -> UInt16 {
        guard position + 2 <= bytes.count else { throw fail("the message ends early") }
        defer { position += 2 }
        return UInt16(bytes[position]) << 8 | UInt16(bytes[position + 1])
    }

    private mutating func u32() throws(MessageError) -> UInt32 { UInt32(try u16()) << 16 | UInt32(try u16()) }
}
