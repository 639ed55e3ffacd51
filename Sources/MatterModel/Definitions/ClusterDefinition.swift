import MatterTLV

/// What a cluster is: its shape, and nothing of its behaviour. Generated from `Model/`.
public struct ClusterDefinition: Sendable {
    public var id: ClusterID
    /// The specification's name in one word, such as `OnOff`.
    public var name: String
    /// The specification's name as people read it, such as `On/Off`.
    public var title: String
    /// The value of ClusterRevision.
    public var revision: UInt16
    /// The code of test plans, such as `OO`.
    public var picsCode: String
    public var features: [FeatureDefinition]
    /// In the order of their ids; one that is defined twice under different conformance stands twice.
    public var attributes: [AttributeDefinition]
    /// Requests and responses. In the order of their ids.
    public var commands: [CommandDefinition]
    public var events: [EventDefinition]
    /// Enumerations, bitmaps and structures by name.
    public var enums: [EnumDefinition]
    public var bitmaps: [BitmapDefinition]
    public var structs: [StructDefinition]

    public init(
        id: ClusterID, name: String, title: String? = nil, revision: UInt16, picsCode: String, features: [FeatureDefinition] = [],
        attributes: [AttributeDefinition] = [], commands: [CommandDefinition] = [], events: [EventDefinition] = [],
        enums: [EnumDefinition] = [], bitmaps: [BitmapDefinition] = [], structs: [StructDefinition] = []
    ) {
        (self.id, self.name, self.title, self.revision) = (id, name, title ?? name, revision)
        (self.picsCode, self.features) = (picsCode, features)
        (self.attributes, self.commands, self.events) = (attributes, commands, events)
        (self.enums, self.bitmaps, self.structs) = (enums, bitmaps, structs)
    }
}

/// Something that a cluster's server may be able to do, as one bit of its FeatureMap.
public struct FeatureDefinition: Sendable, Hashable {
    /// The bit in FeatureMap.
    public var bit: UInt8
    /// Such as `LT`.
    public var code: String
    public var name: String
    public var conformance: Conformance

    public init(bit: UInt8, code: String, name: String, conformance: Conformance) {
        (self.bit, self.code, self.name, self.conformance) = (bit, code, name, conformance)
    }
}

/// What access control grants (Matter Core, 9.10.5.2). Each includes View; Manage includes Operate, Administer all.
public enum Privilege: UInt8, Sendable, Comparable, CaseIterable {
    case view = 1
    case proxyView = 2
    case operate = 3
    case manage = 4
    case administer = 5

    public static func < (left: Self, right: Self) -> Bool { left.rawValue < right.rawValue }
}

/// Other qualities of an attribute or field (Matter Core, 7.7).
public struct Quality: OptionSet, Sendable, Hashable {
    public let rawValue: UInt16
    public init(rawValue: UInt16) { self.rawValue = rawValue }
    /// X: null is a value.
    public static let nullable = Quality(rawValue: 1 << 0)
    /// N: kept over restarts.
    public static let nonVolatile = Quality(rawValue: 1 << 1)
    /// F: never changes.
    public static let fixed = Quality(rawValue: 1 << 2)
    /// S: part of scenes.
    public static let scene = Quality(rawValue: 1 << 3)
    /// C: changes are not reported by subscriptions.
    public static let changesOmitted = Quality(rawValue: 1 << 4)
    /// Q: reported less often than it changes.
    public static let quieter = Quality(rawValue: 1 << 5)
    /// P: reportable in the sense of older revisions.
    public static let reportable = Quality(rawValue: 1 << 6)
    /// T: written in atomic transactions only.
    public static let atomic = Quality(rawValue: 1 << 7)
    /// L: large message.
    public static let largeMessage = Quality(rawValue: 1 << 8)
    /// K, I: diagnostics, singleton.
    public static let diagnostics = Quality(rawValue: 1 << 9)
    public static let singleton = Quality(rawValue: 1 << 10)
}

/// An attribute as the specification defines it, before features and device types decide whether it is there.
public struct AttributeDefinition: Sendable {
    public var id: AttributeID
    public var name: String
    public var type: TypeReference
    public var quality: Quality
    /// Nil when it cannot be read.
    public var readPrivilege: Privilege?
    /// Nil when it cannot be written.
    public var writePrivilege: Privilege?
    /// A node may make it read-only.
    public var writeIsOptional: Bool
    /// A write needs a timed interaction.
    public var isTimed: Bool
    public var isFabricScoped: Bool
    public var isFabricSensitive: Bool
    public var conformance: Conformance
    public var constraint: Constraint
    /// The value of a fresh device when nothing says otherwise; nil when the specification gives none.
    public var defaultValue: TLVValue?
    /// The attribute whose value is the default, such as AbsMinHeatSetpointLimit for MinHeatSetpointLimit.
    public var defaultAttribute: String?

