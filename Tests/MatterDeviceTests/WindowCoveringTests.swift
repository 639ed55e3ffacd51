import HearthTime
import MatterInteraction
import MatterModel
import MatterTLV
import Testing

@testable import MatterDevice

@Suite struct WindowCoveringTests {
    typealias Spec = WindowCovering
    typealias Ids = WindowCovering.Attributes
    static let all: Spec.Feature = [.lift, .tilt, .positionAwareLift, .positionAwareTilt]

    static func configuration(
        _ features: Spec.Feature = all, travel: UInt64 = 10_000, tilt: UInt64 = 4_000, _ attributes: [AttributeID: TLVValue] = [:]
    ) -> ClusterConfiguration {
        ClusterConfiguration(
            features: features.rawValue, attributes: attributes,
            parameters: ["travelTime": .unsigned(travel), "tiltTime": .unsigned(tilt)])
    }

    /// A covering that runs.
    static func run(
        _ configuration: ClusterConfiguration = configuration(), _ body: @Sendable @concurrent (Bench) async throws -> Void
    ) async throws {
        try await Bench.run { bench in
            try bench.add(Spec.id, configuration)
            bench.node.start()
            try await body(bench)
        }
    }

    static func number(_ bench: Bench, _ attribute: AttributeID) throws -> UInt64? { try bench.read(Spec.id, attribute).unsigned }

    @Test func liftFollowsItsTargetOverTheTravelTime() async throws {
        try await Self.run { bench in
            try bench.invoke(Spec.GoToLiftPercentage(liftPercent100thsValue: 7520))
            #expect(try Self.number(bench, Ids.targetPositionLiftPercent100ths) == 7520)
            #expect(try Self.number(bench, Ids.currentPositionLiftPercent100ths) == 0)
            #expect(try Self.number(bench, Ids.operationalStatus) == 0b1010)
            try await bench.advance(.milliseconds(3760))
            #expect(try Self.number(bench, Ids.currentPositionLiftPercent100ths) == 3760)
            #expect(try Self.number(bench, Ids.currentPositionLiftPercentage) == 37)
            try await bench.advance(.milliseconds(3759))
            #expect(try Self.number(bench, Ids.operationalStatus) == 0b1010)
            try await bench.advance(.milliseconds(1))
            #expect(try Self.number(bench, Ids.operationalStatus) == 0)
            #expect(try Self.number(bench, Ids.currentPositionLiftPercent100ths) == 7520)
            #expect(try Self.number(bench, Ids.currentPositionLiftPercentage) == 75)
            #expect(try Self.number(bench, Ids.targetPositionTiltPercent100ths) == 0)
        }
    }

    @Test func upAndDownMoveEverythingAndTheStatusTellsTheDirection() async throws {
        try await Self.run { bench in
            try bench.invoke(Spec.DownOrClose())
            #expect(try Self.number(bench, Ids.operationalStatus) == 0b101010)
            try await bench.advance(.seconds(4))
            #expect(try Self.number(bench, Ids.operationalStatus) == 0b1010)
            #expect(try Self.number(bench, Ids.currentPositionTiltPercent100ths) == 10000)
            try await bench.advance(.seconds(6))
            #expect(try Self.number(bench, Ids.operationalStatus) == 0)
            try bench.invoke(Spec.UpOrOpen())
            #expect(try Self.number(bench, Ids.operationalStatus) == 21)
            try bench.invoke(Spec.StopMotion())
            try bench.invoke(Spec.GoToTiltPercentage(tiltPercent100thsValue: 0))
            #expect(try Self.number(bench, Ids.operationalStatus) == 17)
        }
    }

    @Test func stopMotionPutsTheTargetWhereTheCoveringIs() async throws {
        try await Self.run { bench in
            try bench.invoke(Spec.DownOrClose())
            try await bench.advance(.milliseconds(2500))
            try bench.invoke(Spec.StopMotion())
            #expect(try Self.number(bench, Ids.operationalStatus) == 0)
            #expect(try Self.number(bench, Ids.currentPositionLiftPercent100ths) == 2500)
            #expect(try Self.number(bench, Ids.targetPositionLiftPercent100ths) == 2500)
            #expect(try Self.number(bench, Ids.targetPositionTiltPercent100ths) == 6250)
            try await bench.advance(.seconds(60))
            #expect(try Self.number(bench, Ids.currentPositionLiftPercent100ths) == 2500)
        }
    }

