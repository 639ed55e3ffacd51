import MatterMessage
import MatterModel
import MatterTLV

/// Something that a report will hold. What is rare or large is kept elsewhere: a report on a large node has 20,000 attributes.
enum ReportItem {
    case attribute(AttributePath)
    indirect case attributeStatus(WireAttributePath, Status)
    indirect case event(EventRecord)
    indirect case eventStatus(EventPathPattern, Status)
}

/// Turns paths with wildcards into what exists and may be read (Matter Core, 8.4.3.2 and 8.9.2.4).
struct PathExpansion {
    let node: any NodeServer
    let context: InteractionContext

    /// The items in the order of the request, or the status that refuses it whole.
    func expand(_ selection: ReadSelection) -> Result<[ReportItem], Status> {
        var items: [ReportItem] = []
        let filters = selection.dataVersionFilters.isEmpty ? [:] : Self.versions(selection.dataVersionFilters)
        // A wildcard that stands there many times must not multiply the report.
        var wildcards: Set<WireAttributePath> = []
        for path in selection.attributes {
            if let status = refusal(of: path) { return .failure(status) }
            if let concrete = path.pattern.concrete {
                if let status = check(concrete) {
                    items.append(.attributeStatus(path, status))
                } else if !isKnown(concrete.endpoint, concrete.cluster, filters) {
                    items.append(.attribute(concrete))
                }
            } else if wildcards.insert(path).inserted {
                forEach(path) { concrete in
                    items.append(.attribute(concrete))
                    return true
                } skip: { endpoint, cluster in
                    isKnown(endpoint, cluster, filters)
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
                forEach(path) { _ in
                    found = true
                    return false
                } skip: { _, _ in
                    false
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
                            && (pattern.event.map { cluster.event($0) != nil } ?? true)
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
        // A fabric-sensitive event is its fabric's alone, whether or not the reader asks for filtered data (Matter Core, 7.14.2).
        if let fabric = record.fabricIndex, fabric.rawValue != context.peer.fabricIndex { return false }
        let endpoint = node.endpoint(record.path.endpoint)
        let privilege = endpoint?.cluster(record.path.cluster)?.event(record.path.event)?.readPrivilege ?? .view
        return allows(privilege, on: record.path.cluster, at: endpoint, record.path.endpoint)
    }

    /// Nil when the attribute exists and may be read.
    ///
    /// Whoever may not even view the cluster is told so and not what exists (what CHIP does; Matter Core, 8.4.3.2): access control
    /// is asked before existence, with the attribute's own privilege when there is one.
    func check(_ path: AttributePath) -> Status? {
        let endpoint = node.endpoint(path.endpoint)
        let cluster = endpoint?.cluster(path.cluster)
        let attribute = cluster?.attribute(path.attribute)
        guard allows(attribute?.readPrivilege ?? .view, on: path.cluster, at: endpoint, path.endpoint) else {
            return Status(.unsupportedAccess)
        }
        guard endpoint != nil else { return Status(.unsupportedEndpoint) }
        guard cluster != nil else { return Status(.unsupportedCluster) }
        guard let attribute else { return Status(.unsupportedAttribute) }
        return attribute.readPrivilege == nil ? Status(.unsupportedRead) : nil
    }

    /// Access to an endpoint that may not exist, or no longer: access control entries without targets then still speak.
    private func allows(_ privilege: Privilege, on cluster: ClusterID, at endpoint: EndpointServer?, _ id: EndpointID) -> Bool {
        let endpoint = endpoint ?? EndpointServer(id: id, deviceTypes: [], clusters: [])
        return node.allows(privilege, on: cluster, at: endpoint, for: context.peer)
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

    private func isKnown(_ endpoint: EndpointID, _ cluster: ClusterID, _ filters: [ClusterKey: DataVersion?]) -> Bool {
        guard !filters.isEmpty, let version = filters[ClusterKey(endpoint, cluster)] ?? nil else { return false }
        return node.endpoint(endpoint)?.cluster(cluster)?.dataVersion == version
    }

    /// The version that a reader has of each cluster; none when it claims two.
    private static func versions(_ filters: [DataVersionFilter]) -> [ClusterKey: DataVersion?] {
        Dictionary(filters.map { (ClusterKey($0.endpoint, $0.cluster), $0.version) }) { $0 == $1 ? $0 : nil }
    }

    /// Calls `body` with every attribute that exists, matches and may be read, until it gives false.
    private func forEach(_ path: WireAttributePath, _ body: (AttributePath) -> Bool, skip: (EndpointID, ClusterID) -> Bool) {
        let pattern = path.pattern
        for endpoint in node.endpoints where pattern.endpoint ?? endpoint.id == endpoint.id {
            for cluster in endpoint.clusters {
                let id = cluster.definition.id
                if let wanted = pattern.cluster, wanted != id { continue }
                if skip(endpoint.id, id) { continue }
                // One question for the whole cluster answers for nearly all attributes.
                let mayView = node.allows(.view, on: id, at: endpoint, for: context.peer)
                for attributeID in pattern.attribute.map({ [$0] }) ?? cluster.attributeIDs {
                    guard let attribute = cluster.attribute(attributeID), let privilege = attribute.readPrivilege else {
                        continue
                    }
                    let concrete = AttributePath(endpoint.id, id, attributeID)
                    if path.wildcardFlags.leaveOut(concrete, attribute, of: pattern) { continue }
                    guard privilege <= .view ? mayView : node.allows(privilege, on: id, at: endpoint, for: context.peer) else {
                        continue
                    }
                    if !body(concrete) { return }
                }
            }
        }
    }
}

extension AttributePathPattern {
    /// Whether the path is one of those that the pattern stands for.
    public func matches(_ path: AttributePath) -> Bool {
        endpoint ?? path.endpoint == path.endpoint && cluster ?? path.cluster == path.cluster
            && attribute ?? path.attribute == path.attribute
    }
}

extension EventPathPattern {
    /// Whether the path is one of those that the pattern stands for.
    public func matches(_ path: EventPath) -> Bool {
        endpoint ?? path.endpoint == path.endpoint && cluster ?? path.cluster == path.cluster && event ?? path.event == path.event
    }
}
