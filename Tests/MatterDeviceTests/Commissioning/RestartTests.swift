import HearthTime
import MatterCredentials
import MatterInteraction
import MatterMessage
import MatterModel
import MatterTLV
import Testing

@testable import MatterDevice

/// What survives a restart, a power cut in the middle of commissioning, and a factory reset.
@Suite struct RestartTests {
    private static func root(_ node: DeviceNode) throws {
        node.addRootEndpoint(
            identity: Bench.identity, attestation: try DevelopmentAttestation.credentials(vendorID: 0xFFF1, productID: 0x8000))
    }

    @Test func fabricsAndRightsSurvive() async throws {
        try await Bench.run { bench in
            _ = try bench.makeRoot()
            let admin = try Administrator(fabric: 1, withIntermediate: true)
            let peer = try bench.commission(admin)
            try bench.write(BasicInformation.id, BasicInformation.Attributes.nodeLabel, "Küche", at: 0, as: peer)
            let before = try #require(bench.node.commissioning.fabrics[1])
            try bench.restart { try Self.root($0) }

            let after = try #require(bench.node.commissioning.fabrics[1])
            #expect(after.noc == before.noc && after.icac == before.icac && after.root == before.root)
            #expect(after.key.publicKey == before.key.publicKey && after.generation == before.generation)
            #expect(after.identity == before.identity && after.nodeID == before.nodeID && after.vendorID == before.vendorID)
            #expect(after.adminSubject == admin.node && after.ipkEpochKey == admin.ipk)
            // A log may name it, but never shows keys.
            for text in ["\(after)", String(reflecting: after)] { #expect(!text.contains("3, 3, 3") && text.contains("fabric 1")) }
            #expect(!bench.node.commissioning.window.isOpen)
            let root = try #require(bench.node.endpoint(0))
            #expect(bench.node.allows(.administer, on: 0x001F, at: root, for: peer))
            #expect(bench.node.cluster(GroupKeyManagementCluster.self, at: 0)?.keySet(0, of: 1)?.epochKey0.value == admin.ipk)
            #expect(try bench.read(BasicInformation.id, BasicInformation.Attributes.nodeLabel, at: 0) == .utf8("Küche"))
            #expect(try bench.read(GeneralDiagnostics.id, GeneralDiagnostics.Attributes.rebootCount, at: 0) == .unsigned(1))
        }
    }

    @Test func aPowerCutInTheMiddleLeavesTheDeviceAsItWas() async throws {
        try await Bench.run { bench in
            _ = try bench.makeRoot()
            let admin = try Administrator(fabric: 1)
            #expect(bench.node.commissioning.failSafe.pairingEstablished())
            let key = try bench.requestKey(.pairing())
            try bench.addRoot(admin, .pairing())
            #expect(try bench.addNOC(admin, key: key, .pairing()).statusCode == .ok)
            try bench.restart { try Self.root($0) }
            #expect(bench.node.commissioning.fabrics.fabrics.isEmpty)
            #expect(try bench.read(AccessControl.id, AccessControl.Attributes.acl, at: 0) == .array([]))
            #expect(bench.node.cluster(GroupKeyManagementCluster.self, at: 0)?.keySet(0, of: 1) == nil)
            #expect(bench.node.commissioning.window.mode == .basic && !bench.node.commissioning.failSafe.isArmed)
        }
    }

    @Test func aPowerCutAfterUpdateNOCKeepsTheOldCredentials() async throws {
        try await Bench.run { bench in
            _ = try bench.makeRoot()
            let admin = try Administrator(fabric: 1)
            let peer = try bench.commission(admin)
            let old = try #require(bench.node.commissioning.fabrics[1])
            #expect(try bench.arm(peer) == .ok)
            let key = try bench.requestKey(update: true, peer)
            let noc = try admin.authority.issueNode(0x2_0009, publicKey: key, now: admin.now)
            let answer = try bench.invoke(OperationalCredentials.UpdateNOC(nocValue: noc.tlv), at: 0, .init(peer: peer))
            #expect(answer.statusCode == .ok)
            try bench.restart { try Self.root($0) }
            #expect(bench.node.commissioning.fabrics[1]?.nodeID == old.nodeID)
            #expect(bench.node.commissioning.fabrics.fabrics.count == 1)
        }
    }

    @Test func theSameObjectCanBeStartedAgain() async throws {
        try await Bench.run { bench in
            _ = try bench.makeRoot()
            let admin = try Administrator(fabric: 1)
            #expect(bench.node.commissioning.failSafe.pairingEstablished())
            let key = try bench.requestKey(.pairing())
            try bench.addRoot(admin, .pairing())
            #expect(try bench.addNOC(admin, key: key, .pairing()).statusCode == .ok)
            bench.node.stop()
            bench.node.start()
            #expect(bench.node.commissioning.fabrics.fabrics.isEmpty)
            #expect(bench.node.commissioning.window.mode == .basic)
            #expect(try bench.commission(admin).fabricIndex == 2)
        }
    }

    @Test func aDamagedRecordIsLeftOut() async throws {
        try await Bench.run { bench in
            _ = try bench.makeRoot()
            try bench.commission(Administrator(fabric: 1))
            try bench.node.commissioning.window.openBasic()
            try bench.commission(Administrator(fabric: 2))
            bench.store.put([1, 2, 3], for: "fabrics/record/1")
            try bench.restart { try Self.root($0) }
            #expect(bench.node.commissioning.fabrics.fabrics.map(\.index) == [2])
            // Nobody can have it for its passcode, but after a factory reset.
            bench.store.put([1, 2, 3], for: "fabrics/record/2")
            try bench.restart { try Self.root($0) }
            #expect(bench.node.commissioning.fabrics.fabrics.isEmpty && !bench.node.commissioning.window.isOpen)
            DeviceNode.factoryReset(bench.store)
            try bench.restart { try Self.root($0) }
            #expect(bench.node.commissioning.window.isOpen)
        }
    }

    @Test func factoryResetForgetsEverything() async throws {
        try await Bench.run { bench in
            _ = try bench.makeRoot()
            let peer = try bench.commission(Administrator(fabric: 1))
            try bench.write(BasicInformation.id, BasicInformation.Attributes.nodeLabel, "mine", at: 0, as: peer)
            let generation = try #require(bench.node.commissioning.fabrics[1]?.generation)
            bench.node.stop()
            DeviceNode.factoryReset(bench.store, sparing: ["label"])
            #expect(bench.store.value(for: DeviceNode.eventBoundaryKey) == nil)
            try bench.restart { try Self.root($0) }
            #expect(bench.node.commissioning.fabrics.fabrics.isEmpty)
            #expect(try bench.read(BasicInformation.id, BasicInformation.Attributes.nodeLabel, at: 0) == .utf8(""))
            #expect(try bench.read(GeneralDiagnostics.id, GeneralDiagnostics.Attributes.rebootCount, at: 0) == .unsigned(0))
            #expect(bench.node.commissioning.window.mode == .basic)
            // Credentials are told from those before; the first fabric is the first again.
            try bench.commission(Administrator(fabric: 1))
            #expect(bench.node.commissioning.fabrics.fabrics.first.map { $0.generation > generation && $0.index == 1 } == true)
        }
    }
}
