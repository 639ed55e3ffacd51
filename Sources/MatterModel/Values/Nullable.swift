import MatterTLV

/// A value of an element with the quality X: null, or a value. An optional would not do, since an optional field that is absent
/// and one that is null are different things: `Nullable<UInt16>?` has all three.
public enum Nullable<Value> {
    case null
    case value(Value)

    /// Nil becomes null.
    public init(_ value: Value?) { self = value.map(Nullable.value) ?? .null }

    /// Nil when null.
    public var value: Value? { if case .value(let value) = self { value } else { nil } }
    public var isNull: Bool { value == nil }
}

extension Nullable: Equatable where Value: Equatable {}
extension Nullable: Hashable where Value: Hashable {}
extension Nullable: Sendable where Value: Sendable {}

extension Nullable: TLVConvertible where Value: TLVConvertible {
    public init(tlv: TLVValue) throws(Status) { self = tlv.isNull ? .null : .value(try Value(tlv: tlv)) }
    public var tlv: TLVValue { value?.tlv ?? .null }
}

extension Nullable: ExpressibleByIntegerLiteral where Value: ExpressibleByIntegerLiteral {
    public init(integerLiteral value: Value.IntegerLiteralType) { self = .value(Value(integerLiteral: value)) }
}
extension Nullable: ExpressibleByBooleanLiteral where Value: ExpressibleByBooleanLiteral {
    public init(booleanLiteral value: Value.BooleanLiteralType) { self = .value(Value(booleanLiteral: value)) }
}
extension Nullable: ExpressibleByUnicodeScalarLiteral where Value: ExpressibleByStringLiteral {
    public init(unicodeScalarLiteral value: Value.UnicodeScalarLiteralType) { self = .value(Value(unicodeScalarLiteral: value)) }
}
extension Nullable: ExpressibleByExtendedGraphemeClusterLiteral where Value: ExpressibleByStringLiteral {
    public init(extendedGraphemeClusterLiteral value: Value.ExtendedGraphemeClusterLiteralType) {
        self = .value(Value(extendedGraphemeClusterLiteral: value))
    }
}
extension Nullable: ExpressibleByStringLiteral where Value: ExpressibleByStringLiteral {
    public init(stringLiteral value: Value.StringLiteralType) { self = .value(Value(stringLiteral: value)) }
}
