import CommandLineKit
import MatterController

let discoverCommand = Command(
    "discover", summary: "Look for devices that wait to be paired",
    examples: [Example("hearth discover --timeout 5", "Listens for five seconds.")],
    arguments: [
        .option("timeout", short: "t", "S", help: "How long to listen, in seconds", kind: .number(0.1...3600), default: "3")
    ] + HomeOptions.all,
    run: { arguments, terminal in
        let seconds = arguments.number("timeout") ?? 3
        try await OpenHome.with(arguments, terminal) { home in
            let result = try await home.verbs.perform(.discover(.milliseconds(Int64(seconds * 1000))))
            if arguments.flag("json") { return terminal.line(result.json.text()) }
            guard case .discovered(let devices) = result else { return }
            if devices.isEmpty { return terminal.note("no device is waiting to be paired") }
            var table = Table([
                Table.Column("NAME", minimumWidth: 8), Table.Column("DEVICE TYPE", minimumWidth: 8),
                Table.Column("DISCRIMINATOR", alignsRight: true), Table.Column("ADDRESS"),
            ])
            for device in devices {
                table.add([
                    .init(TextWidth.harmless(device.name)), .init(device.service.deviceType?.title ?? ""),
                    .init("\(device.service.discriminator)"), .init(device.addresses.first?.description ?? ""),
                ])
            }
            table.write(to: terminal)
        }
    })
