import Glibc
import HearthIO
import HearthTime
import MatterCredentials
import MatterMessage
import MatterModel
import Testing

@testable import MatterTransport

/// Loopback sockets in virtual time: the kernel's timing must not be seen.
@Suite(.timeLimit(.minutes(10))) struct VirtualLoopbackTests {
    let lamp: NodeID = 0x1A

    /// Starts a server and `count` connected clients, dialled one after the other.
    private func home(
        _ transport: TLSTransport, on place: TransportAddress, clients count: Int, fabric: TestFabric? = nil
    ) async throws -> (TestServer, [TestClient]) {
        let fabric = try fabric ?? TestFabric()
        let server = TestServer(transport)
        let address = try await server.start(on: place, identities: [fabric.node(lamp)])
        var clients: [TestClient] = []
        for i in 0..<count {
            let client = TestClient(transport, name: "client \(i)")
            _ = try await client.connect(address, as: fabric.node(NodeID(UInt64(i + 1))), to: lamp)
            clients.append(client)
        }
        return (server, clients)
    }

    /// Whoever sends first and whatever epoll reports first: links are ordered by their origins, the moments of dialling.
    @Test(arguments: [TransportAddress.loopback(0), .memory(MemoryAddress("lamp", port: 0))])
    func framesOfOneInstantArriveInTheOrderOfTheLinks(place: TransportAddress) async throws {
        var logs: Set<[String]> = []
        for round in 0..<4 {
            try await withTransport(.manual) { transport in
                let (server, clients) = try await home(transport, on: place, clients: 8)
                try await transport.timeline.run {
                    for client in round % 2 == 0 ? clients : clients.reversed() {
                        await client.send([1])
                        await client.send([2])
                    }
                }
                try await transport.timeline.advance(by: .seconds(1))
                let log = await server.log
                #expect(log.count == 16)
                logs.insert(log)
                #expect(transport.timeline.failures.isEmpty)
                await server.stop()
            }
        }
        #expect(logs == [(1...8).flatMap { node in (1...2).map { "0.000000000 \(node) \($0)" } }])
    }

    /// Established sessions are handed out in the order of dialling too, though their handshakes end as they like.
    @Test func sessionsOfOneInstantOpenInTheOrderOfDialling() async throws {
        try await withTransport(.manual) { transport in
            let fabric = try TestFabric()
            let server = TestServer(transport)
            let address = try await server.start(identities: [fabric.node(lamp)])
            let identities = try (1...8).map { try fabric.node(NodeID(UInt64($0))) }
            try await transport.timeline.run {
                try await withThrowingTaskGroup(of: Void.self) { group in
                    for (i, identity) in identities.enumerated() {
                        let client = TestClient(transport, name: "client \(i)")
                        group.addTask { _ = try await client.connect(address, as: identity, to: lamp) }
                    }
                    try await group.waitForAll()
                }
            }
            #expect(await server.opened.compactMap { $0.peer?.nodeID.rawValue } == Array(1...8))
            #expect(
                transport.timeline.now == .zero && transport.timeline.openHolds.isEmpty && transport.timeline.failures.isEmpty)
            await server.stop()
        }
    }

    @Test func aDelayedAnswerComesAtItsInstant() async throws {
        try await withTransport(.automatic) { transport in
            let (server, clients) = try await home(transport, on: .loopback(0), clients: 1)
            await server.setDelay(.seconds(3))
            let answer = try await transport.timeline.call("request") { try await clients[0].request([5]) }
            #expect(answer == [5] && transport.timeline.now == ModelInstant.zero + .seconds(3))
            // Many frames at one instant, larger than the kernel's buffers.
            await server.setDelay(nil)
            let large = Crypto.random(60_000)
            for _ in 0..<20 {
                #expect(try await transport.timeline.call("request") { try await clients[0].request(large) } == large)
            }
            #expect(transport.timeline.now == ModelInstant.zero + .seconds(3) && transport.timeline.failures.isEmpty)
            await server.stop()
        }
    }

    /// A reader that pauses may need model time to go on, so what is on the way to it must not stop time.
    @Test func aPausedReaderDoesNotStopTime() async throws {
        try await withTransport(.manual) { transport in
            let (server, clients) = try await home(transport, on: .loopback(0), clients: 1)
            await server.setEchoes(false)
            await server.pause(after: 2)
            await clients[0].send([1], times: 2)
            await clients[0].send([3], times: 3)
            try await transport.timeline.advance(by: .seconds(10))
            #expect(await server.received == 2)
            #expect(transport.timeline.failures.isEmpty && transport.timeline.openHolds.isEmpty)
            await server.resume()
            try await transport.timeline.advance(by: .seconds(10))
            #expect(await server.log.suffix(3) == ["10.000000000 1 3", "10.000000000 1 3", "10.000000000 1 3"])
            #expect(transport.timeline.failures.isEmpty)
            await server.stop()
        }
    }

    /// The end of a connection, of either kind, is known at the other end before time goes on.
    @Test(arguments: [false, true]) func theOtherEndLearnsOfTheEndAtItsInstant(abort: Bool) async throws {
        try await withTransport(.manual) { transport in
            let (server, clients) = try await home(transport, on: .loopback(0), clients: 2)
            try await transport.timeline.advance(by: .seconds(1))
            #expect(await clients[1].endAndWatch(abort: abort) == false)
            try await transport.timeline.advance(by: .seconds(1))
            #expect(await server.ends.map { $0?.code } == [abort ? .broken : nil])
            let end = await clients[1].end
            #expect(end != nil && end??.code == (abort ? .closedHere : nil))
            #expect(transport.timeline.openHolds.isEmpty && transport.timeline.failures.isEmpty)
            #expect(await server.connectionCount == 1)
            // What was sent before an orderly end arrives before it.
            await server.sendAndClose([8], times: 3)
            try await transport.timeline.advance(by: .seconds(1))
            #expect(await clients[0].received == [[8], [8], [8]])
            #expect(await clients[0].isEnded)
            #expect(transport.timeline.openHolds.isEmpty && transport.timeline.failures.isEmpty)
            await server.stop()
        }
    }

    @Test func aRefusalHoldsNothing() async throws {
        try await withTransport(.manual) { transport in
            let fabric = try TestFabric()
            let (server, clients) = try await home(transport, on: .loopback(0), clients: 1)
            let (client, address) = (clients[0], await server.address)
            let refused = await failure { try await client.connectPairing(address) }
            #expect(refused?.code == .handshake)
            let closed = try Socket.listen(SocketAddress(.loopback4, port: 0))
            close(closed.fd)
            let (nowhere, identity) = (TransportAddress.socket(closed.address), try fabric.node(9))
            let error = await failure { try await client.connect(nowhere, as: identity, to: lamp) }
            #expect(error?.code == .unreachable)
            try await transport.timeline.advance(by: .seconds(1))
            #expect(transport.timeline.openHolds.isEmpty && transport.timeline.failures.isEmpty)
            await server.stop()
        }
    }

    /// The same name dialled again and again uses the same place in the order.
    @Test func reconnectingDoesNotGrowAnything() async throws {
        try await withTransport(.manual) { transport in
            let fabric = try TestFabric()
            let identity = try fabric.node(5)
            let (server, clients) = try await home(transport, on: .loopback(0), clients: 3, fabric: fabric)
            for _ in 0..<5 {
                await clients[1].close()
                try await transport.timeline.advance(by: .seconds(1))
                _ = try await clients[1].connect(await server.address, as: identity, to: lamp)
            }
            try await transport.timeline.run { for client in clients.reversed() { await client.send([4]) } }
            #expect(await server.log.map { $0.split(separator: " ")[1] } == ["1", "5", "3"])
            #expect(transport.timeline.failures.isEmpty)
            await server.stop()
        }
    }

    /// Two timelines in one process are outside peers to each other.
    @Test func anAnswerFromOutsideTakesNoModelTimeWhenItIsExpected() async throws {
        try await withTransport { outside in
            try await withTransport(.manual) { transport in
                let fabric = try TestFabric()
                let server = TestServer(outside)
                let client = TestClient(transport)
                let address = try await server.start(identities: [fabric.node(lamp)])
                _ = try await client.connect(address, as: fabric.node(2), to: lamp)
                for _ in 0..<5 {
                    await client.expectAnswer()
                    await client.send([6])
                    try await transport.timeline.advance(by: .seconds(1))
                }
                #expect(await client.received.count == 5)
                #expect(transport.timeline.failures.isEmpty && transport.timeline.openHolds.isEmpty)
                // Not expected: time does not wait.
                await server.setEchoes(false)
                await client.send([6])
                try await transport.timeline.advance(by: .seconds(1))
                #expect(transport.timeline.failures.isEmpty)
                await client.close()
                #expect(await eventually { await client.isEnded })
                await server.stop()
            }
        }
    }
}
