import CLinux
import Glibc
import HearthTime
import Testing

@testable import HearthIO

@Suite struct AddressTests {
    @Test(arguments: [
        ("127.0.0.1:5540", "127.0.0.1:5540"), ("[::1]:5540", "[::1]:5540"), ("localhost:1", "127.0.0.1:1"),
        ("[fe80::1%1]:5540", "[fe80::1%1]:5540"), ("[fe80::1%lo]:5540", "[fe80::1%1]:5540"),
        ("fe80::1%lo:5540", "[fe80::1%1]:5540"), ("[2001:DB8:0:0::5]:65535", "[2001:db8::5]:65535"), ("0.0.0.0:0", "0.0.0.0:0"),
    ]) func whatIsAnAddress(_ text: String, _ shown: String) throws {
        let address = try #require(SocketAddress(text))
        #expect(address.description == shown)
        #expect(SocketAddress(shown) == address)
        // To the system's form and back.
        var storage = sockaddr_storage()
        _ = address.write(to: &storage)
        #expect(SocketAddress(system: storage) == address)
    }

    @Test(arguments: [
        "", ":", "127.0.0.1", "127.0.0.1:", "127.0.0.1:65536", "127.0.0.1:-1", "127.0.0.1:+1", "127.0.0.1:0x10", "::1:5540",
        "[::1]5540", "[::1]", "[]:1", "[127.0.0.1]:1", "[::1:5540", "[fe80::1%nowhere]:1", "[fe80::1%]:1", "[fe80::1%0]:1",
        "127.0.0.1%lo:1", "example.org:80", "1.2.3:4", "256.1.1.1:1", " 127.0.0.1:1", "127.0.0.1:1 ", "[::1]:١",
    ]) func whatIsNone(_ text: String) { #expect(SocketAddress(text) == nil) }

    @Test func kindsOfAddress() throws {
        func ip(_ text: String) throws -> IPAddress { try #require(IPAddress(text)) }
        #expect(try ip("127.1.2.3").isLoopback && ip("::1").isLoopback && !ip("::2").isLoopback)
        #expect(try ip("fe80::1").isLinkLocal6 && ip("febf::1").isLinkLocal && !ip("fec0::1").isLinkLocal)
        #expect(try ip("169.254.0.1").isLinkLocal && !ip("169.254.0.1").isLinkLocal6)
        #expect(try ip("224.0.0.251").isMulticast && ip("ff02::fb").isMulticast && !ip("223.1.1.1").isMulticast)
        #expect(try ip("::ffff:10.0.0.1").unmapped == ip("10.0.0.1"))
        #expect(try ip("::fffe:10.0.0.1").unmapped == ip("::fffe:10.0.0.1"))
        #expect(try [ip("::1"), ip("10.0.0.2"), ip("10.0.0.1")].sorted() == [ip("10.0.0.1"), ip("10.0.0.2"), ip("::1")])
        #expect(IPAddress(bytes: [1, 2, 3]) == nil)
        #expect(IPAddress.any4.isUnspecified && IPAddress.any6.isUnspecified)
    }

    @Test func theLoopbackInterfaceIsListed() throws {
        let all = try NetworkInterface.all()
        let loopback = try #require(all.first { $0.isLoopback })
        #expect(loopback.isUp && loopback.index > 0 && loopback.addresses.contains(.loopback4))
        #expect(NetworkInterface.name(index: loopback.index) == loopback.name)
        #expect(NetworkInterface.name(index: 4_000_000) == nil)
        #expect(all.map(\.index) == all.map(\.index).sorted())
        #expect(Set(all.map(\.name)).count == all.count)
    }
}

@Suite(.timeLimit(.minutes(10))) struct StreamSocketTests {
    /// Connects to `target`, says a word, and gets it back from an echo that one handler per side makes.
    private func echo(_ runtime: Runtime, listener: Int32, _ target: SocketAddress) async throws -> (
        String, peer: IPAddress, local: IPAddress
    ) {
        try await runtime.untilDone { done in
            let loop = runtime.loop
            var peer = IPAddress.any4
            try Handler(loop, listener, .readable) { listening, _ in
                guard let accepted = try? Socket.accept(listening.fd) else { return }
                #expect((try? Socket.accept(listening.fd)) == .some(nil))
                listening.end()
                peer = (try? Socket.remoteAddress(accepted).address) ?? .any4
                _ = try? Handler(loop, accepted, .readable) { side, _ in
                    guard let bytes = readAll(side.fd), !bytes.isEmpty else { return side.end() }
                    writeAll(side.fd, bytes)
                }
            }
            let fd = try Socket.connect(target)
            var sent = false
            try Handler(loop, fd, .writable) { side, events in
                if !sent {
                    sent = true
                    #expect(Socket.connectionError(side.fd) == nil)
                    loop.watch(side.fd, .readable)
                    return writeAll(side.fd, [UInt8]("hello".utf8))
                }
                let text = String(decoding: readAll(side.fd) ?? [], as: UTF8.self)
                let local = (try? Socket.localAddress(side.fd).address) ?? .any6
                var noDelay: Int32 = 0
                var length = socklen_t(4)
                getsockopt(side.fd, Int32(IPPROTO_TCP), TCP_NODELAY, &noDelay, &length)
                #expect(noDelay != 0)
                side.end()
                done((text, peer, local))
            }
        }
    }

    @Test func overIPv4() async throws {
        try await withRuntime { runtime in
            let (fd, address) = try Socket.listen(SocketAddress(.loopback4, port: 0))
            #expect(address.port > 0)
            let (text, peer, local) = try await echo(runtime, listener: fd, address)
            #expect(text == "hello" && peer == .loopback4 && local == .loopback4)
        }
    }

    @Test(.enabled(if: hasIPv6, "this machine has no ::1")) func overIPv6() async throws {
        try await withRuntime { runtime in
            let (fd, address) = try Socket.listen(SocketAddress(.loopback6, port: 0))
            let (text, peer, _) = try await echo(runtime, listener: fd, address)
            #expect(text == "hello" && peer == .loopback6)
        }
    }

    @Test func everywhereServesIPv4() async throws {
        try await withRuntime { runtime in
            let (fd, address) = try Socket.listenEverywhere(port: 0)
            let (text, peer, _) = try await echo(runtime, listener: fd, SocketAddress(.loopback4, port: address.port))
            #expect(text == "hello" && peer.unmapped == .loopback4)
        }
    }

    @Test(.enabled(if: hasIPv6, "this machine has no ::1")) func everywhereServesIPv6() async throws {
        try await withRuntime { runtime in
            let (fd, address) = try Socket.listenEverywhere(port: 0)
            let (text, peer, _) = try await echo(runtime, listener: fd, SocketAddress(.loopback6, port: address.port))
            #expect(text == "hello" && peer == .loopback6)
        }
    }

    @Test func aTakenPortIsRefused() throws {
        let (fd, address) = try Socket.listen(SocketAddress(.loopback4, port: 0))
        defer { Socket.close(fd) }
        let error = try #require(throws: IOError.self) { try Socket.listen(address) }
        #expect(error.code == EADDRINUSE && error.call == "bind")
        #expect(error.description.contains("in use"))
    }

    @Test func aConnectionThatNobodyTakesFails() async throws {
        try await withRuntime { runtime in
            // A port that was free a moment ago: bound here, so nobody else gets it, and not listening.
            let holder = try Socket.make(AF_INET)
            defer { Socket.close(holder) }
            _ = SocketAddress(.loopback4, port: 0).withSystem { Glibc.bind(holder, $0, $1) }
            let address = try Socket.localAddress(holder)
            let code: Int32? = try await runtime.untilDone { done in
                let fd = try Socket.connect(address)
                try Handler(runtime.loop, fd, .writable) { handler, events in
                    let error = Socket.connectionError(handler.fd)
                    #expect(events.contains(.failed))
                    handler.end()
                    done(error?.code)
                }
            }
            #expect(code == ECONNREFUSED)
        }
    }

    @Test func whatHasNoPeerHasNoAddress() throws {
        let (fd, _) = try Socket.listen(SocketAddress(.loopback4, port: 0))
        defer { Socket.close(fd) }
        #expect(try #require(throws: IOError.self) { try Socket.remoteAddress(fd) }.code == ENOTCONN)
    }
}

@Suite(.timeLimit(.minutes(10))) struct UnixSocketTests {
    private func withFolder<R>(_ body: (String) throws -> R) throws -> R {
        var template = [CChar]("/tmp/hearth-test-XXXXXX".utf8CString)
        guard mkdtemp(&template) != nil else { throw IOError("mkdtemp") }
        let folder = String(decoding: template.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
        defer { rmdir(folder) }
        return try body(folder)
    }

    @Test func theUserAtTheOtherEndIsKnownAndTheFileIsPrivate() throws {
        try withFolder { folder in
            let path = folder + "/control"
            let listener = try UnixSocket.listen(path: path)
            defer {
                Socket.close(listener)
                unlink(path)
            }
            var status = stat()
            #expect(lstat(path, &status) == 0 && status.st_mode & 0o777 == 0o600)
            #expect(try UnixSocket.accept(listener) == nil)
            let client = try UnixSocket.connect(path: path)
            defer { Socket.close(client) }
            let accepted = try #require(try UnixSocket.accept(listener))
            defer { Socket.close(accepted.fd) }
            #expect(accepted.user == getuid())
            #expect(try UnixSocket.peerUser(client) == getuid())
            writeAll(client, [1, 2, 3])
            #expect(readAll(accepted.fd) == [1, 2, 3])
        }
    }

    @Test func aPathInUseIsRefusedAndAStaleOneReplaced() throws {
        try withFolder { folder in
            let path = folder + "/control"
            defer { unlink(path) }
            let first = try UnixSocket.listen(path: path)
            #expect(try #require(throws: IOError.self) { try UnixSocket.listen(path: path) }.code == EADDRINUSE)
            let stillThere = try UnixSocket.connect(path: path)
            Socket.close(stillThere)
            Socket.close(first)  // as after kill -9: the file stays
            #expect(try #require(throws: IOError.self) { try UnixSocket.connect(path: path) }.code == ECONNREFUSED)
            Socket.close(try UnixSocket.listen(path: path))
        }
    }

    @Test func anotherKindOfFileIsLeftAlone() throws {
        try withFolder { folder in
            let path = folder + "/notes"
            defer { unlink(path) }
            let file = open(path, O_CREAT | O_WRONLY, 0o644)
            writeAll(file, [1, 2, 3])
            Socket.close(file)
            let error = try #require(throws: IOError.self) { try UnixSocket.listen(path: path) }
            #expect(error.code == EADDRINUSE)
            var status = stat()
            #expect(lstat(path, &status) == 0 && status.st_size == 3)
        }
    }

    @Test func aPathThatIsTooLongIsNamed() throws {
        let path = "/tmp/" + String(repeating: "a", count: 103)
        let error = try #require(throws: IOError.self) { try UnixSocket.listen(path: path) }
        #expect(error.code == ENAMETOOLONG)
        #expect(error.description.contains("108 bytes, at most 107") && error.description.contains(path))
        #expect(try #require(throws: IOError.self) { try UnixSocket.connect(path: "") }.code == EINVAL)
        #expect(try #require(throws: IOError.self) { try UnixSocket.connect(path: "/tmp/a\0b") }.code == EINVAL)
        #expect(try #require(throws: IOError.self) { try UnixSocket.connect(path: "/tmp/hearth-no-such-socket") }.code == ENOENT)
    }
}

@Suite(.timeLimit(.minutes(10))) struct DatagramSocketTests {
    private func loopbackIndex() throws -> UInt32 { try #require(NetworkInterface.all().first { $0.isLoopback }).index }

    /// Waits for one datagram with poll: these tests need no loop.
    private func receive(_ socket: DatagramSocket, within milliseconds: Int32 = 10_000) throws -> (
        DatagramSocket.Datagram, [UInt8]
    )? {
        var entry = pollfd(fd: socket.fd, events: Int16(POLLIN), revents: 0)
        guard poll(&entry, 1, milliseconds) > 0 else { return nil }
        var buffer = [UInt8](repeating: 0, count: 16)
        guard let datagram = try buffer.withUnsafeMutableBytes({ try socket.receive(into: $0) }) else { return nil }
        return (datagram, [UInt8](buffer.prefix(datagram.count)))
    }

    @Test(arguments: [IPAddress.loopback4, .loopback6]) func aDatagramSaysWhereItCameFrom(_ host: IPAddress) throws {
        if !host.isIPv4 && !hasIPv6 {
            let error = #expect(throws: IOError.self) { try DatagramSocket(SocketAddress(host, port: 0)) }
            #expect(error?.code == EADDRNOTAVAIL || error?.code == EAFNOSUPPORT)
            return
        }
        let (a, b) = (try DatagramSocket(SocketAddress(host, port: 0)), try DatagramSocket(SocketAddress(host, port: 0)))
        #expect(try b.send([1, 2, 3], to: a.localAddress(), interface: loopbackIndex()))
        let (datagram, bytes) = try #require(try receive(a))
        #expect(bytes == [1, 2, 3] && !datagram.isTruncated)
        #expect(try datagram.sender == b.localAddress())
        #expect(datagram.destination == host)
        #expect(try datagram.interface == loopbackIndex())
        #expect(try receive(a, within: 0) == nil)
        var none: [UInt8] = []
        #expect(try none.withUnsafeMutableBytes { try a.receive(into: $0) } == nil)
        // Longer than the buffer.
        #expect(try b.send([UInt8](repeating: 7, count: 100), to: a.localAddress()))
        let (long, start) = try #require(try receive(a))
        #expect(long.isTruncated && long.count == 100 && start == [UInt8](repeating: 7, count: 16))
        // Empty ones are datagrams too.
        #expect(try b.send([], to: a.localAddress()))
        #expect(try #require(try receive(a)).1 == [])
    }

    @Test func severalSocketsOfOnePortHearAGroup() throws {
        let group = try #require(IPAddress("239.255.77.5"))
        let loopback = try loopbackIndex()
        let first = try DatagramSocket(SocketAddress(.any4, port: 0), shared: true)
        let port = try first.localAddress().port
        let second = try DatagramSocket(SocketAddress(.any4, port: port), shared: true)
        for socket in [first, second] { try socket.join(group, interface: loopback) }
        #expect(throws: IOError.self) { try first.join(group, interface: loopback) }
        let sender = try DatagramSocket(SocketAddress(.any4, port: 0))
        try sender.setHopLimit(255)
        try sender.setMulticastLoop(true)
        let target = SocketAddress(group, port: port)
        #expect(try sender.send([1], to: target, interface: loopback))
        for socket in [first, second] {
            let (datagram, bytes) = try #require(try receive(socket))
            #expect(bytes == [1] && datagram.interface == loopback && datagram.destination == group)
        }
        try second.leave(group, interface: loopback)
        try sender.setMulticastInterface(loopback)
        #expect(try sender.send([2], to: target))
        #expect(try #require(try receive(first)).1 == [2])
        #expect(try receive(second, within: 0) == nil)  // the first has it, so the second would have it too
    }

    @Test func wrongUseIsRefused() throws {
        let socket = try DatagramSocket(SocketAddress(.loopback4, port: 0))
        let six = SocketAddress(.loopback6, port: 1)
        #expect(try #require(throws: IOError.self) { try socket.send([1], to: six) }.code == EAFNOSUPPORT)
        #expect(try #require(throws: IOError.self) { try socket.join(six.address, interface: 1) }.code == EAFNOSUPPORT)
        let nowhere = try #require(IPAddress("239.255.77.6"))
        #expect(try #require(throws: IOError.self) { try socket.join(nowhere, interface: 4_000_000) }.code == ENODEV)
        #expect(throws: IOError.self) { try DatagramSocket(socket.localAddress()) }  // taken
        socket.close()
        #expect(socket.fd == -1)
        #expect(try #require(throws: IOError.self) { try socket.localAddress() }.code == EBADF)
    }
}
