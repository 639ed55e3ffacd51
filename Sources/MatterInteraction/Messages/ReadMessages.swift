import MatterModel
import MatterTLV

/// Skips what a reader has already (DataVersionFilterIB, Matter Core, 10.6.6).
public struct DataVersionFilter: Hashable, Sendable {
    public var endpoint: EndpointID
    public var cluster: ClusterID
    public var version: DataVersion

    public init(_ endpoint: EndpointID, _ cluster: ClusterID, _ version: DataVersion) {
        (self.endpoint, self.cluster, self.version) = (endpoint, cluster, version)
    }

    init(_ reader: inout TLVReader, _ token: TLVToken) throws(TLVError) {
        try reader.expectStructure(token, "a data version filter")
        var (endpoint, cluster, version): (EndpointID?, ClusterID?, DataVersion?)
        while let member = try reader.nextMember() {
            switch member.contextTag {
            case 0:
                try reader.expectList(member, "a cluster path")
                while let part = try reader.nextMember() {
                    switch part.contextTag {
                    case 1: endpoint = EndpointID(try part.number("endpoint"))
                    case 2: cluster = ClusterID(try part.number("cluster"))
                    default: try reader.skip(part)
                    }
                }
            case 1: version = DataVersion(try member.number("data version"))
            default: try reader.skip(member)
            }
        }
        self.init(
            try endpoint.required("the endpoint", at: token.offset), try cluster.required("the cluster", at: token.offset),
            try version.required("the data version", at: token.offset))
    }

    func write(to writer: inout TLVWriter) {
        writer.openStructure(.anonymous)
        writer.openList(0)
        writer.unsigned(1, endpoint.unsigned)
        writer.unsigned(2, cluster.unsigned)
        writer.close()
        writer.unsigned(1, version.unsigned)
        writer.close()
    }
}

/// What to read, or to subscribe to.
public struct ReadSelection: Hashable, Sendable {
    public var attributes: [WireAttributePath]
    public var events: [EventPathPattern]
    /// The least event number wanted, if the reader has seen those before it.
    public var eventMinimum: EventNumber?
    /// Only the reader's own fabric's entries of fabric-scoped lists.
    public var isFabricFiltered: Bool
    public var dataVersionFilters: [DataVersionFilter]

    public init(
        attributes: [AttributePathPattern] = [], events: [EventPathPattern] = [], eventMinimum: EventNumber? = nil,
        isFabricFiltered: Bool = true, dataVersionFilters: [DataVersionFilter] = []
    ) {
        self.attributes = attributes.map { WireAttributePath($0) }
        (self.events, self.eventMinimum) = (events, eventMinimum)
        (self.isFabricFiltered, self.dataVersionFilters) = (isFabricFiltered, dataVersionFilters)
    }

    static func readEventFilter(_ reader: inout TLVReader, _ token: TLVToken) throws(TLVError) -> EventNumber {
        try reader.expectStructure(token, "an event filter")
        var minimum: EventNumber = 0
        while let member = try reader.nextMember() {
            if member.contextTag == 1 {
                minimum = EventNumber(try member.number("event minimum"))
            } else {
                try reader.skip(member)
            }
        }
        return minimum
    }

    /// Several filters (for several nodes on the wire) count as the highest.
    mutating func readEventFilters(_ reader: inout TLVReader, _ token: TLVToken) throws(TLVError) {
        eventMinimum = try decodeArray(&reader, token, "event filters", Self.readEventFilter).max()
    }

    func writeAttributes(_ tag: TLVTag, to writer: inout TLVWriter) {
        writer.openArray(tag)
        for path in attributes { path.write(.anonymous, to: &writer) }
        writer.close()
    }

    func writeEvents(_ tag: TLVTag, filters: TLVTag, to writer: inout TLVWriter) {
        guard !events.isEmpty else { return }
        writer.openArray(tag)
        for path in events { path.write(.anonymous, to: &writer) }
        writer.close()
        guard let eventMinimum else { return }
        writer.openArray(filters)
        writer.openStructure(.anonymous)
        writer.unsigned(1, eventMinimum.unsigned)
        writer.close()
        writer.close()
    }

    func writeDataVersionFilters(_ tag: TLVTag, to writer: inout TLVWriter) {
        guard !dataVersionFilters.isEmpty else { return }
        writer.openArray(tag)
        for filter in dataVersionFilters { filter.write(to: &writer) }
        writer.close()
    }
}

/// ReadRequestMessage (Matter Core, 10.7.2).
public struct ReadRequest: Hashable, Sendable {
    public var selection: ReadSelection
    public init(_ selection: ReadSelection) { self.selection = selection }

    public init(decoding payload: UnsafeRawBufferPointer) throws(TLVError) {
        self = try decode(payload) { (reader) throws(TLVError) in
            var request = ReadRequest(ReadSelection())
            var isFabricFiltered: Bool?
            while let member = try reader.nextMember() {
                switch member.contextTag {
                case 0:
                    request.selection.attributes = try decodeArray(
                        &reader, member, "attribute requests", WireAttributePath.init(_:_:))
                case 1: request.selection.events = try decodeArray(&reader, member, "event requests", EventPathPattern.init(_:_:))
                case 2: try request.selection.readEventFilters(&reader, member)
                case 3: isFabricFiltered = try member.boolean("fabric filtered")
                case 4:
                    request.selection.dataVersionFilters = try decodeArray(
                        &reader, member, "data version filters", DataVersionFilter.init(_:_:))
                default: try reader.skip(member)
                }
            }
            request.selection.isFabricFiltered = try isFabricFiltered.required("fabric filtered")
            return request
        }
    }

