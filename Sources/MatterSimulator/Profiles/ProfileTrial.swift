import HearthTime
import MatterDevice
import MatterModel

/// Makes the clusters of a profile, on a node that nobody starts, to see whether they can be what the file says.
///
/// So every first value is looked at beside those that the cluster has by itself, and by the same code that runs in a device.
final class ProfileTrial {
    private let timeline = Timeline(mode: .manual)
    private let node: DeviceNode
    private let context: ProfileContext

    init(_ context: ProfileContext) {
        self.context = context
        node = DeviceNode(
            environment: DeviceEnvironment(
                timeline: timeline, origin: .anonymous, store: MemoryDeviceStore(), name: "profile", seed: 0))
    }

    deinit { timeline.shutdown() }

    /// - Parameter knowsTypes: every device type could be read, and with them what they demand.
    func examine(_ endpoint: DeviceProfile.Endpoint, _ read: [ClusterID: ReadCluster], knowsTypes: Bool) {
        let server = EndpointBuilder.build(endpoint, on: node)
        for (id, said) in read.sorted(by: { $0.key < $1.key }) {
            guard let cluster = server.cluster(id) as? Cluster else { continue }
            examine(cluster, said, knowsFeatures: knowsTypes && said.isWhole)
        }
    }

    func examine(root read: [ClusterID: ReadCluster]) {
        for (id, said) in read.sorted(by: { $0.key < $1.key }) {
            let configuration = DeviceNode.rootConfiguration(id, said.configuration)
            guard let cluster = ClusterFactory.make(id, endpoint: 0, node: node, configuration: configuration) else { continue }
            examine(cluster, said, knowsFeatures: said.isWhole)
        }
    }

    private func examine(_ cluster: Cluster, _ read: ReadCluster, knowsFeatures: Bool) {
        let said = Cluster.Said(
            attributes: Set(read.configuration.attributes.keys), unread: read.unread, knowsFeatures: knowsFeatures)
        for problem in cluster.configurationProblems(said) {
            let place = read.place(of: problem.subject)
            context.report(place.node, place.path, problem.message)
        }
    }
}