    @Test func aNewTargetTurnsTheMotionWhereItIs() async throws {
        try await Self.run { bench in
            try bench.invoke(Spec.DownOrClose())
            try await bench.advance(.seconds(5))
            try bench.invoke(Spec.GoToLiftPercentage(liftPercent100thsValue: 2000))
            #expect(try Self.number(bench, Ids.operationalStatus) == 0b0101)
            try await bench.advance(.seconds(3))
            #expect(try Self.number(bench, Ids.currentPositionLiftPercent100ths) == 2000)
            #expect(try Self.number(bench, Ids.operationalStatus) == 0)
            #expect(try Self.number(bench, Ids.numberOfActuationsLift) == 2)
        }
    }

    @Test(arguments: [10001, 12288, 0xFFFF] as [UInt16]) func beyondTheEndIsAConstraintError(_ value: UInt16) async throws {
        try await Self.run { bench in
            #expect(status { _ = try bench.invoke(Spec.GoToLiftPercentage(liftPercent100thsValue: value)) } == .constraintError)
            #expect(status { _ = try bench.invoke(Spec.GoToTiltPercentage(tiltPercent100thsValue: value)) } == .constraintError)
            try await bench.advance(.seconds(1))
            #expect(try Self.number(bench, Ids.operationalStatus) == 0)
            #expect(try Self.number(bench, Ids.targetPositionLiftPercent100ths) == 0)
        }
    }

    private static func config(_ bench: Bench) throws -> Spec.ConfigStatusBitmap {
        try Spec.ConfigStatusBitmap(tlv: bench.read(Spec.id, Ids.configStatus))
    }

    @Test func modesRefuseMotion() async throws {
        try await Self.run { bench in
            #expect(try Self.config(bench).contains(.operational))
            try bench.write(Spec.id, Ids.mode, Spec.ModeBitmap.calibrationMode)
            #expect(status { _ = try bench.invoke(Spec.DownOrClose()) } == .failure)
            #expect(try !Self.config(bench).contains(.operational))
            try bench.write(Spec.id, Ids.mode, Spec.ModeBitmap.maintenanceMode)
            #expect(status { _ = try bench.invoke(Spec.DownOrClose()) } == .busy)
            #expect(status { _ = try bench.invoke(Spec.GoToLiftPercentage(liftPercent100thsValue: 50)) } == .busy)
            #expect(status { try bench.write(Spec.id, Ids.mode, Spec.ModeBitmap(rawValue: 0x10)) } == .constraintError)
            try bench.write(Spec.id, Ids.mode, Spec.ModeBitmap([.motorDirectionReversed, .ledFeedback]))
            #expect(try Self.config(bench).isSuperset(of: [.liftMovementReversed, .operational]))
            try bench.invoke(Spec.DownOrClose())
            #expect(try Self.number(bench, Ids.operationalStatus) == 0b101010)
        }
    }

    @Test func enteringMaintenanceStopsTheMotors() async throws {
        try await Self.run { bench in
            try bench.invoke(Spec.DownOrClose())
            try await bench.advance(.seconds(1))
            try bench.write(Spec.id, Ids.mode, Spec.ModeBitmap.maintenanceMode)
            #expect(try Self.number(bench, Ids.operationalStatus) == 0)
            #expect(try Self.number(bench, Ids.targetPositionLiftPercent100ths) == 1000)
        }
    }

    @Test func positionsAreReportedOnceASecondAndAtTheEnd() async throws {
        try await Self.run { bench in
            var reports: [AttributeID: [Int64]] = [:]
            let timeline = bench.timeline
            bench.node.onAttributeChanged = { reports[$0.attribute, default: []].append(timeline.now.nanoseconds / 1_000_000) }
            try bench.invoke(Spec.GoToLiftPercentage(liftPercent100thsValue: 2550))
            try await bench.advance(.seconds(10))
            #expect(reports[Ids.currentPositionLiftPercent100ths] == [1000, 2000, 2550])
            #expect(reports[Ids.operationalStatus] == [0, 2550])
            #expect(reports[Ids.targetPositionLiftPercent100ths] == [0])
            #expect(reports[Ids.currentPositionTiltPercent100ths] == nil)
            bench.node.onAttributeChanged = nil
        }
    }

