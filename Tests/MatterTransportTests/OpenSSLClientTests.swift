import Foundation
import HearthIO
import HearthTime
import MatterCredentials
import MatterModel
import Testing

@testable import MatterTransport

/// The same server judged by another client: `openssl s_client`. Skipped where the tool is not installed.
@Suite(.enabled(if: FileManager.default.isExecutableFile(atPath: "/usr/bin/openssl")), .timeLimit(.minutes(1)))
struct OpenSSLClientTests {
    /// Runs s_client against a server with one node and returns what it printed.
    private func run(_ arguments: [String], withCertificate: Bool, window: Bool = false) async throws -> String {
        try await withTransport { transport in
            let fabric = try TestFabric()
            let lamp = try fabric.node(0x1A)
            let server = TestServer(transport)
            let port = try await server.start(identities: [lamp])
            if window { try await server.openWindow() }
            let folder = FileManager.default.temporaryDirectory.appendingPathComponent("hearth-tls-\(UUID().uuidString)")
            try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
            defer { try? FileManager.default.removeItem(at: folder) }

            let key = try PrivateKey.generate()
            let certificate = try fabric.authority.issueNode(
                0xC0, publicKey: key.publicKey, notBefore: TestFabric.notBefore, notAfter: TestFabric.notAfter)
            try Data(fabric.authority.root.pem.utf8).write(to: folder.appendingPathComponent("root.pem"))
            try Data(certificate.pem.utf8).write(to: folder.appendingPathComponent("node.pem"))
            try Data(key.pem.utf8).write(to: folder.appendingPathComponent("node.key"))

            let process = Process()
            let output = Pipe()
            process.executableURL = URL(fileURLWithPath: "/usr/bin/openssl")
            process.currentDirectoryURL = folder
            process.arguments =
                ["s_client", "-connect", "127.0.0.1:\(port.port)", "-CAfile", "root.pem", "-attime", "\(ModelClock.start)"]
                + (withCertificate ? ["-cert", "node.pem", "-key", "node.key"] : [])
                + arguments.map { $0 == "NAME" ? lamp.instanceName : $0 }
            process.standardOutput = output
            process.standardError = output
            let input = Pipe()
            process.standardInput = input
            try process.run()
            // Leaves time for what comes after the handshake: the verdict and the first frame.
            try await Task.sleep(for: .milliseconds(400))
            try input.fileHandleForWriting.close()
            let text = String(decoding: output.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
            process.waitUntilExit()
            await server.stop()
            return text
        }
    }

    @Test func anOrdinaryClientWithTheRightCertificateIsServed() async throws {
        let text = try await run(["-alpn", "hearth/1", "-servername", "NAME"], withCertificate: true)
        #expect(text.contains("Verify return code: 0 (ok)"))
        #expect(text.contains("ALPN protocol: hearth/1"))
        #expect(text.contains("TLSv1.3, Cipher is TLS_AES_128_GCM_SHA256"))
        #expect(text.contains("Post-Handshake New Session Ticket arrived"))
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
