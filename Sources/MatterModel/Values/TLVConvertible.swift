import MatterTLV

/// A typed value that TLV carries: an integer, an identifier, an enumeration, a bitmap, a structure, a list of these.
///
/// Decoding throws INVALID_DATA_TYPE for TLV of another kind and for a structure that lacks a mandatory field, and CONSTRAINT_ERROR
/// for an integer that does not fit. It is strict about signs, as the type is part of what is said (Matter Core, 7.19.1): a signed
/// element is no unsigned integer even when it is not negative. The payload of a command throws INVALID_COMMAND in place of
/// INVALID_DATA_TYPE (Matter Core, 8.8). Constraints beyond the type are `ValueChecker`'s business.
public protocol TLVConvertible: Sendable {
    init(tlv: TLVValue) throws(Status)
    var tlv: TLVValue { get }
    /// How a Swift array of these is carried. An array of bytes is an octet string; everything else is a list.
    static func decodeArray(_ value: TLVValue) throws(Status) -> [Self]
    static func encodeArray(_ values: [Self]) -> TLVValue
}

extension TLVConvertible {
    public static func decodeArray(_ value: TLVValue) throws(Status) -> [Self] {
        guard case .array(let entries) = value else { throw .wrongType("a list", value) }
        var values: [Self] = []
        values.reserveCapacity(entries.count)
        for entry in entries { values.append(try Self(tlv: entry)) }
        return values
    }
    public static func encodeArray(_ values: [Self]) -> TLVValue { .array(values.map(\.tlv)) }
}

extension Array: TLVConvertible where Element: TLVConvertible {
    public init(tlv: TLVValue) throws(Status) { self = try Element.decodeArray(tlv) }
    public var tlv: TLVValue { Element.encodeArray(self) }
}

extension TLVValue: TLVConvertible {
    public init(tlv: TLVValue) { self = tlv }
    public var tlv: TLVValue { self }
}

extension Bool: TLVConvertible {
    public init(tlv: TLVValue) throws(Status) {
        guard case .boolean(let value) = tlv else { throw .wrongType("a boolean", tlv) }
        self = value
    }
    public var tlv: TLVValue { .boolean(self) }
}

extension String: TLVConvertible {
    public init(tlv: TLVValue) throws(Status) {
        guard case .utf8(let value) = tlv else { throw .wrongType("a string", tlv) }
        self = value
    }
    public var tlv: TLVValue { .utf8(self) }
}

extension Float: TLVConvertible {
    public init(tlv: TLVValue) throws(Status) {
        guard case .float(let value) = tlv else { throw .wrongType("a single", tlv) }
        self = value
    }
    public var tlv: TLVValue { .float(self) }
}

extension Double: TLVConvertible {
    public init(tlv: TLVValue) throws(Status) {
        switch tlv {
        case .double(let value): self = value
        case .float(let value): self = Double(value)
        default: throw .wrongType("a double", tlv)
        }
    }
    public var tlv: TLVValue { .double(self) }
}

extension TLVConvertible where Self: FixedWidthInteger & UnsignedInteger {
    public init(tlv: TLVValue) throws(Status) {
        guard case .unsigned(let number) = tlv else { throw .wrongType("an unsigned integer", tlv) }
        guard let value = Self(exactly: number) else { throw .doesNotFit(tlv, bits: Self.bitWidth) }
        self = value
    }
    public var tlv: TLVValue { .unsigned(UInt64(self)) }
}

extension TLVConvertible where Self: FixedWidthInteger & SignedInteger {
    public init(tlv: TLVValue) throws(Status) {
        guard case .signed(let number) = tlv else { throw .wrongType("a signed integer", tlv) }
        guard let value = Self(exactly: number) else { throw .doesNotFit(tlv, bits: Self.bitWidth) }
        self = value
    }
    public var tlv: TLVValue { .signed(Int64(self)) }
}

extension UInt8: TLVConvertible {
    public static func decodeArray(_ value: TLVValue) throws(Status) -> [UInt8] {
        guard case .octets(let bytes) = value else { throw .wrongType("an octet string", value) }
        return bytes
    }
    public static func encodeArray(_ values: [UInt8]) -> TLVValue { .octets(values) }
}
extension UInt16: TLVConvertible {}
extension UInt32: TLVConvertible {}
extension UInt64: TLVConvertible {}
extension Int8: TLVConvertible {}
extension Int16: TLVConvertible {}
extension Int32: TLVConvertible {}
extension Int64: TLVConvertible {}

extension TLVConvertible where Self: RawRepresentable, RawValue: TLVConvertible {
    public init(tlv: TLVValue) throws(Status) {
        guard let value = Self(rawValue: try RawValue(tlv: tlv)) else {
            throw Status(.constraintError, "not a value of \(Self.self)")
        }
        self = value
    }
    public var tlv: TLVValue { rawValue.tlv }
}

extension EndpointID: TLVConvertible {}
extension ClusterID: TLVConvertible {}
extension AttributeID: TLVConvertible {}
extension CommandID: TLVConvertible {}
extension EventID: TLVConvertible {}
extension DeviceTypeID: TLVConvertible {}
extension NodeID: TLVConvertible {}
extension FabricID: TLVConvertible {}
extension FabricIndex: TLVConvertible {}
extension GroupID: TLVConvertible {}
extension VendorID: TLVConvertible {}
extension DataVersion: TLVConvertible {}
extension EventNumber: TLVConvertible {}
extension StatusCode: TLVConvertible {}
extension EventPriority: TLVConvertible {}

/// A list of 8-bit integers, which as `[UInt8]` would be taken for an octet string.
public struct ByteList: TLVConvertible, Hashable, ExpressibleByArrayLiteral {
    public var entries: [UInt8]
    public init(_ entries: [UInt8]) { self.entries = entries }
    public init(arrayLiteral elements: UInt8...) { entries = elements }

    public init(tlv: TLVValue) throws(Status) {
        guard case .array(let values) = tlv else { throw .wrongType("a list", tlv) }
        entries = []
        for value in values { entries.append(try UInt8(tlv: value)) }
    }
    public var tlv: TLVValue { .array(entries.map { .unsigned(UInt64($0)) }) }
}

extension Status {
    static func wrongType(_ wanted: String, _ found: TLVValue) -> Status {
        Status(.invalidDataType, "\(wanted) is wanted, not \(found.kindName)")
    }
    static func doesNotFit(_ value: TLVValue, bits: Int) -> Status {
        Status(.constraintError, "\(value.kindName) does not fit into \(bits) bits")
    }
}

extension TLVValue {
    /// What the value is, for messages; never its contents, which may be secret.
    var kindName: String {
        switch self {
        case .signed: "a signed integer"
        case .unsigned: "an unsigned integer"
        case .boolean: "a boolean"
        case .float: "a single"
        case .double: "a double"
        case .utf8: "a string"
        case .octets: "an octet string"
        case .null: "null"
        case .structure: "a structure"
        case .array: "an array"
        case .list: "a list with tags"
        }
    }
}
