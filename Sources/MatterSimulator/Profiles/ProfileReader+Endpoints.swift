import MatterDevice
import MatterModel
import MatterTLV

extension ProfileReader {
    /// An item of the list of endpoints.
    private struct ReadEndpoint {
        var place: (node: YAMLNode, path: String)
        var parent: (node: YAMLNode, path: String)?
        var clusters: [ClusterID: ReadCluster] = [:]
        /// Several when it repeats.
        var endpoints: [DeviceProfile.Endpoint]
    }

    static func endpoints(
        _ found: (node: YAMLNode, path: String), _ trial: ProfileTrial, _ context: ProfileContext
    ) -> [DeviceProfile.Endpoint] {
        guard let items = context.sequence(found.node, found.path) else { return [] }
        if items.isEmpty { context.report(found.node, found.path, "a device needs at least one endpoint") }
        let read = items.compactMap { endpoint($0.node, $0.path, trial, context) }
        var parents: [EndpointID: EndpointID?] = [:]
        for item in read {
            let twice = item.endpoints.first { parents[$0.id] != nil }
            if let twice { context.report(item.place.node, item.place.path, "endpoint \(twice.id) stands twice") }
            for endpoint in item.endpoints { parents[endpoint.id] = .some(endpoint.parent) }
        }
        // An endpoint that could not be read may be the one that is missed.
        if read.count == items.count {
            let before = precedingInCircles(parents)
            for item in read {
                checkParent(item, parents, before, context)
                for cluster in item.clusters.values { checkSource(cluster, parents, context) }
            }
        }
        return read.flatMap(\.endpoints)
    }

    /// An endpoint belongs to another one, and that in the end to the root.
    private static func checkParent(
        _ item: ReadEndpoint, _ parents: [EndpointID: EndpointID?], _ before: [EndpointID: EndpointID], _ context: ProfileContext
    ) {
        guard let place = item.parent, let endpoint = item.endpoints.first, let parent = endpoint.parent else { return }
        guard parents[parent] != nil else {
            return context.report(
                place.node, place.path, "endpoint \(endpoint.id) belongs to endpoint \(parent), which is not there")
        }
        // All endpoints of the item have that parent: the circle goes through the item when one of them comes before the parent there.
        if let previous = before[parent], item.endpoints.contains(where: { $0.id == previous }) {
            context.report(
                place.node, place.path, "endpoint \(endpoint.id) would belong to itself: one that does not belong to it is expected")
        }
    }

    /// For each endpoint of a circle of parents the one before it there. Each endpoint is walked over once.
    private static func precedingInCircles(_ parents: [EndpointID: EndpointID?]) -> [EndpointID: EndpointID] {
        var walks: [EndpointID: EndpointID] = [:]
        var before: [EndpointID: EndpointID] = [:]
        for start in parents.keys.sorted() {
            var next: EndpointID? = start
            while let current = next, walks[current] == nil {
                walks[current] = start
                next = parents[current] ?? nil
            }
            guard let first = next, walks[first] == start else { continue }
            // Back on this walk: round once.
            var current = first
            repeat {
                guard let parent = parents[current] ?? nil else { break }
                before[parent] = current
                current = parent
            } while current != first
        }
        return before
    }

    /// A meter's appliance is switched at an endpoint that is there.
    private static func checkSource(_ cluster: ReadCluster, _ parents: [EndpointID: EndpointID?], _ context: ProfileContext) {
        guard let place = cluster.parameters["source"], let number = cluster.configuration.parameters["source"]?.unsigned,
            let source = EndpointID(exactly: number), source != 0, parents[source] == nil
        else { return }
        context.report(place.node, place.path, "there is no endpoint \(source) whose On/Off could switch the appliance")
    }

