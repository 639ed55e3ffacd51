import Glibc
import HearthIO
import HearthTime
import MatterCredentials
import MatterModel
import Testing

@testable import MatterTransport

@Suite(.timeLimit(.minutes(10))) struct OperationalTests {
    let lamp: NodeID = 0x1A, lock: NodeID = 0x10C, controller: NodeID = 0xC0

    @Test(arguments: [false, true]) func connectsBothWaysVerified(withIntermediate: Bool) async throws {
        try await withTransport { transport in
            let fabric = try TestFabric(withIntermediate: withIntermediate)
            let server = TestServer(transport)
            let client = TestClient(transport)
            let port = try await server.start(identities: [fabric.node(lamp)])
            let tagged = try fabric.node(controller, extra: [.init(.nocCAT, .identifier(0x0001_0002))])
            let session = try await client.connect(port, as: tagged, to: lamp)
            #expect(session.peer == PeerIdentity(nodeID: lamp, fabricID: 0xFAB1))
            #expect(await server.opened.first?.peer == PeerIdentity(nodeID: controller, fabricID: 0xFAB1, tags: [0x0001_0002]))
            #expect(try await client.request([1, 2, 3]) == [1, 2, 3])
            await client.close()
            await server.stop()
        }
    }

    /// Resumed subscriptions need it: the certificates serve in both roles.
    @Test func eitherNodeMayDial() async throws {
        try await withTransport { transport in
            let fabric = try TestFabric()
            let (lampIdentity, controllerIdentity) = (try fabric.node(lamp), try fabric.node(controller))
            let lampServer = TestServer(transport)
            let controllerServer = TestServer(transport)
            let client = TestClient(transport)
            let lampPort = try await lampServer.start(identities: [lampIdentity])
            let controllerPort = try await controllerServer.start(identities: [controllerIdentity])
            #expect(try await client.connect(lampPort, as: controllerIdentity, to: lamp).peer?.nodeID == lamp)
            await client.close()
            #expect(try await client.connect(controllerPort, as: lampIdentity, to: controller).peer?.nodeID == controller)
            await client.close()
            await lampServer.stop()
            await controllerServer.stop()
        }
    }

    /// OpenSSL's own socket BIO would end the process here: it writes with write(2).
    @Test func aPeerThatGoesAwayRaisesNoSignal() async throws {
        signal(SIGPIPE, SIG_DFL)
        try await withTransport { transport in
            let fabric = try TestFabric()
            let server = TestServer(transport)
            let port = try await server.start(identities: [fabric.node(lamp)])
            let identity = try fabric.node(controller)
            for i in 0..<10 {
                let client = TestClient(transport)
                _ = try await client.connect(port, as: identity, to: lamp)
                await client.sendAndVanish([1, 2, 3], times: 200, reset: i % 2 == 0)
            }
            #expect(await eventually { await server.connectionCount == 0 })
            await server.stop()
        }
    }

    @Test func aStrangersCertificateIsRefused() async throws {
        try await withTransport { transport in
            let fabric = try TestFabric()
            let stranger = try TestFabric()
            let server = TestServer(transport)
            let client = TestClient(transport)
            let port = try await server.start()
            // The stranger knows the name, but not the root: both directions refuse, the client first.
            try await server.add(fabric.node(lamp), as: stranger.authority.fabric.instanceName(node: lamp))
            let error = await failure { try await client.connect(port, as: stranger.node(controller), to: lamp) }
            #expect(error?.message.contains("certificate verify failed") == true)
            // A client that would trust anybody is refused by the server.
            try await server.add(fabric.node(lamp))
            let naive = try Hybrid.identity(showing: stranger, trusting: fabric, node: controller)
            let second = await failure { try await client.connect(port, as: naive, to: lamp) }
            #expect(second?.code == .handshake)
            #expect(second?.message.contains("unknown ca") == true, "\(second?.message ?? "connected")")
            #expect(await server.opened.isEmpty)
            await server.stop()
        }
    }

    @Test func sameRootButOtherFabricIsRefused() async throws {
        try await withTransport { transport in
            let fabric = try TestFabric()
            let server = TestServer(transport)
            let client = TestClient(transport)
            let port = try await server.start(identities: [fabric.node(lamp)])
            // The server refuses a client of the other fabric, by alert.
            let intruder = try Hybrid.sibling(of: fabric, node: controller, claiming: fabric)
            let error = await failure { try await client.connect(port, as: intruder, to: lamp) }
            #expect(error?.message.contains("bad certificate") == true, "\(error?.message ?? "connected")")
            #expect(await eventually { await server.failures.contains { $0.code == .wrongPeer } })
            // The client refuses a server of the other fabric.
            try await server.add(Hybrid.sibling(of: fabric, node: lamp), as: fabric.authority.fabric.instanceName(node: lamp))
            let second = await failure { try await client.connect(port, as: fabric.node(controller), to: lamp) }
            #expect(second?.code == .wrongPeer)
            #expect(await server.opened.isEmpty)
            await server.stop()
        }
    }

    @Test func aLampThatServesTheLocksNameIsRefused() async throws {
        try await withTransport { transport in
            let fabric = try TestFabric()
            let server = TestServer(transport)
            let client = TestClient(transport)
            let port = try await server.start()
            try await server.add(fabric.node(lamp), as: fabric.authority.fabric.instanceName(node: lock))
            let error = await failure { try await client.connect(port, as: fabric.node(controller), to: lock) }
            #expect(error?.code == .wrongPeer)
            #expect(error?.message.contains("another node answered") == true)
            await server.stop()
        }
    }

    @Test func certificatesThatAreNotOneNodesAreRefused() async throws {
        try await withTransport { transport in
            let fabric = try TestFabric()
            let server = TestServer(transport)
            let client = TestClient(transport)
            let port = try await server.start(identities: [fabric.node(lamp)])
            let twoNodes: [DistinguishedName.Attribute] = [.init(.nodeID, .identifier(0xBAD))]
            let twoFabrics: [DistinguishedName.Attribute] = [.init(.fabricID, .identifier(0xBAD))]
            for extra in [twoNodes, twoFabrics] {
                let identity = try Hybrid.unchecked(fabric, node: controller, extra: extra)
                #expect(await failure { try await client.connect(port, as: identity, to: lamp) }?.code == .handshake)
            }
            let serverOnly = try Hybrid.unchecked(fabric, node: controller, purposes: [.serverAuth])
            #expect(await failure { try await client.connect(port, as: serverOnly, to: lamp) }?.code == .handshake)
            let clientOnly = try Hybrid.unchecked(fabric, node: controller, purposes: [.clientAuth])
            #expect(await failure { try await client.connect(port, as: clientOnly, to: lamp) }?.code == .handshake)
            #expect(await server.opened.isEmpty)
            await server.stop()
        }
    }

    @Test func expiredByModelTimeIsRefusedOnBothSides() async throws {
        try await withTransport { transport in
            let fabric = try TestFabric()
            let early = ModelClock()
            let late = ModelClock()
            late.set(ModelClock.start + 100_000)
            let server = TestServer(transport)
            let client = TestClient(transport)
            let port = try await server.start(clock: early, identities: [fabric.node(lamp)])
            let identity = try fabric.node(controller)
            let byClient = await failure { try await client.connect(port, as: identity, to: lamp, clock: late) }
            #expect(byClient?.message.contains("certificate verify failed") == true)
            early.set(late.now)
            let byServer = await failure { try await client.connect(port, as: identity, to: lamp) }
            #expect(byServer?.message.contains("expired") == true, "\(byServer?.message ?? "connected")")
            await server.stop()
        }
    }

    @Test func framesUpToTheLimitPassAndLongerOnesEndTheConnection() async throws {
        try await withTransport { transport in
            let fabric = try TestFabric()
            let server = TestServer(transport)
            let client = TestClient(transport)
            let port = try await server.start(identities: [fabric.node(lamp)])
            _ = try await client.connect(port, as: fabric.node(controller), to: lamp)
            let longest = Crypto.random(Frame.limit)
            for _ in 0..<5 { #expect(try await client.request(longest) == longest) }
            #expect(try await client.request([]) == [])
            let error = await failure { try await client.requestRaw([0x01, 0xFA, 0, 0]) }  // 64,001
            #expect(error?.code == .closedByPeer)
            #expect(await server.failures.contains { $0.code == .protocolViolation })
            await server.stop()
        }
    }

    @Test func halfOpenHandshakesTimeOut() async throws {
        var limits = TransportLimits()
        limits.handshake = .milliseconds(200)
        try await withTransport(limits: limits) { transport in
            let fabric = try TestFabric()
            let server = TestServer(transport)
            let client = TestClient(transport)
            let port = try await server.start(identities: [fabric.node(lamp)])
            let silent = try RawPeer(port)
            #expect(silent.readToEnd() == [])
            let partial = try RawPeer(port)
            partial.send([0x16, 0x03, 0x01, 0x02, 0x00, 0x01])  // the start of a ClientHello
            #expect(partial.readToEnd() != nil)
            #expect(await eventually { await server.failures.filter { $0.code == .timedOut }.count == 2 })
            #expect(await server.connectionCount == 0)
            #expect(await server.load == TransportLoad())
            // The other way round: somebody accepts and says nothing.
            let mute = try Socket.listen(SocketAddress(.loopback4, port: 0))
            defer { close(mute.fd) }
            let error = await failure {
                try await client.connect(
                    .socket(mute.address), as: fabric.node(controller), to: lamp, timeout: .milliseconds(200))
            }
            #expect(error?.code == .timedOut)
            await server.stop()
        }
    }

    @Test func garbageAndTooManyConnectionsDoNotDisturbOthers() async throws {
        var limits = TransportLimits()
        limits.unauthenticated = 8
        limits.handshake = .seconds(30)
        limits.patience = .seconds(2)
        try await withTransport(limits: limits) { transport in
            let fabric = try TestFabric()
            let server = TestServer(transport)
            let client = TestClient(transport)
            let late = TestClient(transport)
            let port = try await server.start(identities: [fabric.node(lamp)])
            _ = try await client.connect(port, as: fabric.node(controller), to: lamp)
            for i in 0..<20 {
                let peer = try RawPeer(port)
                peer.send(i % 2 == 0 ? [0x16] + Crypto.random(600) : Array("GET / HTTP/1.0\r\n\r\n".utf8))
                #expect(peer.readToEnd() != nil)
            }
            var silent: [Int32] = []
            for _ in 0..<20 { silent.append(try Socket.connect(SocketAddress(.loopback4, port: port.port))) }
            #expect(await eventually { await server.failures.count { $0.message.hasPrefix("another takes the place") } >= 12 })
            #expect(await server.load.unauthenticated <= 8)
            #expect(try await client.request([9]) == [9])
            // An honest newcomer gets the place of a silent one.
            #expect(try await late.connect(port, as: fabric.node(0xC1), to: lamp, timeout: .seconds(60)).peer?.nodeID == lamp)
            for fd in silent { close(fd) }
            #expect(await eventually { await server.load == TransportLoad() })
            #expect(await eventually { await server.connectionCount == 2 })
            await server.stop()
        }
    }
}
