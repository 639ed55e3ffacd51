/// The numbers of record types that mDNS uses.
enum RecordType {
    static let a: UInt16 = 1
    static let ptr: UInt16 = 12
    static let txt: UInt16 = 16
    static let aaaa: UInt16 = 28
    static let srv: UInt16 = 33
    static let nsec: UInt16 = 47
    static let any: UInt16 = 255
}

/// What a record says.
enum RecordData: Hashable, Sendable {
    /// 4 or 16 bytes.
    case address([UInt8])
    case pointer(DomainName)
    case service(priority: UInt16, weight: UInt16, port: UInt16, target: DomainName)
    /// The data as it stands on the wire.
    case text([UInt8])
    /// The types below 256 that the name has (RFC 6762, 6.1).
    case nsec(types: Set<UInt16>)
    /// A type that nothing here reads.
    case other([UInt8])
}

/// A resource record.
struct ResourceRecord: Hashable, Sendable {
    var name: DomainName
    var type: UInt16
    /// Without the cache-flush bit; 1 is IN.
    var recordClass: UInt16 = 1
    /// The name has one owner; what others said before is void (RFC 6762, 10.2).
    var flush: Bool
    /// Seconds; 0 is a goodbye.
    var lifetime: UInt32
    var data: RecordData

    /// The data without compression, by which simultaneous probes are compared (RFC 6762, 8.2).
    var comparable: [UInt8] {
        switch data {
        case .address(let bytes), .text(let bytes), .other(let bytes): bytes
        case .pointer(let name): name.wire
        case .service(let priority, let weight, let port, let target):
            [priority, weight, port].flatMap { [UInt8($0 >> 8), UInt8($0 & 0xff)] } + target.wire
        case .nsec(let types): name.wire + MessageWriter.bitmap(types)
        }
    }
}

struct Question: Hashable, Sendable {
    var name: DomainName
    var type: UInt16
    /// Without the unicast bit; 1 is IN, 255 any.
    var questionClass: UInt16 = 1
    /// QU: an answer by unicast is welcome (RFC 6762, 5.4).
    var unicast = false
}

/// A DNS message (RFC 1035, 4).
struct Message: Equatable, Sendable {
    var id: UInt16 = 0
    var flags: Flags = []
    var questions: [Question] = []
    var answers: [ResourceRecord] = []
    var authorities: [ResourceRecord] = []
    var additionals: [ResourceRecord] = []

    struct Flags: OptionSet, Hashable, Sendable {
        let rawValue: UInt16
        static let response = Flags(rawValue: 0x8000)
        static let authoritative = Flags(rawValue: 0x0400)
        static let truncated = Flags(rawValue: 0x0200)
        /// Operation and response code; mDNS ignores messages in which any is set (RFC 6762, 18.3 and 18.11).
        static let operationAndCode = Flags(rawValue: 0x780f)
    }
}

/// Why bytes are no DNS message.
struct MessageError: Error, Equatable, CustomStringConvertible {
    let reason: String
    /// Where in the message.
    let offset: Int
    var description: String { "\(reason) at byte \(offset)" }
}
