import CommandLineKit
import MatterController
import MatterInteraction
import MatterModel

let devicesCommand = Command(
    "devices", summary: "List the devices of the home",
    examples: [Example("hearth devices", "Their names, what they are, and whether they answer.")],
    arguments: HomeOptions.all,
    run: { arguments, terminal in
        try await OpenHome.with(arguments, terminal) { home in
            let result = try await home.verbs.perform(.devices)
            if arguments.flag("json") { return terminal.line(result.json.text()) }
            guard case .devices(let devices) = result else { return }
            if devices.isEmpty { return terminal.note("no device is paired yet: see 'hearth discover' and 'hearth pair'") }
            var table = Table([
                Table.Column("NAME", minimumWidth: 8), Table.Column("NODE", alignsRight: true),
                Table.Column("DEVICE TYPE", minimumWidth: 8),
                Table.Column("ADDRESS"), Table.Column("STATE"),
            ])
            for (device, isReachable) in devices {
                let types = device.endpoints.flatMap(\.deviceTypes).filter { $0 != 0x16 }.map(\.title)
                table.add([
                    .init(device.name), .init("\(device.nodeID.rawValue)"), .init(types.joined(separator: ", ")),
                    .init(device.addresses.first ?? ""), state(device, isReachable),
                ])
            }
            table.write(to: terminal)
        }
    })

private func state(_ device: PairedDevice, _ isReachable: Bool) -> Table.Cell {
    if isReachable { return .init("reachable", .green) }
    return .init(device.isIncomplete ? "unreachable, pairing cut short" : "unreachable", .red)
}

let showCommand = Command(
    "show", summary: "Show a device: what it is, and the values of its attributes",
    examples: [Example("hearth show lamp", "Endpoint by endpoint, without the lists that only machines read.")],
    arguments: [DeviceArguments.target, .flag("all", help: "Also the root endpoint, and what every cluster has")]
        + HomeOptions.all,
    run: { arguments, terminal in
        let (name, endpoint) = RequestWords.target(try arguments.required("device"))
        try await OpenHome.with(arguments, terminal) { home in
            let device = try await home.controller.device(name)
            let result = try await home.verbs.perform(
                .read(device: device.nodeText, paths: [AttributePathPattern(endpoint)], fabricFiltered: true))
            guard case .values(let reports) = result else { return }
            if let endpoint, reports.isEmpty {
                let there = device.endpoints.map { "\($0.id)" }
                let list = there.prefix(20).joined(separator: ", ") + (there.count > 20 ? " and \(there.count - 20) more" : "")
                throw UsageError("\(device.name) has no endpoint \(endpoint)" + (there.isEmpty ? "" : "; it has \(list)"))
            }
            if arguments.flag("json") {
                var members = ControllerResult.paired(device).json.object ?? [:]
                members["values"] = result.json["values"] ?? .array([])
                return terminal.line(JSONValue(members).text())
            }
            describe(device, reports, isFull: arguments.flag("all") || endpoint != nil, terminal)
        }
    })

private func describe(_ device: PairedDevice, _ reports: [AttributeReport], isFull: Bool, _ terminal: Terminal) {
    terminal.line(terminal.styled(TextWidth.harmless(device.name), .bold))
    terminal.line("  node \(device.nodeID.rawValue), \(device.addresses.first ?? "address unknown")")
    let byEndpoint = Dictionary(grouping: reports) { $0.path.pattern.endpoint }
    for endpoint in device.endpoints where isFull || endpoint.id != 0 {
        guard let own = byEndpoint[endpoint.id] else { continue }
        terminal.line()
        let types = endpoint.deviceTypes.map(\.title).joined(separator: ", ")
        terminal.line(terminal.styled("Endpoint \(endpoint.id)", .bold) + (types.isEmpty ? "" : ": \(types)"))
        var table = Table("", "", "")
        for report in own {
            // The global attributes describe the cluster and not the device.
            if !isFull, (report.path.pattern.attribute?.rawValue ?? 0) >= 0xF000 { continue }
            if !isFull, report.path.pattern.cluster == Descriptor.id { continue }
            let line = ReportText.line(report)
            table.add([
                .init("  " + line.cluster), .init(line.element),
                .init(TextWidth.harmless(line.value), line.isFailure ? .red : nil),
            ])
        }
        for line in table.lines(width: terminal.tableWidth, style: { terminal.styled($0, $1) }).dropFirst() {
            terminal.line(line)
        }
    }
}
