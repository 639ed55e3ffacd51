import HearthTime
import MatterInteraction
import MatterModel
import MatterTLV

/// Group Key Management (Matter Core, 11.2): the keys that groups, and a fabric's members among themselves, use. Key set 0 of each fabric
/// holds its identity protection key.
public final class GroupKeyManagementCluster: Cluster {
    typealias Spec = GroupKeyManagement
    /// One to three epoch keys and when each begins.
    public typealias KeySet = GroupKeyManagement.GroupKeySetStruct

    /// Groups that a fabric can have a key for.
    static let groupsPerFabric: UInt16 = 12
    /// Key sets that a fabric can have, key set 0 included.
    static let keySetsPerFabric: UInt16 = 3

    /// By fabric, in the order of their ids.
    private var keySets: [FabricIndex: [KeySet]] = [:]

    public init(endpoint: EndpointID, node: DeviceNode, configuration: ClusterConfiguration = .init()) {
        super.init(Spec.definition, endpoint: endpoint, node: node, configuration: configuration)
        for name in keptNames(withPrefix: Self.prefix) {
            guard let fabric = UInt8(name.dropFirst(Self.prefix.count)), let bytes = kept(name),
                let value = try? TLVValue(decoding: bytes), let sets = try? [KeySet](tlv: value)
            else { continue }
            keySets[FabricIndex(fabric)] = sets
        }
    }

    private static let prefix = "keys/"

    // MARK: What others ask

    /// Whether the group has a key: without one the device must not join it (Matter Application Clusters, 1.3.7.1).
    public func hasKey(for group: GroupID, of fabric: FabricIndex) -> Bool {
        guard let set = keySetID(of: group, fabric) else { return false }
        return keySets[fabric]?.contains { $0.groupKeySetID == set } == true
    }

    /// The key set that a group uses. Holds keys: never log it.
    public func keySet(for group: GroupID, of fabric: FabricIndex) -> KeySet? {
        guard let id = keySetID(of: group, fabric) else { return nil }
        return keySet(id, of: fabric)
    }

    /// A fabric's key set; 0 is the identity protection key's. Holds keys: never log it.
    public func keySet(_ id: UInt16, of fabric: FabricIndex) -> KeySet? { keySets[fabric]?.first { $0.groupKeySetID == id } }

    private func keySetID(of group: GroupID, _ fabric: FabricIndex) -> UInt16? {
        for entry in value(Spec.Attributes.groupKeyMap).array ?? [] {
            guard let entry = try? Spec.GroupKeyMapStruct(tlv: entry) else { continue }
            if entry.groupId == group, entry.fabricIndex == fabric { return entry.groupKeySetID }
        }
        return nil
    }

    /// AddNOC brings the first keys of a fabric.
    func addIdentityProtectionKey(_ key: [UInt8], of fabric: FabricIndex) {
        keySets[fabric] = [
            KeySet(
                groupKeySetID: 0, groupKeySecurityPolicy: .trustFirst, epochKey0: .value(key), epochStartTime0: .value(0),
                epochKey1: .null, epochStartTime1: .null, epochKey2: .null, epochStartTime2: .null)
        ]
        store(fabric)
    }

    /// A group was joined or left somewhere on the node.
    func groupsChanged() { touch(Spec.Attributes.groupTable) }

    public override func fabricRemoved(_ fabric: FabricIndex) {
        keySets[fabric] = nil
        store(fabric)
        set(Spec.Attributes.groupKeyMap, FabricScopedList.without(fabric, value(Spec.Attributes.groupKeyMap)))
    }

    private func store(_ fabric: FabricIndex) { keep(keySets[fabric]?.tlv.encoded(), as: "\(Self.prefix)\(fabric)") }

    // MARK: Attributes

    public override func computedValue(of attribute: AttributeID, _ context: InteractionContext) -> TLVValue? {
        switch attribute {
        case Spec.Attributes.groupTable: groupTable.tlv
        case Spec.Attributes.maxGroupsPerFabric: Self.groupsPerFabric.tlv
        case Spec.Attributes.maxGroupKeysPerFabric: Self.keySetsPerFabric.tlv
        default: nil
        }
    }

    /// Which endpoints are in which group: gathered from the Groups clusters.
    private var groupTable: [Spec.GroupInfoMapStruct] {
        struct Key: Hashable { let fabric: FabricIndex, group: GroupID }
        var entries: [Key: Spec.GroupInfoMapStruct] = [:]
        for cluster in node.clusters(GroupsCluster.self) {
            for membership in cluster.memberships {
                let key = Key(fabric: membership.fabric, group: membership.group)
                entries[
                    key,
                    default: .init(groupId: key.group, endpoints: [], groupName: membership.name, fabricIndex: key.fabric)
                ].endpoints.append(cluster.endpoint)
            }
        }
        return entries.sorted { ($0.key.fabric, $0.key.group) < ($1.key.fabric, $1.key.group) }.map(\.value)
    }

