import HearthTime
import MatterInteraction
import MatterMessage
import MatterModel
import MatterTLV
import Testing

@testable import MatterDevice

/// Identify (Matter Application Clusters, 1.2).
@Suite struct IdentifyTests {
    typealias Spec = Identify

    private final class Reports { var count = 0 }

    @Test func timeCountsDownAndEnds() async throws {
        try await Bench.run { bench in
            try bench.add(Spec.id)
            bench.node.start()
            let reports = Reports()
            bench.node.onAttributeChanged = { if $0.attribute == Spec.Attributes.identifyTime { reports.count += 1 } }
            func time() throws -> TLVValue { try bench.read(Spec.id, Spec.Attributes.identifyTime) }
            #expect(try time() == .unsigned(0))
            try bench.invoke(Spec.Identify(identifyTime: 5))
            #expect(try time() == .unsigned(5))
            try await bench.advance(.milliseconds(2500))
            #expect(try time() == .unsigned(3), "2.5 s are left, counted up")
            try await bench.advance(.milliseconds(500))
            #expect(try time() == .unsigned(2))
            try await bench.advance(.milliseconds(1999))
            #expect(try time() == .unsigned(1))
            try await bench.advance(.milliseconds(1))
            #expect(try time() == .unsigned(0))
            #expect(reports.count == 2, "when it begins and when it ends")
            try await bench.advance(.seconds(100))
            #expect(reports.count == 2)
        }
    }

    @Test func aNewTimeReplacesTheOld() async throws {
        try await Bench.run { bench in
            try bench.add(Spec.id)
            bench.node.start()
            let identify = try #require(bench.node.cluster(IdentifyCluster.self, at: 1))
            try bench.write(Spec.id, Spec.Attributes.identifyTime, UInt16(100))
            #expect(identify.isIdentifying)
            try bench.invoke(Spec.Identify(identifyTime: 2))
            try await bench.advance(.seconds(2))
            #expect(!identify.isIdentifying)
            try bench.write(Spec.id, Spec.Attributes.identifyTime, UInt16(65535))
            #expect(try bench.read(Spec.id, Spec.Attributes.identifyTime) == .unsigned(65535))
            try bench.invoke(Spec.Identify(identifyTime: 0))
            #expect(!identify.isIdentifying)
            bench.node.stop()
            bench.node.start()
            #expect(try bench.read(Spec.id, Spec.Attributes.identifyTime) == .unsigned(0))
        }
    }

    @Test func effects() async throws {
        try await Bench.run { bench in
            try bench.add(Spec.id)
            bench.node.start()
            let identify = try #require(bench.node.cluster(IdentifyCluster.self, at: 1))
            try bench.invoke(Spec.TriggerEffect(effectIdentifier: .breathe, effectVariant: .default))
            #expect(identify.effect?.identifier == .breathe)
            #expect(
                status { try bench.invoke(Spec.TriggerEffect(effectIdentifier: .init(rawValue: 77), effectVariant: .default)) }
                    == .constraintError)
            #expect(try bench.read(Spec.id, Spec.Attributes.identifyType) == .unsigned(2))
            #expect(status { try bench.invoke(Spec.id, Spec.Commands.identify, .structure([])) } == .invalidCommand)
        }
    }
}
