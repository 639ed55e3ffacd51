import HearthTime
import MatterDevice
import MatterInteraction
import MatterModel
import Testing

@testable import MatterSimulator

/// The ready profiles are what the Device Library and the clusters' own conformance ask for.
@Suite struct ConformanceOfProfilesTests {
    static let profiles: [DeviceProfile] = {
        let library = ProfileLibrary(folders: [profileFolder])
        return library.files().compactMap { try? library.profile($0) }
    }()

    /// A node that does not run.
    private static func withNode<Result: Sendable>(
        _ name: String, _ body: @escaping @Sendable (DeviceNode) async throws -> Result
    ) async throws -> Result {
        let timeline = Timeline(mode: .manual)
        defer { timeline.shutdown() }
        return try await timeline.run {
            let environment = DeviceEnvironment(
                timeline: timeline, origin: timeline.origin(name), store: MemoryDeviceStore(), name: name, seed: 1)
            return try await body(DeviceNode(environment: environment))
        }
    }

    @Test(arguments: profiles.map(\.name)) func everyClusterConforms(_ name: String) async throws {
        let profile = try #require(Self.profiles.first { $0.name == name })
        let problems = try await Self.withNode(name) { node in
            var problems: [String] = []
            for endpoint in profile.endpoints {
                let server = EndpointBuilder.build(endpoint, on: node)
                node.add(server)
                for cluster in server.clusters.compactMap({ $0 as? Cluster }) {
                    problems += cluster.elements.conformanceProblems.map { "endpoint \(endpoint.id): \($0)" }
                }
                let types = endpoint.deviceTypes.compactMap { DataModel.deviceType(id: $0) }
                // The conditions of the Base device type that a ready profile can meet; of all others it meets none.
                let conditions: [String: Bool] = [
                    "Simple": types.contains { $0.classification == .simple },
                    "Client": try Self.isClientOfApplications(server), "Duplicate": Self.isDuplicate(endpoint, profile),
                ]
                for type in types {
                    for requirement in type.clusters where requirement.side == .server {
                        for element in requirement.elements where element.kind == .feature && element.name == "TAGLIST" {
                            let wanted = element.conformance?.evaluate(isTrue: { conditions[$0] ?? false }) == .mandatory
                            let bit = Descriptor.Feature.tagList.rawValue
                            let hasTags = (server.cluster(Descriptor.id) as? Cluster)?.hasFeature(bit) == true
                            if wanted, !hasTags { problems.append("endpoint \(endpoint.id): \(type.name) needs tags beside its like") }
                        }
                        let outcome = requirement.conformance.evaluate(isTrue: { conditions[$0] ?? false })
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

    /// As everybody sees it: the endpoint is a client of something that is no cluster of the node's own.
    private static func isClientOfApplications(_ server: EndpointServer) throws -> Bool {
        let descriptor = try #require(server.cluster(Descriptor.id))
        let list = try #require(descriptor.attribute(Descriptor.Attributes.clientList))
        return try descriptor.read(list, .local()).array?.isEmpty == false
    }

    /// Another endpoint beside it has the same application device type. What is behind an aggregator is told apart by its name.
    private static func isDuplicate(_ endpoint: DeviceProfile.Endpoint, _ profile: DeviceProfile) -> Bool {
        let parent = profile.endpoints.first { $0.id == endpoint.parent }
        guard parent?.deviceTypes.contains(DeviceTypeDefinition.aggregator.id) != true else { return false }
        let beside = profile.endpoints.filter { $0.parent == endpoint.parent && $0.id != endpoint.id }.flatMap(\.deviceTypes)
        return endpoint.deviceTypes.contains { type in
            beside.contains(type) && DataModel.deviceType(id: type)?.classification == .simple
        }
    }

    /// Switches and controllers talk to others, and can be told to whom; what only answers cannot.
    @Test(arguments: DataModel.deviceTypes.filter { $0.classification == .simple }.map(\.name))
    func clientsHaveBindings(_ name: String) async throws {
        let type = try #require(DataModel.deviceType(named: name))
        let (isClient, hasBinding) = try await Self.withNode("any") { node in
            let server = EndpointBuilder.build(DeviceProfile.Endpoint(1, deviceTypes: [type.id]), on: node)
            return (try Self.isClientOfApplications(server), server.cluster(Binding.id) is BindingCluster)
        }
        #expect(isClient == hasBinding)
        let clients = type.clusters.filter { $0.side == .client && $0.conformance.text == "M" }
        #expect(isClient == !clients.isEmpty)
    }

    /// Whoever wrote the values that a device has by itself into its profile would make no mistake.
    @Test(arguments: profiles.map(\.name)) func theFirstValuesGoTogether(_ name: String) async throws {
        let profile = try #require(Self.profiles.first { $0.name == name })
        let problems = try await Self.withNode(name) { node in
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
        let problems = try await Self.withNode("any") { node in
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
