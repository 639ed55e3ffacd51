import HearthIO

/// Which records, in a form that is cheap to keep in sets: who they belong to and which of theirs.
struct RecordKey: Hashable, Comparable, Sendable {
    enum Kind: UInt8, Comparable, Sendable {
        /// A PTR record of a service, from its type (detail 0) or from a subtype (1 and up).
        case pointer
        case service, text
        case addresses4, addresses6
        /// What a name does not have (RFC 6762, 6.1).
        case nsec
        /// A PTR record that lists a service type.
        case serviceType
        static func < (left: Self, right: Self) -> Bool { left.rawValue < right.rawValue }
    }

    /// A claim's or, for `serviceType`, a pointer set's number.
    let owner: Int
    let kind: Kind
    var detail: UInt8 = 0

    static func < (left: Self, right: Self) -> Bool {
        (left.owner, left.kind.rawValue, left.detail) < (right.owner, right.kind.rawValue, right.detail)
    }
}

/// A name that is to be ours alone, with the records that stand under it. It is probed for before it is used.
class Claim {
    enum State { case probing, established }

    let id: Int
    var name: DomainName
    var state = State.probing
    /// Raised when the claim leaves the batch of probes or announcements it was in.
    var generation = 0
    /// When all of its records were last sent to everybody.
    var lastAnnounced: Milliseconds?

    init(id: Int, name: DomainName) {
        self.id = id
        self.name = name
    }

    /// The kinds of records under the name itself, NSEC left out.
    func kinds(on addresses: [IPAddress]) -> [RecordKey.Kind] { [] }
    /// The records of a kind on a link whose interface has these addresses.
    func records(_ key: RecordKey, on addresses: [IPAddress]) -> [ResourceRecord] { [] }

    /// All records under the name itself, NSEC left out.
    func records(on addresses: [IPAddress]) -> [ResourceRecord] {
        kinds(on: addresses).flatMap { records(RecordKey(owner: id, kind: $0), on: addresses) }
    }

    /// What probes propose, and ties are broken by. Of a service the SRV record alone: host and port tell it from every other, and a
    /// fleet's probes take a third of the packets.
    func proposal(on addresses: [IPAddress]) -> [ResourceRecord] {
        records(on: addresses).filter { $0.type != RecordType.txt }
    }

    fileprivate func nsec(_ types: Set<UInt16>, _ lifetime: UInt32) -> ResourceRecord {
        ResourceRecord(name: name, type: RecordType.nsec, flush: true, lifetime: lifetime, data: .nsec(types: types))
    }
}

/// A host name.
final class HostClaim: Claim {
    var label: String
    /// Nil for the host of the back end, which has the addresses of each interface on that interface.
    let fixedAddresses: [IPAddress]?
    /// How many services point to it.
    var uses = 0

    init(id: Int, label: String, addresses: [IPAddress]?) {
        self.label = label
        fixedAddresses = addresses
        super.init(id: id, name: DomainName.local.prefixed(label))
    }

    override func kinds(on addresses: [IPAddress]) -> [RecordKey.Kind] {
        let own = fixedAddresses ?? addresses
        return (own.contains { $0.isIPv4 } ? [.addresses4] : []) + (own.contains { !$0.isIPv4 } ? [.addresses6] : [])
    }

    override func records(_ key: RecordKey, on addresses: [IPAddress]) -> [ResourceRecord] {
        let own = fixedAddresses ?? addresses
        switch key.kind {
        case .addresses4, .addresses6:
            let isIPv4 = key.kind == .addresses4
            return own.filter { $0.isIPv4 == isIPv4 }.map {
                ResourceRecord(
                    name: name, type: isIPv4 ? RecordType.a : RecordType.aaaa, flush: true, lifetime: MulticastDNS.hostLifetime,
                    data: .address($0.bytes))
            }
        case .nsec:
            let types = kinds(on: addresses).map { $0 == .addresses4 ? RecordType.a : RecordType.aaaa }
            return [nsec(Set(types), MulticastDNS.hostLifetime)]
        default: return []
        }
    }

    /// What goes with a service that points here: the addresses, and that there are no others.
    func additionals(on addresses: [IPAddress]) -> [ResourceRecord] {
        records(on: addresses) + records(RecordKey(owner: id, kind: .nsec), on: addresses)
    }
}

/// The PTR records under one type or subtype.
final class PointerSet {
    let id: Int
    let name: DomainName
    let isType: Bool
    /// Ascending by number, so that answers come in a fixed order.
    private(set) var claims: [ServiceClaim] = []

    init(id: Int, name: DomainName, isType: Bool) {
        self.id = id
        self.name = name
        self.isType = isType
    }

    private func position(_ id: Int) -> Int {
        var (low, high) = (0, claims.count)
        while low < high {
            let middle = (low + high) / 2
            if claims[middle].id < id { low = middle + 1 } else { high = middle }
        }
        return low
    }

    func insert(_ claim: ServiceClaim) {
        let i = position(claim.id)
        if i == claims.count || claims[i] !== claim { claims.insert(claim, at: i) }
    }

    func remove(_ claim: ServiceClaim) {
        let i = position(claim.id)
        if i < claims.count, claims[i] === claim { claims.remove(at: i) }
    }

    var typeRecord: ResourceRecord {
        ResourceRecord(
            name: .serviceTypes, type: RecordType.ptr, flush: false, lifetime: MulticastDNS.lifetime, data: .pointer(name))
    }
}

/// A service instance.
final class ServiceClaim: Claim {
    var record: ServiceRecord
    var host: HostClaim
    /// The type's, then those of the subtypes.
    var pointers: [PointerSet] = []
    let policy: NameConflictPolicy
    let event: (AdvertisementEvent) -> Void

    init(
        id: Int, _ record: ServiceRecord, host: HostClaim, policy: NameConflictPolicy,
        event: @escaping (AdvertisementEvent) -> Void
    ) {
        self.record = record
        self.host = host
        self.policy = policy
        self.event = event
        super.init(id: id, name: DomainName(record.name))
    }

    override func kinds(on addresses: [IPAddress]) -> [RecordKey.Kind] { [.service, .text] }

    override func records(_ key: RecordKey, on addresses: [IPAddress]) -> [ResourceRecord] {
        switch key.kind {
        case .service:
            let data = RecordData.service(priority: 0, weight: 0, port: record.port, target: host.name)
            return [
                ResourceRecord(name: name, type: RecordType.srv, flush: true, lifetime: MulticastDNS.hostLifetime, data: data)
            ]
        case .text:
            let data = RecordData.text(record.text.encoded)
            return [ResourceRecord(name: name, type: RecordType.txt, flush: true, lifetime: MulticastDNS.lifetime, data: data)]
        case .pointer:
            return pointers.indices.contains(Int(key.detail)) ? [pointer(pointers[Int(key.detail)].name)] : []
        case .nsec: return [nsec([RecordType.srv, RecordType.txt], MulticastDNS.hostLifetime)]
        default: return []
        }
    }

    func pointer(_ from: DomainName) -> ResourceRecord {
        ResourceRecord(name: from, type: RecordType.ptr, flush: false, lifetime: MulticastDNS.lifetime, data: .pointer(name))
    }

    /// Nil when the service is not in the set.
    func pointerKey(_ set: PointerSet) -> RecordKey? {
        pointers.firstIndex { $0 === set }.map { RecordKey(owner: id, kind: .pointer, detail: UInt8(clamping: $0)) }
    }

    /// Everything a service has, as announcements and goodbyes carry it.
    func everything() -> [ResourceRecord] { pointers.map { pointer($0.name) } + records(on: []) }
}
