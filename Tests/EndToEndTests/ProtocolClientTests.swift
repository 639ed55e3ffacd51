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

    @Test func whatNoPeerMayDoIsAnsweredAsDocumentedAndDisturbsNobody() throws {
        let bench = try Bench("dimmable-light", "on-off-light")
        let node = try Self.pair("dimmable-light", bench)
        let result = try Self.python(
            "hostile.py", "--credentials", Self.export(bench.home, bench), "--other-credentials",
            Self.export(bench.scratch.folder + "/other", bench), "--address", bench.address("dimmable-light"), "--node", node,
            "--unpaired", bench.address("on-off-light"))
        Self.expectAllWell(result, atLeast: 30)
        // It can still be paired after all that, and its window still knows how many guesses it has had.
        try bench.pair("on-off-light")
        #expect(try bench.stop().code == 0)
    }

    // MARK: Parts

    /// Pairs and returns the node id.
    private static func pair(_ name: String, _ bench: Bench) throws -> String {
        let result = try bench.run("pair", bench.code(name), "--name", name, "--address", bench.address(name), "--json")
        return "\(try #require(result.json?["nodeId"]?.unsigned, "pairing: \(result.output)\(result.errors)"))"
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

    private static func python(_ script: String, _ words: String...) throws -> Program.Result {
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
