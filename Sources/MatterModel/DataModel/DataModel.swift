/// The data model as a whole: every cluster and device type that this package defines, by id and by name.
///
/// Names are compared without case, spaces, dashes, slashes and underscores: `OnOff`, `on-off` and `On/Off` are one name.
public enum DataModel {
    private static let byID: [ClusterID: ClusterIndexEntry] = Dictionary(
        index.map { ($0.id, $0) }, uniquingKeysWith: { first, _ in first })
    private static let byName: [String: ClusterIndexEntry] = {
        var names: [String: ClusterIndexEntry] = [:]
        for entry in index { names[normalizedName(entry.name)] = entry }
        for entry in index where names[normalizedName(entry.title)] == nil { names[normalizedName(entry.title)] = entry }
        return names
    }()

    /// Nil for a cluster that has no definition here. Made on first use and kept.
    public static func cluster(id: ClusterID) -> ClusterDefinition? { byID[id]?.definition }
    /// By name or title.
    public static func cluster(named name: String) -> ClusterDefinition? { byName[normalizedName(name)]?.definition }
    /// Without making the definition.
    public static func clusterName(_ id: ClusterID) -> String? { byID[id]?.name }

    /// The attributes that every cluster has, in the order of ids.
    public static var globalAttributes: [AttributeDefinition] { GlobalTypes.attributes }
    /// Enumerations, bitmaps and structures that belong to no cluster.
    public static var globalTypes: [TypeReference] { GlobalTypes.types }
    public static var deviceTypes: [DeviceTypeDefinition] { DeviceTypeDefinition.all }

    /// Nil for a device type that has no definition here.
    public static func deviceType(id: DeviceTypeID) -> DeviceTypeDefinition? { deviceTypes.first { $0.id == id } }
    /// By name or title.
    public static func deviceType(named name: String) -> DeviceTypeDefinition? {
        let wanted = normalizedName(name)
        return deviceTypes.first { normalizedName($0.name) == wanted || normalizedName($0.title) == wanted }
    }

    /// A name as it is compared: lower case, letters and digits only.
    public static func normalizedName(_ name: String) -> String {
        String(name.unicodeScalars.lazy.filter { $0.properties.isAlphabetic || ("0"..."9").contains($0) }.map(Character.init))
            .lowercased()
    }
}

/// One line of the index of clusters. The definition is made when it is first asked for.
public struct ClusterIndexEntry: Sendable {
    public let id: ClusterID
    public let name: String
    public let title: String
    public let picsCode: String
    private let make: @Sendable () -> ClusterDefinition

    public var definition: ClusterDefinition { make() }

    init(
        _ id: ClusterID, _ name: String, _ title: String, _ picsCode: String, _ make: @escaping @Sendable () -> ClusterDefinition
    ) {
        (self.id, self.name, self.title, self.picsCode, self.make) = (id, name, title, picsCode, make)
    }
}
