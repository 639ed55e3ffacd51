/// Writes Matter TLV in its shortest form (Matter Core, appendix A).
///
/// Reuse one writer for many messages (`removeAll`) where speed matters.
public struct TLVWriter: Sendable {
    /// What has been written.
    public private(set) var bytes: [UInt8]

    public init(reservingCapacity capacity: Int = 64) {
        bytes = []
        bytes.reserveCapacity(capacity)
    }

    public var count: Int { bytes.count }

    /// Forgets what has been written and keeps the memory.
    public mutating func removeAll() { bytes.removeAll(keepingCapacity: true) }

    /// Takes back everything after the first `count` bytes: an element that turned out not to fit.
    public mutating func truncate(to count: Int) { if count < bytes.count { bytes.removeLast(bytes.count - max(0, count)) } }

    /// An unsigned integer, in the fewest bytes that hold it.
    public mutating func unsigned(_ tag: TLVTag, _ value: UInt64) {
        if value <= 0xFF {
            control(0x04, tag)
            bytes.append(UInt8(truncatingIfNeeded: value))
        } else if value <= 0xFFFF {
            control(0x05, tag)
            append(UInt16(truncatingIfNeeded: value))
        } else if value <= 0xFFFF_FFFF {
            control(0x06, tag)
            append(UInt32(truncatingIfNeeded: value))
        } else {
            control(0x07, tag)
            append(value)
        }
    }

    /// A signed integer, in the fewest bytes that hold it.
    public mutating func signed(_ tag: TLVTag, _ value: Int64) {
        if let byte = Int8(exactly: value) {
            control(0x00, tag)
            bytes.append(UInt8(bitPattern: byte))
        } else if let short = Int16(exactly: value) {
            control(0x01, tag)
            append(UInt16(bitPattern: short))
        } else if let word = Int32(exactly: value) {
            control(0x02, tag)
            append(UInt32(bitPattern: word))
        } else {
            control(0x03, tag)
            append(UInt64(bitPattern: value))
        }
    }

    public mutating func boolean(_ tag: TLVTag, _ value: Bool) { control(value ? 0x09 : 0x08, tag) }

    public mutating func float(_ tag: TLVTag, _ value: Float) {
        control(0x0A, tag)
        append(value.bitPattern)
    }

    public mutating func double(_ tag: TLVTag, _ value: Double) {
        control(0x0B, tag)
        append(value.bitPattern)
    }

    /// A string; its length is counted in bytes and written in the fewest that hold it.
    public mutating func utf8(_ tag: TLVTag, _ value: String) {
        var value = value
        value.withUTF8 { string(0x0C, tag, UnsafeRawBufferPointer($0)) }
    }

    public mutating func octets(_ tag: TLVTag, _ value: [UInt8]) { value.withUnsafeBytes { string(0x10, tag, $0) } }
    public mutating func octets(_ tag: TLVTag, _ value: UnsafeRawBufferPointer) { string(0x10, tag, value) }
    public mutating func null(_ tag: TLVTag) { control(0x14, tag) }

    /// Members have tags, each at most once; `close` ends it.
    public mutating func openStructure(_ tag: TLVTag) { control(0x15, tag) }
    /// Entries have no tags; `close` ends it.
    public mutating func openArray(_ tag: TLVTag) { control(0x16, tag) }
    /// Members may have tags, in any order and several times; `close` ends it.
    public mutating func openList(_ tag: TLVTag) { control(0x17, tag) }
    /// Ends the innermost container. The writer does not check that there is one.
    public mutating func close() { bytes.append(0x18) }

    /// A structure with what `body` writes.
    public mutating func structure<E: Error>(_ tag: TLVTag, _ body: (inout TLVWriter) throws(E) -> Void) throws(E) {
        openStructure(tag)
        try body(&self)
        close()
    }

    /// An array with what `body` writes.
    public mutating func array<E: Error>(_ tag: TLVTag, _ body: (inout TLVWriter) throws(E) -> Void) throws(E) {
        openArray(tag)
        try body(&self)
        close()
    }

    /// A list with what `body` writes.
    public mutating func list<E: Error>(_ tag: TLVTag, _ body: (inout TLVWriter) throws(E) -> Void) throws(E) {
        openList(tag)
        try body(&self)
        close()
    }

    public mutating func value(_ tag: TLVTag, _ value: TLVValue) {
        switch value {
        case .signed(let value): signed(tag, value)
        case .unsigned(let value): unsigned(tag, value)
        case .boolean(let value): boolean(tag, value)
        case .float(let value): float(tag, value)
        case .double(let value): double(tag, value)
        case .utf8(let value): utf8(tag, value)
        case .octets(let value): octets(tag, value)
        case .null: null(tag)
        case .structure(let members):
            openStructure(tag)
            for member in members { self.value(member.tag, member.value) }
            close()
        case .list(let members):
            openList(tag)
            for member in members { self.value(member.tag, member.value) }
            close()
        case .array(let members):
            openArray(tag)
            for member in members { self.value(.anonymous, member) }
            close()
        }
    }

    /// Bytes that are already TLV, as they are.
    public mutating func raw(_ encoded: UnsafeRawBufferPointer) { bytes.append(contentsOf: encoded) }
    public mutating func raw(_ encoded: [UInt8]) { bytes.append(contentsOf: encoded) }

    private mutating func control(_ type: UInt8, _ tag: TLVTag) {
        switch tag {
        case .anonymous: bytes.append(type)
        case .context(let number):
            bytes.append(0x20 | type)
            bytes.append(number)
        case .commonProfile(let number): profileTag(0x40, type, number)
        case .implicitProfile(let number): profileTag(0x80, type, number)
        case .fullyQualified(let vendor, let profile, let number):
            bytes.append((number <= 0xFFFF ? 0xC0 : 0xE0) | type)
            append(vendor)
            append(profile)
            if number <= 0xFFFF { append(UInt16(truncatingIfNeeded: number)) } else { append(number) }
        }
    }

    private mutating func profileTag(_ form: UInt8, _ type: UInt8, _ number: UInt32) {
        if number <= 0xFFFF {
            bytes.append(form | type)
            append(UInt16(truncatingIfNeeded: number))
        } else {
            bytes.append((form + 0x20) | type)
            append(number)
        }
    }

    private mutating func string(_ type: UInt8, _ tag: TLVTag, _ value: UnsafeRawBufferPointer) {
        let count = UInt64(value.count)
        if count <= 0xFF {
            control(type, tag)
            bytes.append(UInt8(truncatingIfNeeded: count))
        } else if count <= 0xFFFF {
            control(type + 1, tag)
            append(UInt16(truncatingIfNeeded: count))
        } else if count <= 0xFFFF_FFFF {
            control(type + 2, tag)
            append(UInt32(truncatingIfNeeded: count))
        } else {
            control(type + 3, tag)
            append(count)
        }
        bytes.append(contentsOf: value)
    }

    private mutating func append<Number: FixedWidthInteger>(_ number: Number) {
        withUnsafeBytes(of: number.littleEndian) { bytes.append(contentsOf: $0) }
    }
}
