import Glibc
import MatterModel
import Testing

/// A simulator whose state lies on a disk that fills up, and is killed.
@Suite struct FullDiskTests {
    /// Runs in a mount namespace of its own: a small file system, a simulator on it, and what the test says.
    private static let script = """
        mount -t tmpfs -o size=512k tmpfs "$2" || exit 99
        launch() { "$1" simulate dimmable-light --mdns off --json --state "$2/state" --clock $3 --control "$4" 2>&1 & pid=$!; }
        launch "$@"
        while read -r word; do
            case $word in
            fill) dd if=/dev/zero of="$2/ballast" bs=1k 2>/dev/null ;;
            free) rm "$2/ballast" ;;
            kill) kill -9 "$pid"; wait "$pid" ;;
            stop) kill "$pid"; wait "$pid"; echo "status $?" ;;
            launch) launch "$@" ;;
            esac
            echo "done: $word"
        done
        kill "$pid"
        wait "$pid"
        """

    private func launch(_ scratch: Scratch, clock: String) throws -> Program {
        let place = scratch.folder + "/disk"
        #expect(mkdir(place, 0o700) == 0)
        let words = [Program.hearth, place, clock, scratch.folder + "/control"]
        return try Program(["--map-root-user", "--mount", "/bin/sh", "-c", Self.script, "sh"] + words, path: "/usr/bin/unshare")
    }

    /// In virtual time too, which stands still.
    @Test(arguments: ["real", "virtual"]) func whatIsNotStoredIsTold(_ clock: String) throws {
        let scratch = Scratch()
        let simulator = try launch(scratch, clock: clock)
        try Self.wait(for: "\"ready\":true", simulator)
        func say(_ word: String) throws {
            simulator.send(word)
            try Self.wait(for: "done: \(word)", simulator)
        }
        var count = 0
        func set() throws -> Program.Result {
            count += 1
            let label = "BasicInformation.NodeLabel=label \(count)"
            return try Program.run(["sim", "set", "dimmable-light/0", label, "--control", scratch.folder + "/control"])
        }
        /// What fits into blocks that the store has already may still be stored.
        func setUntil(_ code: Int32) throws -> Program.Result {
            var result = try set()
            for _ in 0..<300 where result.code != code { result = try set() }
            return result
        }

        #expect(try set().code == 0)
        try say("fill")
        let refused = try setUntil(8)
        #expect(refused.errors.contains("lost if the simulator ends") && refused.errors.contains("no space left"), "\(refused)")
        try say("free")
        #expect(try setUntil(0).code == 0)
        try say("fill")
        #expect(try setUntil(8).code == 8)
        simulator.send("stop")
        let words = try Self.wait(for: "what changed last of dimmable-light is lost", simulator)
        #expect(words.contains("no space left"))
        try Self.wait(for: "status 8", simulator)
        _ = try simulator.finish()
    }

    @Test func nothingAcknowledgedIsLostAndTheDeviceRecovers() throws {
        let scratch = Scratch()
        let simulator = try launch(scratch, clock: "real")
        func say(_ word: String) throws {
            simulator.send(word)
            try Self.wait(for: "done: \(word)", simulator)
        }

        let device = try #require(try JSONValue(parsing: Self.wait(for: "\"ready\":true", simulator))["devices"]?[0])
        let port = try #require(device["port"]?.unsigned)
        let environment = ["HEARTH_HOME": scratch.folder + "/home"]
        let paired = try Program.run(
            ["pair", device["setupCode"]?.string ?? "", "--name", "lamp", "--address", "127.0.0.1:\(port)", "--mdns", "off"],
            environment: environment)
        try #require(paired.code == 0, "\(paired.errors)")
        let shell = try Program(["shell", "--json", "--mdns", "off"], environment: environment)
        var acknowledged = "", count: Int64 = 0
        func write() throws -> JSONValue {
            count += 1
            let label = "label \(count)"
            let answer = try shell.answer(
                count, ["do": "write", "device": "lamp", "endpoint": 0, "cluster": 0x28, "attribute": 5, "value": .string(label)])
            if answer["ok"] == true { acknowledged = label }
            return answer
        }
        func label() throws -> String {
            count += 1
            let path: JSONValue = ["endpoint": 0, "cluster": 0x28, "attribute": 5]
            let answer = try shell.answer(count, ["do": "read", "device": "lamp", "paths": [path]])
            return answer["values"]?[0]?["value"]?.string ?? answer.text()
        }

        #expect(try write()["ok"] == true)
        try say("fill")
        // What fits into blocks that the store has already may still be stored, and is then acknowledged.
        var refused: JSONValue?
        while refused == nil, count < 1000 {
            let answer = try write()
            if answer["ok"] != true { refused = answer }
        }
        #expect(refused?["error"]?["status"] == "NO_RESPONSE", "\(String(describing: refused))")
        // What it has in its memory it tells, although it is not stored.
        #expect(try label() == "label \(count - 1)")
        try say("free")
        // Sooner or later within a second the store takes what waits, and the device answers again.
        #expect(try write()["ok"] == true)
        #expect(try label() == acknowledged)

        try say("fill")
        refused = nil
        while refused == nil, count < 2000 {
            let answer = try write()
            if answer["ok"] != true { refused = answer }
        }
        try say("kill")
        try say("free")
        try say("launch")
        try Self.wait(for: "\"ready\":true", simulator)
        // At the port where it was, under the certificate that it had.
        #expect(try label() == acknowledged)
        #expect(try shell.finish().code == 0)
        #expect(try simulator.finish().code == 0)
    }

    /// The next line that contains `text`; what else the simulator says is passed over.
    @discardableResult
    private static func wait(for text: String, _ program: Program) throws -> String {
        var before: [String] = []
        while let line = try program.line() {
            if line.contains(text) { return line }
            before.append(line)
        }
        throw Program.Failed(description: "'\(text)' did not come, but: \(before.joined(separator: "\n")) \(try program.finish().errors)")
    }
}