    public var payload: [UInt8] {
        var writer = TLVWriter()
        writer.openStructure(.anonymous)
        if !selection.attributes.isEmpty { selection.writeAttributes(0, to: &writer) }
        selection.writeEvents(1, filters: 2, to: &writer)
        writer.boolean(3, selection.isFabricFiltered)
        selection.writeDataVersionFilters(4, to: &writer)
        writer.unsigned(InteractionModel.revisionTag, UInt64(InteractionModel.revision))
        writer.close()
        return writer.bytes
    }
}

/// SubscribeRequestMessage (Matter Core, 10.7.4).
public struct SubscribeRequest: Hashable, Sendable {
    public var selection: ReadSelection
    /// Other subscriptions of the subscriber stay.
    public var keepsSubscriptions: Bool
    /// Seconds between two reports, at least.
    public var minimumInterval: UInt16
    /// Seconds between two reports, at most, as the subscriber wants it.
    public var maximumInterval: UInt16

    public init(_ selection: ReadSelection, keepsSubscriptions: Bool = true, minimumInterval: UInt16, maximumInterval: UInt16) {
        (self.selection, self.keepsSubscriptions) = (selection, keepsSubscriptions)
        (self.minimumInterval, self.maximumInterval) = (minimumInterval, maximumInterval)
    }

    public init(decoding payload: UnsafeRawBufferPointer) throws(TLVError) {
        self = try decode(payload) { (reader) throws(TLVError) in
            var request = SubscribeRequest(
                ReadSelection(isFabricFiltered: false), keepsSubscriptions: false, minimumInterval: 0, maximumInterval: 0)
            var (keeps, isFabricFiltered, minimum, maximum): (Bool?, Bool?, UInt16?, UInt16?)
            while let member = try reader.nextMember() {
                switch member.contextTag {
                case 0: keeps = try member.boolean("keep subscriptions")
                case 1: minimum = try member.number("minimum interval")
                case 2: maximum = try member.number("maximum interval")
                case 3:
                    request.selection.attributes = try decodeArray(
                        &reader, member, "attribute requests", WireAttributePath.init(_:_:))
                case 4: request.selection.events = try decodeArray(&reader, member, "event requests", EventPathPattern.init(_:_:))
                case 5: try request.selection.readEventFilters(&reader, member)
                case 7: isFabricFiltered = try member.boolean("fabric filtered")
                case 8:
                    request.selection.dataVersionFilters = try decodeArray(
                        &reader, member, "data version filters", DataVersionFilter.init(_:_:))
                default: try reader.skip(member)
                }
            }
            request.keepsSubscriptions = try keeps.required("keep subscriptions")
            request.minimumInterval = try minimum.required("the minimum interval")
            request.maximumInterval = try maximum.required("the maximum interval")
            request.selection.isFabricFiltered = try isFabricFiltered.required("fabric filtered")
            return request
        }
    }

    public var payload: [UInt8] {
        var writer = TLVWriter()
        writer.openStructure(.anonymous)
        writer.boolean(0, keepsSubscriptions)
        writer.unsigned(1, UInt64(minimumInterval))
        writer.unsigned(2, UInt64(maximumInterval))
        if !selection.attributes.isEmpty { selection.writeAttributes(3, to: &writer) }
        selection.writeEvents(4, filters: 5, to: &writer)
        writer.boolean(7, selection.isFabricFiltered)
        selection.writeDataVersionFilters(8, to: &writer)
        writer.unsigned(InteractionModel.revisionTag, UInt64(InteractionModel.revision))
        writer.close()
        return writer.bytes
    }
}

/// SubscribeResponseMessage (Matter Core, 10.7.5).
public struct SubscribeResponse: Hashable, Sendable {
    public var subscription: SubscriptionID
    /// Seconds between two reports, at most, as the publisher decided.
    public var maximumInterval: UInt16

    public init(subscription: SubscriptionID, maximumInterval: UInt16) {
        (self.subscription, self.maximumInterval) = (subscription, maximumInterval)
    }

    public init(decoding payload: UnsafeRawBufferPointer) throws(TLVError) {
        self = try decode(payload) { (reader) throws(TLVError) in
            var (subscription, maximumInterval): (SubscriptionID?, UInt16?)
            while let member = try reader.nextMember() {
                switch member.contextTag {
                case 0: subscription = SubscriptionID(try member.number("subscription"))
                case 2: maximumInterval = try member.number("maximum interval")
                default: try reader.skip(member)
                }
            }
            return SubscribeResponse(
                subscription: try subscription.required("the subscription"),
                maximumInterval: try maximumInterval.required("the maximum interval"))
        }
    }

    public var payload: [UInt8] {
        var writer = TLVWriter()
        writer.openStructure(.anonymous)
        writer.unsigned(0, subscription.unsigned)
        writer.unsigned(2, UInt64(maximumInterval))
        writer.unsigned(InteractionModel.revisionTag, UInt64(InteractionModel.revision))
        writer.close()
        return writer.bytes
    }
}
