/// Writes one DNS message with name compression. What was written after a `Mark` can be taken back, which is how packets are
/// filled to the brim.
struct MessageWriter {
    private(set) var bytes: [UInt8]
    /// Where a name's tail stands, by a hash of the tail. Verified before use.
    private var tails: [UInt64: UInt16] = [:]
    /// The keys of `tails` in the order in which they came.
    private var tailOrder: [UInt64] = []
    private var counts: (questions: UInt16, answers: UInt16, authorities: UInt16, additionals: UInt16) = (0, 0, 0, 0)
    /// Legacy resolvers do not expect a compressed target in an SRV record (RFC 6762, 18.14).
    private let compressesTargets: Bool

    enum Section { case answers, authorities, additionals }

    struct Mark {
        fileprivate let length: Int
        fileprivate let tails: Int
        fileprivate let counts: (UInt16, UInt16, UInt16, UInt16)
    }

    init(compressesTargets: Bool = true) {
        bytes = [UInt8](repeating: 0, count: 12)
        bytes.reserveCapacity(1500)
        self.compressesTargets = compressesTargets
    }

    var isEmpty: Bool { bytes.count == 12 }

    var mark: Mark { Mark(length: bytes.count, tails: tailOrder.count, counts: counts) }

    mutating func takeBack(to mark: Mark) {
        bytes.removeLast(bytes.count - mark.length)
        for tail in tailOrder[mark.tails...] { tails[tail] = nil }
        tailOrder.removeLast(tailOrder.count - mark.tails)
        counts = mark.counts
    }

    /// The whole message.
    func finished(id: UInt16 = 0, flags: Message.Flags) -> [UInt8] {
        var message = bytes
        let header = [id, flags.rawValue, counts.questions, counts.answers, counts.authorities, counts.additionals]
        for (i, value) in header.enumerated() {
            message[2 * i] = UInt8(value >> 8)
            message[2 * i + 1] = UInt8(value & 0xff)
        }
        return message
    }

    mutating func question(_ question: Question) {
        counts.questions &+= 1
        name(question.name)
        u16(question.type)
        u16(question.questionClass | (question.unicast ? 0x8000 : 0))
    }

    mutating func record(_ record: ResourceRecord, _ section: Section) {
        switch section {
        case .answers: counts.answers &+= 1
        case .authorities: counts.authorities &+= 1
        case .additionals: counts.additionals &+= 1
        }
        name(record.name)
        u16(record.type)
        u16(record.recordClass | (record.flush ? 0x8000 : 0))
        u16(UInt16(record.lifetime >> 16))
        u16(UInt16(record.lifetime & 0xffff))
        let start = bytes.count
        u16(0)
        switch record.data {
        case .address(let data), .text(let data), .other(let data): bytes.append(contentsOf: data)
        case .pointer(let target): name(target)
        case .service(let priority, let weight, let port, let target):
            u16(priority)
            u16(weight)
            u16(port)
            if compressesTargets { name(target) } else { bytes.append(contentsOf: target.wire) }
        case .nsec(let types):
            name(record.name)
            bytes.append(contentsOf: Self.bitmap(types))
        }
        let length = UInt16(clamping: bytes.count - start - 2)
        bytes[start] = UInt8(length >> 8)
        bytes[start + 1] = UInt8(length & 0xff)
    }

    /// Window 0 of an NSEC record's bitmap.
    static func bitmap(_ types: Set<UInt16>) -> [UInt8] {
        let types = types.filter { $0 < 256 }
        guard let highest = types.max() else { return [] }
        var bits = [UInt8](repeating: 0, count: Int(highest) / 8 + 1)
        for type in types { bits[Int(type) / 8] |= 0x80 >> UInt8(type % 8) }
        return [0, UInt8(bits.count)] + bits
    }

    private mutating func u16(_ value: UInt16) {
        bytes.append(UInt8(value >> 8))
        bytes.append(UInt8(value & 0xff))
    }

    private mutating func name(_ name: DomainName) {
        let wire = name.wire
        // A name has at most 127 labels; offsets of the labels, then hashes of the tails that begin there.
        withUnsafeTemporaryAllocation(of: (offset: Int, hash: UInt64).self, capacity: 128) { labels in
            var count = 0
            var i = 0
            while i < wire.count, wire[i] > 0, count < 128 {
                labels[count] = (i, 0)
                count += 1
                i += 1 + Int(wire[i])
            }
            var hash: UInt64 = 0xcbf2_9ce4_8422_2325
            for label in stride(from: count - 1, through: 0, by: -1) {
                let start = labels[label].offset
                for byte in wire[start...(start + Int(wire[start]))] { hash = (hash ^ UInt64(byte)) &* 0x100_0000_01b3 }
                labels[label].hash = hash
            }
            for label in 0..<count {
                let (start, hash) = labels[label]
                if let offset = tails[hash], holds(wire[start...], at: Int(offset)) {
                    u16(0xc000 | offset)
                    return
                }
                // Of two tails with one hash the first stays: `takeBack` could not restore it.
                if bytes.count < 0x4000, tails[hash] == nil {
                    tails[hash] = UInt16(bytes.count)
                    tailOrder.append(hash)
                }
                bytes.append(contentsOf: wire[start...(start + Int(wire[start]))])
            }
            bytes.append(0)
        }
    }

    /// Whether the name at `offset` is `tail`, byte for byte: compression must not change the case of a name.
    private func holds(_ tail: ArraySlice<UInt8>, at offset: Int) -> Bool {
        var at = offset
        var i = tail.startIndex
        while i < tail.endIndex {
            if bytes[at] & 0xc0 == 0xc0 {
                at = Int(bytes[at] & 0x3f) << 8 | Int(bytes[at + 1])
                continue
            }
            let end = i + 1 + Int(tail[i])
            guard end <= tail.endIndex, at + 1 + Int(tail[i]) <= bytes.count, bytes[at..<(at + end - i)] == tail[i..<end] else {
                return false
            }
            at += end - i
            i = end
        }
        return true
    }
}