    public override func willWrite(
        _ attribute: AttributeDefinition, _ value: TLVValue, _ context: InteractionContext
    ) throws(Status) -> TLVValue {
        guard attribute.id == Spec.Attributes.groupKeyMap else { return value }
        let entries = try [Spec.GroupKeyMapStruct](tlv: value).filter { $0.fabricIndex == context.fabricIndex }
        guard entries.count <= Int(Self.groupsPerFabric) else {
            throw Status(.resourceExhausted, "a fabric can have keys for \(Self.groupsPerFabric) groups")
        }
        guard entries.allSatisfy({ $0.groupKeySetID != 0 }) else {
            throw Status(.constraintError, "key set 0 is for no group")
        }
        // 0 is the null group (Matter Core, 2.5.4).
        guard entries.allSatisfy({ $0.groupId != 0 }) else { throw Status(.constraintError, "there is no group 0") }
        // A group may have several key sets, each once.
        guard Set(entries.map { UInt32($0.groupId.rawValue) << 16 | UInt32($0.groupKeySetID) }).count == entries.count else {
            throw Status(.constraintError, "a group has the same key set twice")
        }
        return value
    }

    // MARK: Commands

    public override func handle(
        _ command: CommandDefinition, _ fields: TLVValue, _ context: InteractionContext
    ) throws(Status) -> CommandOutcome {
        let fabric = context.fabricIndex
        switch command.id {
        case Spec.Commands.keySetWrite:
            try write(Spec.KeySetWrite(tlv: fields).groupKeySet, fabric)
            return .success
        case Spec.Commands.keySetRead:
            guard var set = keySet(try Spec.KeySetRead(tlv: fields).groupKeySetID, of: fabric) else { throw Status(.notFound) }
            // What was written can be replaced, but never read.
            (set.epochKey0, set.epochKey1, set.epochKey2) = (.null, .null, .null)
            return .reply(Spec.KeySetReadResponse(groupKeySet: set))
        case Spec.Commands.keySetRemove:
            try remove(Spec.KeySetRemove(tlv: fields).groupKeySetID, fabric)
            return .success
        case Spec.Commands.keySetReadAllIndices:
            return .reply(Spec.KeySetReadAllIndicesResponse(groupKeySetIDs: (keySets[fabric] ?? []).map(\.groupKeySetID)))
        default: throw Status(.unsupportedCommand)
        }
    }

    private func write(_ keySet: KeySet, _ fabric: FabricIndex) throws(Status) {
        guard keySet.groupKeySecurityPolicy.isDefined else { throw Status(.invalidCommand, "no such security policy") }
        guard keySet.groupKeySecurityPolicy == .trustFirst || hasFeature(Spec.Feature.cacheAndSync.rawValue) else {
            throw Status(.invalidCommand, "the device cannot cache and synchronise")
        }
        try Self.checkEpochs(keySet)
        var sets = keySets[fabric] ?? []
        if let position = sets.firstIndex(where: { $0.groupKeySetID == keySet.groupKeySetID }) {
            sets[position] = keySet
        } else {
            guard sets.count < Int(Self.keySetsPerFabric) else {
                throw Status(.resourceExhausted, "a fabric has at most \(Self.keySetsPerFabric) key sets")
            }
            sets.append(keySet)
            sets.sort { $0.groupKeySetID < $1.groupKeySetID }
        }
        keySets[fabric] = sets
        store(fabric)
    }

    /// The first key is there; each later one comes with its predecessor and begins after it (Matter Core, 11.2.7.1).
    private static func checkEpochs(_ keySet: KeySet) throws(Status) {
        let epochs = [
            (keySet.epochKey0.value, keySet.epochStartTime0.value), (keySet.epochKey1.value, keySet.epochStartTime1.value),
            (keySet.epochKey2.value, keySet.epochStartTime2.value),
        ]
        var last: UInt64 = 0
        var hasEnded = false
        for (key, start) in epochs {
            guard (key == nil) == (start == nil) else { throw Status(.invalidCommand, "a key has a start time") }
            guard let key, let start else {
                hasEnded = true
                continue
            }
            guard !hasEnded else { throw Status(.invalidCommand, "a key comes with the one before it") }
            guard key.count == 16 else { throw Status(.constraintError, "an epoch key has 16 bytes") }
            guard start > last else { throw Status(.invalidCommand, "a key begins after the one before it, and not at 0") }
            last = start
        }
        guard keySet.epochKey0.value != nil else { throw Status(.invalidCommand, "a key set has a first key") }
    }

    private func remove(_ id: UInt16, _ fabric: FabricIndex) throws(Status) {
        guard id != 0 else { throw Status(.invalidCommand, "the identity protection key cannot be removed") }
        guard keySet(id, of: fabric) != nil else { throw Status(.notFound) }
        keySets[fabric]?.removeAll { $0.groupKeySetID == id }
        store(fabric)
        // Groups that used the set have no key any more.
        let rest = (value(Spec.Attributes.groupKeyMap).array ?? []).filter { value in
            guard let entry = try? Spec.GroupKeyMapStruct(tlv: value) else { return false }
            return !(entry.fabricIndex == fabric && entry.groupKeySetID == id)
        }
        set(Spec.Attributes.groupKeyMap, .array(rest))
    }
}
