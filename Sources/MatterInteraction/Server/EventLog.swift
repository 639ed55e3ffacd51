import MatterModel
import MatterTLV

/// An event that happened (Matter Core, 7.14.2).
public struct EventRecord: Sendable {
    public var number: EventNumber
    public var path: EventPath
    public var priority: EventPriority
    public var timestamp: EventTimestamp
    public var fields: TLVValue
    /// Set for fabric-sensitive events: only this fabric sees it.
    public var fabricIndex: FabricIndex?
    /// Bytes that it takes in a report, about.
    var size: Int
}

/// A node's events, bounded by bytes and priority; their numbers only grow, also over restarts and kills.
public final class EventLog {
    /// How many numbers are reserved at a time. The boundary is stored before a number below it is used, so that a node that was
    /// killed continues above everything it ever reported.
    static let reservation: UInt64 = 0x10000

    /// In the order of their numbers.
    public private(set) var records: [EventRecord] = []
    /// The number of the next event.
    public private(set) var nextNumber: EventNumber
    /// Called with a new boundary before numbers up to it are used: store it.
    public var reserve: (_ boundary: UInt64) -> Void = { _ in }
    /// Called after an event was recorded.
    public var onRecord: (EventRecord) -> Void = { _ in }

    private var boundary: UInt64
    private let capacity: Int
    private var size = 0

    /// - Parameters:
    ///   - boundary: the boundary that was stored last; 0 for a first start.
    ///   - capacity: bytes kept per priority, about.
    public init(boundary: UInt64, capacity: Int = 16_384) {
        self.boundary = boundary
        self.capacity = capacity
        nextNumber = EventNumber(boundary)
    }

    /// Records an event and gives it its number.
    @discardableResult
    public func record(
        _ path: EventPath, priority: EventPriority, timestamp: EventTimestamp, fields: TLVValue, fabricIndex: FabricIndex? = nil
    ) -> EventNumber {
        if nextNumber.rawValue >= boundary {
            boundary = nextNumber.rawValue &+ Self.reservation
            reserve(boundary)
        }
        let number = nextNumber
        nextNumber = EventNumber(number.rawValue &+ 1)
        let record = EventRecord(
            number: number, path: path, priority: priority, timestamp: timestamp, fields: fields, fabricIndex: fabricIndex,
            size: 48 + fields.encoded().count)
        records.append(record)
        size += record.size
        trim()
        onRecord(record)
        return number
    }

    /// Drops the oldest of the least priority first (Matter Core, 7.14.2.2): debug events beyond the first share of the memory, informative
    /// ones beyond the second, critical ones beyond the third.
    private func trim() {
        for (priority, limit) in [(EventPriority.debug, capacity), (.info, capacity * 2), (.critical, capacity * 3)]
        where size > limit {
            records.removeAll { record in
                guard size > limit, record.priority == priority else { return false }
                size -= record.size
                return true
            }
        }
    }

    /// Forgets the events of a fabric that was removed.
    public func forget(_ fabric: FabricIndex) {
        records.removeAll { $0.fabricIndex == fabric }
        size = records.reduce(0) { $0 + $1.size }
    }
}
