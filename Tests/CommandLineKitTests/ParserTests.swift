import Testing

@testable import CommandLineKit

@Suite struct ParserTests {
    @Test(arguments: [
        ["read", "hall", "OnOff", "--timeout", "20"], ["read", "--timeout=20", "hall", "OnOff"],
        ["read", "hall", "-t20", "OnOff"],
        ["read", "hall", "-t", "20", "OnOff"], ["read", "hall", "OnOff", "-t=20"], ["read", "hall", "OnOff", "-vt0x14"],
        ["read", "-t", "7", "-t", "20", "hall", "OnOff"],
    ]) func anOptionHasManySpellings(words: [String]) throws {
        guard case .run(_, let arguments) = try Parser.parse(words, root: demoProgram().root) else {
            Issue.record("not a command")
            return
        }
        #expect(arguments.integer("timeout") == 20)
        #expect(arguments.text("device") == "hall")
        #expect(arguments.texts("path") == ["OnOff"])
        #expect(arguments.commandPath == ["demo", "read"])
    }

    @Test func defaultsRepetitionsAndFlags() throws {
        let plain = try parse("read", "hall", "A", "B")
        #expect(plain.integer("timeout") == 5_000)
        #expect(!plain.isGiven("timeout"))
        #expect(plain.texts("path") == ["A", "B"])
        #expect(plain.texts("filter") == [])
        #expect(plain.choice("color") == nil)
        #expect(!plain.flag("verbose"))
        let full = try parse("read", "--filter", "x", "hall", "A", "--filter=", "--no-color", "-v", "--format", "TREE")
        #expect(full.texts("filter") == ["x", ""])
        #expect(full.choice("color") == false)
        #expect(full.flag("verbose"))
        #expect(full.text("format") == "tree")
        #expect(try parse("read", "hall", "A", "-cv").choice("color") == true)
    }

    @Test func optionsOfTheProgramStandAnywhere() throws {
        for words in [["--home", "/x", "read", "hall", "A", "--json"], ["read", "hall", "--json", "A", "--home=/x"]] {
            guard case .run(_, let arguments) = try Parser.parse(words, root: demoProgram().root) else {
                Issue.record("not a command")
                continue
            }
            #expect(arguments.text("home") == "/x")
            #expect(arguments.flag("json"))
        }
    }

    @Test func twoDashesEndTheOptions() throws {
        let arguments = try parse("read", "-v", "--", "--home", "-t", "--")
        #expect(arguments.text("device") == "--home")
        #expect(arguments.texts("path") == ["-t", "--"])
        #expect(arguments.flag("verbose"))
    }

    @Test func numbersAndTheirRanges() throws {
        #expect(try parse("move", "-2.5", "--id", "0xFFFFFFFFFFFFFFFF").number("by") == -2.5)
        #expect(try parse("move", "3", "--id", "18446744073709551615").unsigned("id") == .max)
        #expect(try parse("move", "1", "-", "--id", "0").text("file") == "-")
        #expect(usageError("move", "101", "--id", "1") == "BY: 101 is not in -100.0 to 100.0")
        #expect(usageError("move", "nan", "--id", "1") == "BY: 'nan' is not a number")
        #expect(usageError("move", "1", "--id", "-1") == "--id: '-1' is not a whole number from 0 up")
        #expect(usageError("move", "1", "--id", "0x") == "--id: '0x' is not a whole number from 0 up")
        #expect(usageError("read", "hall", "A", "-t", "0") == "--timeout: 0 is not in 1 to 60000")
        #expect(usageError("read", "hall", "A", "-t", "soon") == "--timeout: 'soon' is not a whole number")
        #expect(Numbers.signed("-9223372036854775808") == .min)
        #expect(Numbers.signed("-0x8000000000000000") == .min)
        #expect(Numbers.signed("-9223372036854775809") == nil)
        #expect(Numbers.signed("9223372036854775808") == nil)
        #expect(Numbers.unsigned("+5") == nil)
        #expect(Numbers.unsigned("0x+5") == nil)
    }

