import Glibc
import MatterModel
import Testing

/// What docs/security.md promises of files and logs, shown on the built program with every word logged.
@Suite struct SecrecyTests {
    private static let pin = "86421357"
    private static let passcode = "73912846"

    @Test func logsHoldNoSecretsAndFilesAreForTheirOwnerAlone() throws {
        let scratch = Scratch()
        let profile = scratch.write(
            """
            name: vault
            setup:
              passcode: \(Self.passcode)
            endpoints:
              - id: 1
                deviceTypes: [DoorLock]
                clusters:
                  DoorLock:
                    features: [PINCredential, User, CredentialOverTheAirAccess]
                    attributes:
                      LockState: Locked
                      MinPINCodeLength: 4
                      MaxPINCodeLength: 8
                      RequirePINforRemoteOperation: true
                    users:
                      - name: Home
                        pins: ["\(Self.pin)"]
            """, to: "vault.yaml")
        let (state, home) = (scratch.folder + "/state", scratch.folder + "/home")
        let simulator = try Program(
            ["simulate", profile, "--mdns", "off", "--json", "--state", state, "--control", scratch.folder + "/run/control"],
            environment: ["HEARTH_LOG": "debug"])
        let device = try #require(try simulator.json { $0["ready"] != nil }["devices"]?[0])
        let (code, port) = (try #require(device["setupCode"]?.string), try #require(device["port"]?.unsigned))
        let environment = ["HEARTH_HOME": home, "HEARTH_LOG": "debug"]
        var said = ""
        func run(_ words: String..., code: Int32 = 0) throws {
            let result = try Program.run(words + ["--mdns", "off"], environment: environment)
            #expect(result.code == code, "\(words): \(result.output)\(result.errors)")
            said += result.output + result.errors
        }
        // Guesses first: what is said of a failed proof must not hold it either. The first ones are not found out before the device does.
        let proofs = try ProtocolClientTests.python("pase.py", "--address", "127.0.0.1:\(port)", "--passcode", Self.passcode)
        #expect(proofs.code == 0, "\(proofs.output)\(proofs.errors)")
        let guess = try Program.run("setup-code", "encode", "--passcode", "73912847", "--discriminator", "1").output.trimmed
        try run("pair", guess, "--address", "127.0.0.1:\(port)", code: 6)
        try run("pair", code, "--name", "vault", "--address", "127.0.0.1:\(port)")
        try run("invoke", "vault", "DoorLock.UnlockDoor", "PINCode=\(Self.pin)")
        try run("invoke", "vault", "DoorLock.LockDoor", "PINCode=11112222", code: 5)
        try run("read", "vault", "*")
        try run("credentials", "export", "--out", scratch.folder + "/credentials")
        let key = try Program(["-c", "cat '\(scratch.folder)/credentials/key.pem'"], path: "/bin/sh").finish().output
        simulator.signal(SIGTERM)
        let ended = try simulator.finish()
        #expect(ended.code == 0)
        #expect(ended.errors.contains("pairing: the other side does not know the passcode"), "not everything is logged: \(ended.errors)")
        said += ended.errors

        let hexadecimal = Self.pin.utf8.map { String($0, radix: 16) }.joined()
        var secrets = [Self.pin, hexadecimal, "11112222", Self.passcode, "73912847", code]
        secrets += key.split(separator: "\n").filter { !$0.hasPrefix("-----") }.map(String.init)
        #expect(secrets.count > 7)
        for secret in secrets { #expect(!said.lowercased().contains(secret.lowercased()), "'\(secret)' stands in what was said") }

        var files = 0
        for folder in [state, home, scratch.folder + "/credentials", scratch.folder + "/run"] {
            #expect(Self.mode(folder) == 0o40700, "\(folder) has mode \(String(Self.mode(folder), radix: 8))")
            for name in Self.names(folder) {
                files += 1
                #expect(Self.mode("\(folder)/\(name)") == 0o100600, "\(name) has mode \(String(Self.mode("\(folder)/\(name)"), radix: 8))")
            }
        }
        #expect(files >= 8)
    }

    private static func mode(_ path: String) -> UInt32 {
        var facts = stat()
        return stat(path, &facts) == 0 ? facts.st_mode : 0
    }

    private static func names(_ folder: String) -> [String] {
        guard let directory = opendir(folder) else { return [] }
        defer { closedir(directory) }
        var names: [String] = []
        while let entry = readdir(directory) {
            let name = withUnsafeBytes(of: &entry.pointee.d_name) { bytes in
                String(decoding: bytes.prefix { $0 != 0 }, as: UTF8.self)
            }
            if name != ".", name != ".." { names.append(name) }
        }
        return names
    }
}
