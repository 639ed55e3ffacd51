/// A type as an element names it: the specification's name, and what it is encoded as.
public struct TypeReference: Sendable {
    /// Such as `temperature`, `percent100ths`, `MoveModeEnum`; gives the unit.
    public var name: String
    public var base: DataType

    public init(_ name: String, _ base: DataType) { (self.name, self.base) = (name, base) }

    /// A list of `entry`, named `list[…]`.
    public init(list entry: TypeReference) { self.init("list[\(entry.name)]", .list(entry)) }
}

/// What a value is encoded as (Matter Core, 7.19).
public indirect enum DataType: Sendable {
    case boolean
    /// 1 to 8 bytes.
    case unsigned(bytes: UInt8)
    case signed(bytes: UInt8)
    case single
    case double
    case utf8
    case octets
    case enumeration(EnumDefinition)
    case bitmap(BitmapDefinition)
    case structure(StructDefinition)
    case list(TypeReference)
    /// Any TLV at all: where the specification leaves the type to another element.
    case any
}

/// The values of an enumeration. Others may come from devices of a later revision.
public struct EnumDefinition: Sendable {
    /// One value and its name; two may share a value under different conformance.
    public struct Item: Sendable, Hashable {
        public var value: UInt16
        public var name: String
        public var conformance: Conformance
        public init(_ value: UInt16, _ name: String, _ conformance: Conformance = .mandatory) {
            (self.value, self.name, self.conformance) = (value, name, conformance)
        }
    }

    public var name: String
    /// 1 or 2.
    public var bytes: UInt8
    public var items: [Item]
    public init(_ name: String, bytes: UInt8, items: [Item]) { (self.name, self.bytes, self.items) = (name, bytes, items) }
}

/// The bits of a bitmap.
public struct BitmapDefinition: Sendable {
    /// One bit, or several that hold a number.
    public struct Field: Sendable, Hashable {
        public var bits: ClosedRange<UInt8>
        public var name: String
        public var conformance: Conformance
        public init(_ bits: ClosedRange<UInt8>, _ name: String, _ conformance: Conformance = .mandatory) {
            (self.bits, self.name, self.conformance) = (bits, name, conformance)
        }
    }

    public var name: String
    /// 1, 2, 4 or 8.
    public var bytes: UInt8
    public var fields: [Field]
    public init(_ name: String, bytes: UInt8, fields: [Field]) { (self.name, self.bytes, self.fields) = (name, bytes, fields) }
}

/// The fields of a structure, in the order of their tags; of a fabric-scoped one FabricIndex (254) is the last.
public struct StructDefinition: Sendable {
    public var name: String
    public var isFabricScoped: Bool
    public var fields: [FieldDefinition]
    public init(_ name: String, fabricScoped: Bool = false, fields: [FieldDefinition] = []) {
        (self.name, isFabricScoped, self.fields) = (name, fabricScoped, fields)
    }
}
