import MatterModel
import MatterTLV

/// Which entry of a list attribute a path means (Matter Core, 8.9.2.2).
public enum ListIndex: Hashable, Sendable {
    /// The whole attribute.
    case whole
    /// A new entry at the end: null on the wire.
    case append
    case entry(UInt16)
}

/// What a path with wildcards leaves out (WildcardPathFlagsBitmap, Matter Core, 8.9.2.3).
public struct WildcardPathFlags: OptionSet, Hashable, Sendable {
    public let rawValue: UInt32
    public init(rawValue: UInt32) { self.rawValue = rawValue }
    public static let skipRootNode = WildcardPathFlags(rawValue: 1 << 0)
    public static let skipGlobalAttributes = WildcardPathFlags(rawValue: 1 << 1)
    public static let skipAttributeList = WildcardPathFlags(rawValue: 1 << 2)
    public static let skipEventList = WildcardPathFlags(rawValue: 1 << 3)
    public static let skipCommandLists = WildcardPathFlags(rawValue: 1 << 4)
    public static let skipCustomElements = WildcardPathFlags(rawValue: 1 << 5)
    public static let skipFixedAttributes = WildcardPathFlags(rawValue: 1 << 6)
    public static let skipChangesOmittedAttributes = WildcardPathFlags(rawValue: 1 << 7)
    public static let skipDiagnosticsClusters = WildcardPathFlags(rawValue: 1 << 8)
}

/// An attribute path as it stands in a message (AttributePathIB, Matter Core, 10.6.2).
public struct WireAttributePath: Hashable, Sendable {
    public var pattern: AttributePathPattern
    public var listIndex: ListIndex
    /// A node id other than the receiver's makes a path unsupported.
    public var node: NodeID?
    /// Has a meaning for wildcards only.
    public var wildcardFlags: WildcardPathFlags = []

    public init(_ pattern: AttributePathPattern, listIndex: ListIndex = .whole, node: NodeID? = nil) {
        (self.pattern, self.listIndex, self.node) = (pattern, listIndex, node)
    }

    public init(_ path: AttributePath, listIndex: ListIndex = .whole) {
        self.init(AttributePathPattern(path), listIndex: listIndex)
    }

    init(_ reader: inout TLVReader, _ token: TLVToken) throws(TLVError) {
        try reader.expectList(token, "an attribute path")
        self.init(AttributePathPattern())
        while let member = try reader.nextMember() {
            switch member.contextTag {
            case 0:
                // With compressed tags a member that is missing is the one of the path before, and no wildcard.
                if try member.boolean("tag compression") {
                    throw TLVError(.unexpectedElement, at: member.offset, "tag compression is not supported")
                }
            case 6: wildcardFlags = WildcardPathFlags(rawValue: try member.number("wildcard path flags"))
            case 1: node = NodeID(try member.number("node"))
            case 2: pattern.endpoint = EndpointID(try member.number("endpoint"))
            case 3: pattern.cluster = ClusterID(try member.number("cluster"))
            case 4: pattern.attribute = AttributeID(try member.number("attribute"))
            case 5:
                if case .null = member.kind { listIndex = .append } else { listIndex = .entry(try member.number("list index")) }
            default: try reader.skip(member)
            }
        }
    }

    func write(_ tag: TLVTag, to writer: inout TLVWriter) {
        writer.openList(tag)
        if let node { writer.unsigned(1, node.unsigned) }
        if let endpoint = pattern.endpoint { writer.unsigned(2, endpoint.unsigned) }
        if let cluster = pattern.cluster { writer.unsigned(3, cluster.unsigned) }
        if let attribute = pattern.attribute { writer.unsigned(4, attribute.unsigned) }
        switch listIndex {
        case .whole: break
        case .append: writer.null(5)
        case .entry(let index): writer.unsigned(5, UInt64(index))
        }
        if !wildcardFlags.isEmpty { writer.unsigned(6, UInt64(wildcardFlags.rawValue)) }
        writer.close()
    }
}

extension EventPathPattern {
    init(_ reader: inout TLVReader, _ token: TLVToken) throws(TLVError) {
        try reader.expectList(token, "an event path")
        self.init()
        while let member = try reader.nextMember() {
            switch member.contextTag {
            case 1: endpoint = EndpointID(try member.number("endpoint"))
            case 2: cluster = ClusterID(try member.number("cluster"))
            case 3: event = EventID(try member.number("event"))
            case 4: isUrgent = try member.boolean("urgent")
            default: try reader.skip(member)
            }
        }
    }

    func write(_ tag: TLVTag, to writer: inout TLVWriter) {
        writer.openList(tag)
        if let endpoint { writer.unsigned(1, endpoint.unsigned) }
        if let cluster { writer.unsigned(2, cluster.unsigned) }
        if let event { writer.unsigned(3, event.unsigned) }
        if isUrgent { writer.boolean(4, true) }
        writer.close()
    }
}

extension CommandPath {
    /// Nil members are possible on the wire and allowed for group commands only.
    static func read(_ reader: inout TLVReader, _ token: TLVToken) throws(TLVError) -> WireCommandPath {
        try reader.expectList(token, "a command path")
        var path = WireCommandPath()
        while let member = try reader.nextMember() {
            switch member.contextTag {
            case 0: path.endpoint = EndpointID(try member.number("endpoint"))
            case 1: path.cluster = ClusterID(try member.number("cluster"))
            case 2: path.command = CommandID(try member.number("command"))
            default: try reader.skip(member)
            }
        }
        return path
    }
}

/// A command path as it stands in a message (CommandPathIB, Matter Core, 10.6.11).
public struct WireCommandPath: Hashable, Sendable {
    public var endpoint: EndpointID?
    public var cluster: ClusterID?
    public var command: CommandID?

    public init(endpoint: EndpointID? = nil, cluster: ClusterID? = nil, command: CommandID? = nil) {
        (self.endpoint, self.cluster, self.command) = (endpoint, cluster, command)
    }
    public init(_ path: CommandPath) { self.init(endpoint: path.endpoint, cluster: path.cluster, command: path.command) }

    /// The path when it is complete.
    public var concrete: CommandPath? {
        guard let endpoint, let cluster, let command else { return nil }
        return CommandPath(endpoint, cluster, command)
    }

    func write(_ tag: TLVTag, to writer: inout TLVWriter) {
        writer.openList(tag)
        if let endpoint { writer.unsigned(0, endpoint.unsigned) }
        if let cluster { writer.unsigned(1, cluster.unsigned) }
        if let command { writer.unsigned(2, command.unsigned) }
        writer.close()
    }
}

extension Status {
    /// Reads a StatusIB (Matter Core, 10.6.17).
    init(_ reader: inout TLVReader, _ token: TLVToken) throws(TLVError) {
        try reader.expectStructure(token, "a status")
        self.init(.failure)
        var code: StatusCode?
        while let member = try reader.nextMember() {
            switch member.contextTag {
            case 0: code = StatusCode(rawValue: try member.number("status"))
            case 1: clusterStatus = try member.number("cluster status")
            default: try reader.skip(member)
            }
        }
        self.code = try code.required("the status", at: token.offset)
    }

    func write(_ tag: TLVTag, to writer: inout TLVWriter) {
        writer.openStructure(tag)
        writer.unsigned(0, UInt64(code.rawValue))
        if let clusterStatus { writer.unsigned(1, UInt64(clusterStatus)) }
        writer.close()
    }
}
