import CommandLineKit
import HearthTime

/// The command line. Every subcommand is a file in `Commands/`; what they do is in the libraries.
@main
struct Hearth {
    static let version = "0.1.0"

    static func main() {
        StandardDescriptors.open()
        // Before any other thread is started: all of them must leave the signals to this watch.
        let watch = InterruptWatch.start()
        let words = Array(CommandLine.arguments.dropFirst())
        EntryPoint.run {
            defer { withExtendedLifetime(watch) {} }
            return await program.run(words).rawValue
        }
    }

    static let program = Program(root, version: version, translate: Failures.translate, report: Failures.report)

    static let root = Command(
        "hearth", summary: "A home of virtual Matter devices, and the controller that runs it",
        discussion: """
            Launch devices with 'hearth simulate', take them into a home with 'hearth pair', and control them with 'read', 'write', \
            'invoke' and 'watch'. Scripts use --json, or 'hearth shell --json'.
            """,
        examples: [
            Example("hearth simulate on-off-light", "A virtual lamp, with its setup code."),
            Example("hearth pair 34970112332 --name lamp", "Takes the device with that code into the home."),
            Example("hearth invoke lamp OnOff.On", "Switches it on."),
        ],
        subcommands: [
            simulateCommand, labCommand, profilesCommand, simCommand, discoverCommand, pairCommand, unpairCommand, devicesCommand,
            showCommand,
            readCommand, writeCommand,
            invokeCommand, watchCommand, shellCommand, modelCommand, tlvCommand, setupCodeCommand, credentialsCommand,
        ])
}
