import Glibc
import HearthIO
import HearthTime
import MatterCredentials
import MatterMessage
import MatterModel
import Testing

@testable import MatterTransport

/// What strangers may cost a process.
@Suite(.timeLimit(.minutes(10))) struct LimitTests {
    let lamp: NodeID = 0x1A

    @Test func handshakesTakeTurns() async throws {
        var limits = TransportLimits.generous
        // Nobody stalls here, however slow the machine is.
        (limits.handshakes, limits.handshakeStepsPerTurn, limits.patience) = (2, 1, .seconds(600))
        try await withTransport(limits: limits) { transport in
            let fabric = try TestFabric()
            let server = TestServer(transport)
            let address = try await server.start(identities: [fabric.node(lamp)])
            let identity = try fabric.node(1)
            try await withThrowingTaskGroup(of: Void.self) { group in
                for _ in 0..<30 {
                    let client = TestClient(transport)
                    group.addTask { _ = try await client.connect(address, as: identity, to: lamp, timeout: .seconds(600)) }
                }
                try await group.waitForAll()
            }
            #expect(await server.opened.count == 30)
            #expect(await (1...2).contains(server.mostHandshakes))
            #expect(await server.mostWaiting > 0)
            #expect(await server.load == TransportLoad())
            await server.stop()
        }
    }

    /// The peers that have begun a handshake and stay silent lose their places to those who wait.
    @Test func stalledHandshakesDoNotKeepOthersOut() async throws {
        var limits = TransportLimits()
        (limits.handshakes, limits.patience, limits.handshake) = (2, .milliseconds(100), .seconds(600))
        try await withTransport(limits: limits) { transport in
            let fabric = try TestFabric()
            let server = TestServer(transport)
            let client = TestClient(transport)
            let identity = try fabric.node(lamp)
            let address = try await server.start(identities: [identity])
            let hello = try await client.clientHello(as: fabric.node(1), to: lamp)
            let stalled = [try RawSocket(address), try RawSocket(address), try RawSocket(address)]
            for peer in stalled { peer.send(hello) }
            #expect(try await client.connect(address, as: fabric.node(2), to: lamp, timeout: .seconds(600)).peer?.nodeID == lamp)
            // One or two have lost their places, and there were never more than two.
            #expect(await server.failures.contains { $0.message == "the peer does nothing while others wait" })
            #expect(await (1...2).contains(server.mostHandshakes))
            for peer in stalled { peer.close() }
            #expect(await eventually { await server.load == TransportLoad() })
            await server.stop()
        }
    }

    /// Those who connect and say nothing cannot keep out who comes later. No limit of time runs out here but the test's own.
    @Test func silentPeersGiveWayAtOnce() async throws {
        var limits = TransportLimits()
        (limits.unauthenticated, limits.patience, limits.handshake) = (4, .seconds(600), .seconds(600))
        try await withTransport(limits: limits) { transport in
            let fabric = try TestFabric()
            let server = TestServer(transport)
            let client = TestClient(transport)
            let address = try await server.start(identities: [fabric.node(lamp)])
            // In the midst of its handshake, and older than all the others.
            let honest = try RawSocket(address)
            honest.send(try await client.clientHello(as: fabric.node(1), to: lamp))
            #expect(await eventually { await server.load.handshakes == 1 })
            // One has said half of what it should.
            let half = try RawSocket(address)
            half.send([0x16, 0x03, 0x01, 0x02, 0x00, 0x01])
            let silent = try (0..<40).map { _ in try RawSocket(address) }
            #expect(try await client.connect(address, as: fabric.node(2), to: lamp, timeout: .seconds(600)).peer?.nodeID == lamp)
            #expect(await server.load.handshakes == 1, "the one in mid-handshake keeps its place")
            let ended = await server.failures
            #expect(ended.count >= 39 && ended.allSatisfy { $0.message == "another takes the place of a peer that does nothing" })
            #expect(await server.load.pausedAcceptors == 0)
            for peer in silent + [half, honest] { peer.close() }
            #expect(await eventually { await server.load == TransportLoad() })
            await server.stop()
        }
    }

    /// When everybody has sent a ClientHello the oldest that stands still goes, after its grace.
    @Test func aHandshakeThatStandsStillGivesWay() async throws {
        var limits = TransportLimits()
        (limits.unauthenticated, limits.patience, limits.handshake) = (2, .milliseconds(100), .seconds(600))
        try await withTransport(limits: limits) { transport in
            let fabric = try TestFabric()
            let server = TestServer(transport)
            let client = TestClient(transport)
            let address = try await server.start(identities: [fabric.node(lamp)])
            let hello = try await client.clientHello(as: fabric.node(1), to: lamp)
            let stalled = try (0..<2).map { _ in try RawSocket(address) }
            for peer in stalled { peer.send(hello) }
            #expect(await eventually { await server.load.handshakes == 2 })
            _ = try await client.connect(address, as: fabric.node(2), to: lamp, timeout: .seconds(600))
            #expect(await server.failures.map(\.code) == [.timedOut])
            for peer in stalled { peer.close() }
            #expect(await eventually { await server.load == TransportLoad() })
            await server.stop()
        }
    }

    @Test func aSecondPairingIsToldToWait() async throws {
        try await withTransport { transport in
            let server = TestServer(transport)
            let (first, second) = (TestClient(transport), TestClient(transport))
            let address = try await server.start()
            try await server.openWindow()
            _ = try await first.connectPairing(address)
            await server.setBusy(true)
            let error = await failure { try await second.connectPairing(address) }
            #expect(error?.code == .busy)
            #expect(error?.message.contains("1.5 seconds") == true)
            #expect(try await first.request([1]) == [1])
            #expect(await server.opened.count == 1)
            await first.close()
            #expect(await eventually { await server.load == TransportLoad() })
            await server.stop()
        }
    }

    @Test(arguments: [TransportAddress.loopback(0), .memory(MemoryAddress("lamp", port: 0))])
    func pairingHasAMinute(place: TransportAddress) async throws {
        try await withTransport(.manual) { transport in
            let server = TestServer(transport)
            let client = TestClient(transport)
            let address = try await server.start(on: place)
            try await server.openWindow()
            let session = try await client.connectPairing(address)
            #expect(session.context.authMode == nil && session.context.fabricIndex == 0 && session.context.peerNodeID == 0)
            #expect(session.context.attestationChallenge.count == 16 && session.binding.count == 32)
            #expect(await server.contexts == [session.context])
            try await transport.timeline.advance(by: .seconds(59))
            #expect(await !client.isEnded)
            try await transport.timeline.advance(by: .seconds(1))
            #expect(await client.isEnded)
            #expect(await server.failures.map(\.code) == [.timedOut])

            _ = try await client.connectPairing(address)
            if case .socket = place { #expect(await server.load.unauthenticated == 1) }
            await server.completePairing()
            #expect(await server.load.unauthenticated == 0)
            try await transport.timeline.advance(by: .seconds(3600))
            #expect(try await client.request([1]) == [1])
            #expect(transport.timeline.failures.isEmpty)
            await server.stop()
        }
    }
}

/// Like `RawPeer`, for several at a time.
final class RawSocket: Sendable {
    private let fd: Int32
    init(_ address: TransportAddress) throws { fd = try Socket.connect(SocketAddress(.loopback4, port: address.port)) }
    func send(_ bytes: [UInt8]) {
        var entry = pollfd(fd: fd, events: Int16(POLLOUT), revents: 0)
        poll(&entry, 1, 2000)
        _ = Glibc.send(fd, bytes, bytes.count, Int32(MSG_NOSIGNAL))
    }
    func close() { _ = Glibc.close(fd) }
}

/// Keeps what is written to it.
final class RecordingStream: ByteStream {
    private(set) var written: [UInt8] = []
    override func write(_ bytes: UnsafeRawBufferPointer) -> Outcome {
        written += bytes
        return .bytes(bytes.count)
    }
    override func read(into buffer: UnsafeMutableRawBufferPointer) -> Outcome { .wouldBlock }
    override var isOrdered: Bool { true }
}
