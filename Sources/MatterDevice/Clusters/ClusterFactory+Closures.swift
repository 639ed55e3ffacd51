import MatterModel

extension ClusterFactory {
    static let closureMakers: [ClusterID: Maker] = [:]
}
