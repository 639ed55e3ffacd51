import Glibc
import HearthIO
import HearthTime
import MatterCredentials
import MatterMessage
import MatterModel
import Testing

@testable import MatterTransport

/// How connections end, how readers and writers hold each other back, and what happens to those who stop half way. Real time.
@Suite(.timeLimit(.minutes(10))) struct CloseTests {
    let lamp: NodeID = 0x1A, controller: NodeID = 0xC0

    /// A device answers RemoveFabric and closes: the answer must arrive, however much it is.
    @Test func whatWasSentBeforeACloseArrives() async throws {
        try await withTransport { transport in
            let fabric = try TestFabric()
            let server = TestServer(transport)
            let client = TestClient(transport)
            let address = try await server.start(identities: [fabric.node(lamp)])
            let message = Crypto.random(Frame.limit)
            for times in [0, 1, 4] {
                _ = try await client.connect(address, as: fabric.node(controller), to: lamp)
                await client.pause()
                // The client talks at the same time: unread input must not turn the end into a reset.
                await client.send([1], times: 50)
                await server.shrinkBuffers()
                await server.sendAndClose(message, times: times)
                if times == 4 { #expect(await server.hasOutput) }
                await client.resume()
                #expect(await eventually { await client.isEnded })
                let received = await client.received
                #expect(received.filter { $0 == message }.count == times)
                let end = await client.end
                #expect(end != nil && end??.code == nil)
            }
            #expect(await eventually { await server.connectionCount == 0 })
            #expect(await server.ends.allSatisfy { $0 == nil })
            await server.stop()
        }
    }

    /// A close to somebody who does not read ends all the same.
    @Test func aCloseIsBounded() async throws {
        var limits = TransportLimits()
        limits.closing = .milliseconds(200)
        try await withTransport(limits: limits) { transport in
            let fabric = try TestFabric()
            let server = TestServer(transport)
            let client = TestClient(transport)
            let address = try await server.start(identities: [fabric.node(lamp)])
            _ = try await client.connect(address, as: fabric.node(controller), to: lamp)
            await client.pause()
            #expect(await client.endAndWatch(abort: false) == false)
            #expect(await eventually { await server.connectionCount == 0 })
            await client.resume()
            _ = try await client.connect(address, as: fabric.node(controller), to: lamp)
            await client.pause()
            await server.sendAndClose(Crypto.random(Frame.limit), times: 3)
            #expect(await eventually { await server.connectionCount == 0 })
            await server.stop()
        }
    }

    @Test func anAbortIsSeenAsABrokenConnection() async throws {
        try await withTransport { transport in
            let fabric = try TestFabric()
            let server = TestServer(transport)
            let client = TestClient(transport)
            let address = try await server.start(identities: [fabric.node(lamp)])
            _ = try await client.connect(address, as: fabric.node(controller), to: lamp)
            #expect(await client.endAndWatch(abort: true) == false)
            #expect(await eventually { await server.ends.count == 1 })
            #expect(await server.ends.first??.code == .broken)
            #expect(await eventually { await client.isEnded })
            #expect(await client.end??.code == .closedHere)
            await server.stop()
        }
    }

    @Test func aPeerThatDoesNotReadIsCutOff() async throws {
        try await withTransport { transport in
            let fabric = try TestFabric()
            let server = TestServer(transport)
            let client = TestClient(transport)
            let address = try await server.start(identities: [fabric.node(lamp)])
            _ = try await client.connect(address, as: fabric.node(controller), to: lamp)
            await client.pause()
            // More than the kernel's buffers (some MB at most) and ours take.
            for _ in 0..<400 { await server.send(Crypto.random(Frame.limit)) }
            #expect(await eventually { await server.connectionCount == 0 })
            #expect(await server.failures.map(\.code) == [.outputOverflow])
            await server.stop()
        }
    }

    @Test func pausingKeepsFramesForLater() async throws {
        try await withTransport { transport in
            let fabric = try TestFabric()
            let server = TestServer(transport)
            let client = TestClient(transport)
            let address = try await server.start(identities: [fabric.node(lamp)])
            _ = try await client.connect(address, as: fabric.node(controller), to: lamp)
            await server.setEchoes(false)
            await server.pause(after: 3)
            for i in 0..<40 { await client.send([UInt8](repeating: UInt8(i), count: 1000 * i)) }
            #expect(await eventually { await server.received == 3 })
            for _ in 0..<5 { try await Task.sleep(for: .milliseconds(5)) }
            #expect(await server.received == 3)
            await server.resume()
            #expect(await eventually { await server.received == 40 })
            #expect(await server.log.compactMap { $0.split(separator: " ").last.flatMap { Int($0) } } == [0] + Array(1..<40))
            await server.stop()
        }
    }

    /// A frame that begins and never ends; whole frames in between do not help its peer.
    @Test(arguments: [[UInt8]([4]), [4, 0, 0, 0, 1]]) func aHalfReadFrameTimesOut(part: [UInt8]) async throws {
        var limits = TransportLimits()
        limits.frame = .milliseconds(200)
        try await withTransport(limits: limits) { transport in
            let fabric = try TestFabric()
            let server = TestServer(transport)
            let client = TestClient(transport)
            let idle = TestClient(transport)
            let address = try await server.start(identities: [fabric.node(lamp)])
            _ = try await client.connect(address, as: fabric.node(controller), to: lamp)
            _ = try await idle.connect(address, as: fabric.node(0xC1), to: lamp)
            let error = await failure { try await client.requestRaw(part) }
            #expect(error?.code == .closedByPeer)
            #expect(await server.failures.map(\.code) == [.timedOut])
            #expect(try await idle.request([1]) == [1])
            await server.stop()
        }
    }

    /// Nothing keeps a connection that is over.
    @Test(
        arguments: [TransportAddress.loopback(0), .memory(MemoryAddress("lamp", port: 0))],
        [Timeline.Mode.real(speed: 1), .manual])
    func aConnectionThatIsOverIsLetGo(place: TransportAddress, mode: Timeline.Mode) async throws {
        try await withTransport(mode) { transport in
            let fabric = try TestFabric()
            let server = TestServer(transport)
            let client = TestClient(transport)
            let address = try await server.start(on: place, identities: [fabric.node(lamp)])
            let refused = try Hybrid.sibling(of: fabric, node: controller, claiming: fabric)
            _ = await failure { try await client.connect(address, as: refused, to: lamp) }
            _ = try await client.connect(address, as: fabric.node(controller), to: lamp)
            #expect(try await client.request([1]) == [1])
            #expect(await client.connectionExists)
            await client.close()
            #expect(await eventually { await !client.connectionExists })
            #expect(await eventually { await server.aliveConnections == 0 })
            await server.stop()
        }
    }

    /// Any callback may end its connection, or all of them.
    @Test(
        arguments: [TransportAddress.loopback(0), .memory(MemoryAddress("lamp", port: 0))],
        [Timeline.Mode.real(speed: 1), .manual])
    func aCallbackMayEndItsConnection(place: TransportAddress, mode: Timeline.Mode) async throws {
        try await withTransport(mode) { transport in
            let fabric = try TestFabric()
            let identity = try fabric.node(controller)
            for moment in TestServer.Moment.allCases {
                let server = TestServer(transport)
                let client = TestClient(transport)
                let address = try await server.start(on: place, identities: [fabric.node(lamp)])
                await server.stop(at: moment)
                let error = await failure {
                    _ = try await client.connect(address, as: identity, to: lamp)
                    for _ in 0..<3 { _ = try await client.request([1]) }
                }
                #expect(error != nil)
                #expect(await eventually { await server.aliveConnections == 0 })
                await server.stop()
            }
            #expect(transport.timeline.failures.isEmpty)
        }
    }

    /// Everything may be called when it is too late, and a timeline may end with connections open.
    @Test func nothingTrapsAtTheEnd() async throws {
        for place in [TransportAddress.loopback(0), .memory(MemoryAddress("lamp", port: 0))] {
            let runtime = try Runtime(mode: .real(speed: 1))
            let transport = TLSTransport(runtime)
            let fabric = try TestFabric()
            let server = TestServer(transport)
            let client = TestClient(transport)
            let half = TestClient(transport)
            let address = try await server.start(on: place, identities: [fabric.node(lamp)])
            _ = try await client.connect(address, as: fabric.node(controller), to: lamp)
            await client.close()
            await client.close()
            await client.abort()
            await client.resume()
            await client.pause()
            await client.send([1])
            _ = try await client.connect(address, as: fabric.node(controller), to: lamp)
            await server.send([1], times: 3)
            // Left in the middle of a handshake.
            _ = try await half.startDialling(address, as: fabric.node(controller), to: lamp)
            runtime.shutdown()
            await runtime.ended()
        }
    }
}
