import Glibc
import MatterModel
import Testing

/// A client that shares no code with the device: standard-library Python, written from docs/protocol.md.
@Suite struct ProtocolClientTests {
    @Test func aClientWrittenFromTheDocumentationControlsADevice() throws {
        let bench = try Bench("dimmable-light")
        let node = try Self.pair("dimmable-light", bench)
        let result = try Self.python(
            "hearth_client.py", "--credentials", Self.export(bench.home, bench), "--address", bench.address("dimmable-light"),
            "--node", node)
        Self.expectAllWell(result, atLeast: 30)
        #expect(try bench.stop().code == 0)
    }

    /// Among others what a damaged or malicious peer sends: garbage, oversized frames, TLS 1.2, no certificate, another fabric's, truncated
    /// TLV, unknown clusters, wrong types. The list is in hostile.py.
    @Test func whatNoPeerMayDoIsAnsweredAsDocumentedAndDisturbsNobody() throws {
        let bench = try Bench("dimmable-light", "on-off-light")
        let node = try Self.pair("dimmable-light", bench)
        let result = try Self.python(
            "hostile.py", "--credentials", Self.export(bench.home, bench), "--other-credentials",
            Self.export(bench.scratch.folder + "/other", bench), "--address", bench.address("dimmable-light"), "--node", node,
            "--unpaired", bench.address("on-off-light"))
        Self.expectAllWell(result, atLeast: 30)
        // It can still be paired after all that, and its window still knows how many guesses it has had.
        try Self.pairOnceFree("on-off-light", bench)
        #expect(try bench.stop().code == 0)
    }

    @Test func aPasscodeIsProvenByArithmeticOfItsOwn() throws {
        let bench = try Bench("on-off-light")
        let code = try Program.run("setup-code", "decode", bench.code("on-off-light"), "--json")
        let passcode = try #require(code.json?["passcode"]?.unsigned, "\(code.output)\(code.errors)")
        let result = try Self.python("pase.py", "--address", bench.address("on-off-light"), "--passcode", "\(passcode)")
        Self.expectAllWell(result, atLeast: 5)
        // Who proves the passcode and leaves has changed nothing.
        try Self.pairOnceFree("on-off-light", bench)
        #expect(try bench.stop().code == 0)
    }

    @Test func aFabricIsMadeAndADeviceCommissionedIntoItAndOutOfItAgain() throws {
        let bench = try Bench("on-off-light")
        let code = try Program.run("setup-code", "decode", bench.code("on-off-light"), "--json")
        let passcode = try #require(code.json?["passcode"]?.unsigned, "\(code.output)\(code.errors)")
        let result = try Self.python(
            "commission.py", "--address", bench.address("on-off-light"), "--passcode", "\(passcode)", "--folder",
            bench.scratch.folder + "/fabric")
        Self.expectAllWell(result, atLeast: 18)
        // It is in no fabric any more, and waits for the next.
        try Self.pairOnceFree("on-off-light", bench)
        #expect(try bench.stop().code == 0)
    }

    // MARK: Parts

    /// Pairs and returns the node id.
    private static func pair(_ name: String, _ bench: Bench) throws -> String {
        let result = try bench.run("pair", bench.code(name), "--name", name, "--address", bench.address(name), "--json")
        return "\(try #require(result.json?["nodeId"]?.unsigned, "pairing: \(result.output)\(result.errors)"))"
    }

    /// Pairs a device that may still be busy with the pairing that has just been given up.
    private static func pairOnceFree(_ name: String, _ bench: Bench) throws {
        var result = try bench.run("pair", bench.code(name), "--name", name, "--address", bench.address(name))
        for _ in 0..<20 where result.code != 0 && result.errors.contains("somebody else") {
            result = try bench.run("pair", bench.code(name), "--name", name, "--address", bench.address(name))
        }
        #expect(result.code == 0, "\(result.errors)")
    }

    /// Exports the credentials of a home. Returns their folder.
    private static func export(_ home: String, _ bench: Bench) throws -> String {
        let folder = home + "-credentials"
        let result = try Program.run("credentials", "export", "--out", folder, "--home", home, "--mdns", "off")
        #expect(result.code == 0, "\(result.errors)")
        var facts = stat()
        for (file, mode) in [("", 0o40700), ("/key.pem", 0o100600), ("/controller.pem", 0o100600), ("/identity.json", 0o100600)] {
            #expect(stat(folder + file, &facts) == 0 && facts.st_mode == UInt32(mode), "\(folder)\(file) has mode \(facts.st_mode)")
        }
        return folder
    }

    static func python(_ script: String, _ words: String...) throws -> Program.Result {
        let places: [String] = ["/usr/bin/python3", "/usr/local/bin/python3"]
        let path = try #require(
            places.first { access($0, X_OK) == 0 }, "there is no python3: scripts/install-packages --tests installs it")
        let folder = Program.package + "/Tests/EndToEndTests/ProtocolClient"
        return try Program(["-B", "\(folder)/\(script)"] + words, path: path).finish()
    }

    /// Each line is a check of its own.
    private static func expectAllWell(_ result: Program.Result, atLeast count: Int) {
        let lines = result.output.split(separator: "\n")
        for line in lines where !line.hasPrefix("ok ") && line != "done" { Issue.record("\(line)") }
        #expect(lines.last == "done", "it stopped early: \(result.errors)")
        #expect(lines.count > count)
        #expect(result.code == 0)
        #expect(result.errors == "")
    }
}
