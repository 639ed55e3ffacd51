import MatterModel

extension ClusterFactory {
    static let lightingMakers: [ClusterID: Maker] = [:]
}
