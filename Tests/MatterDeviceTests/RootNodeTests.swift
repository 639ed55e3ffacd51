import HearthTime
import MatterInteraction
import MatterMessage
import MatterModel
import MatterTLV
import Testing

@testable import MatterDevice

/// Whether what the utility clusters are and say is what the data model says of them, element by element.
@Suite struct RootNodeTests {
    /// What does not conform: elements that are missing or too many, and values that break type or constraint.
    private static func problems(_ cluster: any ClusterServer, _ features: UInt32) throws -> [String] {
        let definition = cluster.definition
        let commands = Set(definition.commands.filter { $0.direction == .request && cluster.command($0.id) != nil }.map(\.id))
        let elements = ClusterElements(
            attributes: Set(cluster.attributeIDs.filter { !ClusterShape.isGlobal($0) }), acceptedCommands: commands,
            events: Set(cluster.eventIDs))
        var problems = definition.conformanceProblems(features: features, elements: elements)
        let checker = ValueChecker(cluster: definition, features: features) { name in
            guard let id = definition.attribute(named: name)?.id, let attribute = cluster.attribute(id) else { return nil }
            return try? cluster.read(attribute, .local())
        }
        for id in cluster.attributeIDs where !ClusterShape.isGlobal(id) {
            let attribute = try #require(cluster.attribute(id))
            do throws(Status) {
                try checker.check(cluster.read(attribute, .local()), of: attribute)
            } catch {
                problems.append("\(definition.name).\(attribute.name): \(error)")
            }
        }
        return problems
    }

    @Test func theRootEndpointConforms() async throws {
        try await Bench.run { bench in
            _ = try bench.makeRoot()
            for _ in 0..<2 {
                let root = try #require(bench.node.endpoint(0))
                for cluster in root.clusters {
                    let features = (cluster as? Cluster)?.features ?? 0
                    #expect(try Self.problems(cluster, features) == [])
                }
                // Once more as a member of a fabric.
                if bench.node.commissioning.fabrics.fabrics.isEmpty { try bench.commission(Administrator(fabric: 1)) }
            }
            let required = try #require(DataModel.deviceType(id: 0x0016)).clusters.filter {
                $0.side == .server && $0.conformance == .mandatory
            }
            for requirement in required { #expect(bench.node.endpoint(0)?.cluster(requirement.id) != nil, "\(requirement.name)") }
        }
    }

    static let others: [(ClusterID, ClusterConfiguration)] = [
        (Identify.id, .init()), (Groups.id, .init()), (Binding.id, .init()), (FixedLabel.id, .init()), (UserLabel.id, .init()),
        (LocalizationConfiguration.id, .init()), (TimeFormatLocalization.id, .init()), (TimeFormatLocalization.id, .init(features: 1)),
        (UnitLocalization.id, .init()), (PowerSource.id, .init(features: PowerSource.Feature.wired.rawValue)),
        (PowerSource.id, .init(features: PowerSource.Feature.battery.rawValue)),
        (
            BridgedDeviceBasicInformation.id,
            .init(attributes: [BridgedDeviceBasicInformation.Attributes.uniqueID: .utf8("u")])
        ),
        (GeneralDiagnostics.id, .init(features: 1)), (EthernetNetworkDiagnostics.id, .init(features: 3)),
    ]

    @Test func everyUtilityClusterConforms() async throws {
        try await Bench.run { bench in
            for (number, (id, configuration)) in Self.others.enumerated() {
                try bench.add(id, at: EndpointID(UInt16(number + 1)), configuration)
            }
            bench.node.start()
            for endpoint in bench.node.endpoints {
                for cluster in endpoint.clusters {
                    #expect(try Self.problems(cluster, (cluster as? Cluster)?.features ?? 0) == [])
                }
            }
        }
    }

    @Test func everyAcceptedCommandIsKnown() async throws {
        try await Bench.run { bench in
            _ = try bench.makeRoot()
            for (number, (id, configuration)) in Self.others.enumerated() where ClusterFactory.hasBehaviour(id) {
                try bench.add(id, at: EndpointID(UInt16(number + 1)), configuration)
            }
            for endpoint in bench.node.endpoints {
                for cluster in endpoint.clusters {
                    guard let cluster = cluster as? Cluster else { continue }
                    for command in cluster.definition.commands where cluster.command(command.id) != nil {
                        // Without its fields; a command that has none may succeed.
                        let code = status { _ = try cluster.handle(command, .structure([]), .init(peer: .node(1))) }
                        #expect(code != .unsupportedCommand, "\(cluster.definition.name).\(command.name)")
                    }
                }
            }
        }
    }
}
