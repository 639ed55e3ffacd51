import MatterModel

extension ClusterFactory {
    static let utilityMakers: [ClusterID: Maker] = [:]
}
