import MatterInteraction
import MatterModel
import MatterTLV

/// The commands (Matter Application Clusters, 1.4.9). All but RecallScene tell what is wrong in their response.
extension ScenesManagementCluster {
    /// No scene may have this id.
    private static let noScene: UInt8 = 0xFF
    /// Milliseconds: a thousand minutes.
    private static let longestTransition: UInt32 = 60_000_000

    func run(_ command: CommandDefinition, _ fields: TLVValue, _ fabric: FabricIndex) throws(Status) -> CommandOutcome {
        switch command.id {
        case Spec.Commands.addScene:
            let request = try Spec.AddScene(tlv: fields)
            let status = outcome { () throws(Status) in try add(request, fabric) }
            return .reply(Spec.AddSceneResponse(status: status, groupID: request.groupID, sceneID: request.sceneID))
        case Spec.Commands.viewScene: return view(try Spec.ViewScene(tlv: fields), fabric)
        case Spec.Commands.removeScene:
            let request = try Spec.RemoveScene(tlv: fields)
            let status = outcome { () throws(Status) in try remove(Key(group: request.groupID, scene: request.sceneID), fabric) }
            return .reply(Spec.RemoveSceneResponse(status: status, groupID: request.groupID, sceneID: request.sceneID))
        case Spec.Commands.removeAllScenes:
            let request = try Spec.RemoveAllScenes(tlv: fields)
            let status = outcome { () throws(Status) in
                try checkMembership(request.groupID, fabric)
                for key in keys(in: request.groupID, of: fabric) { put(nil, key, of: fabric) }
                changed()
            }
            return .reply(Spec.RemoveAllScenesResponse(status: status, groupID: request.groupID))
        case Spec.Commands.storeScene:
            let request = try Spec.StoreScene(tlv: fields)
            let status = outcome { () throws(Status) in
                try check(request.groupID, request.sceneID, fabric)
                try store(Key(group: request.groupID, scene: request.sceneID), of: fabric)
            }
            return .reply(Spec.StoreSceneResponse(status: status, groupID: request.groupID, sceneID: request.sceneID))
        case Spec.Commands.recallScene:
            let request = try Spec.RecallScene(tlv: fields)
            try check(request.groupID, request.sceneID, fabric)
            let transition = request.transitionTime?.value
            guard transition ?? 0 <= Self.longestTransition else { throw Status(.constraintError) }
            try recall(Key(group: request.groupID, scene: request.sceneID), of: fabric, over: transition)
            return .success
        case Spec.Commands.getSceneMembership: return membership(try Spec.GetSceneMembership(tlv: fields).groupID, fabric)
        case Spec.Commands.copyScene:
            let request = try Spec.CopyScene(tlv: fields)
            let status = outcome { () throws(Status) in try copy(request, fabric) }
            return .reply(
                Spec.CopySceneResponse(
                    status: status, groupIdentifierFrom: request.groupIdentifierFrom,
                    sceneIdentifierFrom: request.sceneIdentifierFrom))
        default: throw Status(.unsupportedCommand)
        }
    }

    private func outcome(_ body: () throws(Status) -> Void) -> StatusCode {
        do throws(Status) { try body() } catch { return error.code }
        return .success
    }

    /// Scenes of a group are for its members only; group 0 stands for no group.
    private func checkMembership(_ group: GroupID, _ fabric: FabricIndex) throws(Status) {
        guard group == 0 || node.cluster(GroupsCluster.self, at: endpoint)?.isMember(of: group, fabric) == true else {
            throw Status(.invalidCommand, "the endpoint is not in the group")
        }
    }

    private func check(_ group: GroupID, _ scene: UInt8, _ fabric: FabricIndex) throws(Status) {
        guard scene != Self.noScene else { throw Status(.constraintError, "no scene has the id 255") }
        try checkMembership(group, fabric)
    }

