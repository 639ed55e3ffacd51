import MatterModel

extension ClusterFactory {
    static let climateMakers: [ClusterID: Maker] = [:]
}
