import HearthTime
import MatterInteraction
import MatterMessage
import MatterModel
import MatterTLV
import Testing

@testable import MatterDevice

/// Scenes Management (Matter Application Clusters, 1.4), in virtual time; the cases follow the public test cases S-2.2 to S-2.6 and
/// TestScenes….
@Suite struct ScenesManagementTests {
    typealias Spec = ScenesManagement
    typealias Pair = ScenesManagement.AttributeValuePairStruct
    typealias FieldSet = ScenesManagement.ExtensionFieldSetStruct

    /// A light of all colours with scenes; `inGroups` makes it a commissioned member of groups 1 and 2 too.
    private static func prepare(
        _ bench: Bench, color: ColorControl.Feature = .all, inGroups: Bool = false, tableSize: UInt16 = 16, start: Bool = true
    ) throws {
        try bench.makeColorLight(features: color, start: false)
        try bench.add(
            ScenesManagement.id, ClusterConfiguration(attributes: [ScenesManagement.Attributes.sceneTableSize: tableSize.tlv]))
        guard start else { return }
        guard inGroups else {
            bench.node.start()
            try bench.invoke(OnOff.On())
            return
        }
        try bench.add(Groups.id)
        _ = try bench.makeRoot()
        let peer = try bench.commission(Administrator(fabric: 1))
        typealias Keys = GroupKeyManagement
        try bench.write(
            Keys.id, Keys.Attributes.groupKeyMap,
            [GroupID(1), 2].map { Keys.GroupKeyMapStruct(groupId: $0, groupKeySetID: 1) }, at: 0, as: peer)
        let set = Keys.GroupKeySetStruct(
            groupKeySetID: 1, groupKeySecurityPolicy: .trustFirst, epochKey0: .value([UInt8](repeating: 1, count: 16)),
            epochStartTime0: 1, epochKey1: .null, epochStartTime1: .null, epochKey2: .null, epochStartTime2: .null)
        try bench.invoke(Keys.KeySetWrite(groupKeySet: set), at: 0, .init(peer: peer))
        for group: GroupID in [1, 2] {
            #expect(try bench.invoke(Groups.AddGroup(groupID: group, groupName: ""), .init(peer: peer)).status == .success)
        }
        try bench.invoke(OnOff.On())
    }

    private static let evening = [
        FieldSet(clusterID: OnOff.id, attributeValueList: [Pair(attributeID: 0, valueUnsigned8: 1)]),
        FieldSet(clusterID: LevelControl.id, attributeValueList: [Pair(attributeID: 0, valueUnsigned8: 100)]),
    ]

    private static func add(
        _ bench: Bench, _ scene: UInt8, in group: GroupID = 0, time: UInt32 = 0, name: String = "evening",
        _ fields: [FieldSet] = evening, fabric: UInt8 = 1
    ) throws -> StatusCode {
        try bench.invoke(
            Spec.AddScene(groupID: group, sceneID: scene, transitionTime: time, sceneName: name, extensionFieldSetStructs: fields),
            .init(peer: .node(1, fabric: fabric))
        ).status
    }
    private static func store(_ bench: Bench, _ scene: UInt8, in group: GroupID = 0) throws -> StatusCode {
        try bench.invoke(Spec.StoreScene(groupID: group, sceneID: scene)).status
    }
    private static func recall(_ bench: Bench, _ scene: UInt8, in group: GroupID = 0, over time: Nullable<UInt32>? = nil) throws {
        try bench.invoke(Spec.RecallScene(groupID: group, sceneID: scene, transitionTime: time))
    }
    private static func info(_ bench: Bench, fabric: FabricIndex = 1) throws -> Spec.SceneInfoStruct? {
        try [Spec.SceneInfoStruct](tlv: bench.read(Spec.id, Spec.Attributes.fabricSceneInfo)).first { $0.fabricIndex == fabric }
    }
    private static func view(_ bench: Bench, _ scene: UInt8, in group: GroupID = 0) throws -> Spec.ViewSceneResponse {
        try bench.invoke(Spec.ViewScene(groupID: group, sceneID: scene))
    }

