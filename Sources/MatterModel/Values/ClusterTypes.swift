import MatterTLV

/// An enumeration of a cluster. Values of later revisions survive, so a switch needs a default.
public protocol ClusterEnum: RawRepresentable, Hashable, TLVConvertible, CustomStringConvertible
where RawValue: FixedWidthInteger & UnsignedInteger & TLVConvertible {
    init(rawValue: RawValue)
    static var definition: EnumDefinition { get }
}

extension ClusterEnum {
    /// Whether this revision of the specification names the value.
    public var isDefined: Bool { Self.definition.item(value: UInt64(rawValue)) != nil }
    /// The specification's name, or the number.
    public var description: String { Self.definition.item(value: UInt64(rawValue))?.name ?? String(rawValue) }
}

/// A bitmap of a cluster. Bits of later revisions survive.
public protocol ClusterBitmap: OptionSet, Hashable, TLVConvertible
where RawValue: FixedWidthInteger & UnsignedInteger & TLVConvertible {
    static var definition: BitmapDefinition { get }
}

extension ClusterBitmap {
    /// The number that some bits hold.
    func number(_ bits: ClosedRange<RawValue>) -> RawValue {
        (rawValue >> bits.lowerBound) & ((1 << (bits.upperBound - bits.lowerBound + 1)) - 1)
    }
    /// The bitmap with a number in some bits; what does not fit into them is cut off.
    func with(_ number: RawValue, in bits: ClosedRange<RawValue>) -> RawValue {
        let mask: RawValue = ((1 << (bits.upperBound - bits.lowerBound + 1)) - 1) << bits.lowerBound
        return (rawValue & ~mask) | ((number << bits.lowerBound) & mask)
    }
}

/// A structure of a cluster.
public protocol ClusterStruct: Hashable, TLVConvertible {}

/// The fields of a command.
public protocol CommandPayload: Hashable, TLVConvertible {
    static var cluster: ClusterID { get }
    static var id: CommandID { get }
}

/// The fields of a command that a client sends.
public protocol CommandRequest: CommandPayload {
    /// What answers: the payload of a response command, or `StatusOnly`.
    associatedtype Response: TLVConvertible & Hashable
    /// It needs a timed interaction.
    static var isTimed: Bool { get }
}

/// The answer of a command that has no response command.
public struct StatusOnly: TLVConvertible, Hashable {
    public init() {}
    public init(tlv: TLVValue) {}
    public var tlv: TLVValue { .structure([]) }
}

/// The fields of an event.
public protocol EventPayload: Hashable, TLVConvertible {
    static var cluster: ClusterID { get }
    static var id: EventID { get }
    static var priority: EventPriority { get }
}
