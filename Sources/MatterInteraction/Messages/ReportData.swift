import MatterModel
import MatterTLV

/// One attribute of a report: its value, or why there is none (AttributeReportIB, Matter Core, 10.6.4).
public struct AttributeReport: Hashable, Sendable {
    /// What was read, or the status that says why it was not.
    public enum Outcome: Hashable, Sendable {
        case value(DataVersion, TLVValue)
        case status(Status)
    }
    public var path: WireAttributePath
    public var outcome: Outcome

    public init(_ path: WireAttributePath, _ outcome: Outcome) { (self.path, self.outcome) = (path, outcome) }

    init(_ reader: inout TLVReader, _ token: TLVToken) throws(TLVError) {
        try reader.expectStructure(token, "an attribute report")
        var report: AttributeReport?
        while let member = try reader.nextMember() {
            switch member.contextTag {
            case 0:
                try reader.expectStructure(member, "an attribute status")
                var path: WireAttributePath?
                var status: Status?
                while let part = try reader.nextMember() {
                    switch part.contextTag {
                    case 0: path = try WireAttributePath(&reader, part)
                    case 1: status = try Status(&reader, part)
                    default: try reader.skip(part)
                    }
                }
                report = AttributeReport(
                    try path.required("the path", at: member.offset),
                    .status(try status.required("the status", at: member.offset)))
            case 1:
                let data = try AttributeData(&reader, member)
                report = AttributeReport(data.path, .value(data.version ?? 0, data.value))
            default: try reader.skip(member)
            }
        }
        guard let report else { throw TLVError(.unexpectedElement, at: token.offset, "an attribute report without a path") }
        self = report
    }

    func write(to writer: inout TLVWriter) {
        writer.openStructure(.anonymous)
        switch outcome {
        case .value(let version, let value):
            writer.openStructure(1)
            writer.unsigned(0, version.unsigned)
            path.write(1, to: &writer)
            writer.value(2, value)
            writer.close()
        case .status(let status):
            writer.openStructure(0)
            path.write(0, to: &writer)
            status.write(1, to: &writer)
            writer.close()
        }
        writer.close()
    }
}

/// When an event happened (Matter Core, 7.14.2.3).
public enum EventTimestamp: Hashable, Sendable {
    /// Milliseconds since 1970-01-01 UTC: for a node that knows the time.
    case epoch(milliseconds: UInt64)
    /// Milliseconds since the node started.
    case system(milliseconds: UInt64)
}

/// One event of a report, or why there is none (EventReportIB, Matter Core, 10.6.10).
public struct EventReport: Hashable, Sendable {
    /// What was read, or the status that says why it was not.
    public enum Outcome: Hashable, Sendable {
        case event(EventNumber, EventPriority, EventTimestamp, TLVValue)
        case status(Status)
    }
    public var path: EventPathPattern
    public var outcome: Outcome

    public init(_ path: EventPathPattern, _ outcome: Outcome) { (self.path, self.outcome) = (path, outcome) }

    init(_ reader: inout TLVReader, _ token: TLVToken) throws(TLVError) {
        try reader.expectStructure(token, "an event report")
        var report: EventReport?
        while let member = try reader.nextMember() {
            switch member.contextTag {
            case 0:
                try reader.expectStructure(member, "an event status")
                var path: EventPathPattern?
                var status: Status?
                while let part = try reader.nextMember() {
                    switch part.contextTag {
                    case 0: path = try EventPathPattern(&reader, part)
                    case 1: status = try Status(&reader, part)
                    default: try reader.skip(part)
                    }
                }
                report = EventReport(
                    try path.required("the path", at: member.offset),
                    .status(try status.required("the status", at: member.offset)))
            case 1: report = try Self.readData(&reader, member)
            default: try reader.skip(member)
            }
        }
        guard let report else { throw TLVError(.unexpectedElement, at: token.offset, "an event report without a path") }
        self = report
    }

    private static func readData(_ reader: inout TLVReader, _ token: TLVToken) throws(TLVError) -> EventReport? {
        try reader.expectStructure(token, "event data")
        var path: EventPathPattern?
        var number: EventNumber = 0
        var priority = EventPriority.info
        var timestamp = EventTimestamp.system(milliseconds: 0)
        var value = TLVValue.structure([])
        while let part = try reader.nextMember() {
            switch part.contextTag {
            case 0: path = try EventPathPattern(&reader, part)
            case 1: number = EventNumber(try part.number("event number"))
            case 2: priority = EventPriority(rawValue: try part.number("priority")) ?? .info
            case 3: timestamp = .epoch(milliseconds: try part.number("epoch timestamp"))
            case 4: timestamp = .system(milliseconds: try part.number("system timestamp"))
            case 7: value = try reader.value(of: part)
            default: try reader.skip(part)
            }
        }
        return path.map { EventReport($0, .event(number, priority, timestamp, value)) }
    }

