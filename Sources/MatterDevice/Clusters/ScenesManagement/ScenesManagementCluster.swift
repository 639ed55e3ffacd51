import HearthTime
import MatterInteraction
import MatterModel
import MatterTLV

/// Scenes Management (Matter Application Clusters, 1.4): states of an endpoint's clusters that can be gone back to, kept for each fabric.
///
/// How many: SceneTableSize, which a profile may give as the attribute's value; 16 without.
public final class ScenesManagementCluster: Cluster {
    typealias Spec = ScenesManagement

    /// Which scene it is, within its fabric.
    struct Key: Hashable {
        var group: GroupID
        var scene: UInt8
        /// The one that On/Off uses by itself.
        static let global = Key(group: 0, scene: 0)
    }

    struct Scene: Hashable {
        /// Milliseconds.
        var transitionTime: UInt32 = 0
        var name = ""
        var fields: [Spec.ExtensionFieldSetStruct] = []
    }

    /// The scene that a fabric stored or recalled last, and whether the endpoint is still like that.
    private struct Current: Hashable {
        var key: Key?
        var isValid = false
    }

    private var table: [FabricIndex: [Key: Scene]] = [:]
    private var current: [FabricIndex: Current] = [:]
    private var isRecalling = false

    public init(endpoint: EndpointID, node: DeviceNode, configuration: ClusterConfiguration = .init()) {
        var configuration = configuration
        if configuration.features == 0 { configuration.features = Spec.Feature.sceneNames.rawValue }
        super.init(
            Spec.definition, endpoint: endpoint, node: node, configuration: configuration,
            alsoSupported: ([], [Spec.Commands.copyScene]))
        for name in keptNames(withPrefix: Self.prefix) { restore(name) }
    }

    // MARK: The table

    private static let prefix = "scene/"
    private static func name(_ key: Key, _ fabric: FabricIndex) -> String {
        "\(prefix)\(fabric.rawValue)/\(key.group.rawValue)/\(key.scene)"
    }

    private func restore(_ name: String) {
        let parts = name.dropFirst(Self.prefix.count).split(separator: "/")
        // A scene is kept as the command that would add it.
        guard let first = parts.first, let fabric = UInt8(first), let bytes = kept(name), let value = try? TLVValue(decoding: bytes),
            let added = try? Spec.AddScene(tlv: value)
        else { return }
        table[FabricIndex(fabric), default: [:]][Key(group: added.groupID, scene: added.sceneID)] = Scene(
            transitionTime: added.transitionTime, name: added.sceneName, fields: added.extensionFieldSetStructs)
    }

    func scene(_ key: Key, of fabric: FabricIndex) -> Scene? { table[fabric]?[key] }

    func keys(in group: GroupID, of fabric: FabricIndex) -> [Key] {
        (table[fabric] ?? [:]).keys.filter { $0.group == group }.sorted { $0.scene < $1.scene }
    }

    /// Puts a scene into the table, or removes it.
    func put(_ scene: Scene?, _ key: Key, of fabric: FabricIndex) {
        table[fabric, default: [:]][key] = scene
        guard let scene else {
            keep(nil, as: Self.name(key, fabric))
            if current[fabric]?.key == key { current[fabric]?.isValid = false }
            return
        }
        let added = Spec.AddScene(
            groupID: key.group, sceneID: key.scene, transitionTime: scene.transitionTime, sceneName: scene.name,
            extensionFieldSetStructs: scene.fields)
        keep(added.tlv.encoded(), as: Self.name(key, fabric))
    }

    /// How many scenes a fabric can still have: less than half of the table, and no more than there is room (1.4.8.3).
    func capacity(of fabric: FabricIndex) -> Int {
        let size = Int(clamping: value(Spec.Attributes.sceneTableSize).unsigned ?? 16)
        let own = min(max(0, size - 1) / 2, 253) - (table[fabric]?.count ?? 0)
        return max(0, min(own, size - table.values.reduce(0) { $0 + $1.count }))
    }

    /// FabricSceneInfo has changed.
    func changed() { touch(Spec.Attributes.fabricSceneInfo) }

