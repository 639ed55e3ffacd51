import MatterCredentials
import MatterInteraction
import MatterModel
import MatterTLV

extension DeviceNode {
    /// Makes endpoint 0 with every cluster that a Root Node has to have (Matter Device Library, 2.1), and turns access control on.
    ///
    /// Call it once, before `start`. With the store of an earlier run the node is in the fabrics that it was in then.
    /// - Parameters:
    ///   - attestation: what the device proves its origin with; without it a commissioner cannot pair it.
    ///   - configurations: features, first values and parameters of single clusters, over those from `identity`. A cluster that is not
    ///     required is there because it stands here.
    ///   - additional: clusters beyond the required ones, such as Time Synchronization or a Power Source.
    public func addRootEndpoint(
        identity: DeviceIdentity, attestation: DeviceAttestation?, configurations: [ClusterID: ClusterConfiguration] = [:],
        additional: [ClusterID] = []
    ) {
        commissioning.identity = identity
        commissioning.attestation = attestation
        accessControl = commissioning.access
        let root = EndpointServer(id: 0, deviceTypes: [(DataModel.rootNode, 3)], clusters: [])
        let required = Self.rootClusters + additional
        for id in required + configurations.keys.filter({ !required.contains($0) }).sorted() {
            let base = id == BasicInformation.id ? BasicInformationCluster.configuration(of: identity) : Self.rootConfiguration(id)
            let configuration = Self.merged(base, configurations[id])
            if let cluster = ClusterFactory.make(id, endpoint: 0, node: self, configuration: configuration) { root.add(cluster) }
        }
        add(root)
    }

    /// Ethernet, no locale of its own: the conditions that this node declares.
    static let rootClusters: [ClusterID] = [
        Descriptor.id, AccessControl.id, BasicInformation.id, GeneralCommissioning.id, NetworkCommissioning.id,
        GeneralDiagnostics.id,
        AdministratorCommissioning.id, OperationalCredentials.id, GroupKeyManagement.id,
    ]

    /// A cluster of endpoint 0 as `addRootEndpoint` configures it, without what comes from the identity.
    public static func rootConfiguration(_ id: ClusterID, _ over: ClusterConfiguration? = nil) -> ClusterConfiguration {
        merged(rootFeatures(id), over)
    }

    private static func rootFeatures(_ id: ClusterID) -> ClusterConfiguration {
        switch id {
        case AccessControl.id: ClusterConfiguration(features: AccessControl.Feature.extension.rawValue)
        case AdministratorCommissioning.id: ClusterConfiguration(features: AdministratorCommissioning.Feature.basic.rawValue)
        case NetworkCommissioning.id:
            ClusterConfiguration(features: NetworkCommissioning.Feature.ethernetNetworkInterface.rawValue)
        default: ClusterConfiguration()
        }
    }

    private static func merged(_ base: ClusterConfiguration, _ over: ClusterConfiguration?) -> ClusterConfiguration {
        guard let over else { return base }
        var merged = base
        if over.features != 0 { merged.features = over.features }
        merged.attributes.merge(over.attributes) { _, new in new }
        merged.optionalAttributes.formUnion(over.optionalAttributes)
        merged.optionalCommands.formUnion(over.optionalCommands)
        merged.parameters.merge(over.parameters) { _, new in new }
        return merged
    }

    /// Makes the memory of a node that does not run as it left its maker: no fabrics, no labels, no state. As in any new
    /// device the first fabric has index 1 and the first event number 1: who could compare them with earlier ones is in no fabric any more. The
    /// generations of credentials go on.
    /// - Parameter others: keys that are not the node's own.
    public static func factoryReset(_ store: any DeviceStore, sparing others: Set<String> = []) {
        for key in store.keys(withPrefix: "") where !survivesReset.contains(key) && !others.contains(key) { store.remove(key) }
    }

    private static let survivesReset: Set<String> = ["fabrics/last-generation"]
}

extension DataModel {
    static let rootNode: DeviceTypeID = 0x0016
}