    public init(
        _ id: AttributeID, _ name: String, _ type: TypeReference, quality: Quality = [], read: Privilege? = .view,
        write: Privilege? = nil,
        writeIsOptional: Bool = false, timed: Bool = false, fabricScoped: Bool = false, fabricSensitive: Bool = false,
        conformance: Conformance, constraint: Constraint = .none, default defaultValue: TLVValue? = nil,
        defaultAttribute: String? = nil
    ) {
        (self.id, self.name, self.type, self.quality) = (id, name, type, quality)
        (readPrivilege, writePrivilege, self.writeIsOptional, isTimed) = (read, write, writeIsOptional, timed)
        (isFabricScoped, isFabricSensitive) = (fabricScoped, fabricSensitive)
        (self.conformance, self.constraint) = (conformance, constraint)
        (self.defaultValue, self.defaultAttribute) = (defaultValue, defaultAttribute)
    }

    public var isNullable: Bool { quality.contains(.nullable) }
    public var isList: Bool { if case .list = type.base { true } else { false } }
}

/// A field of a structure, command or event.
public struct FieldDefinition: Sendable {
    public var id: FieldID
    public var name: String
    public var type: TypeReference
    public var quality: Quality
    public var isFabricSensitive: Bool
    public var conformance: Conformance
    public var constraint: Constraint
    public var defaultValue: TLVValue?

    public init(
        _ id: FieldID, _ name: String, _ type: TypeReference, quality: Quality = [], fabricSensitive: Bool = false,
        conformance: Conformance, constraint: Constraint = .none, default defaultValue: TLVValue? = nil
    ) {
        (self.id, self.name, self.type, self.quality, isFabricSensitive) = (id, name, type, quality, fabricSensitive)
        (self.conformance, self.constraint, self.defaultValue) = (conformance, constraint, defaultValue)
    }

    public var isNullable: Bool { quality.contains(.nullable) }
}

/// A command, in one direction: requests and responses have separate ids.
public struct CommandDefinition: Sendable {
    /// From client to server, or back.
    public enum Direction: Sendable { case request, response }
    /// What answers a request that succeeds.
    public enum Response: Sendable, Hashable {
        /// The interaction's status alone.
        case status
        case command(CommandID)
        /// None at all, or this is a response itself.
        case none
    }

    public var id: CommandID
    public var name: String
    public var direction: Direction
    public var response: Response
    public var invokePrivilege: Privilege
    public var isTimed: Bool
    public var isFabricScoped: Bool
    public var conformance: Conformance
    public var fields: [FieldDefinition]

    public init(
        _ id: CommandID, _ name: String, _ direction: Direction, response: Response, invoke: Privilege = .operate,
        timed: Bool = false,
        fabricScoped: Bool = false, conformance: Conformance, fields: [FieldDefinition] = []
    ) {
        (self.id, self.name, self.direction, self.response) = (id, name, direction, response)
        (invokePrivilege, isTimed, isFabricScoped) = (invoke, timed, fabricScoped)
        (self.conformance, self.fields) = (conformance, fields)
    }
}

/// How long a node keeps an event when memory is short (Matter Core, 7.14.2.2).
public enum EventPriority: UInt8, Sendable, Comparable {
    case debug = 0
    case info = 1
    case critical = 2

    public static func < (left: Self, right: Self) -> Bool { left.rawValue < right.rawValue }
}

/// An event that a server may record.
public struct EventDefinition: Sendable {
    public var id: EventID
    public var name: String
    public var priority: EventPriority
    public var readPrivilege: Privilege
    public var isFabricSensitive: Bool
    public var conformance: Conformance
    public var fields: [FieldDefinition]

    public init(
        _ id: EventID, _ name: String, _ priority: EventPriority, read: Privilege = .view, fabricSensitive: Bool = false,
        conformance: Conformance, fields: [FieldDefinition] = []
    ) {
        (self.id, self.name, self.priority, readPrivilege, isFabricSensitive) = (id, name, priority, read, fabricSensitive)
        (self.conformance, self.fields) = (conformance, fields)
    }
}
