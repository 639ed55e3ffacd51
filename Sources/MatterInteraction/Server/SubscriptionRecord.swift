import MatterModel
import MatterTLV

/// What a publisher has to remember of a subscription to go on with it after a restart.
public struct SubscriptionRecord: Hashable, Sendable {
    public var id: SubscriptionID
    /// The fabric as this node numbers it.
    public var fabricIndex: UInt8
    /// The subscriber.
    public var nodeID: UInt64
    /// What it wants, with the intervals as they were decided; without what only the first report needed.
    public var request: SubscribeRequest

    init(id: SubscriptionID, fabricIndex: UInt8, nodeID: UInt64, _ selection: ReadSelection, minimum: UInt16, maximum: UInt16) {
        (self.id, self.fabricIndex, self.nodeID) = (id, fabricIndex, nodeID)
        var selection = selection
        (selection.eventMinimum, selection.dataVersionFilters) = (nil, [])
        request = SubscribeRequest(selection, minimumInterval: minimum, maximumInterval: maximum)
    }

    /// The maximum interval that a publisher decides on: the ceiling may be used whole (Matter Core, 8.5.3.2); 0 would mean reports
    /// without end.
    static func maximumInterval(_ request: SubscribeRequest) -> UInt16 { max(request.maximumInterval, max(1, request.minimumInterval)) }

    /// Whether a subscriber asks anew for what this record is of.
    func isRepeated(by request: SubscribeRequest, fabricIndex: UInt8, nodeID: UInt64) -> Bool {
        self
            == SubscriptionRecord(
                id: id, fabricIndex: fabricIndex, nodeID: nodeID, request.selection, minimum: request.minimumInterval,
                maximum: Self.maximumInterval(request))
    }

    // MARK: As bytes, for a store

    public static func encoded(_ records: [SubscriptionRecord]) -> [UInt8] {
        TLVValue.array(
            records.map { record in
                .structure([
                    TLVElement(0, .unsigned(UInt64(record.id.rawValue))), TLVElement(1, .unsigned(UInt64(record.fabricIndex))),
                    TLVElement(2, .unsigned(record.nodeID)), TLVElement(3, .octets(record.request.payload)),
                ])
            }
        ).encoded()
    }

    /// What `encoded` gave; records that make no sense are left out.
    public static func decoded(_ bytes: [UInt8]) -> [SubscriptionRecord] {
        guard case .array(let items)? = try? TLVValue(decoding: bytes) else { return [] }
        return items.compactMap { item in
            guard let id = item[0]?.unsigned.flatMap({ UInt32(exactly: $0) }), let node = item[2]?.unsigned,
                let fabric = item[1]?.unsigned.flatMap({ UInt8(exactly: $0) }), fabric != 0, let payload = item[3]?.octets,
                let request = payload.withUnsafeBytes({ try? SubscribeRequest(decoding: $0) })
            else { return nil }
            return SubscriptionRecord(
                id: SubscriptionID(id), fabricIndex: fabric, nodeID: node, request.selection, minimum: request.minimumInterval,
                maximum: Self.maximumInterval(request))
        }
    }
}
