import HearthTime
import MatterInteraction
import MatterModel
import MatterTLV

/// Access Control (Matter Core, 9.10): who may do what. The list itself is `AccessControlList`, which every request is checked against.
public final class AccessControlCluster: Cluster {
    typealias Spec = AccessControl
    typealias Entry = AccessControl.AccessControlEntryStruct

    public init(endpoint: EndpointID, node: DeviceNode, configuration: ClusterConfiguration = .init()) {
        super.init(Spec.definition, endpoint: endpoint, node: node, configuration: configuration)
        for attribute in Self.lists {
            guard let value = kept(Self.name(attribute)).flatMap({ try? TLVValue(decoding: $0) }) else { continue }
            set(attribute, value)
        }
        apply()
    }

    private static let lists = [Spec.Attributes.acl, Spec.Attributes.extension]
    private static func name(_ attribute: AttributeID) -> String { attribute == Spec.Attributes.acl ? "acl" : "extension" }

    // MARK: Writing

    /// What is too much for the device is RESOURCE_EXHAUSTED here, so that `willWrite` judges everything but types.
    public override var valueChecks: ValueChecker.Options {
        var options = ValueChecker.Options()
        options.checksConstraints = false
        return options
    }

    public override func willWrite(
        _ attribute: AttributeDefinition, _ value: TLVValue, _ context: InteractionContext
    ) throws(Status) -> TLVValue {
        guard Self.lists.contains(attribute.id) else { return value }
        let own = Self.entries(value, of: context.fabricIndex)
        if attribute.id == Spec.Attributes.acl {
            guard own.count <= limit(Spec.Attributes.accessControlEntriesPerFabric) else {
                throw Status(
                    .resourceExhausted, "a fabric has at most \(limit(Spec.Attributes.accessControlEntriesPerFabric)) entries")
            }
            for entry in own { try check(Entry(tlv: entry)) }
            return .array((value.array ?? []).map(Self.withoutEmptyLists))
        } else {
            guard own.count <= 1 else { throw Status(.constraintError, "a fabric has one extension") }
            for entry in own { try AccessControlExtension.check(Spec.AccessControlExtensionStruct(tlv: entry).data) }
        }
        return value
    }

    /// An empty list of subjects or targets says the same as none: whoever reads finds null (Matter Core, 9.10.5.6).
    private static func withoutEmptyLists(_ entry: TLVValue) -> TLVValue {
        guard case .structure(let members) = entry else { return entry }
        let lists: [TLVTag] = [.context(3), .context(4)]
        return .structure(members.map { lists.contains($0.tag) && $0.value == .array([]) ? TLVElement($0.tag, .null) : $0 })
    }

    public override func didWrite(
        _ attribute: AttributeDefinition, from old: TLVValue, to new: TLVValue, _ context: InteractionContext
    ) {
        guard Self.lists.contains(attribute.id) else { return }
        store(attribute.id)
        let (before, after) = (Self.entries(old, of: context.fabricIndex), Self.entries(new, of: context.fabricIndex))
        for position in 0..<max(before.count, after.count) {
            let change: (Spec.ChangeTypeEnum, TLVValue)
            if position >= before.count {
                change = (.added, after[position])
            } else if position >= after.count {
                change = (.removed, before[position])
            } else if before[position] != after[position] {
                change = (.changed, after[position])
            } else {
                continue
            }
            announce(attribute.id, change.0, change.1, context.fabricIndex, context)
        }
    }

    /// AddNOC names the first administrator (Matter Core, 11.18.6.8).
    func addAdministrator(_ subject: UInt64, of fabric: FabricIndex, _ context: InteractionContext) {
        let entry = Entry(
            privilege: .administer, authMode: .case, subjects: .value([subject]), targets: .null, fabricIndex: fabric)
        set(Spec.Attributes.acl, .array((value(Spec.Attributes.acl).array ?? []) + [entry.tlv]))
        store(Spec.Attributes.acl)
        announce(Spec.Attributes.acl, .added, entry.tlv, fabric, context)
    }

    public override func fabricRemoved(_ fabric: FabricIndex) {
        for attribute in Self.lists {
            set(attribute, FabricScopedList.without(fabric, value(attribute)))
            store(attribute)
        }
        node.commissioning.access.set([], of: fabric)
    }

    private func store(_ attribute: AttributeID) {
        guard has(attribute) else { return }
        keep(value(attribute).encoded(), as: Self.name(attribute))
        if attribute == Spec.Attributes.acl { apply() }
    }

    /// Hands the entries to whoever checks requests.
    private func apply() {
        var byFabric: [FabricIndex: [Entry]] = [:]
        for value in value(Spec.Attributes.acl).array ?? [] {
            guard let entry = try? Entry(tlv: value), let fabric = entry.fabricIndex else { continue }
            byFabric[fabric, default: []].append(entry)
        }
        for fabric in Set(byFabric.keys).union(applied) { node.commissioning.access.set(byFabric[fabric] ?? [], of: fabric) }
        applied = Set(byFabric.keys)
    }
    private var applied: Set<FabricIndex> = []

