import CommandLineKit
import MatterController
import MatterCredentials
import MatterModel

let setupCodeCommand = Command(
    "setup-code", summary: "Read and make setup codes",
    subcommands: [
        Command(
            "decode", summary: "Show what a setup code says",
            examples: [Example("hearth setup-code decode 34970112332", "Also of 21 digits, or MT:…")],
            arguments: [.positional("code", help: "11 or 21 digits, with or without dashes, or MT:…"), HomeOptions.json],
            run: { arguments, terminal in
                let payload = try SetupPayload(arguments.required("code"))
                if arguments.flag("json") { return terminal.line(json(payload).text()) }
                show(payload, terminal)
            }),
        Command(
            "encode", summary: "Make the codes of a passcode and a discriminator",
            discussion: "Without --vendor and --product the manual code has 11 digits, and the QR code says 0 for both.",
            examples: [
                Example(
                    "hearth setup-code encode --passcode 20202021 --discriminator 3840", "The manual code, and nothing else."),
                Example(
                    "hearth setup-code encode --passcode 20202021 --discriminator 3840 --qr",
                    "The text of the QR code, and the code itself."),
            ],
            arguments: [
                .option("passcode", "N", help: "The passcode", kind: .unsigned(1...99_999_998), isRequired: true),
                .option("discriminator", "N", help: "The discriminator", kind: .unsigned(0...4095), isRequired: true),
                .option("vendor", "ID", help: "The vendor id", kind: .unsigned(0...65535)),
                .option("product", "ID", help: "The product id", kind: .unsigned(0...65535)),
                .option(
                    "flow", help: "How the device becomes ready: 0 by itself, 1 by the user, 2 as its maker says",
                    kind: .unsigned(0...2), default: "0"),
                .flag("qr", help: "Print the QR code, not the manual one"), HomeOptions.json,
            ],
            run: { arguments, terminal in
                let payload = try payload(arguments)
                if arguments.flag("json") { return terminal.line(json(payload).text()) }
                guard arguments.flag("qr") else { return terminal.line(payload.manualCode) }
                terminal.line(payload.qrCode)
                if terminal.isInteractive { for line in QRCode.lines(payload.qrCode) ?? [] { terminal.line(line) } }
            }),
    ])

private func payload(_ arguments: ParsedArguments) throws -> SetupPayload {
    SetupPayload(
        vendorID: arguments.unsigned("vendor").map { VendorID(UInt16(clamping: $0)) },
        productID: arguments.unsigned("product").map { UInt16(clamping: $0) },
        flow: SetupPayload.CommissioningFlow(rawValue: UInt8(clamping: arguments.unsigned("flow") ?? 0)) ?? .standard,
        discriminator: try Discriminator(long: UInt16(clamping: arguments.unsigned("discriminator") ?? 0)),
        passcode: try Passcode(UInt32(clamping: arguments.unsigned("passcode") ?? 0)))
}

private func json(_ payload: SetupPayload) -> JSONValue {
    var members: [String: JSONValue] = [
        "ok": true, "passcode": .integer(Int64(payload.passcode.value)),
        "shortDiscriminator": .integer(Int64(payload.discriminator.upper)), "flow": .integer(Int64(payload.flow.rawValue)),
        "manualCode": .string(payload.manualCode),
    ]
    // A manual code says 4 of the 12 bits: no QR code can be made of it.
    if let all = payload.discriminator.all {
        members["discriminator"] = .integer(Int64(all))
        members["qr"] = .string(payload.qrCode)
    }
    if let vendor = payload.vendorID { members["vendorId"] = .integer(Int64(vendor.rawValue)) }
    if let product = payload.productID { members["productId"] = .integer(Int64(product)) }
    if let discovery = payload.discovery { members["discovery"] = .integer(Int64(discovery.rawValue)) }
    if let serial = payload.serialNumber { members["serialNumber"] = .string(serial) }
    return .object(members)
}

private func show(_ payload: SetupPayload, _ terminal: Terminal) {
    terminal.line("passcode       \(payload.passcode.digits)")
    if let all = payload.discriminator.all {
        terminal.line("discriminator  \(all)")
    } else {
        terminal.line("discriminator  begins with \(payload.discriminator.upper) (4 of 12 bits)")
    }
    if let vendor = payload.vendorID { terminal.line("vendor         0x\(Hexadecimal.text(vendor.rawValue))") }
    if let product = payload.productID { terminal.line("product        0x\(Hexadecimal.text(product))") }
    terminal.line("flow           \(payload.flow)")
    if let serial = payload.serialNumber { terminal.line("serial number  \(TextWidth.harmless(serial))") }
    terminal.line("manual code    \(payload.manualCodeWithDashes)")
    if payload.discriminator.all != nil { terminal.line("QR code        \(payload.qrCode)") }
}
