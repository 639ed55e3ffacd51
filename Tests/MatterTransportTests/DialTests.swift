import Glibc
import HearthIO
import HearthTime
import MatterCredentials
import MatterMessage
import MatterModel
import Testing

@testable import MatterTransport

/// Where acceptors listen and which address a dialler takes.
@Suite(.timeLimit(.minutes(10))) struct DialTests {
    let lamp: NodeID = 0x1A, controller: NodeID = 0xC0

    static let hasIPv6: Bool = {
        guard let made = try? Socket.listen(SocketAddress(.loopback6, port: 0)) else { return false }
        close(made.fd)
        return true
    }()

    @Test(.enabled(if: hasIPv6, "this machine has no IPv6")) func bothFamiliesReachTheWildcard() async throws {
        try await withTransport { transport in
            let fabric = try TestFabric()
            let server = TestServer(transport)
            let client = TestClient(transport)
            let identity = try fabric.node(controller)
            let address = try await server.start(on: .socket(SocketAddress(.any6, port: 0)), identities: [fabric.node(lamp)])
            for ip in [IPAddress.loopback4, .loopback6] {
                let place = TransportAddress.socket(SocketAddress(ip, port: address.port))
                #expect(try await client.connect(place, as: identity, to: lamp).address == place)
                #expect(try await client.request([1]) == [1])
                await client.close()
            }
            await server.stop()
        }
    }

    /// In virtual time the two ends find each other through the wildcard and through IPv4 in IPv6 too.
    @Test(.enabled(if: hasIPv6, "this machine has no IPv6"), arguments: [IPAddress.loopback4, .loopback6])
    func bothFamiliesAreInside(ip: IPAddress) async throws {
        try await withTransport(.manual) { transport in
            let fabric = try TestFabric()
            let server = TestServer(transport)
            let client = TestClient(transport)
            let address = try await server.start(on: .socket(SocketAddress(.any6, port: 0)), identities: [fabric.node(lamp)])
            _ = try await client.connect(.socket(SocketAddress(ip, port: address.port)), as: fabric.node(controller), to: lamp)
            #expect(await client.isInside)
            await server.stop()
        }
    }

    @Test func anAddressThatRefusesIsSkipped() async throws {
        try await withTransport { transport in
            let fabric = try TestFabric()
            let server = TestServer(transport)
            let client = TestClient(transport)
            let address = try await server.start(identities: [fabric.node(lamp)])
            let gone = try Socket.listen(SocketAddress(.loopback4, port: 0))
            close(gone.fd)
            let identity = try fabric.node(controller)
            let session = try await client.connect(.socket(gone.address), address, as: identity, to: lamp)
            #expect(session.address == address)
            let both = await failure {
                try await client.connect(.socket(gone.address), .socket(gone.address), as: identity, to: lamp)
            }
            #expect(both?.code == .unreachable)
            #expect(
                both?.message.contains("\(gone.address): Connection refused; \(gone.address): ") == true, "\(both?.message ?? "")"
            )
            await server.stop()
        }
    }

    /// The next address is tried without waiting for the time-out of one that says nothing.
    @Test func anAddressThatHangsIsOvertaken() async throws {
        var limits = TransportLimits()
        limits.nextAddress = .milliseconds(50)
        try await withTransport(limits: limits) { transport in
            let fabric = try TestFabric()
            let server = TestServer(transport)
            let client = TestClient(transport)
            let address = try await server.start(identities: [fabric.node(lamp)])
            // Nobody accepts and the queue is full: the kernel drops further connections unanswered.
            let full = try Socket.listen(SocketAddress(.loopback4, port: 0), backlog: 0)
            let fillers = try (0..<2).map { _ in try Socket.connect(full.address) }
            defer { for fd in fillers + [full.fd] { close(fd) } }
            let identity = try fabric.node(controller)
            let session = try await client.connect(.socket(full.address), address, as: identity, to: lamp)
            #expect(session.address == address)
            let error = await failure {
                try await client.connect(.socket(full.address), as: identity, to: lamp, timeout: .milliseconds(200))
            }
            #expect(error?.code == .timedOut && error?.message.hasPrefix("no connection") == true)
            await server.stop()
        }
    }

    @Test(arguments: [TransportAddress.loopback(0), .memory(MemoryAddress("lamp", port: 0))])
    func aPortThatIsTakenIsAnError(place: TransportAddress) async throws {
        try await withTransport { transport in
            let fabric = try TestFabric()
            let (server, other, third) = (TestServer(transport), TestServer(transport), TestServer(transport))
            let address = try await server.start(on: place, identities: [fabric.node(lamp)])
            let error = await failure { try await other.start(on: address) }
            #expect(error?.code == .system && error?.message.contains("in use") == true, "\(error?.message ?? "")")
            #expect(try await third.start(on: place) != address)
            // Free again once its holder has stopped.
            await server.stop()
            #expect(try await other.start(on: address) == address)
            await other.stop()
            await third.stop()
        }
    }

    @Test func noAddressIsAnError() async throws {
        try await withTransport { transport in
            let client = TestClient(transport)
            let identity = try TestFabric().node(controller)
            #expect(await failure { try await client.connect(as: identity, to: lamp) }?.code == .unreachable)
        }
    }

    /// A fabric's identity must fit its key and root.
    @Test func anIdentityMustBelongTogether() throws {
        let fabric = try TestFabric()
        let key = try PrivateKey.generate()
        let certificate = try fabric.authority.issueNode(
            lamp, publicKey: key.publicKey, notBefore: TestFabric.notBefore, notAfter: TestFabric.notAfter)
        let other = try PrivateKey.generate()
        let stranger = try TestFabric()
        #expect(throws: TLSError.self) {
            try OperationalIdentity(
                certificate: certificate, root: fabric.authority.root, key: other, fabricIndex: 1, generation: 1)
        }
        #expect(throws: CredentialsError.self) {
            try OperationalIdentity(
                certificate: certificate, root: stranger.authority.root, key: key, fabricIndex: 1, generation: 1)
        }
        let identity = try OperationalIdentity(
            certificate: certificate, root: fabric.authority.root, key: key, fabricIndex: 1, generation: 1)
        #expect(identity.nodeID == lamp && identity.instanceName == fabric.authority.fabric.instanceName(node: lamp))
    }
}
