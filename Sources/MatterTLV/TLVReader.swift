/// One step of a reader: an element, the beginning of a container, or its end.
public struct TLVToken {
    /// What was read.
    public enum Kind {
        case signed(Int64)
        case unsigned(UInt64)
        case boolean(Bool)
        case float(Float)
        case double(Double)
        /// The bytes of a string, in place and not yet checked to be UTF-8; valid as long as the reader's input.
        case utf8(UnsafeRawBufferPointer)
        /// Octets in place; valid as long as the reader's input.
        case octets(UnsafeRawBufferPointer)
        case null
        case structure
        case array
        case list
        case endOfContainer
    }

    public let tag: TLVTag
    public let kind: Kind
    /// Where the element begins, in bytes from the start of the input.
    public let offset: Int
}

/// Walks over Matter TLV (Matter Core, appendix A) in place.
///
/// Never traps on any input, allocates nothing but what `value(of:)` builds, and reads no byte twice. The bytes must outlive the
/// reader. A container is announced by one token and ended by `endOfContainer`; the reader checks that they match.
public struct TLVReader {
    private let bytes: UnsafeRawBufferPointer
    private let limits: TLVLimits
    private var elements = 0
    /// Bit n is set when the container at depth n is an array (whose members have no tags).
    private var arrays: UInt64 = 0
    /// Bit n is set when the container at depth n is a structure.
    private var structures: UInt64 = 0

    /// Where the next element begins, in bytes from the start.
    public private(set) var offset = 0
    /// Containers that are open.
    public private(set) var depth = 0

    /// - Parameter limits: `depth` beyond 63 counts as 63.
    public init(_ bytes: UnsafeRawBufferPointer, limits: TLVLimits = .standard) {
        self.bytes = bytes
        self.limits = limits
    }

    public var isAtEnd: Bool { offset >= bytes.count }

    /// The bytes of the input from `start` up to the reader's place: an element just passed over, as it stands.
    public func slice(from start: Int) -> UnsafeRawBufferPointer {
        UnsafeRawBufferPointer(rebasing: bytes[max(0, min(start, offset))..<offset])
    }

    /// The next token, or nil at the end of the input with no container open.
    public mutating func next() throws(TLVError) -> TLVToken? {
        let start = offset
        guard offset < bytes.count else {
            if depth > 0 { throw TLVError(.truncated, at: offset, "\(depth) containers are open") }
            return nil
        }
        elements += 1
        if elements > limits.elements { throw TLVError(.tooManyElements, at: start) }
        let control = bytes[offset]
        offset += 1
        let type = control & 0x1F
        if type == 0x18 {
            guard control == 0x18 else { throw TLVError(.tagNotAllowed, at: start, "an end of container has no tag") }
            guard depth > 0 else { throw TLVError(.unexpectedEnd, at: start) }
            depth -= 1
            return TLVToken(tag: .anonymous, kind: .endOfContainer, offset: start)
        }
        let tag = try readTag(control >> 5, at: start)
        return TLVToken(tag: tag, kind: try readKind(type, at: start), offset: start)
    }

    private mutating func readTag(_ form: UInt8, at start: Int) throws(TLVError) -> TLVTag {
        let tag: TLVTag
        switch form {
        case 0: tag = .anonymous
        case 1: tag = .context(UInt8(truncatingIfNeeded: try number(1)))
        case 2: tag = .commonProfile(UInt32(truncatingIfNeeded: try number(2)))
        case 3: tag = .commonProfile(UInt32(truncatingIfNeeded: try number(4)))
        case 4: tag = .implicitProfile(UInt32(truncatingIfNeeded: try number(2)))
        case 5: tag = .implicitProfile(UInt32(truncatingIfNeeded: try number(4)))
        default:
            let vendor = UInt16(truncatingIfNeeded: try number(2))
            let profile = UInt16(truncatingIfNeeded: try number(2))
            tag = .fullyQualified(
                vendor: vendor, profile: profile, tag: UInt32(truncatingIfNeeded: try number(form == 6 ? 2 : 4)))
        }
        // Appendix A.2.4: an array's members are anonymous, a structure's are not, a context tag needs a container.
        let bit: UInt64 = depth > 0 ? 1 << UInt64(depth & 63) : 0
        if depth == 0 {
            if case .context = tag { throw TLVError(.tagNotAllowed, at: start, "a context tag needs a container") }
        } else if arrays & bit != 0 {
            guard case .anonymous = tag else { throw TLVError(.tagNotAllowed, at: start, "an array's members have no tags") }
        } else if structures & bit != 0 {
            if case .anonymous = tag { throw TLVError(.tagNotAllowed, at: start, "a structure's members need tags") }
        }
        return tag
    }