    /// An endpoint, or with `repeat` several that are alike, numbered from its id on. Nil when it is not known which.
    private static func endpoint(
        _ node: YAMLNode, _ path: String, _ trial: ProfileTrial, _ context: ProfileContext
    ) -> ReadEndpoint? {
        guard let mapping = context.mapping(node, path) else { return nil }
        let identified = mapping.take("id")
        let number: UInt16? = identified == nil ? 1 : context.number(identified, in: 1...0xFFFE, "an endpoint")
        let parent = mapping.take("parent")
        var endpoint = DeviceProfile.Endpoint(EndpointID(number ?? 1), deviceTypes: [])
        endpoint.parent = context.number(parent, in: UInt16(1)...0xFFFE, "an endpoint").map { EndpointID($0) }
        let before = context.mistakes
        endpoint.deviceTypes = deviceTypes(mapping, context)
        let knowsTypes = context.mistakes == before && !endpoint.deviceTypes.isEmpty
        var read: [ClusterID: ReadCluster] = [:]
        if let found = mapping.take("clusters") {
            read = clusters(found.node, found.path, context)
            endpoint.clusters = read.mapValues(\.configuration)
            trial.examine(endpoint, read, knowsTypes: knowsTypes)
        }
        if let found = mapping.take("labels") { labels(found, &endpoint, context) }
        let repeated = mapping.take("repeat")
        let count: UInt16 = context.number(repeated, in: 1...1000, "a number of endpoints") ?? 1
        mapping.finish()
        guard let number else { return nil }
        let room = 0xFFFF - number
        if let repeated, count > room {
            context.report(
                repeated.node, repeated.path,
                "endpoints are numbered up to 65534: at most \(room) from \(number) on are expected, not \(count)")
        }
        let endpoints = (0..<min(count, room)).map { offset in
            DeviceProfile.Endpoint(
                EndpointID(number + offset), deviceTypes: endpoint.deviceTypes, clusters: endpoint.clusters, parent: endpoint.parent)
        }
        return ReadEndpoint(place: (node, path), parent: parent, clusters: read, endpoints: endpoints)
    }

    private static func deviceTypes(_ mapping: ProfileContext.Mapping, _ context: ProfileContext) -> [DeviceTypeID] {
        guard let found = mapping.take("deviceTypes") else {
            mapping.missing("deviceTypes", message: "'deviceTypes' is missing: a list such as [OnOffLight] is expected")
            return []
        }
        guard let items = context.sequence(found.node, found.path) else { return [] }
        if items.isEmpty {
            context.report(found.node, found.path, "an endpoint needs at least one device type: [OnOffLight] is such a list")
        }
        var types: [DeviceTypeID] = []
        for item in items {
            guard let type = deviceType(item.node, item.path, context) else { continue }
            if types.contains(type) {
                context.report(item.node, item.path, "the device type \(DataModel.deviceType(id: type)?.name ?? "\(type)") stands twice")
            }
            types.append(type)
        }
        return types
    }

    /// Labels that the maker has put on: the list of Fixed Label (Matter Core, 9.8).
    private static func labels(
        _ found: (node: YAMLNode, path: String), _ endpoint: inout DeviceProfile.Endpoint, _ context: ProfileContext
    ) {
        guard let mapping = context.mapping(found.node, found.path) else { return }
        var list: [TLVValue] = []
        for member in mapping.takeAll() {
            guard let value = context.text((member.node, member.path), maximumBytes: 16) else { continue }
            if member.key.utf8.count > 16 { context.report(member.keyNode, found.path, "'\(member.key)' has more than 16 bytes") }
            list.append(.structure([TLVElement(0, .utf8(member.key)), TLVElement(1, .utf8(value))]))
        }
        endpoint.clusters[FixedLabel.id, default: ClusterConfiguration()].attributes[FixedLabel.Attributes.labelList] = .array(list)
    }

    /// By name and by title, as names are compared.
    private static let deviceTypesByName: [String: DeviceTypeID] = DataModel.deviceTypes.reduce(into: [:]) { names, type in
        for name in [type.name, type.title].map({ DataModel.normalizedName($0) }) where names[name] == nil { names[name] = type.id }
    }

    private static func deviceType(_ node: YAMLNode, _ path: String, _ context: ProfileContext) -> DeviceTypeID? {
        guard let text = context.text((node, path)) else { return nil }
        if let type = deviceTypesByName[DataModel.normalizedName(text)] { return type }
        let number = text.hasPrefix("0x") ? UInt32(text.dropFirst(2), radix: 16) : UInt32(text)
        if let number, let type = DataModel.deviceType(id: DeviceTypeID(number)) { return type.id }
        context.report(
            node, path, "there is no device type '\(text)'\(DataModel.didYouMean(text, among: DataModel.deviceTypes.map(\.name)))")
        return nil
    }
}
