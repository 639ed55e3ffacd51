import MatterMessage
import MatterModel
import MatterTLV

/// Something that a report will hold.
enum ReportItem {
    case attribute(AttributePath)
    case attributeStatus(WireAttributePath, Status)
    case event(EventRecord)
    case eventStatus(EventPathPattern, Status)
}

/// Turns paths with wildcards into what exists and may be read (Matter Core, 8.4.3.2 and 8.9.2.4).
struct PathExpansion {
    let node: any NodeServer
    let context: InteractionContext

    /// The items in the order of the request, or the status that refuses it whole.
    func expand(_ selection: ReadSelection) -> Result<[ReportItem], Status> {
        var items: [ReportItem] = []
        let filters = Dictionary(
            selection.dataVersionFilters.map { (ClusterKey($0.endpoint, $0.cluster), $0.version) },
            uniquingKeysWith: { first, _ in first })
        for path in selection.attributes {
            if let status = refusal(of: path) { return .failure(status) }
            if let concrete = path.pattern.concrete {
                if let status = check(concrete) {
                    items.append(.attributeStatus(path, status))
                } else if !isKnown(concrete.endpoint, concrete.cluster, filters) {
                    items.append(.attribute(concrete))
                }
            } else {
                forEach(path.pattern) {
                    items.append(.attribute($0))
                } skip: {
                    isKnown($0, $1, filters)
                }
            }
        }
        for path in selection.events {
            if path.cluster == nil, path.event != nil { return .failure(Status(.invalidAction)) }
            if let concrete = path.concrete, let status = check(concrete) { items.append(.eventStatus(path, status)) }
        }
        items += events(selection.events, from: selection.eventMinimum ?? 0)
        return .success(items)
    }

    /// Whether at least one path leads to something that exists: otherwise a subscription makes no sense.
    func hasValidPath(_ selection: ReadSelection) -> Bool {
        for path in selection.attributes {
            if let concrete = path.pattern.concrete {
                if check(concrete) == nil { return true }
            } else {
                var found = false
                forEach(path.pattern) { _ in
                    found = true
                } skip: { _, _ in
                    found
                }
                if found { return true }
            }
        }
        return selection.events.contains { pattern in
            if let concrete = pattern.concrete { return check(concrete) == nil }
            return node.endpoints.contains { endpoint in
                pattern.endpoint ?? endpoint.id == endpoint.id
                    && endpoint.clusters.contains { cluster in
                        pattern.cluster ?? cluster.definition.id == cluster.definition.id
                            && node.allows(.view, on: cluster.definition.id, at: endpoint, for: context.peer)
                    }
            }
        }
    }

    /// Recorded events that a reader of `patterns` may see, in the order of their numbers.
    func events(_ patterns: [EventPathPattern], from minimum: EventNumber) -> [ReportItem] {
        guard !patterns.isEmpty else { return [] }
        return node.events.records.compactMap { record in
            guard record.number >= minimum, patterns.contains(where: { $0.matches(record.path) }), isVisible(record) else {
                return nil
            }
            return .event(record)
        }
    }

    func isVisible(_ record: EventRecord) -> Bool {
        if let fabric = record.fabricIndex, fabric.rawValue != context.peer.fabricIndex { return false }
        guard let endpoint = node.endpoint(record.path.endpoint), let cluster = endpoint.cluster(record.path.cluster) else {
            return true
        }
        let privilege = cluster.event(record.path.event)?.readPrivilege ?? .view
        return node.allows(privilege, on: record.path.cluster, at: endpoint, for: context.peer)
    }

    /// Nil when the attribute exists and may be read.
    func check(_ path: AttributePath) -> Status? {
        guard let endpoint = node.endpoint(path.endpoint) else { return Status(.unsupportedEndpoint) }
        guard let cluster = endpoint.cluster(path.cluster) else { return Status(.unsupportedCluster) }
        guard let attribute = cluster.attribute(path.attribute) else { return Status(.unsupportedAttribute) }
        guard let privilege = attribute.readPrivilege else { return Status(.unsupportedRead) }
        guard node.allows(privilege, on: path.cluster, at: endpoint, for: context.peer) else { return Status(.unsupportedAccess) }
        return nil
    }

    private func check(_ path: EventPath) -> Status? {
        guard let endpoint = node.endpoint(path.endpoint) else { return Status(.unsupportedEndpoint) }
        guard let cluster = endpoint.cluster(path.cluster) else { return Status(.unsupportedCluster) }
        guard let event = cluster.event(path.event) else { return Status(.unsupportedEvent) }
        guard node.allows(event.readPrivilege, on: path.cluster, at: endpoint, for: context.peer) else {
            return Status(.unsupportedAccess)
        }
        return nil
    }

    /// A path that no message may hold: an attribute of every cluster must be a global one.
    private func refusal(of path: WireAttributePath) -> Status? {
        if path.pattern.cluster == nil, let attribute = path.pattern.attribute, attribute.rawValue < 0xF000 {
            return Status(.invalidAction)
        }
        if case .whole = path.listIndex { return nil }
        return Status(.invalidAction)
    }

    private struct ClusterKey: Hashable {
        let endpoint: EndpointID
        let cluster: ClusterID
        init(_ endpoint: EndpointID, _ cluster: ClusterID) { (self.endpoint, self.cluster) = (endpoint, cluster) }
    }

    private func isKnown(_ endpoint: EndpointID, _ cluster: ClusterID, _ filters: [ClusterKey: DataVersion]) -> Bool {
        guard !filters.isEmpty, let version = filters[ClusterKey(endpoint, cluster)] else { return false }
        return node.endpoint(endpoint)?.cluster(cluster)?.dataVersion == version
    }

    private func forEach(
        _ pattern: AttributePathPattern, _ body: (AttributePath) -> Void, skip: (EndpointID, ClusterID) -> Bool
    ) {
        for endpoint in node.endpoints where pattern.endpoint ?? endpoint.id == endpoint.id {
            for cluster in endpoint.clusters {
                let id = cluster.definition.id
                if let wanted = pattern.cluster, wanted != id { continue }
                if skip(endpoint.id, id) { continue }
                if let attribute = pattern.attribute {
                    let path = AttributePath(endpoint.id, id, attribute)
                    if check(path) == nil { body(path) }
                    continue
                }
                // One question for the whole cluster answers for nearly all attributes.
                let mayView = node.allows(.view, on: id, at: endpoint, for: context.peer)
                for attributeID in cluster.attributeIDs {
                    guard let attribute = cluster.attribute(attributeID), let privilege = attribute.readPrivilege else {
                        continue
                    }
                    let isAllowed = privilege <= .view ? mayView : node.allows(privilege, on: id, at: endpoint, for: context.peer)
                    if isAllowed { body(AttributePath(endpoint.id, id, attributeID)) }
                }
            }
        }
    }
}

extension AttributePathPattern {
    public func matches(_ path: AttributePath) -> Bool {
        endpoint ?? path.endpoint == path.endpoint && cluster ?? path.cluster == path.cluster
            && attribute ?? path.attribute == path.attribute
    }
}

extension EventPathPattern {
    public func matches(_ path: EventPath) -> Bool {
        endpoint ?? path.endpoint == path.endpoint && cluster ?? path.cluster == path.cluster && event ?? path.event == path.event
    }
}
