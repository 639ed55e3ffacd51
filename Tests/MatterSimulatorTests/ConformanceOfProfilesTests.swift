import HearthTime
import MatterDevice
import MatterModel
import Testing

@testable import MatterSimulator

/// The ready profiles are what the Device Library and the clusters' own conformance ask for.
@Suite struct ConformanceOfProfilesTests {
    static let profiles: [DeviceProfile] = {
        let library = ProfileLibrary(folders: [profileFolder])
        return library.files().compactMap { try? library.profile($0) }
    }()

    @Test(arguments: profiles.map(\.name)) func everyClusterConforms(_ name: String) async throws {
        let profile = try #require(Self.profiles.first { $0.name == name })
        let timeline = Timeline(mode: .manual)
        defer { timeline.shutdown() }
        let problems = try await timeline.run {
            let environment = DeviceEnvironment(
                timeline: timeline, origin: timeline.origin(name), store: MemoryDeviceStore(), name: name, seed: 1)
            let node = DeviceNode(environment: environment)
            var problems: [String] = []
            for endpoint in profile.endpoints {
                let server = EndpointBuilder.build(endpoint, on: node)
                node.add(server)
                for cluster in server.clusters.compactMap({ $0 as? Cluster }) {
                    problems += cluster.elements.conformanceProblems.map { "endpoint \(endpoint.id): \($0)" }
                }
                for type in endpoint.deviceTypes.compactMap({ DataModel.deviceType(id: $0) }) {
                    for requirement in type.clusters where requirement.side == .server {
                        // Only what needs no condition of the Device Library.
                        let outcome = requirement.conformance.evaluate(isTrue: { _ in false })
                        let isThere = server.cluster(requirement.id) != nil
                        if outcome == .mandatory, !isThere { problems.append("\(type.name) needs \(requirement.name)") }
                        if requirement.conformance.text == "X", isThere { problems.append("\(type.name) disallows \(requirement.name)") }
                    }
                }
            }
            return problems
        }
        #expect(problems.isEmpty, "\(problems.joined(separator: "\n"))")
    }

    /// Whoever wrote the values that a device has by itself into its profile would make no mistake.
    @Test(arguments: profiles.map(\.name)) func theFirstValuesGoTogether(_ name: String) async throws {
        let profile = try #require(Self.profiles.first { $0.name == name })
        let timeline = Timeline(mode: .manual)
        defer { timeline.shutdown() }
        let problems = try await timeline.run {
            let environment = DeviceEnvironment(
                timeline: timeline, origin: timeline.origin(name), store: MemoryDeviceStore(), name: name, seed: 1)
            let node = DeviceNode(environment: environment)
            var problems: [String] = []
            for endpoint in profile.endpoints {
                for cluster in EndpointBuilder.build(endpoint, on: node).clusters.compactMap({ $0 as? Cluster }) {
                    let said = Cluster.Said(attributes: Self.ofItsOwn(cluster))
                    problems += cluster.configurationProblems(said).map { "\(endpoint.id) \(cluster.definition.name): \($0.message)" }
                }
            }
            return problems
        }
        #expect(problems.isEmpty, "\(problems.joined(separator: "\n"))")
    }

    /// Every cluster, with each of its features alone, with none and with all, begins with values that go together.
    @Test(arguments: DataModel.index.map(\.id)) func everyClusterBeginsWithValuesThatGoTogether(_ id: ClusterID) async throws {
        let definition = try #require(DataModel.cluster(id: id))
        let timeline = Timeline(mode: .manual)
        defer { timeline.shutdown() }
        let problems = try await timeline.run {
            let environment = DeviceEnvironment(
                timeline: timeline, origin: timeline.origin("any"), store: MemoryDeviceStore(), name: "any", seed: 1)
            let node = DeviceNode(environment: environment)
            let bits = definition.features.map { UInt32(1) << UInt32($0.bit) }
            var problems: Set<String> = []
            for features in [0] + bits + [bits.reduce(0, |)] {
                let configuration = ClusterConfiguration(features: features)
                guard let cluster = ClusterFactory.make(id, endpoint: 1, node: node, configuration: configuration) else { continue }
                let said = Cluster.Said(attributes: Self.ofItsOwn(cluster))
                for problem in cluster.configurationProblems(said) {
                    problems.insert("\(definition.name) \(definition.featureCodes(of: features)): \(problem.message)")
                }
            }
            return problems.sorted()
        }
        #expect(problems.isEmpty, "\(problems.joined(separator: "\n"))")
    }

    /// These say what the node is, and begin with nothing where there is none.
    private static let ofTheNode = [Descriptor.id, BasicInformation.id, GeneralCommissioning.id]

    /// The attributes that a profile may give.
    private static func ofItsOwn(_ cluster: Cluster) -> Set<AttributeID> {
        guard !ofTheNode.contains(cluster.definition.id) else { return [] }
        let globals = Set(DataModel.globalAttributes.map(\.id))
        return Set(cluster.elements.attributes.keys).subtracting(globals)
    }
}
