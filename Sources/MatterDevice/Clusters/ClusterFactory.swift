import MatterModel

/// Makes the server of a cluster by its id. Each family of clusters lists its own in a file beside it.
public enum ClusterFactory {
    typealias Maker = @Sendable (EndpointID, DeviceNode, ClusterConfiguration) -> Cluster

    private static let makers: [ClusterID: Maker] = [:]
        .merging(utilityMakers) { first, _ in first }
        .merging(lightingMakers) { first, _ in first }
        .merging(closureMakers) { first, _ in first }
        .merging(climateMakers) { first, _ in first }

    /// The behaviour that is known for the cluster, else one that only keeps its attributes. Nil when the data model does not know the
    /// id at all.
    public static func make(
        _ id: ClusterID, endpoint: EndpointID, node: DeviceNode, configuration: ClusterConfiguration = .init()
    ) -> Cluster? {
        if let maker = makers[id] { return maker(endpoint, node, configuration) }
        guard let definition = DataModel.cluster(id: id) else { return nil }
        return Cluster(definition, endpoint: endpoint, node: node, configuration: configuration)
    }

    /// Whether the cluster has behaviour of its own here.
    public static func hasBehaviour(_ id: ClusterID) -> Bool { makers[id] != nil }
}
