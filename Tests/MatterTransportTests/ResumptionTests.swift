import HearthIO
import HearthTime
import MatterCredentials
import MatterModel
import Testing

@testable import MatterTransport

@Suite(.timeLimit(.minutes(10))) struct ResumptionTests {
    let lamp: NodeID = 0x1A, lock: NodeID = 0x10C, controller: NodeID = 0xC0

    /// Connects, exchanges one frame so that the ticket has come, and closes.
    private func visit(
        _ client: TestClient, _ port: TransportAddress, _ identity: OperationalIdentity, _ node: NodeID, _ tickets: TicketStore,
        clock: ModelClock = ModelClock()
    ) async throws -> TestClient.Session {
        let session = try await client.connect(port, as: identity, to: node, tickets: tickets, clock: clock)
        #expect(try await client.request([1]) == [1])
        await client.close()
        return session
    }

    @Test func theSecondConnectionResumesAndIsCheckedAgain() async throws {
        try await withTransport { transport in
            let fabric = try TestFabric(withIntermediate: true)
            let server = TestServer(transport)
            let client = TestClient(transport)
            let port = try await server.start(identities: [fabric.node(lamp)])
            let identity = try fabric.node(controller)
            let tickets = TicketStore()
            #expect(try await visit(client, port, identity, lamp, tickets).resumed == false)
            for _ in 0..<3 {
                let session = try await visit(client, port, identity, lamp, tickets)
                #expect(session.resumed)
                #expect(session.peer?.nodeID == lamp)
            }
            let opened = await server.opened
            #expect(opened.map(\.resumed) == [false, true, true, true])
            #expect(opened.allSatisfy { $0.peer?.nodeID == controller })
            await server.stop()
        }
    }

    /// The ticket is stored when it comes, so how the connection ends does not matter.
    @Test func aResetConnectionDoesNotCostTheTicket() async throws {
        try await withTransport { transport in
            let fabric = try TestFabric()
            let server = TestServer(transport)
            let client = TestClient(transport)
            let port = try await server.start(identities: [fabric.node(lamp)])
            let identity = try fabric.node(controller)
            let tickets = TicketStore()
            _ = try await client.connect(port, as: identity, to: lamp, tickets: tickets)
            #expect(try await client.request([1]) == [1])
            await client.sendAndVanish([], times: 0, reset: true)
            #expect(try await visit(client, port, identity, lamp, tickets).resumed)
            await server.stop()
        }
    }

    @Test func aTicketDoesNotCarryOverToAnotherName() async throws {
        try await withTransport { transport in
            let fabric = try TestFabric()
            let server = TestServer(transport)
            let client = TestClient(transport)
            let port = try await server.start(identities: [fabric.node(lamp), fabric.node(lock)])
            let identity = try fabric.node(controller)
            let tickets = TicketStore()
            _ = try await visit(client, port, identity, lamp, tickets)
            // A client that ignores its own rule and offers the lamp's ticket to the lock.
            let lampKey = TicketStore.Key(fabric: fabric.authority.fabric, node: lamp, generation: 1)
            let lockKey = TicketStore.Key(fabric: fabric.authority.fabric, node: lock, generation: 1)
            let ticket = try #require(tickets.take(lampKey))
            tickets.put(ticket, for: lockKey)
            let session = try await visit(client, port, identity, lock, tickets)
            #expect(!session.resumed)
            #expect(session.peer?.nodeID == lock)
            await server.stop()
        }
    }

    @Test func aTicketDoesNotOutliveTheFabricOrTheGeneration() async throws {
        try await withTransport { transport in
            let fabric = try TestFabric()
            let other = try TestFabric()
            let server = TestServer(transport)
            let client = TestClient(transport)
            let port = try await server.start(identities: [fabric.node(lamp), other.node(lamp)])
            let identity = try fabric.node(controller)
            let tickets = TicketStore()
            _ = try await visit(client, port, identity, lamp, tickets)
            let key = TicketStore.Key(fabric: fabric.authority.fabric, node: lamp, generation: 1)
            let ticket = try #require(tickets.take(key))

            tickets.put(ticket, for: key)
            await server.remove(fabric.authority.fabric)
            let error = await failure { try await visit(client, port, identity, lamp, tickets) }
            #expect(error?.message.contains("unrecognized name") == true, "\(error?.message ?? "connected")")

            // Joined again under the same root and ids: a new generation, so the old ticket is worth nothing.
            tickets.put(ticket, for: key)
            try await server.add(fabric.node(lamp, generation: 2))
            #expect(try await visit(client, port, identity, lamp, tickets).resumed == false)
            await server.stop()
        }
    }

    @Test func anExpiredTicketIsRefusedByEitherSide() async throws {
        try await withTransport { transport in
            let fabric = try TestFabric()
            let serverClock = ModelClock()
            let clientClock = ModelClock()
            let server = TestServer(transport)
            let client = TestClient(transport)
            let port = try await server.start(
                clock: serverClock, identities: [fabric.node(lamp, notAfter: MatterTime(unix: ModelClock.start + 500_000)!)])
            let identity = try fabric.node(controller)
            let tickets = TicketStore()
            _ = try await visit(client, port, identity, lamp, tickets, clock: clientClock)
            // The client still believes in the ticket; at the server's time the client's certificate has expired.
            serverClock.set(ModelClock.start + 100_000)
            let error = await failure { try await visit(client, port, identity, lamp, tickets, clock: clientClock) }
            #expect(error?.message.contains("expired") == true, "\(error?.message ?? "connected")")

            // The other way round: the server's certificate has expired at the client's time.
            serverClock.set(ModelClock.start)
            _ = try await visit(client, port, identity, lamp, tickets, clock: clientClock)
            clientClock.set(ModelClock.start + 600_000)
            let second = await failure { try await visit(client, port, identity, lamp, tickets, clock: clientClock) }
            #expect(second?.message.contains("certificate verify failed") == true, "\(second?.message ?? "connected")")
            await server.stop()
        }
    }
}