    @Test func powerCutsAndRestartsKeepThePosition() async throws {
        try await Self.run { bench in
            try bench.invoke(Spec.DownOrClose())
            try await bench.advance(.milliseconds(3300))
            try bench.restart { node in
                let made = try #require(
                    ClusterFactory.make(Spec.id, endpoint: 1, node: node, configuration: Self.configuration()))
                node.add(EndpointServer(id: 1, deviceTypes: [], clusters: [made]))
            }
            #expect(try Self.number(bench, Ids.currentPositionLiftPercent100ths) == 3300)
            #expect(try Self.number(bench, Ids.targetPositionLiftPercent100ths) == 3300)
            #expect(try Self.number(bench, Ids.operationalStatus) == 0)
            try await bench.advance(.seconds(60))
            #expect(try Self.number(bench, Ids.currentPositionLiftPercent100ths) == 3300)
        }
    }

    @Test func withoutPositionsTheMotorsStillTakeTheirTime() async throws {
        try await Self.run(Self.configuration([.lift])) { bench in
            let cluster = try bench.cluster(Spec.id)
            #expect(cluster.attribute(Ids.currentPositionLiftPercent100ths) == nil)
            #expect(cluster.attribute(Ids.targetPositionLiftPercent100ths) == nil)
            #expect(cluster.command(Spec.Commands.goToTiltPercentage) == nil)
            try bench.invoke(Spec.DownOrClose())
            #expect(try Self.number(bench, Ids.operationalStatus) == 0b1010)
            try await bench.advance(.seconds(10))
            #expect(try Self.number(bench, Ids.operationalStatus) == 0)
            try bench.invoke(Spec.DownOrClose())
            #expect(try Self.number(bench, Ids.operationalStatus) == 0, "it is closed already")
            // A percentage without positions means one of the ends.
            try bench.invoke(Spec.GoToLiftPercentage(liftPercent100thsValue: 0))
            #expect(try Self.number(bench, Ids.operationalStatus) == 0b0101)
        }
    }

    @Test func absolutePositionsLieBetweenTheInstalledLimits() async throws {
        let limits: [AttributeID: TLVValue] = [
            Ids.installedOpenLimitLift: .unsigned(100), Ids.installedClosedLimitLift: .unsigned(300),
        ]
        try await Self.run(Self.configuration([.lift, .positionAwareLift, .absolutePosition], limits)) { bench in
            #expect(try Self.number(bench, Ids.currentPositionLift) == 100)
            #expect(try Self.number(bench, Ids.physicalClosedLimitLift) == 300)
            #expect(status { _ = try bench.invoke(Spec.GoToLiftValue(liftValue: 99)) } == .constraintError)
            #expect(status { _ = try bench.invoke(Spec.GoToLiftValue(liftValue: 301)) } == .constraintError)
            try bench.invoke(Spec.GoToLiftValue(liftValue: 150))
            try await bench.advance(.seconds(10))
            #expect(try Self.number(bench, Ids.currentPositionLiftPercent100ths) == 2500)
            #expect(try Self.number(bench, Ids.currentPositionLift) == 150)
        }
    }

    @Test func anObstacleStopsClosingButNotOpening() async throws {
        try await Self.run { bench in
            let cluster = try #require(bench.node.cluster(WindowCoveringCluster.self, at: 1))
            cluster.obstacle = 4000
            try bench.invoke(Spec.GoToLiftPercentage(liftPercent100thsValue: 9000))
            #expect(try Self.number(bench, Ids.targetPositionLiftPercent100ths) == 9000)
            try await bench.advance(.seconds(20))
            let detected = UInt64(Spec.SafetyStatusBitmap.obstacleDetected.rawValue)
            #expect(try Self.number(bench, Ids.currentPositionLiftPercent100ths) == 4000)
            #expect(try Self.number(bench, Ids.targetPositionLiftPercent100ths) == 4000)
            #expect(try Self.number(bench, Ids.safetyStatus) == detected)
            #expect(try Self.number(bench, Ids.operationalStatus) == 0)
            try bench.invoke(Spec.DownOrClose())
            #expect(try Self.number(bench, Ids.targetPositionLiftPercent100ths) == 4000)
            try bench.invoke(Spec.UpOrOpen())
            try await bench.advance(.seconds(20))
            #expect(try Self.number(bench, Ids.currentPositionLiftPercent100ths) == 0)
            cluster.obstacle = nil
            #expect(try Self.number(bench, Ids.safetyStatus) == 0)
            try bench.invoke(Spec.DownOrClose())
            try await bench.advance(.seconds(20))
            #expect(try Self.number(bench, Ids.currentPositionLiftPercent100ths) == 10000)
        }
    }

    private static func byHand(_ bench: Bench, _ attribute: AttributeID, _ value: some TLVConvertible) throws {
        let cluster = try #require(bench.node.cluster(WindowCoveringCluster.self, at: 1))
        try cluster.setLocally(try #require(cluster.attribute(attribute)), value.tlv)
    }

    @Test func handsMoveTheCoveringAndCauseTrouble() async throws {
        try await Self.run { bench in
            try bench.invoke(Spec.DownOrClose())
            try await bench.advance(.seconds(2))
            try Self.byHand(bench, Ids.safetyStatus, Spec.SafetyStatusBitmap.obstacleDetected)
            #expect(try Self.number(bench, Ids.currentPositionLiftPercent100ths) == 2000)
            #expect(try Self.number(bench, Ids.targetPositionLiftPercent100ths) == 2000)
            try bench.invoke(Spec.DownOrClose())
            #expect(try Self.number(bench, Ids.targetPositionLiftPercent100ths) == 2000)
            try Self.byHand(bench, Ids.safetyStatus, Spec.SafetyStatusBitmap([]))
            try bench.invoke(Spec.DownOrClose())
            #expect(try Self.number(bench, Ids.targetPositionLiftPercent100ths) == 10000)
            try Self.byHand(bench, Ids.safetyStatus, Spec.SafetyStatusBitmap.motorJammed)
            #expect(try Self.number(bench, Ids.operationalStatus) == 0)
            #expect(status { _ = try bench.invoke(Spec.UpOrOpen()) } == .failure)
            try Self.byHand(bench, Ids.safetyStatus, Spec.SafetyStatusBitmap([]))
            try Self.byHand(bench, Ids.currentPositionLiftPercentage, UInt8(40))
            #expect(try Self.number(bench, Ids.currentPositionLiftPercent100ths) == 4000)
            #expect(try Self.number(bench, Ids.targetPositionLiftPercent100ths) == 4000)
            try Self.byHand(bench, Ids.targetPositionLiftPercent100ths, UInt16(5000))
            #expect(try Self.number(bench, Ids.operationalStatus) == 0b1010)
            try await bench.advance(.seconds(1))
            #expect(try Self.number(bench, Ids.currentPositionLiftPercent100ths) == 5000)
        }
    }

    @Test func scenesKeepTheTargets() async throws {
        try await Self.run { bench in
            let cluster = try #require(bench.node.cluster(WindowCoveringCluster.self, at: 1))
            try bench.invoke(Spec.GoToLiftPercentage(liftPercent100thsValue: 3000))
            let stored = cluster.sceneValues()
            #expect(stored.map(\.value) == [.unsigned(3000), .unsigned(0)])
            try bench.invoke(Spec.DownOrClose())
            try await bench.advance(.seconds(20))
            cluster.recall(stored, over: .seconds(1))
            try await bench.advance(.seconds(20))
            #expect(try Self.number(bench, Ids.currentPositionLiftPercent100ths) == 3000)
            #expect(try Self.number(bench, Ids.currentPositionTiltPercent100ths) == 0)
        }
    }

    @Test func aProfileThatSaysNothingGetsAPositionAwareLift() async throws {
        try await Self.run(ClusterConfiguration()) { bench in
            #expect(try bench.read(Spec.id, 0xFFFC).unsigned == 5)
            #expect(try Self.number(bench, Ids.currentPositionLiftPercent100ths) == 0)
            let cluster = try #require(bench.node.cluster(WindowCoveringCluster.self, at: 1))
            #expect(conformanceProblems(cluster) == [])
        }
        try await Self.run { bench in
            let cluster = try #require(bench.node.cluster(WindowCoveringCluster.self, at: 1))
            #expect(conformanceProblems(cluster) == [])
        }
    }
}

/// What is wrong with what a cluster declares, by its definition.
func conformanceProblems(_ cluster: Cluster) -> [String] {
    let elements = ClusterElements(
        attributes: Set(cluster.attributeIDs.filter { $0.rawValue < 0xFFF0 }),
        acceptedCommands: Set(cluster.elements.acceptedCommandIDs),
        generatedCommands: Set(cluster.elements.generatedCommandIDs), events: Set(cluster.eventIDs))
    return cluster.definition.conformanceProblems(features: cluster.features, elements: elements)
}
