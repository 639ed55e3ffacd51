import HearthIO
import HearthTime
import MatterCredentials
import MatterModel
import Testing

@testable import MatterTransport

@Suite(.timeLimit(.minutes(10))) struct PairingTests {
    let salt = [UInt8](repeating: 3, count: 16)

    /// The prototype's context: our own prefix and the exporter value of the TLS session.
    private func context(_ exporter: [UInt8]) -> [UInt8] { Crypto.sha256(Array("hearth pairing v1".utf8) + exporter) }

    @Test func aClosedWindowRefuses() async throws {
        try await withTransport { transport in
            let server = TestServer(transport)
            let client = TestClient(transport)
            let port = try await server.start()
            #expect(await failure { try await client.connectPairing(port) }?.message.contains("access denied") == true)
            try await server.openWindow()
            let session = try await client.connectPairing(port)
            #expect(session.peer == nil)
            #expect(try await client.request([5]) == [5])
            await client.close()
            await server.closeWindow()
            #expect(await failure { try await client.connectPairing(port) }?.code == .handshake)
            await server.stop()
        }
    }

    /// A device that answers Pake1 with pB ‖ cB and Pake3 with 1 or 0.
    private func device(_ server: TestServer, passcode: UInt32) async throws {
        let verifier = try Spake2Plus.Verifier(passcode: passcode, salt: salt, iterations: 1000)
        let expected = Box<[UInt8]>([])
        await server.setPairing { _, message, exporter in
            if message.count == 65 {
                guard let (pB, keys) = try? verifier.respond(to: message, context: context(exporter)) else { return [] }
                expected.value = keys.cA
                return pB + keys.cB
            }
            return [Crypto.equal(message, expected.value) ? 1 : 0]
        }
    }

    @Test func spake2PlusBoundToTheTLSSessionSucceeds() async throws {
        try await withTransport { transport in
            let server = TestServer(transport)
            let client = TestClient(transport)
            let port = try await server.start()
            try await server.openWindow()
            try await device(server, passcode: 20_202_021)
            let session = try await client.connectPairing(port)
            let prover = try Spake2Plus.Prover(passcode: 20_202_021, salt: salt, iterations: 1000)
            let pake2 = try await client.request(prover.pA)
            let keys = try prover.finish(pB: Array(pake2[..<65]), cB: Array(pake2[65...]), context: context(session.binding))
            #expect(try await client.request(keys.cA) == [1])
            await client.close()
            await server.stop()
        }
    }

    @Test func aRelayInTheMiddleFails() async throws {
        try await withTransport { transport in
            let device = TestServer(transport)
            let relay = TestServer(transport)
            let relayClient = TestClient(transport)
            let victim = TestClient(transport)
            let devicePort = try await device.start()
            try await device.openWindow()
            try await self.device(device, passcode: 20_202_021)
            let relayPort = try await relay.start()
            try await relay.openWindow()

            let session = try await victim.connectPairing(relayPort)
            let inner = try await relayClient.connectPairing(devicePort)
            #expect(session.binding != inner.binding)
            let prover = try Spake2Plus.Prover(passcode: 20_202_021, salt: salt, iterations: 1000)
            let pake2 = try await relayClient.request(prover.pA)  // the relay hands everything on unchanged
            #expect(throws: CredentialsError.self) {
                try prover.finish(pB: Array(pake2[..<65]), cB: Array(pake2[65...]), context: context(session.binding))
            }
            // Without the exporter in the context the relay would have succeeded.
            _ = try prover.finish(pB: Array(pake2[..<65]), cB: Array(pake2[65...]), context: context(inner.binding))
            await victim.close()
            await relayClient.close()
            await device.stop()
            await relay.stop()
        }
    }

    @Test func pairingNeverGetsIntoTheOperationalMode() async throws {
        try await withTransport { transport in
            let fabric = try TestFabric()
            let server = TestServer(transport)
            let client = TestClient(transport)
            let port = try await server.start(identities: [fabric.node(1)])
            try await server.openWindow()
            _ = try await client.connectPairing(port)
            await client.close()
            let opened = await server.opened
            #expect(opened.count == 1 && opened[0].peer == nil && !opened[0].resumed)
            await server.stop()
        }
    }
}
