import MatterModel

extension ClusterFactory {
    static let lightingMakers: [ClusterID: Maker] = [
        ColorControl.id: { ColorControlCluster(endpoint: $0, node: $1, configuration: $2) },
        LevelControl.id: { LevelControlCluster(endpoint: $0, node: $1, configuration: $2) },
        OnOff.id: { OnOffCluster(endpoint: $0, node: $1, configuration: $2) },
        ScenesManagement.id: { ScenesManagementCluster(endpoint: $0, node: $1, configuration: $2) },
    ]

    static let lightingParameters: [ClusterID: [ClusterParameter]] = [:]
}
