import HearthTime
import MatterCredentials
import MatterInteraction
import MatterMessage
import MatterModel
import MatterTLV
import Testing

@testable import MatterDevice

/// What commissioning does to the session that it runs over, and which time certificates are judged by.
@Suite struct CommissioningSessionTests {
    typealias Spec = OperationalCredentials

    @Test func thePairingSessionGoesOnInTheNameOfTheNewFabric() async throws {
        try await Bench.run { bench in
            _ = try bench.makeRoot()
            let (link, other) = MemoryLink.pair(timeline: bench.timeline, name: "pairing")
            let session = Session(link: link, context: .pairing())
            let admin = try Administrator(fabric: 1)
            #expect(bench.node.commissioning.failSafe.pairingEstablished())
            let key = try bench.requestKey(.pairing())
            try bench.addRoot(admin, .pairing())
            let noc = try admin.authority.issueNode(9, publicKey: key, now: admin.now)
            let request = Spec.AddNOC(
                nocValue: noc.tlv, ipkValue: admin.ipk, caseAdminSubject: admin.node, adminVendorId: admin.vendor)
            let answer = try bench.invoke(request, at: 0, InteractionContext(peer: session.context, session: session))
            #expect(answer.statusCode == .ok)
            #expect(session.context.fabricIndex == 1 && session.context.authMode == .pase)
            // It can still arm the fail-safe, which is the new fabric's now.
            #expect(try bench.arm(session.context, seconds: 100) == .ok)
            #expect(bench.node.commissioning.failSafe.fabricIndex == 1)
            #expect(try bench.read(Spec.id, Spec.Attributes.currentFabricIndex, at: 0, as: session.context) == .unsigned(1))
            session.close()
            other.close()
        }
    }

    @Test func whoRemovesItsOwnFabricGetsTheAnswer() async throws {
        try await Bench.run { bench in
            let host = try bench.makeRoot()
            let peer = try bench.commission(Administrator(fabric: 1))
            try bench.node.commissioning.window.openBasic()
            let other = try bench.commission(Administrator(fabric: 2))
            let (link, end) = MemoryLink.pair(timeline: bench.timeline, name: "operational")
            let session = Session(link: link, context: other)
            // Another's fabric: all its sessions end at once.
            let context = InteractionContext(peer: other, session: session)
            #expect(try bench.invoke(Spec.RemoveFabric(fabricIndex: 1), at: 0, context).statusCode == .ok)
            #expect(host.closed == [1] && host.spared == nil)
            #expect(peer.fabricIndex == 1)
            // Its own: the session that asks is spared until it has been answered, and the window opens after that.
            let server = try bench.cluster(Spec.id, at: 0)
            let command = try #require(server.command(Spec.Commands.removeFabric))
            let last = InteractionContext(peer: other, session: session)
            _ = try server.invoke(command, Spec.RemoveFabric(fabricIndex: 2).tlv, last)
            #expect(host.closed == [1, 2] && host.spared === session)
            #expect(!bench.node.commissioning.window.isOpen)
            last.answered()
            #expect(bench.node.commissioning.window.isOpen)
            host.spared = nil
            session.close()
            end.close()
        }
    }

    @Test func aClockThatIsFarBehindRefusesCertificatesUntilItHasSeenSome() async throws {
        try await Bench.run { bench in
            _ = try bench.makeRoot()
            let table = bench.node.commissioning.fabrics
            let first = try Administrator(fabric: 1)
            let before = table.lastKnownGoodTime
            bench.node.environment.clockOffset = .seconds(-400 * 86_400)
            #expect(try bench.arm(.pairing()) == .ok)
            #expect(status { try bench.addRoot(first, .pairing()) } == .invalidCommand, "not valid yet")
            bench.node.commissioning.failSafe.pairingEnded()
            bench.node.environment.clockOffset = .zero

            // What a fail-safe that expires has seen does not count.
            #expect(try bench.arm(.pairing()) == .ok)
            try bench.addRoot(first, .pairing())
            #expect(table.lastKnownGoodTime == first.authority.root.notBefore.unix)
            bench.node.commissioning.failSafe.pairingEnded()
            #expect(table.lastKnownGoodTime == before)

            try bench.commission(first)
            #expect(table.lastKnownGoodTime == first.authority.root.notBefore.unix)
            bench.node.environment.clockOffset = .seconds(-400 * 86_400)
            try bench.node.commissioning.window.openBasic()
            try bench.commission(Administrator(fabric: 2))
            #expect(table.fabrics.count == 2)
            #expect(table.validationTime(wall: bench.node.environment.wall) == table.lastKnownGoodTime)
        }
    }
}
