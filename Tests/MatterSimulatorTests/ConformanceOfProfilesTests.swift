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
}
