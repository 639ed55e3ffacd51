import HearthTime
import MatterInteraction
import MatterModel
import MatterTLV

/// Messages with every combination of members, from a seed.
struct Generator {
    var random: RandomStream
    init(seed: UInt64) { random = RandomStream(seed: seed, owner: "messages", purpose: "generate") }

    mutating func flag() -> Bool { random.chance(permille: 500) }
    mutating func number<Number: FixedWidthInteger & UnsignedInteger>(_: Number.Type = Number.self) -> Number {
        // Short and long ones: their encodings differ.
        Number(truncatingIfNeeded: random.bits() >> random.below(64))
    }
    mutating func maybe<Value>(_ make: (inout Self) -> Value) -> Value? { flag() ? make(&self) : nil }
    mutating func some<Value>(_ make: (inout Self) -> Value) -> [Value] { (0..<random.below(4)).map { _ in make(&self) } }

    mutating func value(_ depth: Int = 0) -> TLVValue {
        switch random.below(depth < 3 ? 11 : 8) {
        case 0: return .unsigned(number())
        case 1: return .signed(Int64(bitPattern: number()))
        case 2: return .boolean(flag())
        case 3: return .null
        case 4: return .utf8(String(repeating: "ä", count: Int(random.below(40))))
        case 5: return .octets((0..<random.below(300)).map { _ in UInt8(random.below(256)) })
        case 6: return .float(Float(bitPattern: number()))
        case 7: return .double(Double(bitPattern: number()))
        case 8: return .array(some { $0.value(depth + 1) })
        case 9: return .structure(some { TLVElement(.context($0.number()), $0.value(depth + 1)) })
        default: return .list(some { TLVElement($0.flag() ? .anonymous : .context($0.number()), $0.value(depth + 1)) })
        }
    }

    mutating func pattern() -> AttributePathPattern {
        AttributePathPattern(
            maybe { EndpointID($0.number()) }, maybe { ClusterID($0.number()) }, maybe { AttributeID($0.number()) })
    }
    mutating func attributePath() -> WireAttributePath {
        var path = WireAttributePath(pattern(), listIndex: [.whole, .append, .entry(number())][Int(random.below(3))])
        path.node = maybe { NodeID($0.number()) }
        path.wildcardFlags = WildcardPathFlags(rawValue: flag() ? 0 : number())
        return path
    }
    mutating func eventPath() -> EventPathPattern {
        EventPathPattern(
            maybe { EndpointID($0.number()) }, maybe { ClusterID($0.number()) }, maybe { EventID($0.number()) }, isUrgent: flag())
    }
    mutating func commandPath() -> WireCommandPath {
        WireCommandPath(
            endpoint: maybe { EndpointID($0.number()) }, cluster: maybe { ClusterID($0.number()) },
            command: maybe { CommandID($0.number()) })
    }
    mutating func status() -> Status { Status(StatusCode(rawValue: number()), clusterStatus: maybe { $0.number() }) }
    mutating func selection() -> ReadSelection {
        var selection = ReadSelection(isFabricFiltered: flag())
        selection.attributes = some { $0.attributePath() }
        selection.events = some { $0.eventPath() }
        // A filter for events that are not asked for is not written.
        if !selection.events.isEmpty { selection.eventMinimum = maybe { EventNumber($0.number()) } }
        selection.dataVersionFilters = some {
            DataVersionFilter(EndpointID($0.number()), ClusterID($0.number()), DataVersion($0.number()))
        }
        return selection
    }
    mutating func data() -> AttributeData { AttributeData(attributePath(), value(), version: maybe { DataVersion($0.number()) }) }
    mutating func subscribe() -> SubscribeRequest {
        SubscribeRequest(selection(), keepsSubscriptions: flag(), minimumInterval: number(), maximumInterval: number())
    }
    mutating func report() -> ReportData {
        ReportData(
            subscription: maybe { SubscriptionID($0.number()) },
            attributes: some {
                AttributeReport(
                    $0.attributePath(), $0.flag() ? .value(DataVersion($0.number()), $0.value()) : .status($0.status()))
            },
            events: some { (generator) -> EventReport in
                guard generator.flag() else { return EventReport(generator.eventPath(), .status(generator.status())) }
                let time: EventTimestamp =
                    generator.flag() ? .epoch(milliseconds: generator.number()) : .system(milliseconds: generator.number())
                let priority = EventPriority(rawValue: UInt8(generator.random.below(3))) ?? .info
                return EventReport(
                    generator.eventPath(), .event(EventNumber(generator.number()), priority, time, generator.value()))
            }, moreChunks: flag(), suppressesResponse: flag())
    }
    mutating func write() -> WriteRequest {
        WriteRequest(some { $0.data() }, isTimed: flag(), suppressesResponse: flag(), moreChunks: flag())
    }
    mutating func writeResponse() -> WriteResponse { WriteResponse(some { .init($0.attributePath(), $0.status()) }) }
    mutating func invoke() -> InvokeRequest {
        InvokeRequest(
            some { CommandData($0.commandPath(), $0.maybe { $0.value() }, reference: $0.maybe { $0.number() }) }, isTimed: flag(),
            suppressesResponse: flag())
    }
    mutating func invokeResponse() -> InvokeResponse {
        InvokeResponse(
            some {
                CommandAnswer(
                    $0.commandPath(), $0.flag() ? .response($0.value()) : .status($0.status()),
                    reference: $0.maybe { $0.number() })
            },
            suppressesResponse: flag(), moreChunks: flag())
    }

    /// Bytes of some message, as they are or damaged.
    mutating func payload(damaged: Bool) -> [UInt8] {
        var bytes: [UInt8]
        switch random.below(10) {
        case 0: bytes = ReadRequest(selection()).payload
        case 1: bytes = subscribe().payload
        case 2: bytes = report().payload
        case 3: bytes = write().payload
        case 4: bytes = writeResponse().payload
        case 5: bytes = invoke().payload
        case 6: bytes = invokeResponse().payload
        case 7: bytes = TimedRequest(timeout: number()).payload
        case 8: bytes = SubscribeResponse(subscription: SubscriptionID(number()), maximumInterval: number()).payload
        default: bytes = StatusResponse(StatusCode(rawValue: number())).payload
        }
        guard damaged else { return bytes }
        for _ in 0...random.below(4) {
            switch random.below(4) {
            case 0: bytes = Array(bytes.prefix(Int(random.below(UInt64(bytes.count + 1)))))
            case 1: bytes.append(UInt8(random.below(256)))
            case 2 where !bytes.isEmpty: bytes.remove(at: Int(random.below(UInt64(bytes.count))))
            default: if !bytes.isEmpty { bytes[Int(random.below(UInt64(bytes.count)))] = UInt8(random.below(256)) }
            }
        }
        return bytes
    }
}
