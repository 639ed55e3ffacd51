import CommandLineKit
import MatterController
import MatterInteraction
import MatterModel

let readCommand = Command(
    "read", summary: "Read attributes of a device",
    discussion: """
        Attributes are named CLUSTER.ATTRIBUTE, by the specification's names in any case or by numbers; CLUSTER alone means all of the \
        cluster but the lists that every cluster has of itself, such as AttributeList (name them, or use --json), and '*' every one. Without the endpoint, all endpoints are read that have the cluster.
        """,
    examples: [
        Example("hearth read lamp OnOff.OnOff LevelControl.CurrentLevel", "Two values."),
        Example("hearth read thermostat Thermostat", "Everything that the cluster has."),
        Example("hearth read lamp/0 basic-information.node-label --json", "For a program."),
    ],
    arguments: [
        DeviceArguments.target,
        .positional(
            "path", "CLUSTER[.ATTR]", help: "What to read; without it everything", arity: .any,
            completion: DeviceArguments.element([.attribute])),
        .flag("fabric-filtered", help: "Only this home's entries of lists (as without it), or everybody's", negatable: true),
    ] + HomeOptions.all,
    run: { arguments, terminal in
        let (name, endpoint) = RequestWords.target(try arguments.required("device"))
        try await OpenHome.with(arguments, terminal) { home in
            let device = try await home.controller.device(name)
            let paths = try RequestWords.attributePaths(arguments.texts("path"), endpoint: endpoint, of: device)
            let result = try await home.verbs.perform(
                .read(device: device.nodeText, paths: paths, fabricFiltered: arguments.choice("fabric-filtered") ?? true))
            guard case .values(let reports) = result else { return }
            if arguments.flag("json") {
                terminal.line(result.json.text())
            } else {
                print(ReportText.ofInterest(reports, asked: paths), terminal)
            }
            try refuse(reports)
        }
    })

/// One value is a line of its own; several are a table.
private func print(_ reports: [AttributeReport], _ terminal: Terminal) {
    let lines = reports.map { ReportText.line($0) }
    if let only = lines.first, lines.count == 1, !only.isFailure { return terminal.line(TextWidth.harmless(only.value)) }
    var table = Table([
        Table.Column("EP", alignsRight: true), Table.Column("CLUSTER"), Table.Column("ATTRIBUTE"),
        Table.Column("VALUE", minimumWidth: 12),
    ])
    for line in lines {
        table.add([
            .init(line.endpoint), .init(line.cluster), .init(line.element),
            .init(TextWidth.harmless(line.value), line.isFailure ? .red : nil),
        ])
    }
    if !lines.isEmpty { table.write(to: terminal) } else { terminal.note("there is nothing to read there") }
}

/// A value that was asked for and refused makes the command fail, after everything else was printed.
private func refuse(_ reports: [AttributeReport]) throws {
    var refused = 0
    var first: (ReportText.Line, Status)?
    for report in reports {
        guard case .status(let status) = report.outcome else { continue }
        refused += 1
        if first == nil { first = (ReportText.line(report), status) }
    }
    guard let (line, status) = first else { return }
    let more = refused > 1 ? ", and \(refused - 1) more" : ""
    throw Quiet(exitCode: .refused, message: "\(line.cluster).\(line.element) was refused: \(status)\(more)")
}
