import MatterModel
import MatterTLV

/// WriteRequestMessage (Matter Core, 10.7.6).
public struct WriteRequest: Hashable, Sendable {
    public var suppressesResponse: Bool
    /// The request follows a timed request.
    public var isTimed: Bool
    public var writes: [AttributeData]
    public var moreChunks: Bool

    public init(_ writes: [AttributeData], isTimed: Bool = false, suppressesResponse: Bool = false, moreChunks: Bool = false) {
        (self.writes, self.isTimed) = (writes, isTimed)
        (self.suppressesResponse, self.moreChunks) = (suppressesResponse, moreChunks)
    }

    public init(decoding payload: UnsafeRawBufferPointer) throws(TLVError) {
        self = try decode(payload) { (reader) throws(TLVError) in
            var request = WriteRequest([])
            var (isTimed, writes): (Bool?, [AttributeData]?)
            while let member = try reader.nextMember() {
                switch member.contextTag {
                case 0: request.suppressesResponse = try member.boolean("suppress response")
                case 1: isTimed = try member.boolean("timed request")
                case 2: writes = try decodeArray(&reader, member, "write requests", AttributeData.init(_:_:))
                case 3: request.moreChunks = try member.boolean("more chunks")
                default: try reader.skip(member)
                }
            }
            request.isTimed = try isTimed.required("timed request")
            request.writes = try writes.required("write requests")
            return request
        }
    }

    public var payload: [UInt8] {
        var writer = TLVWriter()
        writer.openStructure(.anonymous)
        writer.boolean(0, suppressesResponse)
        writer.boolean(1, isTimed)
        writer.openArray(2)
        for write in writes { write.write(to: &writer) }
        writer.close()
        if moreChunks { writer.boolean(3, true) }
        writer.unsigned(InteractionModel.revisionTag, UInt64(InteractionModel.revision))
        writer.close()
        return writer.bytes
    }
}

/// WriteResponseMessage (Matter Core, 10.7.7).
public struct WriteResponse: Hashable, Sendable {
    /// What became of one path that was written.
    public struct Item: Hashable, Sendable {
        public var path: WireAttributePath
        public var status: Status
        public init(_ path: WireAttributePath, _ status: Status) { (self.path, self.status) = (path, status) }
    }
    public var items: [Item]
    public init(_ items: [Item]) { self.items = items }

    public init(decoding payload: UnsafeRawBufferPointer) throws(TLVError) {
        self = try decode(payload) { (reader) throws(TLVError) in
            var response = WriteResponse([])
            while let member = try reader.nextMember() {
                guard member.contextTag == 0 else {
                    try reader.skip(member)
                    continue
                }
                response.items = try decodeArray(&reader, member, "write responses") { (reader, token) throws(TLVError) in
                    try reader.expectStructure(token, "an attribute status")
                    var (path, status): (WireAttributePath?, Status?)
                    while let part = try reader.nextMember() {
                        switch part.contextTag {
                        case 0: path = try WireAttributePath(&reader, part)
                        case 1: status = try Status(&reader, part)
                        default: try reader.skip(part)
                        }
                    }
                    return Item(
                        try path.required("the path", at: token.offset), try status.required("the status", at: token.offset))
                }
            }
            return response
        }
    }

    public var payload: [UInt8] {
        var writer = TLVWriter()
        writer.openStructure(.anonymous)
        writer.openArray(0)
        for item in items {
            writer.openStructure(.anonymous)
            item.path.write(0, to: &writer)
            item.status.write(1, to: &writer)
            writer.close()
        }
        writer.close()
        writer.unsigned(InteractionModel.revisionTag, UInt64(InteractionModel.revision))
        writer.close()
        return writer.bytes
    }
}

/// TimedRequestMessage (Matter Core, 10.7.8): what follows on this exchange must come within the time-out.
public struct TimedRequest: Hashable, Sendable {
    /// Milliseconds.
    public var timeout: UInt16
    public init(timeout: UInt16) { self.timeout = timeout }

    public init(decoding payload: UnsafeRawBufferPointer) throws(TLVError) {
        self = try decode(payload) { (reader) throws(TLVError) in
            var timeout: UInt16?
            while let member = try reader.nextMember() {
                if member.contextTag == 0 { timeout = try member.number("timeout") } else { try reader.skip(member) }
            }
            return TimedRequest(timeout: try timeout.required("the time-out"))
        }
    }

    public var payload: [UInt8] {
        var writer = TLVWriter(reservingCapacity: 16)
        writer.openStructure(.anonymous)
        writer.unsigned(0, UInt64(timeout))
        writer.unsigned(InteractionModel.revisionTag, UInt64(InteractionModel.revision))
        writer.close()
        return writer.bytes
    }
}

/// StatusResponseMessage (Matter Core, 10.7.1).
public struct StatusResponse: Hashable, Sendable {
    public var status: StatusCode
    public init(_ status: StatusCode) { self.status = status }

    public init(decoding payload: UnsafeRawBufferPointer) throws(TLVError) {
        self = try decode(payload) { (reader) throws(TLVError) in
            var status: UInt8?
            while let member = try reader.nextMember() {
                if member.contextTag == 0 { status = try member.number("status") } else { try reader.skip(member) }
            }
            return StatusResponse(StatusCode(rawValue: try status.required("the status")))
        }
    }

    public var payload: [UInt8] {
        var writer = TLVWriter(reservingCapacity: 16)
        writer.openStructure(.anonymous)
        writer.unsigned(0, UInt64(status.rawValue))
        writer.unsigned(InteractionModel.revisionTag, UInt64(InteractionModel.revision))
        writer.close()
        return writer.bytes
    }
}
