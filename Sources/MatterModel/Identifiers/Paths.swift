/// One attribute, or one entry of a list attribute (Matter Core, 8.9.2).
public struct AttributePath: Hashable, Sendable, Comparable {
    public var endpoint: EndpointID
    public var cluster: ClusterID
    public var attribute: AttributeID

    public init(_ endpoint: EndpointID, _ cluster: ClusterID, _ attribute: AttributeID) {
        (self.endpoint, self.cluster, self.attribute) = (endpoint, cluster, attribute)
    }

    public static func < (left: Self, right: Self) -> Bool {
        (left.endpoint, left.cluster, left.attribute) < (right.endpoint, right.cluster, right.attribute)
    }
}

/// One command of one cluster instance.
public struct CommandPath: Hashable, Sendable {
    public var endpoint: EndpointID
    public var cluster: ClusterID
    public var command: CommandID

    public init(_ endpoint: EndpointID, _ cluster: ClusterID, _ command: CommandID) {
        (self.endpoint, self.cluster, self.command) = (endpoint, cluster, command)
    }
}

/// One kind of event of one cluster instance.
public struct EventPath: Hashable, Sendable {
    public var endpoint: EndpointID
    public var cluster: ClusterID
    public var event: EventID

    public init(_ endpoint: EndpointID, _ cluster: ClusterID, _ event: EventID) {
        (self.endpoint, self.cluster, self.event) = (endpoint, cluster, event)
    }
}

/// An attribute path in which nil stands for every one (Matter Core, 8.9.2.3).
public struct AttributePathPattern: Hashable, Sendable {
    public var endpoint: EndpointID?
    public var cluster: ClusterID?
    public var attribute: AttributeID?

    public init(_ endpoint: EndpointID? = nil, _ cluster: ClusterID? = nil, _ attribute: AttributeID? = nil) {
        (self.endpoint, self.cluster, self.attribute) = (endpoint, cluster, attribute)
    }
    public init(_ path: AttributePath) { self.init(path.endpoint, path.cluster, path.attribute) }

    /// The path when nothing is a wildcard.
    public var concrete: AttributePath? {
        guard let endpoint, let cluster, let attribute else { return nil }
        return AttributePath(endpoint, cluster, attribute)
    }
}

/// An event path in which nil stands for every one (Matter Core, 8.9.3).
public struct EventPathPattern: Hashable, Sendable {
    public var endpoint: EndpointID?
    public var cluster: ClusterID?
    public var event: EventID?
    /// Report events under this path at once, not at the end of the subscription's interval.
    public var isUrgent: Bool

    public init(_ endpoint: EndpointID? = nil, _ cluster: ClusterID? = nil, _ event: EventID? = nil, isUrgent: Bool = false) {
        (self.endpoint, self.cluster, self.event, self.isUrgent) = (endpoint, cluster, event, isUrgent)
    }

    /// The path when nothing is a wildcard.
    public var concrete: EventPath? {
        guard let endpoint, let cluster, let event else { return nil }
        return EventPath(endpoint, cluster, event)
    }
}
