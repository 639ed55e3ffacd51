import MatterModel

/// A device within a fabric, as it stands in DNS-SD (Matter Core, 4.3.2).
public struct OperationalService: Hashable, Sendable {
    /// The compressed fabric id (Matter Core, 4.3.2.2).
    public var compressedFabric: UInt64
    public var node: NodeID
    /// SII, SAI, SAT, T.
    public var session: SessionParameters

    public init(compressedFabric: UInt64, node: NodeID, session: SessionParameters = SessionParameters()) {
        self.compressedFabric = compressedFabric
        self.node = node
        self.session = session
    }

    /// `<compressed fabric>-<node>`, 16 upper-case hexadecimal digits each (Matter Core, 4.3.2.1).
    public var instance: String { HexField.format(compressedFabric) + "-" + HexField.format(node.rawValue) }
    public var name: ServiceName { ServiceName(instance, .operational) }
    /// `_I<compressed fabric>`: all nodes of the fabric (Matter Core, 4.3.2.3).
    public var subtypes: [String] { [Self.subtype(compressedFabric: compressedFabric)] }
    /// Nodes of one fabric, by its compressed id: 16 capital hexadecimal digits.
    public static func subtype(compressedFabric: UInt64) -> String { "_I" + HexField.format(compressedFabric) }

    /// The record to advertise.
    public func record(port: UInt16, host: ServiceHost? = nil) -> ServiceRecord {
        ServiceRecord(name: name, subtypes: subtypes, host: host, port: port, text: TextRecord(session.pairs))
    }

    /// - Throws: `DiscoveryError.invalidField` when the instance name is not one of an operational node.
    public init(instance: String, text: TextRecord = TextRecord()) throws(DiscoveryError) {
        let parts = instance.split(separator: "-", omittingEmptySubsequences: false)
        guard parts.count == 2, let fabric = HexField.parse(parts[0]), let node = HexField.parse(parts[1]) else {
            throw DiscoveryError(.invalidField, "'\(instance)' is not <compressed fabric id>-<node id>")
        }
        self.init(compressedFabric: fabric, node: NodeID(node), session: SessionParameters(text: text))
    }
}
