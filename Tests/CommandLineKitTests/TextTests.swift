import Testing

@testable import CommandLineKit

@Suite struct TextTests {
    @Test(arguments: [
        ("", 0), ("lamp", 4), ("Zoë", 3), ("Zoe\u{308}", 3), ("灯", 2), ("照明器具", 8), ("한글", 4), ("\u{1112}\u{1161}\u{11AB}", 2),
        ("💡", 2), ("👩‍🚀", 2), ("🇩🇪", 2), ("☀", 1), ("☀️", 2), ("ｆ", 2), ("ﾊ", 1), ("a\u{200B}b", 2), ("→…°", 3), ("👍🏽", 2),
    ]) func widths(text: String, width: Int) { #expect(TextWidth.of(text) == width) }

    @Test func truncatingCountsCells() {
        #expect(TextWidth.truncated("kitchen lamp", to: 12) == "kitchen lamp")
        #expect(TextWidth.truncated("kitchen lamp", to: 8) == "kitchen…")
        #expect(TextWidth.truncated("照明器具", to: 6) == "照明…")
        #expect(TextWidth.truncated("照明", to: 1) == "…")
        #expect(TextWidth.truncated("照明", to: 0) == "")
        for width in 1..<12 { #expect(TextWidth.of(TextWidth.truncated("a照b明c器d具", to: width)) <= width) }
    }

    @Test func wrapping() {
        #expect(TextWidth.wrapped("one two three four", to: 9) == ["one two", "three", "four"])
        #expect(TextWidth.wrapped("incomprehensibilities a b", to: 9) == ["incomprehensibilities", "a b"])
        #expect(
            TextWidth.wrapped("a\n\nb\n  kept   as it is, however long", to: 9) == [
                "a", "", "b", "  kept   as it is, however long",
            ])
        #expect(TextWidth.wrapped("one two three", to: 10, indent: 2) == ["  one two", "  three"])
        #expect(TextWidth.wrapped("one two three", to: 9, indent: 0, hanging: 4) == ["one two", "    three"])
        #expect(TextWidth.wrapped("灯 灯灯 灯", to: 7) == ["灯 灯灯", "灯"])
        #expect(TextWidth.wrapped("", to: 9) == [""])
    }

    @Test func namesCannotCommandTheTerminal() {
        #expect(TextWidth.harmless("lamp\u{1B}]0;x\u{7}\n\u{9B}2J") == "lamp\\u{1b}]0;x\\u{7} \\u{9b}2J")
        #expect(TextWidth.harmless("a\u{202E}b") == "a\\u{202e}b")
        #expect(TextWidth.harmless("Zoë 灯 👩‍🚀") == "Zoë 灯 👩‍🚀")
        var table = Table("NAME")
        table.add("\u{1B}[2J")
        #expect(table.lines() == ["NAME", "\\u{1b}[2J"])
    }

    @Test func tables() {
        var table = Table([.init("NAME"), .init("NODE", alignsRight: true), .init("TYPE")])
        table.add("照明", "7", "Dimmable Light")
        table.add("hall lamp", "12345")
        #expect(
            table.lines() == [
                "NAME        NODE  TYPE", "照明           7  Dimmable Light", "hall lamp  12345",
            ])
        #expect(
            table.lines(width: 25) == [
                "NAME       NODE  TYPE", "照明          7  Dimmabl…", "hall la…  12345",
            ])
        // Cut where it may be, and no further than it may be.
        #expect(table.lines(width: 5).allSatisfy { TextWidth.of($0) <= 8 + 2 + 8 + 2 + 8 })
        #expect(table.lines(width: 5)[2].hasPrefix("hall la…"))
        #expect(Table([.init("ID", minimumWidth: nil)]).lines(width: 1) == ["ID"])
    }

    @Test func stylesOnlyOnATerminal() {
        func written(_ terminal: Terminal) -> String {
            var table = Table("NAME", "STATE")
            table.add("hall", .init("on", .green))
            table.write(to: terminal)
            return terminal.outputText
        }
        #expect(written(.captured()) == "NAME  STATE\nhall  on\n")
        #expect(written(.captured(isInteractive: true)) == "NAME  STATE\nhall  on\n")
        #expect(
            written(.captured(isInteractive: true, hasStyles: true))
                == "\u{1B}[1mNAME\u{1B}[0m  \u{1B}[1mSTATE\u{1B}[0m\nhall  \u{1B}[32mon\u{1B}[0m\n")
    }

    @Test func progressInPlainLines() {
        let terminal = Terminal.captured()
        let stages = Progress(terminal, "Pairing")
        stages.stage("looking for the device")
        stages.stage("proving the passcode")
        stages.fail()
        stages.finish("never said")
        #expect(
            terminal.errorText
                == "Pairing: looking for the device\nPairing: proving the passcode\nPairing: proving the passcode: failed\n")
        let counting = Terminal.captured()
        let count = Progress(counting, "Starting", total: 1_000)
        for _ in 0..<1_000 { count.advance() }
        count.finish("1000 devices are up")
        let lines = counting.errorText.split(separator: "\n")
        #expect(lines.first == "Starting: 100 of 1000")
        #expect(lines.count == 11)
        #expect(lines.last == "Starting: 1000 devices are up")
        #expect(counting.outputText == "")
    }

    @Test func progressOnATerminal() {
        let terminal = Terminal.captured(width: 40, isInteractive: true)
        let progress = Progress(terminal, "Starting", total: 4)
        progress.advance()
        progress.advance(to: 1)
        // Other output wipes the bar first.
        terminal.line("lamp is up")
        progress.advance(to: 4)
        progress.finish("all up")
        let bar1 = "Starting ██████" + String(repeating: "░", count: 18) + " 1/4"
        let bar4 = "Starting " + String(repeating: "█", count: 24) + " 4/4"
        let wipe = "\r\u{1B}[K"
        #expect(terminal.errorText == bar1 + wipe + bar4 + wipe + "✓ all up\n")
        #expect(terminal.outputText == "lamp is up\n")
    }
}
