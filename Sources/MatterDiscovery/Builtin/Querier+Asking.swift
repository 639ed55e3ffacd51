import HearthIO

/// Questions on their way out.
extension Querier {
    /// The packets with all questions that are due.
    func askQuestions(at now: Milliseconds) -> [Outgoing] {
        let due = questions.values.filter { $0.due <= now }.sorted { $0.name.wire.lexicographicallyPrecedes($1.name.wire) }
        for question in due {
            // 1, 2, 4 … 60 seconds apart (RFC 6762, 5.2, lets the distance grow to an hour; a minute finds lost devices sooner).
            question.due = now + question.interval
            question.interval = min(question.interval * 2, 60_000)
        }
        let single = asks.sorted { ($0.name.description, $0.type) < ($1.name.description, $1.type) }
        asks = []
        var packets: [Outgoing] = []
        for link in links {
            if !due.isEmpty {
                let parts = due.map { PacketPart(questions: [Question(name: $0.name, type: RecordType.ptr)]) }
                let known = due.flatMap { knownAnswers($0, link.interface, at: now) }
                let packer = PacketPacker(flags: [], flagsBeforeLast: .truncated)
                packets += packer.pack(parts + known).map { Outgoing(link: link, to: nil, bytes: $0) }
            }
            let parts = single.map { PacketPart(questions: [$0]) }
            packets += PacketPacker(flags: []).pack(parts).map { Outgoing(link: link, to: nil, bytes: $0) }
        }
        return packets
    }

    /// What need not be answered (RFC 6762, 7.1).
    private func knownAnswers(_ question: PointerQuestion, _ interface: UInt32, at now: Milliseconds) -> [PacketPart] {
        question.pointers.sorted { $0.key.wire.lexicographicallyPrecedes($1.key.wire) }.compactMap { name, records in
            guard let left = records[interface]?.known(at: now) else { return nil }
            let record = ResourceRecord(
                name: question.name, type: RecordType.ptr, flush: false, lifetime: left, data: .pointer(name))
            return PacketPart(answers: [record])
        }
    }
}