    private func add(_ request: Spec.AddScene, _ fabric: FabricIndex) throws(Status) {
        guard request.transitionTime <= Self.longestTransition, request.sceneName.utf8.count <= 16 else { throw Status(.constraintError) }
        try check(request.groupID, request.sceneID, fabric)
        let key = Key(group: request.groupID, scene: request.sceneID)
        var fields: [Spec.ExtensionFieldSetStruct] = []
        for set in request.extensionFieldSetStructs {
            // Of a cluster that the endpoint does not have, a scene for several endpoints may speak all the same.
            guard let cluster = sceneable(set.clusterID) else { continue }
            var kept = set
            kept.attributeValueList = []
            for pair in set.attributeValueList {
                // One that only this device lacks stays in the scene, and is passed over when it is recalled (3.2.7.1).
                guard let attribute = cluster.definition.attribute(id: pair.attributeID), keeps(attribute, cluster) else {
                    throw Status(.invalidCommand, "no attribute of scenes")
                }
                kept.attributeValueList.append(try SceneValues.checked(pair, attribute))
            }
            fields.append(kept)
        }
        guard scene(key, of: fabric) != nil || capacity(of: fabric) > 0 else { throw Status(.resourceExhausted) }
        let hasNames = hasFeature(Spec.Feature.sceneNames.rawValue)
        put(
            Scene(transitionTime: request.transitionTime, name: hasNames ? request.sceneName : "", fields: fields), key, of: fabric)
        changed()
    }

    /// Whether scenes keep an attribute: by its quality, or because the cluster offers it. Those of Window Covering have no such quality in
    /// this revision.
    private func keeps(_ attribute: AttributeDefinition, _ cluster: any SceneableCluster) -> Bool {
        attribute.quality.contains(.scene) || cluster.sceneValues().contains { $0.attribute == attribute.id }
    }

    private func view(_ request: Spec.ViewScene, _ fabric: FabricIndex) -> CommandOutcome {
        var found: Scene?
        let status = outcome { () throws(Status) in
            try check(request.groupID, request.sceneID, fabric)
            found = scene(Key(group: request.groupID, scene: request.sceneID), of: fabric)
            guard found != nil else { throw Status(.notFound) }
        }
        return .reply(
            Spec.ViewSceneResponse(
                status: status, groupID: request.groupID, sceneID: request.sceneID, transitionTime: found?.transitionTime,
                sceneName: found?.name, extensionFieldSetStructs: found?.fields))
    }

    private func remove(_ key: Key, _ fabric: FabricIndex) throws(Status) {
        try check(key.group, key.scene, fabric)
        guard scene(key, of: fabric) != nil else { throw Status(.notFound) }
        put(nil, key, of: fabric)
        changed()
    }

    private func membership(_ group: GroupID, _ fabric: FabricIndex) -> CommandOutcome {
        let status = outcome { () throws(Status) in try checkMembership(group, fabric) }
        guard status == .success else {
            return .reply(Spec.GetSceneMembershipResponse(status: status, capacity: .null, groupID: group))
        }
        return .reply(
            Spec.GetSceneMembershipResponse(
                status: status, capacity: .value(UInt8(clamping: capacity(of: fabric))), groupID: group,
                sceneList: ByteList(keys(in: group, of: fabric).map(\.scene))))
    }

    /// One scene, or all of a group; when the table is full before the end, those that were copied stay.
    private func copy(_ request: Spec.CopyScene, _ fabric: FabricIndex) throws(Status) {
        let copiesAll = request.mode.contains(.copyAllScenes)
        if !copiesAll, request.sceneIdentifierFrom == Self.noScene || request.sceneIdentifierTo == Self.noScene {
            throw Status(.constraintError, "no scene has the id 255")
        }
        try checkMembership(request.groupIdentifierFrom, fabric)
        try checkMembership(request.groupIdentifierTo, fabric)
        let sources =
            copiesAll
            ? keys(in: request.groupIdentifierFrom, of: fabric)
            : [Key(group: request.groupIdentifierFrom, scene: request.sceneIdentifierFrom)]
        var hasCopied = false
        defer { if hasCopied { changed() } }
        for source in sources {
            guard let found = scene(source, of: fabric) else { throw Status(.notFound) }
            let target = Key(group: request.groupIdentifierTo, scene: copiesAll ? source.scene : request.sceneIdentifierTo)
            guard scene(target, of: fabric) != nil || capacity(of: fabric) > 0 else { throw Status(.resourceExhausted) }
            put(found, target, of: fabric)
            hasCopied = true
        }
    }
}
