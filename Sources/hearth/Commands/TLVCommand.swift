import CommandLineKit
import MachineInterface
import MatterController
import MatterModel
import MatterTLV

let tlvCommand = Command(
    "tlv", summary: "Read and write Matter TLV",
    subcommands: [
        Command(
            "decode", summary: "Show what bytes in hexadecimal mean",
            examples: [
                Example("hearth tlv decode 1524008024010a24020024030018", "A structure, member by member."),
                Example("hearth tlv decode 0x0405 --json", "In the notation of the machine interface."),
            ],
            arguments: [
                .positional("hex", help: "The bytes; blanks, colons and 0x are ignored", arity: .atLeastOne), HomeOptions.json,
            ],
            run: { arguments, terminal in
                let element = try decode(arguments.texts("hex").joined())
                if arguments.flag("json") { return terminal.line(ValueJSON.json(element.value).text()) }
                show(element, "", terminal)
            }),
        Command(
            "encode", summary: "Write JSON as TLV, in hexadecimal",
            discussion: """
                An object is a structure whose keys are context tags in decimal, or profile-specific ones as 0xFFF1:0x0001:7; {"hex": \
                "0a0b"} is an octet string. An integer is unsigned when it is not negative.
                """,
            examples: [Example("hearth tlv encode '{\"0\": 5, \"1\": \"abc\"}'", "A structure of two members.")],
            arguments: [.positional("json", help: "The value"), HomeOptions.json],
            run: { arguments, terminal in
                let bytes = try encode(arguments.required("json"))
                let text = Hexadecimal.text(bytes)
                terminal.line(arguments.flag("json") ? JSONValue(["ok": true, "hex": .string(text)]).text() : text)
            }),
    ])

private func decode(_ text: String) throws -> TLVElement {
    let digits = text.hasPrefix("0x") ? String(text.dropFirst(2)) : text
    do {
        return try TLVElement(decoding: Hexadecimal.bytes(digits))
    } catch let error as TLVError {
        throw MachineError.badRequest("not TLV: \(error)")
    }
}

private func encode(_ text: String) throws -> [UInt8] {
    let bytes = try ValueJSON.value(JSONValue(parsing: text, losesNothing: true)).encoded()
    // What no reader would take is not written either: too many containers within each other.
    do { _ = try TLVElement(decoding: bytes) } catch { throw MachineError.badRequest("no reader takes that: \(error)") }
    return bytes
}

/// One line an element, members indented.
private func show(_ element: TLVElement, _ indent: String, _ terminal: Terminal) {
    let start = indent + (element.tag == .anonymous ? "" : "\(name(element.tag)): ")
    switch element.value {
    case .structure(let members):
        terminal.line(start + "structure")
        for member in members { show(member, indent + "  ", terminal) }
    case .list(let members):
        terminal.line(start + "list")
        for member in members { show(member, indent + "  ", terminal) }
    case .array(let entries):
        terminal.line(start + "array")
        for entry in entries { show(TLVElement(.anonymous, entry), indent + "  ", terminal) }
    case .signed(let number): terminal.line(start + "signed \(number)")
    case .unsigned(let number): terminal.line(start + "unsigned \(number)")
    case .boolean(let value): terminal.line(start + "\(value)")
    case .float(let number): terminal.line(start + "float \(number)")
    case .double(let number): terminal.line(start + "double \(number)")
    case .utf8(let text): terminal.line(start + JSONValue.string(text).text())
    case .octets(let bytes): terminal.line(start + "octets " + Hexadecimal.text(bytes))
    case .null: terminal.line(start + "null")
    }
}

private func name(_ tag: TLVTag) -> String {
    switch tag {
    case .anonymous: ""
    case .context(let number): "\(number)"
    case .commonProfile(let number): "common \(number)"
    case .implicitProfile(let number): "implicit \(number)"
    case .fullyQualified(let vendor, let profile, let number):
        "0x\(Hexadecimal.text(vendor)):0x\(Hexadecimal.text(profile)):\(number)"
    }
}
