import HearthTime
import MatterCredentials
import MatterMessage
import MatterModel
import Testing

@testable import MatterTransport

/// TLS with no sockets, in virtual time: the same code over byte queues.
@Suite(.timeLimit(.minutes(10))) struct MemoryTests {
    let lamp: NodeID = 0x1A, controller: NodeID = 0xC0
    let place = TransportAddress.memory(MemoryAddress("lamp", port: 0))

    @Test func connectsAndAnswersWithoutAnyTimePassing() async throws {
        try await withTransport(.manual) { transport in
            let fabric = try TestFabric()
            let server = TestServer(transport)
            let client = TestClient(transport)
            let address = try await server.start(on: place, identities: [fabric.node(lamp, index: 3)])
            #expect(address == .memory(MemoryAddress("lamp", port: 5540)))
            let session = try await client.connect(address, as: fabric.node(controller, index: 7), to: lamp)
            #expect(session.peer?.nodeID == lamp && session.address == address)
            #expect(session.context.authMode == .case && session.context.fabricIndex == 7 && session.context.peerNodeID == 0x1A)
            let served = try #require(await server.contexts.first)
            #expect(served.fabricIndex == 3 && served.peerNodeID == 0xC0)
            #expect(
                served.attestationChallenge == session.context.attestationChallenge && served.attestationChallenge.count == 16)
            let longest = Crypto.random(Frame.limit)
            #expect(try await client.request(longest) == longest)
            #expect(transport.timeline.now == .zero)
            await client.close()
            #expect(await eventually { await server.connectionCount == 0 })
            #expect(await server.ends.map { $0?.code } == [nil])
            #expect(await client.end != nil)
            #expect(transport.timeline.openHolds.isEmpty && transport.timeline.failures.isEmpty)
            await server.stop()
        }
    }

    @Test func latencyIsModelTime() async throws {
        try await withTransport(.manual) { transport in
            let fabric = try TestFabric()
            let server = TestServer(transport)
            let client = TestClient(transport)
            let address = try await server.start(on: place, identities: [fabric.node(lamp)])
            _ = try await client.connect(address, as: fabric.node(controller), to: lamp)
            await client.setLatency(.milliseconds(20))
            await client.send([7], times: 2)
            try await transport.timeline.advance(by: .milliseconds(39))
            #expect(await server.log == ["0.020000000 192 7", "0.020000000 192 7"])
            #expect(await client.received.isEmpty)
            try await transport.timeline.advance(by: .milliseconds(1))
            #expect(await client.received == [[7], [7]])
            await server.stop()
        }
    }

    @Test func resumesAndRefusesAsOverSockets() async throws {
        try await withTransport(.manual) { transport in
            let fabric = try TestFabric()
            let stranger = try TestFabric()
            let server = TestServer(transport)
            let client = TestClient(transport)
            let address = try await server.start(on: place, identities: [fabric.node(lamp)])
            let identity = try fabric.node(controller)
            let tickets = TicketStore()
            for resumed in [false, true, true] {
                let session = try await client.connect(address, as: identity, to: lamp, tickets: tickets)
                #expect(session.resumed == resumed)
                #expect(try await client.request([1]) == [1])
                await client.close()
                #expect(await eventually { await client.isEnded })
            }
            let naive = try Hybrid.identity(showing: stranger, trusting: fabric, node: controller)
            let error = await failure { try await client.connect(address, as: naive, to: lamp) }
            #expect(error?.message.contains("unknown ca") == true, "\(error?.message ?? "connected")")
            let nobody = await failure {
                try await client.connect(.memory(MemoryAddress("lock", port: 1)), as: identity, to: lamp)
            }
            #expect(nobody?.code == .unreachable)
            await server.stop()
            #expect(await failure { try await client.connect(address, as: identity, to: lamp) }?.code == .unreachable)
        }
    }

    @Test func aHandshakeThatGetsNoAnswerEndsInModelTime() async throws {
        try await withTransport(.automatic) { transport in
            let fabric = try TestFabric()
            let server = TestServer(transport)
            let client = TestClient(transport)
            let address = try await server.start(on: place, identities: [fabric.node(lamp)])
            await client.setLatency(.seconds(60))
            let error = try await transport.timeline.call("connect") {
                await failure { try await client.connect(address, as: fabric.node(controller), to: lamp, timeout: .seconds(5)) }
            }
            #expect(error?.code == .timedOut)
            #expect(transport.timeline.now == ModelInstant.zero + .seconds(5))
            await server.stop()
        }
    }

    /// Writers wait when the reader pauses, and nothing is lost or reordered.
    @Test func aPausedReaderHoldsTheWriterBack() async throws {
        try await withTransport(.manual) { transport in
            let fabric = try TestFabric()
            let server = TestServer(transport)
            let client = TestClient(transport)
            let address = try await server.start(on: place, identities: [fabric.node(lamp)])
            _ = try await client.connect(address, as: fabric.node(controller), to: lamp)
            await server.setEchoes(false)
            await server.pause(after: 1)
            for i in 0..<6 { await client.send([UInt8](repeating: UInt8(i), count: Frame.limit)) }
            #expect(await server.received == 1)
            await server.resume()
            #expect(await eventually { await server.received == 6 })
            #expect(await server.log.map { $0.last } == ["0", "1", "2", "3", "4", "5"])
            // One that never reads is cut off.
            await server.pause(after: 7)
            await client.send([UInt8](repeating: 9, count: Frame.limit), times: 12)
            #expect(await eventually { await client.isEnded })
            #expect(await client.end??.code == .timedOut)
            await server.stop()
        }
    }
}