    // MARK: Recalling

    @Test func aStoredSceneComesBack() async throws {
        try await Bench.run { bench in
            try Self.prepare(bench)
            try bench.moveToLevel(70)
            try bench.moveToTemperature(300)
            #expect(try Self.store(bench, 1) == .success)
            #expect(
                try Self.info(bench)
                    == .init(sceneCount: 1, currentScene: 1, currentGroup: 0, sceneValid: true, remainingCapacity: 6, fabricIndex: 1))
            try bench.invoke(OnOff.Off())
            #expect(try Self.info(bench)?.sceneValid == false)
            try bench.moveToHue(20)
            try Self.recall(bench, 1, over: .null)
            #expect(try bench.isOn)
            #expect(try [bench.level, bench.temperature] == [70, 300])
            #expect(try bench.colorModes == [2, 2])
            #expect(try Self.info(bench)?.sceneValid == true)
            #expect(status { try Self.recall(bench, 2) } == .notFound)
            #expect(status { try Self.recall(bench, 255) } == .constraintError)
            #expect(status { try Self.recall(bench, 1, over: .value(60_000_001)) } == .constraintError)
        }
    }

    @Test func aRecallTakesItsTime() async throws {
        try await Bench.run { bench in
            try Self.prepare(bench)
            try bench.moveToLevel(200)
            #expect(try Self.add(bench, 1, time: 10_000) == .success)
            try Self.recall(bench, 1)
            try await bench.advance(.seconds(5))
            #expect(try bench.level == 150)
            #expect(try Self.info(bench)?.sceneValid == true, "on the way to a scene is in it")
            try await bench.advance(.seconds(5))
            #expect(try bench.level == 100)
            try bench.moveToLevel(200)
            try Self.recall(bench, 1, over: .value(1000))
            try await bench.advance(.seconds(1))
            #expect(try bench.level == 100)
            // Going off, the light fades first.
            let off = [
                FieldSet(clusterID: OnOff.id, attributeValueList: [Pair(attributeID: 0, valueUnsigned8: 0)]),
                FieldSet(clusterID: LevelControl.id, attributeValueList: [Pair(attributeID: 0, valueUnsigned8: 1)]),
            ]
            #expect(try Self.add(bench, 2, time: 1000, off) == .success)
            try Self.recall(bench, 2)
            try await bench.advance(.milliseconds(999))
            #expect(try bench.isOn)
            try await bench.advance(.milliseconds(1))
            #expect(try !bench.isOn)
            #expect(try bench.level == 1)
        }
    }

    @Test func colorScenesKnowTheirMode() async throws {
        try await Bench.run { bench in
            try Self.prepare(bench)
            func colors(_ pairs: [Pair]) -> [FieldSet] { [FieldSet(clusterID: ColorControl.id, attributeValueList: pairs)] }
            let xy = colors([
                Pair(attributeID: 0x4001, valueUnsigned8: 1), Pair(attributeID: 3, valueUnsigned16: 16334),
                Pair(attributeID: 4, valueUnsigned16: 13067), Pair(attributeID: 7, valueUnsigned16: 200),
            ])
            #expect(try Self.add(bench, 1, xy) == .success)
            try Self.recall(bench, 1)
            #expect(try bench.color(ColorControl.Attributes.currentX) == 16334)
            #expect(try bench.color(ColorControl.Attributes.currentY) == 13067)
            #expect(try bench.colorModes == [1, 1])
            #expect(try bench.temperature == 250)
            let loop = colors([
                Pair(attributeID: 0x4001, valueUnsigned8: 3), Pair(attributeID: 0x4000, valueUnsigned16: 1000),
                Pair(attributeID: 1, valueUnsigned8: 77), Pair(attributeID: 0x4002, valueUnsigned8: 1),
                Pair(attributeID: 0x4003, valueUnsigned8: 1), Pair(attributeID: 0x4004, valueUnsigned16: 64),
            ])
            #expect(try Self.add(bench, 2, loop) == .success)
            try Self.recall(bench, 2)
            try await bench.advance(.seconds(2))
            #expect(try [bench.enhancedHue, bench.saturation] == [3048, 77])
            #expect(try bench.color(ColorControl.Attributes.colorLoopActive) == 1)
        }
    }

    /// Test case CC-10.1: every colour mode's values are in a stored scene.
    @Test func aStoredColorSceneHasAllValues() async throws {
        try await Bench.run { bench in
            try Self.prepare(bench)
            try bench.invoke(
                ColorControl.MoveToColor(colorX: 32768, colorY: 19660, transitionTime: 0, optionsMask: [], optionsOverride: []))
            try bench.moveToTemperature(300)
            try bench.invoke(
                ColorControl.EnhancedMoveToHueAndSaturation(
                    enhancedHue: 20000, saturation: 50, transitionTime: 0, optionsMask: [], optionsOverride: []))
            #expect(try Self.store(bench, 1) == .success)
            #expect(
                try Self.view(bench, 1).extensionFieldSetStructs?.last
                    == FieldSet(
                        clusterID: ColorControl.id,
                        attributeValueList: [
                            Pair(attributeID: 0x0003, valueUnsigned16: 32768), Pair(attributeID: 0x0004, valueUnsigned16: 19660),
                            Pair(attributeID: 0x4000, valueUnsigned16: 20000), Pair(attributeID: 0x0001, valueUnsigned8: 50),
                            Pair(attributeID: 0x4002, valueUnsigned8: 0), Pair(attributeID: 0x4003, valueUnsigned8: 0),
                            Pair(attributeID: 0x4004, valueUnsigned16: 25), Pair(attributeID: 0x0007, valueUnsigned16: 300),
                            Pair(attributeID: 0x4001, valueUnsigned8: 3),
                        ]))
        }
    }

    /// Hue and saturation come back in either of their modes; on a light with enhanced hue, and on one that has X and Y only.
    @Test(arguments: [ColorControl.Feature.all, [.hueSaturation, .enhancedHue], [.hueSaturation, .xy]])
    func aSceneBringsBackTheHue(_ features: ColorControl.Feature) async throws {
        try await Bench.run { bench in
            try Self.prepare(bench, color: features)
            func go(_ hue: UInt8, _ saturation: UInt8) throws {
                try bench.invoke(
                    ColorControl.MoveToHueAndSaturation(
                        hue: hue, saturation: saturation, transitionTime: 0, optionsMask: [], optionsOverride: []))
            }
            try go(120, 200)
            #expect(try Self.store(bench, 1) == .success)
            try go(10, 50)
            try Self.recall(bench, 1)
            #expect(try [bench.hue, bench.saturation] + bench.colorModes == [120, 200, 0, 0])
            // Over the shorter way round.
            try go(250, 200)
            #expect(try Self.store(bench, 2) == .success)
            try go(20, 200)
            try Self.recall(bench, 2, over: 5000)
            try await bench.advance(.seconds(2.5))
            #expect(try bench.hue.map { $0 > 240 || $0 < 20 } == true)
            try await bench.advance(.seconds(2.5))
            #expect(try [bench.hue, bench.saturation] == [250, 200])
        }
    }

    /// By its specification a scene has no CurrentHue.
    @Test func withoutEnhancedHueAndPointsOnlyTheSaturationComesBack() async throws {
        try await Bench.run { bench in
            try Self.prepare(bench, color: .hueSaturation)
            try bench.moveToHue(120)
            try bench.saturate(200)
            #expect(try Self.store(bench, 1) == .success)
            #expect(
                try Self.view(bench, 1).extensionFieldSetStructs?.last?.attributeValueList.map(\.attributeID) == [0x0001, 0x4001])
            try bench.moveToHue(10)
            try bench.saturate(50)
            try Self.recall(bench, 1)
            #expect(try [bench.hue, bench.saturation] == [10, 200])
        }
    }

    /// A scene without a loop ends one, with one starts it.
    @Test func aSceneKnowsWhetherThereIsALoop() async throws {
        try await Bench.run { bench in
            try Self.prepare(bench)
            try bench.moveToHue(120)
            #expect(try Self.store(bench, 1) == .success)
            try bench.setLoop([.updateAction, .updateTime], .activateFromEnhancedCurrentHue, time: 64)
            try await bench.advance(.seconds(1))
            #expect(try Self.store(bench, 2) == .success)
            try Self.recall(bench, 1)
            #expect(try [bench.color(ColorControl.Attributes.colorLoopActive), bench.hue] == [0, 120])
            try Self.recall(bench, 2)
            try await bench.advance(.seconds(1))
            #expect(try [bench.color(ColorControl.Attributes.colorLoopActive), bench.hue] == [1, 112])
        }
    }

    /// What the specification has of scenes and this device has not (3.2.7.1).
    @Test func aSceneMayTellMoreThanTheDeviceHas() async throws {
        try await Bench.run { bench in
            try Self.prepare(bench, color: .colorTemperature)
            let pairs = [
                Pair(attributeID: 3, valueUnsigned16: 16334), Pair(attributeID: 0x4000, valueUnsigned16: 1),
                Pair(attributeID: 7, valueUnsigned16: 200), Pair(attributeID: 0x4001, valueUnsigned8: 2),
            ]
            #expect(try Self.add(bench, 1, [FieldSet(clusterID: ColorControl.id, attributeValueList: pairs)]) == .success)
            #expect(try Self.view(bench, 1).extensionFieldSetStructs?.first?.attributeValueList == pairs)
            try Self.recall(bench, 1)
            #expect(try bench.temperature == 200)
            let wrong = [FieldSet(clusterID: ColorControl.id, attributeValueList: [Pair(attributeID: 3, valueUnsigned8: 1)])]
            #expect(try Self.add(bench, 2, wrong) == .invalidCommand)
        }
    }

    @Test func aSceneSurvivesARestart() async throws {
        try await Bench.run { bench in
            try Self.prepare(bench)
            try bench.moveToLevel(70)
            #expect(try Self.store(bench, 9) == .success)
            let viewed = try Self.view(bench, 9)
            try bench.restart { _ in try Self.prepare(bench, start: false) }
            #expect(try Self.view(bench, 9) == viewed)
            #expect(
                try Self.info(bench)
                    == .init(sceneCount: 1, currentScene: 255, currentGroup: 0, sceneValid: false, remainingCapacity: 6, fabricIndex: 1))
            try bench.invoke(OnOff.Off())
            try Self.recall(bench, 9)
            #expect(try bench.isOn)
            #expect(try bench.level == 70)
        }
    }

    // MARK: The table

    @Test func addingAndViewing() async throws {
        try await Bench.run { bench in
            try Self.prepare(bench)
            #expect(try Self.add(bench, 1, time: 1000) == .success)
            let viewed = try Self.view(bench, 1)
            #expect(
                viewed
                    == .init(
                        status: .success, groupID: 0, sceneID: 1, transitionTime: 1000, sceneName: "evening",
                        extensionFieldSetStructs: Self.evening))
            // Stored over, it keeps name and time.
            #expect(try Self.store(bench, 1) == .success)
            let stored = try Self.view(bench, 1)
            #expect(stored.transitionTime == 1000 && stored.sceneName == "evening")
            #expect(stored.extensionFieldSetStructs?.map(\.clusterID) == [OnOff.id, LevelControl.id, ColorControl.id])

            #expect(try Self.add(bench, 255) == .constraintError)
            #expect(try Self.add(bench, 2, time: 60_000_001) == .constraintError)
            #expect(try Self.add(bench, 2, name: "seventeen letters") == .constraintError)
            #expect(try Self.view(bench, 2) == .init(status: .notFound, groupID: 0, sceneID: 2))
            #expect(try Self.view(bench, 255).status == .constraintError)
        }
    }

    @Test func whatScenesKeepIsChecked() async throws {
        try await Bench.run { bench in
            try Self.prepare(bench)
            func add(_ cluster: ClusterID, _ pair: Pair) throws -> StatusCode {
                try Self.add(bench, 1, [FieldSet(clusterID: cluster, attributeValueList: [pair])])
            }
            // Not an attribute of scenes; another width; another sign; no value; two values.
            #expect(try add(OnOff.id, Pair(attributeID: 0x4001, valueUnsigned16: 1)) == .invalidCommand)
            #expect(try add(OnOff.id, Pair(attributeID: 0x7777, valueUnsigned8: 1)) == .invalidCommand)
            #expect(try add(LevelControl.id, Pair(attributeID: 0, valueUnsigned16: 100)) == .invalidCommand)
            #expect(try add(LevelControl.id, Pair(attributeID: 0, valueSigned8: 100)) == .invalidCommand)
            #expect(try add(LevelControl.id, Pair(attributeID: 0)) == .invalidCommand)
            #expect(try add(LevelControl.id, Pair(attributeID: 0, valueUnsigned8: 1, valueUnsigned16: 1)) == .invalidCommand)
            #expect(try Self.info(bench)?.sceneCount ?? 0 == 0)
            // A cluster that the endpoint does not have is passed over.
            #expect(try add(0x0050, Pair(attributeID: 3, valueUnsigned8: 1)) == .success)
            #expect(try Self.view(bench, 1).extensionFieldSetStructs == [])
            #expect(try add(OnOff.id, Pair(attributeID: 0, valueUnsigned8: 200)) == .success)
            #expect(
                try Self.view(bench, 1).extensionFieldSetStructs
                    == [FieldSet(clusterID: OnOff.id, attributeValueList: [Pair(attributeID: 0, valueUnsigned8: 1)])])
        }
    }

    @Test func everyFabricHasItsShare() async throws {
        try await Bench.run { bench in
            try Self.prepare(bench)
            for scene in 1...7 { #expect(try Self.add(bench, UInt8(scene)) == .success) }
            #expect(try Self.add(bench, 8) == .resourceExhausted)
            #expect(try Self.store(bench, 8) == .resourceExhausted)
            #expect(try Self.add(bench, 7, name: "again") == .success)
            let membership = try bench.invoke(Spec.GetSceneMembership(groupID: 0))
            #expect(membership.capacity == .value(0))
            #expect(membership.sceneList == [1, 2, 3, 4, 5, 6, 7])
            for scene in 1...7 { #expect(try Self.add(bench, UInt8(scene), fabric: 2) == .success) }
            // Of 16 entries 2 are left, which a third fabric may use, though its share would be 7.
            #expect(try Self.add(bench, 1, fabric: 3) == .success)
            #expect(try Self.info(bench, fabric: 3)?.remainingCapacity == 1)
            #expect(try Self.add(bench, 2, fabric: 3) == .success)
            #expect(try Self.add(bench, 3, fabric: 3) == .resourceExhausted)
            bench.node.forget(2)
            #expect(try Self.info(bench, fabric: 2) == nil)
            #expect(try Self.info(bench, fabric: 3)?.remainingCapacity == 5)
            try bench.restart { _ in try Self.prepare(bench, start: false) }
            #expect(try Self.info(bench, fabric: 2) == nil)
            #expect(try Self.info(bench, fabric: 1)?.sceneCount == 7)
        }
    }

    @Test func removing() async throws {
        try await Bench.run { bench in
            try Self.prepare(bench)
            #expect(try Self.store(bench, 1) == .success)
            #expect(try Self.add(bench, 2) == .success)
            let reports = bench.watch(Spec.id, Spec.Attributes.fabricSceneInfo)
            #expect(try bench.invoke(Spec.RemoveScene(groupID: 0, sceneID: 2)).status == .success)
            #expect(try Self.info(bench)?.sceneValid == true)
            #expect(try bench.invoke(Spec.RemoveScene(groupID: 0, sceneID: 2)).status == .notFound)
            #expect(try bench.invoke(Spec.RemoveScene(groupID: 0, sceneID: 255)).status == .constraintError)
            #expect(try bench.invoke(Spec.RemoveScene(groupID: 0, sceneID: 1)).status == .success)
            #expect(try Self.info(bench)?.sceneValid == false)
            #expect(reports.values.count == 2)
            #expect(try Self.add(bench, 2) == .success)
            #expect(try bench.invoke(Spec.RemoveAllScenes(groupID: 0)).status == .success)
            #expect(try Self.info(bench)?.sceneCount == 0)
        }
    }

    @Test func copying() async throws {
        try await Bench.run { bench in
            try Self.prepare(bench, inGroups: true)
            func copy(_ mode: Spec.CopyModeBitmap, _ from: (GroupID, UInt8), _ to: (GroupID, UInt8)) throws -> StatusCode {
                try bench.invoke(
                    Spec.CopyScene(
                        mode: mode, groupIdentifierFrom: from.0, sceneIdentifierFrom: from.1, groupIdentifierTo: to.0,
                        sceneIdentifierTo: to.1)
                ).status
            }
            for scene: UInt8 in [1, 2, 3] { #expect(try Self.add(bench, scene, in: 1, name: "s\(scene)") == .success) }
            #expect(try copy([], (1, 2), (2, 9)) == .success)
            #expect(try Self.view(bench, 9, in: 2).sceneName == "s2")
            #expect(try copy([], (1, 7), (2, 9)) == .notFound)
            #expect(try copy([], (1, 255), (2, 9)) == .constraintError)
            #expect(try copy([], (3, 1), (2, 9)) == .invalidCommand)
            #expect(try copy([], (1, 1), (3, 9)) == .invalidCommand)
            #expect(try copy(.copyAllScenes, (1, 255), (2, 255)) == .success)
            #expect(try bench.invoke(Spec.GetSceneMembership(groupID: 2)).sceneList == [1, 2, 3, 9])
            // No room left, but over what is there it can be copied.
            #expect(try Self.info(bench)?.remainingCapacity == 0)
            #expect(try copy([], (1, 1), (0, 1)) == .resourceExhausted)
            #expect(try copy([], (1, 1), (2, 9)) == .success)
            #expect(try Self.view(bench, 9, in: 2).sceneName == "s1")
            // TestScenesMaxCapacity: what there is room for is copied.
            #expect(try bench.invoke(Spec.RemoveScene(groupID: 2, sceneID: 9)).status == .success)
            #expect(try bench.invoke(Spec.RemoveScene(groupID: 2, sceneID: 3)).status == .success)
            #expect(try copy(.copyAllScenes, (1, 0), (0, 0)) == .resourceExhausted)
            #expect(try bench.invoke(Spec.GetSceneMembership(groupID: 0)).sceneList == [1, 2])
        }
    }

    @Test func scenesOfGroupsAreForMembers() async throws {
        try await Bench.run { bench in
            try Self.prepare(bench, inGroups: true)
            #expect(try Self.add(bench, 1, in: 3) == .invalidCommand)
            #expect(try Self.store(bench, 1, in: 3) == .invalidCommand)
            #expect(try Self.view(bench, 1, in: 3).status == .invalidCommand)
            #expect(try bench.invoke(Spec.RemoveScene(groupID: 3, sceneID: 1)).status == .invalidCommand)
            #expect(try bench.invoke(Spec.RemoveAllScenes(groupID: 3)).status == .invalidCommand)
            #expect(
                try bench.invoke(Spec.GetSceneMembership(groupID: 3)) == .init(status: .invalidCommand, capacity: .null, groupID: 3))
            #expect(status { try Self.recall(bench, 1, in: 3) } == .invalidCommand)
            #expect(try Self.store(bench, 1, in: 1) == .success)
            #expect(try Self.store(bench, 1, in: 2) == .success)
            #expect(try Self.info(bench)?.currentGroup == 2)
            // With the membership its scenes go.
            try bench.invoke(Groups.RemoveGroup(groupID: 2))
            #expect(try Self.info(bench)?.sceneCount == 1)
            #expect(try Self.info(bench)?.sceneValid == false)
            try bench.invoke(Groups.RemoveAllGroups())
            #expect(try Self.info(bench)?.sceneCount == 0)
        }
    }

    // MARK: With On/Off

    @Test func theGlobalSceneComesBackWithTheLight() async throws {
        try await Bench.run { bench in
            try Self.prepare(bench)
            try bench.moveToLevel(123)
            try bench.moveToTemperature(321)
            try bench.invoke(OnOff.OffWithEffect(effectIdentifier: .delayedAllOff, effectVariant: 1))
            #expect(try Self.info(bench)?.sceneCount == 1)
            try bench.moveToTemperature(200, mask: 1, override: 1)
            // The second time it is off already, and what was kept stays.
            try bench.invoke(OnOff.OffWithEffect(effectIdentifier: .delayedAllOff, effectVariant: 1))
            try bench.invoke(OnOff.OnWithRecallGlobalScene())
            #expect(try bench.isOn)
            #expect(try [bench.level, bench.temperature] == [123, 321])
            try bench.moveToLevel(50)
            try bench.invoke(OnOff.OnWithRecallGlobalScene())
            #expect(try bench.level == 50, "only after OffWithEffect")
        }
    }

    @Test func commandsThatChangeTheLightEndTheScene() async throws {
        try await Bench.run { bench in
            try Self.prepare(bench)
            for change in 0..<5 {
                #expect(try Self.store(bench, 1) == .success)
                switch change {
                case 0: try bench.moveToLevel(33, tenths: 20)
                case 1: try bench.invoke(OnOff.Toggle())
                case 2: try bench.moveToTemperature(401, mask: 1, override: 1)
                case 3: try bench.timedOff(10, 0)
                default: try bench.setLoop(.updateAction, .activateFromEnhancedCurrentHue)
                }
                #expect(try Self.info(bench)?.sceneValid == false)
            }
            #expect(try Self.store(bench, 1) == .success)
            try bench.invoke(OnOff.On())
            #expect(try Self.info(bench)?.sceneValid == true, "it was on already")
        }
    }

    // MARK: With a covering

    @Test func scenesKeepWhereACoveringGoes() async throws {
        try await Bench.run { bench in
            typealias Covering = WindowCovering
            let features: Covering.Feature = [.lift, .positionAwareLift]
            try bench.add(Covering.id, ClusterConfiguration(features: features.rawValue))
            try bench.add(ScenesManagement.id, ClusterConfiguration())
            bench.node.start()
            func position() throws -> UInt64? {
                try bench.number(Covering.id, Covering.Attributes.currentPositionLiftPercent100ths)
            }
            let target = Covering.Attributes.targetPositionLiftPercent100ths
            #expect(
                try Self.add(
                    bench, 1,
                    [FieldSet(clusterID: Covering.id, attributeValueList: [Pair(attributeID: target, valueUnsigned16: 2500)])])
                    == .success)
            try Self.recall(bench, 1)
            try await bench.advance(.seconds(600))
            #expect(try position() == 2500)
            #expect(try Self.info(bench)?.sceneValid == true)
            try bench.invoke(Covering.DownOrClose())
            #expect(try Self.info(bench)?.sceneValid == false)
            #expect(try Self.store(bench, 2) == .success)
            try bench.invoke(Covering.UpOrOpen())
            try await bench.advance(.seconds(600))
            try Self.recall(bench, 2)
            try await bench.advance(.seconds(600))
            #expect(try position() == 10000)
        }
    }
}
