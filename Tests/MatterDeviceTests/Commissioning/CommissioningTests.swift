import HearthTime
import MatterCredentials
import MatterInteraction
import MatterMessage
import MatterModel
import MatterTLV
import Testing

@testable import MatterDevice

/// Commissioning from the proof of the passcode to CommissioningComplete, in the right and in the wrong order (Matter Core, 5.5, 11.10, 11.18).
@Suite struct CommissioningTests {
    typealias Spec = OperationalCredentials

    @Test func commissioningPutsTheDeviceIntoAFabric() async throws {
        try await Bench.run { bench in
            let host = try bench.makeRoot()
            let admin = try Administrator(fabric: 1, withIntermediate: true)
            #expect(bench.node.commissioning.window.mode == .basic)
            let peer = try bench.commission(admin)

            let fabric = try #require(bench.node.commissioning.fabrics[1])
            #expect(fabric.nodeID == 0x2_0001)
            #expect(fabric.identity == admin.authority.fabric)
            #expect(fabric.key.publicKey == fabric.noc.publicKey)
            #expect(fabric.icac == admin.authority.intermediate)
            #expect(bench.node.commissioning.fabrics.fabric(instanceName: fabric.instanceName.lowercased())?.index == 1)
            #expect(bench.node.commissioning.failSafe.isArmed == false)
            #expect(bench.node.commissioning.window.isOpen == false)
            #expect(host.fabricChanges == 1)
            #expect(host.pairingClosed == 1)

            #expect(try bench.read(Spec.id, Spec.Attributes.commissionedFabrics, at: 0) == .unsigned(1))
            #expect(try bench.read(Spec.id, Spec.Attributes.supportedFabrics, at: 0) == .unsigned(16))
            #expect(try bench.read(Spec.id, Spec.Attributes.currentFabricIndex, at: 0, as: peer) == .unsigned(1))
            let nocs = try [Spec.NOCStruct](tlv: bench.read(Spec.id, Spec.Attributes.nocs, at: 0))
            #expect(nocs.map(\.noc) == [fabric.noc.tlv])
            let fabrics = try [Spec.FabricDescriptorStruct](tlv: bench.read(Spec.id, Spec.Attributes.fabrics, at: 0))
            #expect(fabrics.map(\.fabricID) == [1] && fabrics.map(\.vendorID) == [0xFFF1])
            let roots = try [[UInt8]](tlv: bench.read(Spec.id, Spec.Attributes.trustedRootCertificates, at: 0))
            #expect(roots == [admin.authority.root.tlv])
            let acl = try [AccessControl.AccessControlEntryStruct](
                tlv: bench.read(AccessControl.id, AccessControl.Attributes.acl, at: 0))
            #expect(
                acl == [
                    .init(privilege: .administer, authMode: .case, subjects: .value([admin.node]), targets: .null, fabricIndex: 1)
                ])
            #expect(try bench.read(GeneralCommissioning.id, GeneralCommissioning.Attributes.breadcrumb, at: 0) == .unsigned(0))
            #expect(bench.node.cluster(GroupKeyManagementCluster.self, at: 0)?.keySet(0, of: 1)?.epochKey0.value == admin.ipk)
        }
    }

    @Test func attestationIsBoundToNonceAndSession() async throws {
        try await Bench.run { bench in
            _ = try bench.makeRoot()
            let nonce = [UInt8](repeating: 4, count: 32)
            let answer = try bench.invoke(Spec.AttestationRequest(attestationNonce: nonce), at: 0, .init(peer: .pairing()))
            let elements = try AttestationElements(tlv: answer.attestationElements)
            #expect(elements.attestationNonce == nonce)
            let dac = try bench.invoke(
                Spec.CertificateChainRequest(certificateType: .dacCertificate), at: 0, .init(peer: .pairing()))
            let pai = try bench.invoke(
                Spec.CertificateChainRequest(certificateType: .paiCertificate), at: 0, .init(peer: .pairing()))
            #expect(dac.certificate != pai.certificate)
            let key = try PublicKey(point: AttestationCertificate(der: dac.certificate).publicKey)
            let challenge = SessionContext.pairing().attestationChallenge
            #expect(key.isValid(signature: answer.attestationSignature, of: answer.attestationElements + challenge))
            #expect(!key.isValid(signature: answer.attestationSignature, of: answer.attestationElements + [0] + challenge))
            #expect(status { try bench.invoke(Spec.AttestationRequest(attestationNonce: [1]), at: 0) } == .constraintError)
            #expect(
                status { try bench.invoke(Spec.CertificateChainRequest(certificateType: .init(rawValue: 9)), at: 0) }
                    == .constraintError)
        }
    }

    @Test func nothingGoesWithoutTheFailSafe() async throws {
        try await Bench.run { bench in
            _ = try bench.makeRoot()
            let admin = try Administrator(fabric: 1)
            let key = try PrivateKey.generate().publicKey
            #expect(status { _ = try bench.requestKey(.pairing()) } == .failsafeRequired)
            #expect(status { try bench.addRoot(admin, .pairing()) } == .failsafeRequired)
            #expect(status { _ = try bench.addNOC(admin, key: key, .pairing()) } == .failsafeRequired)
            #expect(try bench.complete(.node(1)) == .noFailSafe)
        }
    }

    @Test func theOrderOfStepsMatters() async throws {
        try await Bench.run { bench in
            _ = try bench.makeRoot()
            let admin = try Administrator(fabric: 1)
            #expect(try bench.arm(.pairing()) == .ok)
            let stranger = try PrivateKey.generate().publicKey
            #expect(try bench.addNOC(admin, key: stranger, .pairing()).statusCode == .missingCsr)
            let key = try bench.requestKey(.pairing())
            #expect(try bench.addNOC(admin, key: key, .pairing()).statusCode == .invalidNOC, "without a root")
            try bench.addRoot(admin, .pairing())
            #expect(status { try bench.addRoot(admin, .pairing()) } == .constraintError)
            #expect(try bench.addNOC(admin, key: stranger, .pairing()).statusCode == .invalidPublicKey)
            #expect(try bench.addNOC(admin, key: key, subject: 0, .pairing()).statusCode == .invalidAdminSubject)
            #expect(
                try bench.addNOC(admin, key: key, subject: 0xFFFF_FFFD_0001_0000, .pairing()).statusCode == .invalidAdminSubject)
            let other = try Administrator(fabric: 1)
            #expect(try bench.addNOC(other, key: key, .pairing()).statusCode == .invalidNOC, "another root")
            #expect(status { _ = try bench.requestKey(update: true, .pairing()) } == .invalidCommand)
            #expect(bench.node.commissioning.fabrics.fabrics.isEmpty)

            #expect(try bench.addNOC(admin, key: key, .pairing()).statusCode == .ok)
            #expect(status { _ = try bench.addNOC(admin, key: key, .pairing(fabric: 1)) } == .constraintError)
            #expect(status { _ = try bench.requestKey(.pairing(fabric: 1)) } == .constraintError)
            #expect(try bench.complete(.pairing(fabric: 1)) == .invalidAuthentication)
            #expect(try bench.complete(.node(admin.node, fabric: 2)) == .invalidAuthentication)
            #expect(try bench.complete(.node(admin.node)) == .ok)
        }
    }

    @Test func aBadIPKOrVendorIsRefused() async throws {
        try await Bench.run { bench in
            _ = try bench.makeRoot()
            var admin = try Administrator(fabric: 1)
            _ = try bench.arm(.pairing())
            let key = try bench.requestKey(.pairing())
            try bench.addRoot(admin, .pairing())
            admin.vendor = 0
            #expect(status { _ = try bench.addNOC(admin, key: key, .pairing()) } == .invalidCommand)
            admin.vendor = 0xFFF1
            admin.ipk = [1, 2, 3]
            #expect(status { _ = try bench.addNOC(admin, key: key, .pairing()) } == .constraintError)
            #expect(bench.node.commissioning.fabrics.fabrics.isEmpty)
        }
    }

    @Test(arguments: [[], [0x15], [0x15, 0x18], [UInt8](repeating: 0xFF, count: 400), Array("certificate".utf8)])
    func hostileCertificatesAreRefused(_ bytes: [UInt8]) async throws {
        try await Bench.run { bench in
            _ = try bench.makeRoot()
            let admin = try Administrator(fabric: 1)
            _ = try bench.arm(.pairing())
            #expect(
                status {
                    try bench.invoke(Spec.AddTrustedRootCertificate(rootCACertificate: bytes), at: 0, .init(peer: .pairing()))
                }
                    == .invalidCommand)
            let key = try bench.requestKey(.pairing())
            try bench.addRoot(admin, .pairing())
            let answer = try bench.invoke(
                Spec.AddNOC(nocValue: bytes, ipkValue: admin.ipk, caseAdminSubject: 1, adminVendorId: 1), at: 0,
                .init(peer: .pairing()))
            #expect(answer.statusCode == .invalidNOC)
            let noc = try admin.authority.issueNode(5, publicKey: key, now: admin.now)
            let withICAC = try bench.invoke(
                Spec.AddNOC(nocValue: noc.tlv, icacValue: bytes, ipkValue: admin.ipk, caseAdminSubject: 1, adminVendorId: 1),
                at: 0, .init(peer: .pairing()))
            #expect(withICAC.statusCode == (bytes.isEmpty ? .ok : .invalidNOC), "an empty ICAC is none")
        }
    }

    @Test func aSecondFabricIsSeparateAndTheSameTwiceIsAConflict() async throws {
        try await Bench.run { bench in
            _ = try bench.makeRoot()
            let (first, second) = (try Administrator(fabric: 1), try Administrator(fabric: 1, node: 0x9_0001))
            let peer = try bench.commission(first)
            try bench.node.commissioning.window.openBasic()
            let otherPeer = try bench.commission(second, node: 0x2_0002)
            #expect(otherPeer.fabricIndex == 2)
            let table = bench.node.commissioning.fabrics
            #expect(table.fabrics.map(\.index) == [1, 2])
            #expect(table.fabric(first.authority.fabric)?.index == 1)
            #expect(table.fabric(compressedID: second.authority.fabric.compressedID)?.index == 2)

            // Each administrator has rights on its own fabric only.
            let root = try #require(bench.node.endpoint(0))
            let access = bench.node.commissioning.access
            #expect(access.allows(.administer, on: 0x001F, at: root, for: peer))
            #expect(!access.allows(.view, on: 0x001F, at: root, for: .node(first.node, fabric: 2)))

            try bench.node.commissioning.window.openBasic()
            #expect(bench.node.commissioning.failSafe.pairingEstablished())
            let key = try bench.requestKey(.pairing())
            try bench.addRoot(first, .pairing())
            #expect(try bench.addNOC(first, key: key, .pairing()).statusCode == .fabricConflict)
        }
    }

    @Test func theTableFillsUpAndIndicesAreNotReusedAtOnce() async throws {
        try await Bench.run { bench in
            _ = try bench.makeRoot()
            for number in 1...UInt64(FabricTable.capacity) {
                if number > 1 { try bench.node.commissioning.window.openBasic() }
                try bench.commission(Administrator(fabric: FabricID(number)))
            }
            let extra = try Administrator(fabric: 99)
            try bench.node.commissioning.window.openBasic()
            #expect(bench.node.commissioning.failSafe.pairingEstablished())
            let key = try bench.requestKey(.pairing())
            try bench.addRoot(extra, .pairing())
            #expect(try bench.addNOC(extra, key: key, .pairing()).statusCode == .tableFull)
            bench.node.commissioning.failSafe.pairingEnded()

            bench.node.commissioning.leave(16)
            bench.node.commissioning.leave(3)
            let peer = try bench.commission(extra)
            #expect(peer.fabricIndex == 17, "neither 3 nor 16")
        }
    }

    @Test func labelsAreUnique() async throws {
        try await Bench.run { bench in
            _ = try bench.makeRoot()
            let peer = try bench.commission(Administrator(fabric: 1))
            try bench.node.commissioning.window.openBasic()
            let other = try bench.commission(Administrator(fabric: 2))
            #expect(try bench.invoke(Spec.UpdateFabricLabel(label: "home"), at: 0, .init(peer: peer)).statusCode == .ok)
            #expect(
                try bench.invoke(Spec.UpdateFabricLabel(label: "home"), at: 0, .init(peer: other)).statusCode == .labelConflict)
            #expect(try bench.invoke(Spec.UpdateFabricLabel(label: "home"), at: 0, .init(peer: peer)).statusCode == .ok)
            #expect(
                status { try bench.invoke(Spec.UpdateFabricLabel(label: String(repeating: "x", count: 33)), at: 0) }
                    == .constraintError)
            #expect(bench.node.commissioning.fabrics[1]?.label == "home")
        }
    }

    @Test func removeFabricForgetsEverythingOfIt() async throws {
        try await Bench.run { bench in
            let host = try bench.makeRoot()
            let peer = try bench.commission(Administrator(fabric: 1))
            try bench.node.commissioning.window.openBasic()
            let other = try bench.commission(Administrator(fabric: 2))
            #expect(
                try bench.invoke(Spec.RemoveFabric(fabricIndex: 7), at: 0, .init(peer: other)).statusCode == .invalidFabricIndex)

            let answer = try bench.invoke(Spec.RemoveFabric(fabricIndex: 1), at: 0, .init(peer: other))
            #expect(answer.statusCode == .ok && answer.fabricIndex == 1)
            #expect(host.closed == [1])
            #expect(bench.node.commissioning.fabrics.fabrics.map(\.index) == [2])
            let root = try #require(bench.node.endpoint(0))
            #expect(!bench.node.commissioning.access.allows(.view, on: 0x001F, at: root, for: peer))
            let acl = try [AccessControl.AccessControlEntryStruct](
                tlv: bench.read(AccessControl.id, AccessControl.Attributes.acl, at: 0))
            #expect(acl.map(\.fabricIndex) == [2])
            #expect(bench.node.cluster(GroupKeyManagementCluster.self, at: 0)?.keySet(0, of: 1) == nil)
            #expect(bench.events(BasicInformation.id, BasicInformation.Events.leave).count == 1)
            #expect(!bench.node.commissioning.window.isOpen)

            // The last fabric: whoever has the passcode may pair the device again.
            _ = try bench.invoke(Spec.RemoveFabric(fabricIndex: 2), at: 0, .init(peer: other))
            #expect(host.closed == [1, 2])
            #expect(bench.node.commissioning.window.mode == .basic)
            #expect(bench.store.keys(withPrefix: "fabrics/record/").isEmpty)
        }
    }

    @Test func updateNOCGivesNewCredentialsAndExpiryTakesThemBack() async throws {
        try await Bench.run { bench in
            let host = try bench.makeRoot()
            let admin = try Administrator(fabric: 1)
            let peer = try bench.commission(admin)
            let before = try #require(bench.node.commissioning.fabrics[1])

            func update(_ id: NodeID) throws -> Spec.NOCResponse {
                let key = try bench.requestKey(update: true, peer)
                let noc = try admin.authority.issueNode(id, publicKey: key, now: admin.now)
                return try bench.invoke(Spec.UpdateNOC(nocValue: noc.tlv), at: 0, .init(peer: peer))
            }
            #expect(try bench.arm(peer) == .ok)
            #expect(try update(0x2_0009).statusCode == .ok)
            #expect(bench.node.commissioning.fabrics[1]?.nodeID == 0x2_0009)
            let during = try #require(bench.node.commissioning.fabrics[1])
            #expect(during.generation > before.generation)
            try await bench.advance(.seconds(61))
            let after = try #require(bench.node.commissioning.fabrics[1])
            #expect(after.nodeID == before.nodeID && after.key.publicKey == before.key.publicKey)
            #expect(after.generation > during.generation)
            #expect(host.closed == [1])

            #expect(try bench.arm(peer) == .ok)
            #expect(try update(0x2_000A).statusCode == .ok)
            #expect(try bench.complete(peer) == .ok)
            try await bench.advance(.seconds(1000))
            #expect(bench.node.commissioning.fabrics[1]?.nodeID == 0x2_000A)

            // A root that came in the same fail-safe, or another fabric's certificate.
            #expect(try bench.arm(peer) == .ok)
            let key = try bench.requestKey(update: true, peer)
            let foreign = try Administrator(fabric: 5).authority.issueNode(7, publicKey: key, now: admin.now)
            #expect(try bench.invoke(Spec.UpdateNOC(nocValue: foreign.tlv), at: 0, .init(peer: peer)).statusCode == .invalidNOC)
            try bench.addRoot(admin, peer)
            #expect(status { _ = try update(0x2_000B) } == .constraintError)
        }
    }
}
