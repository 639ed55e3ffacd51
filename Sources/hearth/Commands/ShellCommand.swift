import CommandLineKit
import Glibc
import MachineInterface
import MatterController
import MatterModel

let shellCommand = Command(
    "shell", summary: "Run many commands with sessions that stay open",
    discussion: """
        On a terminal it prompts for the same commands as the command line has, without 'hearth'; 'exit' or Ctrl-D ends it. With \
        --json it reads one request a line and writes one answer a line: see docs/machine-interface.md.
        """,
    examples: [
        Example("hearth shell", "A prompt."),
        Example("echo '{\"id\": 1, \"do\": \"devices\"}' | hearth shell --json", "One request, one answer."),
    ],
    arguments: HomeOptions.all,
    run: { arguments, terminal in
        if arguments.flag("json") {
            try await machineShell(arguments, terminal)
        } else {
            try await promptShell(arguments, terminal)
        }
    })

/// JSON Lines on standard input and output, until the input ends.
private func machineShell(_ arguments: ParsedArguments, _ terminal: Terminal) async throws {
    let stop = try StopSignal()
    try await stop.whileWatching { try await serve(arguments, terminal, stop) }
    if let code = stop.code, code != .ok { throw Quiet(exitCode: code, message: "") }
}

private func serve(_ arguments: ParsedArguments, _ terminal: Terminal, _ stop: StopSignal) async throws {
    try await OpenHome.with(arguments, terminal) { home in
        let writer = LineWriter(STDOUT_FILENO) { stop.give(.ok) }
        writer.add(MachineInterface.hello(.controller), .answer)
        let session = MachineSession(home.verbs) { line, kind in writer.add(line, kind) }
        // A device that takes its time must not hold who is told to stop.
        home.runtime.timeline.spawn("stop") {
            _ = await stop.wait()
            await session.stop()
        }
        var reader = LineReader(STDIN_FILENO, stop: stop.descriptor)
        while let line = reader.next() {
            switch line {
            case .text(let bytes): await session.receive(bytes)
            case .tooLong: await session.refuse("a line has at most \(LineReader.limit) bytes")
            }
            // Who does not read the answers is asked no more questions.
            writer.awaitRoom()
        }
        if stop.code == nil { await session.finish() }
        writer.finish()
        // Nobody has; whoever waits for it is to end with the rest.
        stop.give(.ok)
    }
}

/// The command line, line by line.
private func promptShell(_ arguments: ParsedArguments, _ terminal: Terminal) async throws {
    let stop = try StopSignal()
    try await stop.whileWatching { try await prompt(arguments, terminal, stop) }
    if let code = stop.code { throw Quiet(exitCode: code, message: "") }
}

private func prompt(_ arguments: ParsedArguments, _ terminal: Terminal, _ stop: StopSignal) async throws {
    try await OpenHome.with(arguments, terminal) { home in
        let words = Program(promptRoot, version: Hearth.version, translate: Failures.translate, report: Failures.report)
        let hasPrompt = isatty(STDIN_FILENO) == 1
        var reader = LineReader(STDIN_FILENO, stop: stop.descriptor)
        while true {
            if hasPrompt {
                terminal.write("hearth> ")
                terminal.flush()
            }
            guard let line = reader.next() else { break }
            guard case .text(let bytes) = line else {
                terminal.note("error: the line is too long")
                continue
            }
            let typed = ShellWords.split(String(decoding: bytes, as: UTF8.self)).filter { !$0.isEmpty }
            guard let first = typed.first else { continue }
            if first == "exit" || first == "quit" { break }
            _ = await OpenHome.$current.withValue(home) { await words.run(typed, on: terminal) }
        }
        if hasPrompt, stop.code == nil { terminal.line() }
    }
}

/// What can be typed at the prompt: everything that works on an open home.
private let promptRoot = Command(
    "hearth", summary: "Commands of the open home; 'exit' ends",
    subcommands: [
        discoverCommand, pairCommand, unpairCommand, devicesCommand, showCommand, readCommand, writeCommand, invokeCommand,
        watchCommand,
        modelCommand, tlvCommand, setupCodeCommand,
    ])
