import Testing

@testable import CommandLineKit

@Suite struct HelpTests {
    private func output(_ words: String..., width: Int = 80) async -> (ExitCode, String, String) {
        let terminal = Terminal.captured(width: width)
        let code = await demoProgram().run(words, on: terminal)
        return (code, terminal.outputText, terminal.errorText)
    }

    @Test func aCommand() async {
        let (code, text, errors) = await output("read", "--help")
        #expect(code == .ok)
        #expect(errors == "")
        #expect(
            text == """
                Usage: demo read [OPTION…] DEVICE CLUSTER[.ATTRIBUTE]…

                Read attributes.

                Reads what you name.

                Arguments:
                  DEVICE               The device's name
                  CLUSTER[.ATTRIBUTE]  What to read

                Options:
                  -t, --timeout MS     How long to wait (1 to 60000; default: 5000)
                      --filter FILTER  Only these (may be repeated)
                      --format FORMAT  How to print (table, lines, tree)
                  -c, --[no-]color     Use colours
                  -v, --verbose        Say more
                  -h, --help           Show this help

                Options of demo:
                      --home DIR  Where it keeps its state
                      --json      Answer in JSON

                Examples:
                  demo read hall OnOff.OnOff
                      Whether the lamp in the hall is on.

                """)
    }

    @Test func theProgram() async {
        let (code, text, _) = await output("--help")
        #expect(code == .ok)
        #expect(
            text == """
                Usage: demo [OPTION…] COMMAND

                A home of devices.

                Two paragraphs.

                The second.

                Commands:
                  read        Read attributes
                  move        Move by a number
                  sim         Drive the simulator
                  completion  Print the completion script of a shell
                  help        Show the help of a command

                Options:
                      --home DIR  Where it keeps its state
                      --json      Answer in JSON
                  -h, --help      Show this help
                      --version   Show the version

                'demo COMMAND --help' says more about a command.

                """)
        #expect(await output("help").1 == text)
        // Nothing but the program's name: the same, and not a success.
        let (nothing, shown, _) = await output()
        #expect(nothing == .badArguments)
        #expect(shown == text)
    }

    @Test func itFitsTheTerminal() async {
        for width in [30, 40, 60, 100] {
            for words in [["--help"], ["read", "--help"], ["move", "--help"], ["completion", "--help"]] {
                let terminal = Terminal.captured(width: width)
                _ = await demoProgram().run(words, on: terminal)
                let lines = terminal.outputText.split(separator: "\n")
                // Names and examples are never broken.
                let long = lines.filter { TextWidth.of($0) > width && !$0.hasPrefix("  ") && $0.contains(" ") }
                #expect(long.isEmpty, "width \(width), \(words): \(long)")
            }
        }
    }

    @Test func helpOfOneCommandAndOfNone() async {
        #expect(await output("help", "sim", "clock").1.hasPrefix("Usage: demo sim clock [OPTION…]\n"))
        let (code, text, errors) = await output("help", "reed")
        #expect(code == .badArguments)
        #expect(text == "")
        #expect(errors == "error: unknown command 'reed'; did you mean 'read'?\n  see 'demo --help'\n")
        #expect(await output("--version").1 == "demo 1.2.3\n")
    }
}
