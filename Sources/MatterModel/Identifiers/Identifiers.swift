/// A number of the data model with a type of its own, so that an endpoint is never taken for a cluster.
public protocol Identifier: RawRepresentable, Hashable, Comparable, Sendable, ExpressibleByIntegerLiteral, CustomStringConvertible
where RawValue: FixedWidthInteger & UnsignedInteger & Sendable {
    init(_ rawValue: RawValue)
}

extension Identifier {
    public init?(rawValue: RawValue) { self.init(rawValue) }
    public static func < (left: Self, right: Self) -> Bool { left.rawValue < right.rawValue }
    /// Decimal up to two bytes, hexadecimal above, as the specification writes them.
    public var description: String {
        if RawValue.bitWidth <= 16 { return String(rawValue) }
        let hexadecimal = String(rawValue, radix: 16, uppercase: true)
        return "0x" + String(repeating: "0", count: max(0, 4 - hexadecimal.count)) + hexadecimal
    }
    /// The value as TLV carries it.
    public var unsigned: UInt64 { UInt64(rawValue) }
    /// Nil when the number does not fit.
    public init?(exactly number: UInt64) {
        guard let value = RawValue(exactly: number) else { return nil }
        self.init(value)
    }
}

/// An endpoint of a node; 0 is the root (Matter Core, 7.8).
public struct EndpointID: Identifier {
    public let rawValue: UInt16
    public init(_ rawValue: UInt16) { self.rawValue = rawValue }
    public init(integerLiteral value: UInt16) { rawValue = value }
}

/// A cluster; the upper 16 bits are the vendor's prefix (Matter Core, 7.10).
public struct ClusterID: Identifier {
    public let rawValue: UInt32
    public init(_ rawValue: UInt32) { self.rawValue = rawValue }
    public init(integerLiteral value: UInt32) { rawValue = value }
}

/// An attribute of a cluster (Matter Core, 7.10).
public struct AttributeID: Identifier {
    public let rawValue: UInt32
    public init(_ rawValue: UInt32) { self.rawValue = rawValue }
    public init(integerLiteral value: UInt32) { rawValue = value }
}

/// A command of a cluster (Matter Core, 7.10).
public struct CommandID: Identifier {
    public let rawValue: UInt32
    public init(_ rawValue: UInt32) { self.rawValue = rawValue }
    public init(integerLiteral value: UInt32) { rawValue = value }
}

/// An event of a cluster (Matter Core, 7.10).
public struct EventID: Identifier {
    public let rawValue: UInt32
    public init(_ rawValue: UInt32) { self.rawValue = rawValue }
    public init(integerLiteral value: UInt32) { rawValue = value }
}

/// A field of a structure, command or event: its context tag.
public struct FieldID: Identifier {
    public let rawValue: UInt8
    public init(_ rawValue: UInt8) { self.rawValue = rawValue }
    public init(integerLiteral value: UInt8) { rawValue = value }
}

/// A device type (Matter Device Library).
public struct DeviceTypeID: Identifier {
    public let rawValue: UInt32
    public init(_ rawValue: UInt32) { self.rawValue = rawValue }
    public init(integerLiteral value: UInt32) { rawValue = value }
}

/// A node within a fabric (Matter Core, 2.5.5).
public struct NodeID: Identifier {
    public let rawValue: UInt64
    public init(_ rawValue: UInt64) { self.rawValue = rawValue }
    public init(integerLiteral value: UInt64) { rawValue = value }
}

/// A fabric below its root (Matter Core, 2.5.1).
public struct FabricID: Identifier {
    public let rawValue: UInt64
    public init(_ rawValue: UInt64) { self.rawValue = rawValue }
    public init(integerLiteral value: UInt64) { rawValue = value }
}

/// A fabric as one node numbers it, 1 to 254; 0 is none (Matter Core, 7.19.2.20).
public struct FabricIndex: Identifier {
    public let rawValue: UInt8
    public init(_ rawValue: UInt8) { self.rawValue = rawValue }
    public init(integerLiteral value: UInt8) { rawValue = value }
}

/// A group of nodes within a fabric (Matter Core, 2.5.4).
public struct GroupID: Identifier {
    public let rawValue: UInt16
    public init(_ rawValue: UInt16) { self.rawValue = rawValue }
    public init(integerLiteral value: UInt16) { rawValue = value }
}

/// A vendor (Matter Core, 2.5.2).
public struct VendorID: Identifier {
    public let rawValue: UInt16
    public init(_ rawValue: UInt16) { self.rawValue = rawValue }
    public init(integerLiteral value: UInt16) { rawValue = value }
}

/// The version of a cluster's data, which every change raises (Matter Core, 7.10.3).
public struct DataVersion: Identifier {
    public let rawValue: UInt32
    public init(_ rawValue: UInt32) { self.rawValue = rawValue }
    public init(integerLiteral value: UInt32) { rawValue = value }
}

/// The number of an event record on its node, which only grows (Matter Core, 7.14.2.1).
public struct EventNumber: Identifier {
    public let rawValue: UInt64
    public init(_ rawValue: UInt64) { self.rawValue = rawValue }
    public init(integerLiteral value: UInt64) { rawValue = value }
}

/// A subscription as its publisher numbers it (Matter Core, 8.5).
public struct SubscriptionID: Identifier {
    public let rawValue: UInt32
    public init(_ rawValue: UInt32) { self.rawValue = rawValue }
    public init(integerLiteral value: UInt32) { rawValue = value }
}
