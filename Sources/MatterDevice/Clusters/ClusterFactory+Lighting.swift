import MatterModel

extension ClusterFactory {
    static let lightingMakers: [ClusterID: Maker] = [:]

    static let lightingParameters: [ClusterID: [ClusterParameter]] = [:]
}
