/// What an endpoint of a kind must and may have (Matter Device Library).
public struct DeviceTypeDefinition: Sendable {
    /// What the device type is for: an endpoint's application, a utility beside one, or the node as a whole.
    public enum Classification: Sendable { case simple, dynamic, utility, node }

    public var id: DeviceTypeID
    /// In one word, such as `OnOffLight`.
    public var name: String
    /// As people read it, such as `On/Off Light`.
    public var title: String
    public var classification: Classification
    public var revision: UInt16
    /// The device type whose every requirement this one also meets.
    public var superset: String?
    /// Servers in the order of ids, then clients; what comes from `superset` and from every device type's base is included.
    public var clusters: [ClusterRequirement]

    public init(
        _ id: DeviceTypeID, _ name: String, title: String, _ classification: Classification, revision: UInt16,
        superset: String? = nil, clusters: [ClusterRequirement]
    ) {
        (self.id, self.name, self.title, self.classification) = (id, name, title, classification)
        (self.revision, self.superset, self.clusters) = (revision, superset, clusters)
    }

    /// The requirement on a server of the cluster; nil when the device type does not mention it.
    public func server(_ cluster: ClusterID) -> ClusterRequirement? { clusters.first { $0.side == .server && $0.id == cluster } }
    /// The requirement on a client of the cluster.
    public func client(_ cluster: ClusterID) -> ClusterRequirement? { clusters.first { $0.side == .client && $0.id == cluster } }
}

/// What a device type says of a cluster.
public struct ClusterRequirement: Sendable {
    /// Whether the endpoint has the cluster, or uses another's.
    public enum Side: Sendable { case server, client }

    public var id: ClusterID
    public var name: String
    public var side: Side
    /// May name the conditions of the Device Library, such as `Simple`, `Duplicate` or `Ethernet`.
    public var conformance: Conformance
    /// Such as `singleton`: at most one endpoint of a node has the cluster.
    public var quality: Quality
    /// What it says of the cluster's elements, over what the cluster itself says.
    public var elements: [ElementRequirement]

    public init(
        _ id: ClusterID, _ name: String, _ side: Side, conformance: Conformance, quality: Quality = [], elements: [ElementRequirement] = []
    ) {
        (self.id, self.name, self.side, self.conformance) = (id, name, side, conformance)
        (self.quality, self.elements) = (quality, elements)
    }

    /// Nil when the device type leaves the element to the cluster.
    public func element(_ kind: ElementRequirement.Kind, _ name: String) -> ElementRequirement? {
        elements.first { $0.kind == kind && $0.name == name }
    }
}

/// What a device type says of one element of a cluster.
public struct ElementRequirement: Sendable {
    /// What sort of element the requirement is about.
    public enum Kind: Sendable { case feature, attribute, command, event }

    public var kind: Kind
    /// A feature's code, or the element's name.
    public var name: String
    public var conformance: Conformance?
    /// In place of the cluster's, such as `1` for the MinLevel of a light.
    public var constraint: Constraint?
    /// In place of the cluster's, such as `R V`.
    public var access: String?

    public init(
        _ kind: Kind, _ name: String, conformance: Conformance? = nil, constraint: Constraint? = nil, access: String? = nil
    ) {
        (self.kind, self.name, self.conformance, self.constraint, self.access) = (kind, name, conformance, constraint, access)
    }
}
