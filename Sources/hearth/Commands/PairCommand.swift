import CommandLineKit
import MatterModel
import HearthIO
import MatterController

let pairCommand = Command(
    "pair", summary: "Take a device into the home",
    discussion: """
        CODE is the device's setup code: 11 or 21 digits, or the text of its QR code (MT:…). The device is looked for on the network \
        unless --address says where it is.
        """,
    examples: [
        Example("hearth pair 34970112332", "Under the name that the device gives itself."),
        Example("hearth pair 34970112332 --name 'hall lamp' --address 127.0.0.1:5540", "Without any mDNS."),
    ],
    arguments: [
        .positional("code", help: "The setup code"),
        .option("name", short: "n", help: "What to call the device"),
        .option(
            "address", "HOST:PORT", help: "Where the device is, as 127.0.0.1:5540 or [::1]:5540",
            kind: .custom(check: addressFault)),
    ] + HomeOptions.all,
    run: { arguments, terminal in
        let code = try arguments.required("code")
        let address = arguments.text("address").flatMap { SocketAddress($0) }
        let name = arguments.text("name")
        try await OpenHome.with(arguments, terminal) { home in
            let progress = Progress(terminal, "pairing")
            let result: ControllerResult
            do {
                result = try await home.verbs.perform(
                    .pair(code: code, name: name, address: address), progress: { progress.stage($0.title) })
            } catch {
                progress.fail()
                throw error
            }
            guard case .paired(let device) = result else { return }
            progress.finish()
            if let wanted = name, wanted != device.name {
                let told = TextWidth.harmless("'\(wanted)' was taken meanwhile: the device is called '\(device.name)'")
                terminal.note("note: \(told)")
            }
            if arguments.flag("json") { return terminal.line(result.json.text()) }
            let types = DeviceTypeID.summary(device.endpoints.flatMap(\.deviceTypes).filter { $0 != 0x16 })
            let name = TextWidth.harmless(device.name)
            terminal.line("\(name) is paired: node \(device.nodeID.rawValue)" + (types.isEmpty ? "" : ", \(types)"))
        }
    })

/// Addresses are numeric: a look-up of names would block.
@Sendable func addressFault(_ text: String) -> String? {
    guard let address = SocketAddress(text), address.port > 0 else {
        return "'\(text)' is no address: write it as 127.0.0.1:5540, localhost:5540 or [::1]:5540"
    }
    return nil
}

let unpairCommand = Command(
    "unpair", summary: "Take a device out of the home",
    examples: [
        Example("hearth unpair lamp", "The device forgets the home, and can be paired again."),
        Example("hearth unpair lamp --force", "Forgets a device that is gone for good."),
    ],
    arguments: [DeviceArguments.device, .flag("force", help: "Also when the device cannot be reached")] + HomeOptions.all,
    run: { arguments, terminal in
        let name = try arguments.required("device")
        try await OpenHome.with(arguments, terminal) { home in
            let result = try await home.verbs.perform(.unpair(device: name, force: arguments.flag("force")))
            terminal.line(arguments.flag("json") ? result.json.text() : "\(TextWidth.harmless(name)) has left the home")
        }
    })