    @Test(arguments: [
        (["raed", "x"], "unknown command 'raed'; did you mean 'read'?"),
        (["sim", "clokc"], "unknown command 'clokc'; did you mean 'clock'?"),
        (["xyzzy"], "unknown command 'xyzzy'"),
        (["sim", "secre"], "unknown command 'secre'"),
        (["read", "--timeuot", "5"], "unknown option '--timeuot'; did you mean '--timeout'?"),
        (["read", "--no-colour"], "unknown option '--no-colour'; did you mean '--no-color'?"),
        (["read", "--no-verbose"], "unknown option '--no-verbose'; did you mean '--verbose'?"),
        (["read", "-x"], "unknown option '-x'"),
        (["--format", "table", "read", "a"], "--format goes behind the command, as in 'demo read --format'"),
        (["read", "a", "b", "--format", "tabel"], "--format: 'tabel' is none of table, lines, tree; did you mean 'table'?"),
        (["read", "a", "b", "--format"], "--format needs a value FORMAT"),
        (["read", "a", "b", "--format", "--verbose"], "--format needs a value FORMAT"),
        (["read", "a", "b", "--verbose=yes"], "--verbose takes no value"),
        (["read", "a"], "CLUSTER[.ATTRIBUTE] is missing"),
        (["read"], "DEVICE is missing"),
        (["move", "1"], "--id ID is missing"),
        (["move", "1", "f", "g", "--id", "1"], "one argument too many: 'g'"),
        (["move", "1", "", "--id", "1"], "FILE: the path is empty"),
    ]) func whatIsWrongIsSaid(words: [String], message: String) {
        #expect(throws: UsageError(message, hint: "see '\(hintPath(words)) --help'")) {
            try Parser.parse(words, root: demoProgram().root)
        }
    }

    @Test func aNameAndItsValueAreOneWord() {
        let command = Command(
            "write", summary: "Writes",
            arguments: [.positional("device", help: "Which"), .positional("assignment", "NAME=VALUE", help: "What")], run: { _, _ in })
        let root = Command("demo", summary: "Shows", subcommands: [command])
        #expect(
            throws: UsageError(
                "one argument too many: '80%'. A name and its value are one word: NAME=VALUE", hint: "see 'demo write --help'")
        ) { try Parser.parse(["write", "lamp", "level", "80%"], root: root) }
    }

    private func hintPath(_ words: [String]) -> String {
        ["read", "sim", "move"].contains(words[0]) ? "demo \(words[0])" : "demo"
    }

    @Test func helpAndVersionWinWhereverTheyStand() throws {
        func help(_ words: String...) throws -> [String]? {
            guard case .help(let path) = try Parser.parse(words, root: demoProgram().root) else { return nil }
            return path.map(\.name)
        }
        #expect(try help("--help") == ["demo"])
        #expect(try help("read", "-h") == ["demo", "read"])
        #expect(try help("read", "a", "b", "c", "--help", "--nonsense") == ["demo", "read"])
        #expect(try help("sim", "clock", "--help") == ["demo", "sim", "clock"])
        #expect(try help("read", "a", "--", "--help") == nil)
        guard case .version = try Parser.parse(["--version"], root: demoProgram().root) else {
            Issue.record("no version")
            return
        }
        #expect(usageError("read", "--version") == "unknown option '--version'")
    }

    @Test func anyWordsAreParsedOrRefused() {
        // A fixed seed: the same words in every run.
        var state: UInt64 = 42
        func next(_ bound: Int) -> Int {
            state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
            return Int((state >> 33) % UInt64(bound))
        }
        let pieces = [
            "read", "move", "sim", "--", "-", "--home", "=", "-t", "-cv", "5", "-5", "é", "", " ", "--no-", "--=", "-=", "\u{0}",
        ]
        for _ in 0..<5_000 {
            let words = (0..<next(6)).map { _ in (0...next(2)).map { _ in pieces[next(pieces.count)] }.joined() }
            _ = try? Parser.parse(words, root: demoProgram().root)
        }
    }

    @Test func nearestNames() {
        let names = ["OnOff", "LevelControl", "DoorLock", "Thermostat", "WindowCovering"]
        #expect(Suggestion.nearest(to: "onof", in: names) == "OnOff")
        #expect(Suggestion.nearest(to: "levle-control", in: names) == "LevelControl")
        #expect(Suggestion.nearest(to: "therm", in: names) == "Thermostat")
        #expect(Suggestion.nearest(to: "fan", in: names) == nil)
        #expect(Suggestion.nearest(to: "", in: names) == nil)
        #expect(Suggestion.nearest(to: String(repeating: "x", count: 100_000), in: names) == nil)
        #expect(Suggestion.distance(Array("abcd"), Array("acbd")) == 1)
        #expect(Suggestion.distance(Array("kitten"), Array("sitting")) == 3)
        #expect(Suggestion.distance([], Array("abc")) == 3)
    }
}
