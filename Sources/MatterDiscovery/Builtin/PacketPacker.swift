/// What belongs together in one packet.
struct PacketPart {
    var questions: [Question] = []
    var answers: [ResourceRecord] = []
    var authorities: [ResourceRecord] = []
    var additionals: [ResourceRecord] = []
    /// Additional records that several parts share and a packet needs once, by a number that names them.
    var common: [(id: Int, records: [ResourceRecord])] = []
}

/// Fills packets with parts, in their order.
///
/// How long a message gets does not depend on the order of its records, since compression writes each tail of a name once. So one
/// writer takes the parts as they come, to see how many fit, and a second writes them section by section.
struct PacketPacker {
    var flags: Message.Flags
    /// Set in all packets but the last: more known answers follow (RFC 6762, 7.2).
    var flagsBeforeLast: Message.Flags = []
    var limit = MulticastDNS.payload

    func pack(_ parts: [PacketPart]) -> [[UInt8]] {
        var ranges: [Range<Int>] = []
        var start = 0
        var draft = MessageWriter()
        var common: Set<Int> = []
        for (i, part) in parts.enumerated() {
            let mark = draft.mark
            add(part, to: &draft, &common)
            if draft.bytes.count <= limit || i == start { continue }
            draft.takeBack(to: mark)
            ranges.append(start..<i)
            start = i
            draft = MessageWriter()
            common = []
            add(part, to: &draft, &common)
        }
        if start < parts.count { ranges.append(start..<parts.count) }
        return ranges.map { range in
            let more = range.upperBound < parts.count
            return write(parts[range], flags: more ? flags.union(flagsBeforeLast) : flags)
        }
    }

    private func add(_ part: PacketPart, to writer: inout MessageWriter, _ common: inout Set<Int>) {
        for question in part.questions { writer.question(question) }
        for record in part.answers { writer.record(record, .answers) }
        for record in part.authorities { writer.record(record, .authorities) }
        for record in part.additionals { writer.record(record, .additionals) }
        for (id, records) in part.common where common.insert(id).inserted {
            for record in records { writer.record(record, .additionals) }
        }
    }

    /// One message of all parts, however long.
    func write(_ parts: ArraySlice<PacketPart>, id: UInt16 = 0, flags: Message.Flags, legacy: Bool = false) -> [UInt8] {
        var writer = MessageWriter(compressesTargets: !legacy)
        for part in parts { for question in part.questions { writer.question(question) } }
        for part in parts { for record in part.answers { writer.record(record, .answers) } }
        for part in parts { for record in part.authorities { writer.record(record, .authorities) } }
        for part in parts { for record in part.additionals { writer.record(record, .additionals) } }
        var common: Set<Int> = []
        for part in parts {
            for (id, records) in part.common where common.insert(id).inserted {
                for record in records { writer.record(record, .additionals) }
            }
        }
        return writer.finished(id: id, flags: flags)
    }
}
