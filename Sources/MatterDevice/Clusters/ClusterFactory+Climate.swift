import MatterModel

extension ClusterFactory {
    static let climateMakers: [ClusterID: Maker] = [:]

    static let climateParameters: [ClusterID: [ClusterParameter]] = [:]
}
