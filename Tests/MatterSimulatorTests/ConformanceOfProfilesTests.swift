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
                // Not every feature may stand alone, nor all of them together.
                for problem in cluster.configurationProblems(said) where problem.subject != .features {
                    problems.insert("\(definition.name) \(definition.featureCodes(of: features)): \(problem.message)")
                }
            }
            return problems.sorted()
        }
        #expect(problems.isEmpty, "\(problems.joined(separator: "\n"))")
    }

    /// A profile that says no more than what an endpoint is has no mistake, whatever clusters of its device type it names.
    @Test(arguments: DataModel.deviceTypes.filter { $0.classification != .node }.map(\.name))
    func aBareDeviceTypeIsAProfile(_ name: String) throws {
        let type = try #require(DataModel.deviceType(named: name))
        // Whether a node has a battery nobody can know.
        let clusters = type.clusters.filter {
            $0.side == .server && DataModel.cluster(id: $0.id) != nil && $0.conformance.text != "X" && $0.id != PowerSource.id
        }
        let lines = clusters.map { "      \($0.name):\n" }.joined()
        let text = "endpoints:\n  - deviceTypes: [\(name)]\n" + (lines.isEmpty ? "" : "    clusters:\n" + lines)
        do throws(ProfileErrors) { _ = try ProfileReader.read(Array(text.utf8), file: name) } catch {
            Issue.record("\(error.description)")
        }
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