    public override func computedValue(of attribute: AttributeID, _ context: InteractionContext) -> TLVValue? {
        guard attribute == Spec.Attributes.fabricSceneInfo else { return nil }
        let fabrics = Set(node.commissioning.fabrics.fabrics.map(\.index)).union(table.keys).union(current.keys)
        return .array(
            fabrics.sorted().map { fabric in
                let current = current[fabric] ?? Current()
                return Spec.SceneInfoStruct(
                    sceneCount: UInt8(clamping: table[fabric]?.count ?? 0), currentScene: current.key?.scene ?? 0xFF,
                    currentGroup: current.key?.group ?? 0, sceneValid: current.isValid,
                    remainingCapacity: UInt8(clamping: capacity(of: fabric)), fabricIndex: fabric
                ).tlv
            })
    }

    // MARK: Storing and recalling

    private var sceneable: [any SceneableCluster] {
        (node.endpoint(endpoint)?.clusters ?? []).compactMap { $0 as? any SceneableCluster }
    }
    func sceneable(_ cluster: ClusterID) -> (any SceneableCluster)? { sceneable.first { $0.definition.id == cluster } }

    /// Keeps the present state as a scene. An existing one keeps its name and its time (1.4.9.6).
    func store(_ key: Key, of fabric: FabricIndex) throws(Status) {
        var scene = table[fabric]?[key] ?? Scene()
        guard table[fabric]?[key] != nil || capacity(of: fabric) > 0 else { throw Status(.resourceExhausted) }
        scene.fields = sceneable.map { cluster in
            let pairs = cluster.sceneValues().compactMap { entry in
                cluster.attribute(entry.attribute).flatMap { SceneValues.pair($0, entry.value) }
            }
            return Spec.ExtensionFieldSetStruct(clusterID: cluster.definition.id, attributeValueList: pairs)
        }
        put(scene, key, of: fabric)
        current[fabric] = Current(key: key, isValid: true)
        changed()
    }

    /// Goes to a scene, over its own time unless another is given, in milliseconds (1.4.9.7).
    func recall(_ key: Key, of fabric: FabricIndex, over transition: UInt32?) throws(Status) {
        guard let scene = table[fabric]?[key] else { throw Status(.notFound) }
        let duration = Duration.milliseconds(Int64(transition ?? scene.transitionTime))
        for other in current.keys { current[other]?.isValid = false }
        isRecalling = true
        defer { isRecalling = false }
        for fields in scene.fields {
            guard let cluster = sceneable(fields.clusterID) else { continue }
            let values = fields.attributeValueList.compactMap { pair in
                cluster.attribute(pair.attributeID).flatMap { attribute in
                    SceneValues.value(pair, attribute).map { (attribute: attribute.id, value: $0) }
                }
            }
            cluster.recall(values, over: duration)
        }
        current[fabric] = Current(key: key, isValid: true)
        changed()
    }

    // MARK: What others do

    public override func fabricRemoved(_ fabric: FabricIndex) {
        for key in (table[fabric] ?? [:]).keys { keep(nil, as: Self.name(key, fabric)) }
        let isKnown = table.removeValue(forKey: fabric) != nil
        if current.removeValue(forKey: fabric) != nil || isKnown { changed() }
    }

    public override func handle(
        _ command: CommandDefinition, _ fields: TLVValue, _ context: InteractionContext
    ) throws(Status) -> CommandOutcome {
        try run(command, fields, context.fabricIndex)
    }

    /// What is out of bounds is told in the response.
    public override func checksFields(of command: CommandDefinition) -> Bool { false }
}

extension ScenesManagementCluster: GroupDependent {
    public func left(_ group: GroupID, of fabric: FabricIndex) {
        let keys = keys(in: group, of: fabric)
        for key in keys { put(nil, key, of: fabric) }
        if current[fabric]?.key?.group == group { current[fabric]?.isValid = false }
        if !keys.isEmpty { changed() }
    }
}

extension ScenesManagementCluster: GlobalScenes {
    func storeGlobalScene(of fabric: FabricIndex) {
        guard fabric != 0 else { return }
        // A full table leaves the light without a global scene; what switches it off must not fail for that.
        try? store(.global, of: fabric)
    }

    func recallGlobalScene(of fabric: FabricIndex) -> Bool {
        guard table[fabric]?[.global] != nil else { return false }
        do throws(Status) { try recall(.global, of: fabric, over: nil) } catch { return false }
        return true
    }

    func sceneableChanged() {
        guard !isRecalling, current.values.contains(where: \.isValid) else { return }
        for fabric in current.keys { current[fabric]?.isValid = false }
        changed()
    }
}