    private mutating func readKind(_ type: UInt8, at start: Int) throws(TLVError) -> TLVToken.Kind {
        switch type {
        case 0x00: return .signed(Int64(Int8(truncatingIfNeeded: try number(1))))
        case 0x01: return .signed(Int64(Int16(truncatingIfNeeded: try number(2))))
        case 0x02: return .signed(Int64(Int32(truncatingIfNeeded: try number(4))))
        case 0x03: return .signed(Int64(bitPattern: try number(8)))
        case 0x04: return .unsigned(try number(1))
        case 0x05: return .unsigned(try number(2))
        case 0x06: return .unsigned(try number(4))
        case 0x07: return .unsigned(try number(8))
        case 0x08: return .boolean(false)
        case 0x09: return .boolean(true)
        case 0x0A: return .float(Float(bitPattern: UInt32(truncatingIfNeeded: try number(4))))
        case 0x0B: return .double(Double(bitPattern: try number(8)))
        case 0x0C...0x0F: return .utf8(try string(lengthWidth: 1 << Int(type - 0x0C), at: start))
        case 0x10...0x13: return .octets(try string(lengthWidth: 1 << Int(type - 0x10), at: start))
        case 0x14: return .null
        case 0x15, 0x16, 0x17:
            guard depth < min(limits.depth, 63) else { throw TLVError(.tooDeep, at: start, "the limit is \(limits.depth)") }
            depth += 1
            let bit: UInt64 = 1 << UInt64(depth)
            arrays = type == 0x16 ? arrays | bit : arrays & ~bit
            structures = type == 0x15 ? structures | bit : structures & ~bit
            return type == 0x15 ? .structure : type == 0x16 ? .array : .list
        default: throw TLVError(.unknownElementType, at: start, "type \(type)")
        }
    }

    /// A little-endian number of `width` bytes.
    private mutating func number(_ width: Int) throws(TLVError) -> UInt64 {
        guard bytes.count - offset >= width else { throw TLVError(.truncated, at: offset) }
        defer { offset += width }
        switch width {
        case 1: return UInt64(bytes[offset])
        case 2: return UInt64(UInt16(littleEndian: bytes.loadUnaligned(fromByteOffset: offset, as: UInt16.self)))
        case 4: return UInt64(UInt32(littleEndian: bytes.loadUnaligned(fromByteOffset: offset, as: UInt32.self)))
        default: return UInt64(littleEndian: bytes.loadUnaligned(fromByteOffset: offset, as: UInt64.self))
        }
    }

    private mutating func string(lengthWidth: Int, at start: Int) throws(TLVError) -> UnsafeRawBufferPointer {
        let count = try number(lengthWidth)
        guard count <= UInt64(bytes.count - offset) else { throw TLVError(.truncated, at: start, "a string of \(count) bytes") }
        guard count <= UInt64(max(0, limits.stringLength)) else {
            throw TLVError(.tooLong, at: start, "\(count) bytes, the limit is \(limits.stringLength)")
        }
        defer { offset += Int(count) }
        return UnsafeRawBufferPointer(rebasing: bytes[offset..<(offset + Int(count))])
    }
}

extension TLVReader {
    /// Passes over the rest of the container that `next` has just opened. Does nothing for any other token.
    public mutating func skip(_ token: TLVToken) throws(TLVError) {
        guard token.isContainer else { return }
        let outside = depth - 1
        while depth > outside { _ = try next() }
    }

    /// The whole element that begins with `token`, as a tree.
    public mutating func value(of token: TLVToken) throws(TLVError) -> TLVValue {
        switch token.kind {
        case .signed(let value): return .signed(value)
        case .unsigned(let value): return .unsigned(value)
        case .boolean(let value): return .boolean(value)
        case .float(let value): return .float(value)
        case .double(let value): return .double(value)
        case .utf8(let bytes):
            guard let text = String(validating: bytes, as: UTF8.self) else { throw TLVError(.invalidUTF8, at: token.offset) }
            return .utf8(text)
        case .octets(let bytes): return .octets(Array(bytes))
        case .null: return .null
        case .structure: return .structure(try members())
        case .list: return .list(try members())
        case .array:
            var values: [TLVValue] = []
            while let token = try nextMember() { values.append(try value(of: token)) }
            return .array(values)
        case .endOfContainer: throw TLVError(.unexpectedEnd, at: token.offset)
        }
    }

    /// The next member of the container that is open, or nil at its end, which is consumed.
    public mutating func nextMember() throws(TLVError) -> TLVToken? {
        guard let token = try next() else { throw TLVError(.truncated, at: offset) }
        if case .endOfContainer = token.kind { return nil }
        return token
    }

    private mutating func members() throws(TLVError) -> [TLVElement] {
        var members: [TLVElement] = []
        while let token = try nextMember() { members.append(TLVElement(token.tag, try value(of: token))) }
        return members
    }
}

extension TLVToken {
    public var isContainer: Bool {
        switch kind {
        case .structure, .array, .list: true
        default: false
        }
    }

    /// The number of a context tag, nil for any other tag.
    public var contextTag: UInt8? { if case .context(let number) = tag { number } else { nil } }
}
