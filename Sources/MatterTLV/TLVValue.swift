/// An element's value as a tree, for everything that is not on the hot path.
///
/// Two values are equal when they are the same element: 1 and 1.0 differ, and so do the signed and the unsigned 1. Floating-point
/// values are compared by their bits, so that a NaN equals itself.
public enum TLVValue: Sendable {
    case signed(Int64)
    case unsigned(UInt64)
    case boolean(Bool)
    case float(Float)
    case double(Double)
    case utf8(String)
    case octets([UInt8])
    case null
    /// Members with tags, each of which should occur once.
    case structure([TLVElement])
    /// Members without tags.
    case array([TLVValue])
    /// Members with any tags, in an order that matters (Matter's paths are lists).
    case list([TLVElement])
}

/// A tag and a value.
public struct TLVElement: Hashable, Sendable {
    public var tag: TLVTag
    public var value: TLVValue

    public init(_ tag: TLVTag, _ value: TLVValue) {
        self.tag = tag
        self.value = value
    }
}

extension TLVValue: Hashable {
    public static func == (left: TLVValue, right: TLVValue) -> Bool {
        switch (left, right) {
        case (.signed(let a), .signed(let b)): a == b
        case (.unsigned(let a), .unsigned(let b)): a == b
        case (.boolean(let a), .boolean(let b)): a == b
        case (.float(let a), .float(let b)): a.bitPattern == b.bitPattern
        case (.double(let a), .double(let b)): a.bitPattern == b.bitPattern
        case (.utf8(let a), .utf8(let b)): a.utf8.elementsEqual(b.utf8)
        case (.octets(let a), .octets(let b)): a == b
        case (.null, .null): true
        case (.structure(let a), .structure(let b)), (.list(let a), .list(let b)): a == b
        case (.array(let a), .array(let b)): a == b
        default: false
        }
    }

    public func hash(into hasher: inout Hasher) {
        switch self {
        case .signed(let value): hasher.combine(value)
        case .unsigned(let value): hasher.combine(value)
        case .boolean(let value): hasher.combine(value)
        case .float(let value): hasher.combine(value.bitPattern)
        case .double(let value): hasher.combine(value.bitPattern)
        case .utf8(let value): for byte in value.utf8 { hasher.combine(byte) }
        case .octets(let value): hasher.combine(value)
        case .null: break
        case .structure(let members), .list(let members): hasher.combine(members)
        case .array(let members): hasher.combine(members)
        }
    }
}

extension TLVValue {
    /// Reads one element that fills `bytes`, whose tag is ignored.
    public init(decoding bytes: [UInt8], limits: TLVLimits = .standard) throws(TLVError) {
        self = try TLVElement(decoding: bytes, limits: limits).value
    }

    /// The value's bytes, with `tag`.
    public func encoded(tag: TLVTag = .anonymous) -> [UInt8] {
        var writer = TLVWriter()
        writer.value(tag, self)
        return writer.bytes
    }

    /// The value of the member with a context tag of a structure or list; nil when there is none, or this is no such container.
    public subscript(tag: UInt8) -> TLVValue? {
        switch self {
        case .structure(let members), .list(let members): members.first { $0.tag == .context(tag) }?.value
        default: nil
        }
    }

    public var isNull: Bool { self == .null }
    /// The value when it is an unsigned integer, or a signed one that is not negative.
    public var unsigned: UInt64? {
        switch self {
        case .unsigned(let value): value
        case .signed(let value): UInt64(exactly: value)
        default: nil
        }
    }
    /// The value when it is an integer that fits.
    public var signed: Int64? {
        switch self {
        case .signed(let value): value
        case .unsigned(let value): Int64(exactly: value)
        default: nil
        }
    }
    public var boolean: Bool? { if case .boolean(let value) = self { value } else { nil } }
    public var text: String? { if case .utf8(let value) = self { value } else { nil } }
    public var octets: [UInt8]? { if case .octets(let value) = self { value } else { nil } }
    /// The members of an array.
    public var array: [TLVValue]? { if case .array(let members) = self { members } else { nil } }
    /// The members of a structure or list.
    public var members: [TLVElement]? {
        switch self {
        case .structure(let members), .list(let members): members
        default: nil
        }
    }
}

extension TLVElement {
    /// Reads one element that fills `bytes`.
    public init(decoding bytes: [UInt8], limits: TLVLimits = .standard) throws(TLVError) {
        // `withUnsafeBytes` rethrows untyped, hence the result.
        let result: Result<TLVElement, TLVError> = bytes.withUnsafeBytes { buffer in
            do throws(TLVError) { return .success(try TLVElement(decoding: buffer, limits: limits)) } catch { return .failure(error) }
        }
        self = try result.get()
    }

    /// Reads one element that fills `bytes`.
    public init(decoding bytes: UnsafeRawBufferPointer, limits: TLVLimits = .standard) throws(TLVError) {
        var reader = TLVReader(bytes, limits: limits)
        guard let token = try reader.next() else { throw TLVError(.truncated, at: 0) }
        self.init(token.tag, try reader.value(of: token))
        if !reader.isAtEnd { throw TLVError(.trailingBytes, at: reader.offset) }
    }
}
