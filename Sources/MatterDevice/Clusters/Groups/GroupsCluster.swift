import MatterInteraction
import MatterModel
import MatterTLV

/// A cluster that keeps something for a group, which goes with the endpoint's membership: scenes.
public protocol GroupDependent: AnyObject {
    func left(_ group: GroupID, of fabric: FabricIndex)
}

/// Groups (Matter Application Clusters, 1.3): which groups an endpoint is in.
public final class GroupsCluster: Cluster {
    typealias Spec = Groups

    /// One group that the endpoint is in, for one fabric.
    public struct Membership: Hashable, Sendable {
        public var fabric: FabricIndex
        public var group: GroupID
        /// At most 16 bytes; empty without a name.
        public var name: String
    }

    /// In the order of fabrics and groups.
    public private(set) var memberships: [Membership] = []

    public init(endpoint: EndpointID, node: DeviceNode, configuration: ClusterConfiguration = .init()) {
        var configuration = configuration
        if configuration.features == 0 { configuration.features = Spec.Feature.groupNames.rawValue }
        super.init(Spec.definition, endpoint: endpoint, node: node, configuration: configuration)
        let entries = kept(Self.name).flatMap { try? TLVValue(decoding: $0) }?.array ?? []
        memberships = entries.compactMap { entry in
            guard let fabric = entry[0]?.unsigned.flatMap({ FabricIndex(exactly: $0) }),
                let group = entry[1]?.unsigned.flatMap({ GroupID(exactly: $0) }), let name = entry[2]?.text
            else { return nil }
            return Membership(fabric: fabric, group: group, name: name)
        }
    }

    private static let name = "memberships"

    /// Whether the endpoint is in a group: group messages and scenes ask.
    public func isMember(of group: GroupID, _ fabric: FabricIndex) -> Bool {
        memberships.contains { $0.group == group && $0.fabric == fabric }
    }

    public override func computedValue(of attribute: AttributeID, _ context: InteractionContext) -> TLVValue? {
        guard attribute == Spec.Attributes.nameSupport else { return nil }
        return (hasNames ? Spec.NameSupportBitmap.groupNames : []).tlv
    }

    private var hasNames: Bool { hasFeature(Spec.Feature.groupNames.rawValue) }

    public override func fabricRemoved(_ fabric: FabricIndex) { change { $0.removeAll { $0.fabric == fabric } } }

    private func change(_ body: (inout [Membership]) -> Void) {
        var new = memberships
        body(&new)
        guard new != memberships else { return }
        memberships = new.sorted { ($0.fabric, $0.group) < ($1.fabric, $1.group) }
        let entries = memberships.map { membership -> TLVValue in
            .structure([
                .init(.context(0), membership.fabric.tlv), .init(.context(1), membership.group.tlv),
                .init(.context(2), .utf8(membership.name)),
            ])
        }
        keep(entries.isEmpty ? nil : TLVValue.array(entries).encoded(), as: Self.name)
        node.cluster(GroupKeyManagementCluster.self, at: 0)?.groupsChanged()
    }

    // MARK: Commands

    /// What is out of bounds is told in the response, or as a status without the constraint's own words.
    public override func checksFields(of command: CommandDefinition) -> Bool { false }

    public override func handle(
        _ command: CommandDefinition, _ fields: TLVValue, _ context: InteractionContext
    ) throws(Status) -> CommandOutcome {
        let fabric = context.fabricIndex
        switch command.id {
        case Spec.Commands.addGroup:
            let request = try Spec.AddGroup(tlv: fields)
            let status = join(request.groupID, request.groupName, fabric)
            return .reply(Spec.AddGroupResponse(status: status, groupID: request.groupID))
        case Spec.Commands.viewGroup:
            return view(try Spec.ViewGroup(tlv: fields).groupID, fabric)
        case Spec.Commands.getGroupMembership:
            let wanted = try Spec.GetGroupMembership(tlv: fields).groupList
            let groups = memberships.filter { $0.fabric == fabric && (wanted.isEmpty || wanted.contains($0.group)) }.map(\.group)
            return .reply(Spec.GetGroupMembershipResponse(capacity: .null, groupList: groups))
        case Spec.Commands.removeGroup:
            let group = try Spec.RemoveGroup(tlv: fields).groupID
            return .reply(Spec.RemoveGroupResponse(status: leave(group, fabric), groupID: group))
        case Spec.Commands.removeAllGroups:
            for group in memberships.filter({ $0.fabric == fabric }).map(\.group) { _ = leave(group, fabric) }
            return .success
        case Spec.Commands.addGroupIfIdentifying:
            let request = try Spec.AddGroupIfIdentifying(tlv: fields)
            guard node.cluster(IdentifyCluster.self, at: endpoint)?.isIdentifying == true else { return .success }
            let status = join(request.groupID, request.groupName, fabric)
            guard status == .success else { throw Status(status) }
            return .success
        default: throw Status(.unsupportedCommand)
        }
    }

    private func join(_ group: GroupID, _ name: String, _ fabric: FabricIndex) -> StatusCode {
        guard group != 0, name.utf8.count <= 16 else { return .constraintError }
        // Without a key for it the endpoint could never hear the group (Matter Application Clusters, 1.3.7.1).
        guard node.cluster(GroupKeyManagementCluster.self, at: 0)?.hasKey(for: group, of: fabric) == true else {
            return .unsupportedAccess
        }
        let name = hasNames ? name : ""
        let isNew = !isMember(of: group, fabric)
        let groups = Set(node.clusters(GroupsCluster.self).flatMap(\.memberships).filter { $0.fabric == fabric }.map(\.group))
        guard !isNew || groups.contains(group) || groups.count < Int(GroupKeyManagementCluster.groupsPerFabric) else {
            return .resourceExhausted
        }
        change { memberships in
            memberships.removeAll { $0.fabric == fabric && $0.group == group }
            memberships.append(Membership(fabric: fabric, group: group, name: name))
        }
        return .success
    }

    private func view(_ group: GroupID, _ fabric: FabricIndex) -> CommandOutcome {
        let membership = memberships.first { $0.fabric == fabric && $0.group == group }
        let status: StatusCode = group == 0 ? .constraintError : membership == nil ? .notFound : .success
        return .reply(Spec.ViewGroupResponse(status: status, groupID: group, groupName: membership?.name ?? ""))
    }

    private func leave(_ group: GroupID, _ fabric: FabricIndex) -> StatusCode {
        guard group != 0 else { return .constraintError }
        guard isMember(of: group, fabric) else { return .notFound }
        change { $0.removeAll { $0.fabric == fabric && $0.group == group } }
        for cluster in node.endpoint(endpoint)?.clusters ?? [] { (cluster as? any GroupDependent)?.left(group, of: fabric) }
        return .success
    }
}
