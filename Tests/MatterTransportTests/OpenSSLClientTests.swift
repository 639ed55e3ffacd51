import Glibc
import HearthIO
import HearthTime
import MatterCredentials
import MatterModel
import Testing

@testable import MatterTransport

private let tool = "/usr/bin/openssl"

/// The same server judged by another client: `openssl s_client`. Skipped where the tool is not installed.
@Suite(.enabled(if: access(tool, X_OK) == 0, "openssl is not installed"), .timeLimit(.minutes(10)))
struct OpenSSLClientTests {
    /// Runs s_client against a server with one node and returns what it printed.
    private func run(_ arguments: [String], withCertificate: Bool, window: Bool = false) async throws -> String {
        try await withTransport { transport in
            let fabric = try TestFabric()
            let lamp = try fabric.node(0x1A)
            let server = TestServer(transport)
            let port = try await server.start(identities: [lamp])
            if window { try await server.openWindow() }
            let folder = try TemporaryFolder()
            let key = try PrivateKey.generate()
            let certificate = try fabric.authority.issueNode(
                0xC0, publicKey: key.publicKey, notBefore: TestFabric.notBefore, notAfter: TestFabric.notAfter)
            let root = try folder.write(fabric.authority.root.pem, to: "root.pem")
            let credentials = try [
                "-cert", folder.write(certificate.pem, to: "node.pem"), "-key", folder.write(key.pem, to: "node.key"),
            ]
            let client = try ChildProcess(
                tool,
                ["s_client", "-connect", "127.0.0.1:\(port.port)", "-CAfile", root, "-attime", "\(ModelClock.start)"]
                    + (withCertificate ? credentials : []) + arguments.map { $0 == "NAME" ? lamp.instanceName : $0 })
            // A refused client ends by itself. A served one gets a message, and has then read all that came before it.
            var isServed = false
            let isOver = await eventually {
                if !isServed, await server.opened.count > 0 {
                    isServed = true
                    await server.send(Array("the last message".utf8))
                }
                return client.hasEnded || client.text.contains("the last message")
            }
            #expect(isOver)
            client.closeInput()
            #expect(await eventually { client.hasEnded })
            let text = client.text
            await server.stop()
            return text
        }
    }

    @Test func anOrdinaryClientWithTheRightCertificateIsServed() async throws {
        let text = try await run(["-alpn", "hearth/1", "-servername", "NAME"], withCertificate: true)
        #expect(text.contains("Verify return code: 0 (ok)"))
        #expect(text.contains("ALPN protocol: hearth/1"))
        #expect(text.contains("TLSv1.3, Cipher is TLS_AES_128_GCM_SHA256"))
        #expect(text.contains("Post-Handshake New Session Ticket arrived") && text.contains("the last message"))
    }

    @Test func tls12IsRefused() async throws {
        let text = try await run(["-alpn", "hearth/1", "-servername", "NAME", "-tls1_2"], withCertificate: true)
        #expect(text.contains("alert protocol version"), "\(text)")
    }

    @Test func noClientCertificateIsRefused() async throws {
        let text = try await run(["-alpn", "hearth/1", "-servername", "NAME"], withCertificate: false)
        #expect(text.contains("alert certificate required"), "\(text)")
        #expect(!text.contains("New Session Ticket arrived"))
    }

    @Test func wrongNameOrProtocolIsRefused() async throws {
        #expect(
            try await run(["-alpn", "hearth/1", "-servername", "other"], withCertificate: true).contains("unrecognized name"))
        #expect(try await run(["-alpn", "hearth/1", "-noservername"], withCertificate: true).contains("unrecognized name"))
        #expect(try await run(["-alpn", "h2", "-servername", "NAME"], withCertificate: true).contains("no application protocol"))
        #expect(try await run(["-servername", "NAME"], withCertificate: true).contains("no application protocol"))
    }

    @Test func pairingIssuesNoTicketAndAsksForNoCertificate() async throws {
        let text = try await run(["-alpn", "hearth-pase/1"], withCertificate: false, window: true)
        #expect(text.contains("ALPN protocol: hearth-pase/1"))
        #expect(text.contains("self-signed certificate"))
        #expect(text.contains("No client certificate CA names sent"))
        #expect(!text.contains("New Session Ticket arrived"))
        #expect(try await run(["-alpn", "hearth-pase/1"], withCertificate: false).contains("alert access denied"))
    }
}

/// A folder that goes with the test.
private final class TemporaryFolder {
    private let path: String
    private var files: [String] = []

    init() throws {
        var template = Array("\(getenv("TMPDIR").map { String(cString: $0) } ?? "/tmp")/hearth-tls-XXXXXX".utf8CString)
        guard let made = mkdtemp(&template) else { throw IOError("mkdtemp") }
        path = String(cString: made)
    }

    deinit {
        for file in files { unlink(file) }
        rmdir(path)
    }

    /// The file's whole path.
    func write(_ text: String, to name: String) throws -> String {
        let file = path + "/" + name
        guard let stream = fopen(file, "w") else { throw IOError("fopen") }
        defer { fclose(stream) }
        guard fputs(text, stream) >= 0 else { throw IOError("fputs") }
        files.append(file)
        return file
    }
}