    private static func entries(_ value: TLVValue, of fabric: FabricIndex) -> [TLVValue] {
        (value.array ?? []).filter { $0[FabricScopedList.fabricIndexTag]?.unsigned == fabric.unsigned }
    }

    private func limit(_ attribute: AttributeID) -> Int { value(attribute).unsigned.flatMap { Int(exactly: $0) } ?? 0 }

    private func announce(
        _ attribute: AttributeID, _ change: Spec.ChangeTypeEnum, _ latest: TLVValue, _ fabric: FabricIndex,
        _ context: InteractionContext
    ) {
        // An administrator is named by its node id, whoever is pairing by the number of the passcode, of which there is one.
        let isOperational = context.peer.authMode == .case
        let fields = TLVValue.structure([
            TLVElement(.context(1), isOperational ? .unsigned(context.peer.peerNodeID) : .null),
            TLVElement(.context(2), isOperational ? .null : .unsigned(0)), TLVElement(.context(3), change.tlv),
            TLVElement(.context(4), latest), TLVElement(.context(FabricScopedList.fabricIndexTag), fabric.tlv),
        ])
        let event =
            attribute == Spec.Attributes.acl
            ? Spec.Events.accessControlEntryChanged : Spec.Events.accessControlExtensionChanged
        emit(event, fields, fabric: fabric)
    }

    // MARK: What an entry may say (Matter Core, 9.10.4.4 and 9.10.5.6)

    private func check(_ entry: Entry) throws(Status) {
        guard entry.privilege.isDefined else { throw Status(.constraintError, "no such privilege") }
        let (subjects, targets) = (entry.subjects.value ?? [], entry.targets.value ?? [])
        guard subjects.count <= limit(Spec.Attributes.subjectsPerAccessControlEntry),
            targets.count <= limit(Spec.Attributes.targetsPerAccessControlEntry)
        else { throw Status(.resourceExhausted, "an entry has too many subjects or targets") }
        switch entry.authMode {
        case .case:
            guard subjects.allSatisfy({ Subject.isOperationalNode($0) || Subject.isValidTag($0) }) else {
                throw Status(.constraintError, "a subject is neither a node id nor a CASE Authenticated Tag")
            }
        case .group:
            guard entry.privilege != .administer else { throw Status(.constraintError, "a group cannot administer") }
            guard subjects.allSatisfy(Subject.isGroup) else { throw Status(.constraintError, "a subject is no group") }
        default: throw Status(.constraintError, "an entry is for certificates or for groups")
        }
        for target in targets { try check(target) }
    }

    private func check(_ target: Spec.AccessControlTargetStruct) throws(Status) {
        let (cluster, endpoint, deviceType) = (target.cluster.value, target.endpoint.value, target.deviceType.value)
        guard cluster != nil || endpoint != nil || deviceType != nil else {
            throw Status(.constraintError, "a target names something")
        }
        guard endpoint == nil || deviceType == nil else {
            throw Status(.constraintError, "a target names an endpoint or a device type, not both")
        }
        if let cluster, !Self.isCluster(cluster) { throw Status(.constraintError, "a target's cluster cannot exist") }
        if let endpoint, endpoint.rawValue == 0xFFFF { throw Status(.constraintError, "a target's endpoint cannot exist") }
        if let deviceType, !Self.isDeviceType(deviceType) {
            throw Status(.constraintError, "a target's device type cannot exist")
        }
    }

    /// A cluster of the specification, or one of a vendor's (Matter Core, 7.19.2.26).
    private static func isCluster(_ id: ClusterID) -> Bool {
        let (vendor, number) = (id.rawValue >> 16, id.rawValue & 0xFFFF)
        return vendor == 0 ? number <= 0x7FFF : vendor <= 0xFFF4 && (0xFC00...0xFFFE).contains(number)
    }

    private static func isDeviceType(_ id: DeviceTypeID) -> Bool {
        id.rawValue >> 16 <= 0xFFF4 && id.rawValue & 0xFFFF <= 0xBFFF
    }
}

/// The form of an extension's data (Matter Core, 9.10.4.5).
enum AccessControlExtension {
    /// One anonymous list whose members have profile-specific tags, in at most 128 bytes.
    static func check(_ data: [UInt8]) throws(Status) {
        guard data.count <= 128, let element = try? TLVElement(decoding: data), element.tag == .anonymous,
            case .list(let members) = element.value, members.allSatisfy({ isProfileSpecific($0.tag) })
        else { throw Status(.constraintError, "an extension is a TLV list whose members have tags of a profile") }
    }

    private static func isProfileSpecific(_ tag: TLVTag) -> Bool {
        switch tag {
        case .anonymous, .context: false
        default: true
        }
    }
}
