import MatterDevice
import MatterInteraction
import MatterModel

/// Makes an endpoint of a profile: the clusters that its device types demand, with what the profile says of them.
enum EndpointBuilder {
    /// - Parameter parts: the endpoints that belong to this one.
    static func build(_ endpoint: DeviceProfile.Endpoint, parts: [EndpointID] = [], on node: DeviceNode) -> EndpointServer {
        let types = endpoint.deviceTypes.compactMap { DataModel.deviceType(id: $0) }
        let server = EndpointServer(
            id: endpoint.id,
            deviceTypes: endpoint.deviceTypes.map { id in (type: id, revision: DataModel.deviceType(id: id)?.revision ?? 1) }, clusters: [])
        var wanted = Set(endpoint.clusters.keys).union([Descriptor.id])
        for type in types {
            for requirement in type.clusters where requirement.side == .server && isMandatory(requirement, types) {
                wanted.insert(requirement.id)
            }
        }
        for id in wanted.sorted() {
            var configuration = configuration(of: id, types, endpoint.clusters[id])
            if id == Descriptor.id { describe(&configuration, types, parts) }
            if id == BridgedDeviceBasicInformation.id { introduce(&configuration, "\(node.environment.name)-\(endpoint.id)") }
            if let cluster = ClusterFactory.make(id, endpoint: endpoint.id, node: node, configuration: configuration) {
                server.add(cluster)
            }
        }
        return server
    }

    /// What the Descriptor cannot know by itself: the parts, and what the endpoint is a client of.
    private static func describe(_ configuration: inout ClusterConfiguration, _ types: [DeviceTypeDefinition], _ parts: [EndpointID]) {
        if !parts.isEmpty { configuration.parameters["parts"] = .array(parts.map { .unsigned($0.unsigned) }) }
        var clients: Set<ClusterID> = []
        for requirement in types.flatMap(\.clusters) where requirement.side == .client && isMandatory(requirement, types) {
            clients.insert(requirement.id)
        }
        if !clients.isEmpty { configuration.parameters["clients"] = .array(clients.sorted().map { .unsigned($0.unsigned) }) }
    }

    /// A bridged device is reachable and has an id of its own, unless the profile says otherwise.
    private static func introduce(_ configuration: inout ClusterConfiguration, _ uniqueID: String) {
        typealias Attributes = BridgedDeviceBasicInformation.Attributes
        if configuration.attributes[Attributes.uniqueID] == nil {
            // The end of a long name is what tells two of them apart.
            configuration.attributes[Attributes.uniqueID] = .utf8(String(uniqueID.suffix(32)))
        }
        if configuration.attributes[Attributes.reachable] == nil { configuration.attributes[Attributes.reachable] = .boolean(true) }
    }

    private static func isMandatory(_ requirement: ClusterRequirement, _ types: [DeviceTypeDefinition]) -> Bool {
        requirement.conformance.evaluate(isTrue: { conditions($0, types) }) == .mandatory
    }

    /// Whatever else the endpoint is: no client depends on the conditions of others.
    private static func isMandatoryClient(_ requirement: ClusterRequirement) -> Bool {
        requirement.side == .client && requirement.conformance.evaluate(isTrue: { $0 == "Matter" }) == .mandatory
    }

    /// The conditions of the Device Library that a simulated endpoint declares.
    private static func conditions(_ name: String, _ types: [DeviceTypeDefinition]) -> Bool? {
        switch name {
        case "Matter": true
        case "Simple": types.contains { $0.classification == .simple }
        // What an application talks to: the Base device type then wants Binding (Device Library, 1.1.6 and 1.1.7).
        case "Client": types.contains { $0.classification == .simple && $0.clusters.contains(where: isMandatoryClient) }
        case "Node": types.contains { $0.classification == .node }
        default: false
        }
    }

    /// What the device types demand of a cluster, and over it what the profile says.
    private static func configuration(
        of id: ClusterID, _ types: [DeviceTypeDefinition], _ said: ClusterConfiguration?
    ) -> ClusterConfiguration {
        var configuration = said ?? ClusterConfiguration()
        guard let cluster = DataModel.cluster(id: id) else { return configuration }
        for requirement in types.compactMap({ $0.server(id) }) {
            for element in requirement.elements {
                let isDemanded = element.conformance?.evaluate(features: configuration.features, of: cluster) == .mandatory
                switch element.kind {
                case .feature:
                    guard isDemanded, let feature = cluster.features.first(where: { $0.code == element.name || $0.name == element.name })
                    else { continue }
                    configuration.features |= 1 << UInt32(feature.bit)
                case .attribute:
                    guard isDemanded, let attribute = cluster.attribute(named: element.name) else { continue }
                    configuration.optionalAttributes.insert(attribute.id)
                case .command:
                    guard isDemanded, let command = cluster.command(named: element.name) else { continue }
                    configuration.optionalCommands.insert(command.id)
                case .event: continue
                }
            }
        }
        return configuration
    }
}