    func write(to writer: inout TLVWriter) {
        writer.openStructure(.anonymous)
        switch outcome {
        case .event(let number, let priority, let timestamp, let value):
            writer.openStructure(1)
            path.write(0, to: &writer)
            writer.unsigned(1, number.unsigned)
            writer.unsigned(2, UInt64(priority.rawValue))
            switch timestamp {
            case .epoch(let milliseconds): writer.unsigned(3, milliseconds)
            case .system(let milliseconds): writer.unsigned(4, milliseconds)
            }
            writer.value(7, value)
            writer.close()
        case .status(let status):
            writer.openStructure(0)
            path.write(0, to: &writer)
            status.write(1, to: &writer)
            writer.close()
        }
        writer.close()
    }
}

/// ReportDataMessage (Matter Core, 10.7.3).
public struct ReportData: Hashable, Sendable {
    public var subscription: SubscriptionID?
    public var attributes: [AttributeReport]
    public var events: [EventReport]
    public var moreChunks: Bool
    /// The receiver need not answer.
    public var suppressesResponse: Bool

    public init(
        subscription: SubscriptionID? = nil, attributes: [AttributeReport] = [], events: [EventReport] = [],
        moreChunks: Bool = false,
        suppressesResponse: Bool = false
    ) {
        (self.subscription, self.attributes, self.events) = (subscription, attributes, events)
        (self.moreChunks, self.suppressesResponse) = (moreChunks, suppressesResponse)
    }

    public init(decoding payload: UnsafeRawBufferPointer) throws(TLVError) {
        self = try decode(payload) { (reader) throws(TLVError) in
            var report = ReportData()
            while let member = try reader.nextMember() {
                switch member.contextTag {
                case 0: report.subscription = SubscriptionID(try member.number("subscription"))
                case 1: report.attributes = try decodeArray(&reader, member, "attribute reports", AttributeReport.init(_:_:))
                case 2: report.events = try decodeArray(&reader, member, "event reports", EventReport.init(_:_:))
                case 3: report.moreChunks = try member.boolean("more chunks")
                case 4: report.suppressesResponse = try member.boolean("suppress response")
                default: try reader.skip(member)
                }
            }
            return report
        }
    }

    public var payload: [UInt8] {
        var writer = TLVWriter()
        writer.openStructure(.anonymous)
        if let subscription { writer.unsigned(0, subscription.unsigned) }
        if !attributes.isEmpty {
            writer.openArray(1)
            for report in attributes { report.write(to: &writer) }
            writer.close()
        }
        if !events.isEmpty {
            writer.openArray(2)
            for report in events { report.write(to: &writer) }
            writer.close()
        }
        if moreChunks { writer.boolean(3, true) }
        if suppressesResponse { writer.boolean(4, true) }
        writer.unsigned(InteractionModel.revisionTag, UInt64(InteractionModel.revision))
        writer.close()
        return writer.bytes
    }
}

/// One attribute with a value (AttributeDataIB, Matter Core, 10.6.5).
public struct AttributeData: Hashable, Sendable {
    /// In a write: the data version that the writer has seen, if it wants it checked.
    public var version: DataVersion?
    public var path: WireAttributePath
    public var value: TLVValue

    public init(_ path: WireAttributePath, _ value: TLVValue, version: DataVersion? = nil) {
        (self.path, self.value, self.version) = (path, value, version)
    }

    init(_ reader: inout TLVReader, _ token: TLVToken) throws(TLVError) {
        try reader.expectStructure(token, "attribute data")
        var (version, path, value): (DataVersion?, WireAttributePath?, TLVValue?)
        while let part = try reader.nextMember() {
            switch part.contextTag {
            case 0: version = DataVersion(try part.number("data version"))
            case 1: path = try WireAttributePath(&reader, part)
            case 2: value = try reader.value(of: part)
            default: try reader.skip(part)
            }
        }
        guard let path, let value else {
            throw TLVError(.unexpectedElement, at: token.offset, "attribute data without a path or a value")
        }
        self.init(path, value, version: version)
    }

    func write(to writer: inout TLVWriter) {
        writer.openStructure(.anonymous)
        if let version { writer.unsigned(0, version.unsigned) }
        path.write(1, to: &writer)
        writer.value(2, value)
        writer.close()
    }
}
