import CommandLineKit
import MatterModel

/// The data model for people.
enum ModelText {
    static func show(_ cluster: ClusterDefinition, _ terminal: Terminal) {
        terminal.line(
            terminal.styled(cluster.name, .bold) + " (\(cluster.title)), id \(cluster.id), revision \(cluster.revision)")
        section("Features", cluster.features.map { ["\($0.bit)", $0.code, $0.name, $0.conformance.text] }, terminal)
        section(
            "Attributes",
            cluster.attributes.map {
                [$0.id.description, $0.name, $0.type.name, access($0), $0.conformance.text, constraint($0.constraint)]
            },
            terminal)
        section("Commands", cluster.commands.map(command), terminal)
        section(
            "Events",
            cluster.events.map { [$0.id.description, $0.name, "\($0.priority)", $0.conformance.text] }, terminal)
        section("Types", types(cluster), terminal)
    }

    private static func types(_ cluster: ClusterDefinition) -> [[String]] {
        cluster.enums.map { [$0.name, $0.items.map(\.name).joined(separator: ", ")] }
            + cluster.bitmaps.map { [$0.name, $0.fields.map(\.name).joined(separator: ", ")] }
            + cluster.structs.map { [$0.name, $0.fields.map(\.name).joined(separator: ", ")] }
    }

    private static func command(_ command: CommandDefinition) -> [String] {
        let arrow = command.direction == .request ? "→" : "←"
        return [
            "\(arrow) \(command.id)", command.name, command.fields.map(\.name).joined(separator: ", "),
            command.isTimed ? "timed" : "", command.conformance.text,
        ]
    }

    static func show(_ element: ModelElement, _ cluster: ClusterDefinition, _ terminal: Terminal) {
        func title(_ kind: String, _ name: String, _ rest: String) {
            terminal.line("\(terminal.styled("\(cluster.name).\(name)", .bold)), \(kind)\(rest.isEmpty ? "" : ", \(rest)")")
        }
        switch element {
        case .attribute(let attribute):
            title("attribute \(attribute.id)", attribute.name, attribute.type.name)
            pair("access", access(attribute), terminal)
            pair("conformance", attribute.conformance.text, terminal)
            pair("constraint", constraint(attribute.constraint), terminal)
            pair("qualities", qualities(attribute.quality), terminal)
            let text = ValueText(attribute, in: cluster.id)
            if let value = attribute.defaultValue { pair("default", text.format(value), terminal) }
            if let unit = text.unit {
                pair("unit", unit.steps == 1 ? unit.symbol : "\(unit.symbol), in steps of 1/\(unit.steps)", terminal)
            }
            if let gauge = text.gauge { pair("unit", gauge.symbol, terminal) }
            if !text.words.isEmpty { pair("values", text.words.joined(separator: ", "), terminal) }
        case .command(let command):
            title(
                command.direction == .request ? "command \(command.id)" : "response \(command.id)", command.name,
                command.isTimed ? "timed" : "")
            if let response = cluster.response(to: command) { pair("answer", response.name, terminal) }
            pair("privilege", "\(command.invokePrivilege)", terminal)
            pair("conformance", command.conformance.text, terminal)
            fields(command.fields, terminal)
        case .event(let event):
            title("event \(event.id)", event.name, "priority \(event.priority)")
            pair("conformance", event.conformance.text, terminal)
            fields(event.fields, terminal)
        case .enumeration(let definition):
            title("enumeration", definition.name, "")
            section("Values", definition.items.map { ["\($0.value)", $0.name, $0.conformance.text] }, terminal)
        case .bitmap(let definition):
            title("bitmap", definition.name, "\(definition.bytes) bytes")
            section("Bits", definition.fields.map { [bits($0.bits), $0.name, $0.conformance.text] }, terminal)
        case .structure(let definition):
            title("structure", definition.name, definition.isFabricScoped ? "fabric-scoped" : "")
            fields(definition.fields, terminal)
        case .feature(let feature):
            title("feature, bit \(feature.bit)", feature.code, feature.name)
            pair("conformance", feature.conformance.text, terminal)
        }
    }

    static func pair(_ name: String, _ value: String, _ terminal: Terminal) {
        if !value.isEmpty { terminal.line("  " + TextWidth.padded(name, to: 12) + value) }
    }

    private static func fields(_ fields: [FieldDefinition], _ terminal: Terminal) {
        section(
            "Fields",
            fields.map {
                [$0.id.description, $0.name, $0.type.name, $0.conformance.text, constraint($0.constraint), qualities($0.quality)]
            },
            terminal)
    }

    static func section(_ title: String, _ rows: [[String]], _ terminal: Terminal) {
        guard let width = rows.map(\.count).max() else { return }
        terminal.line()
        terminal.line(terminal.styled(title, .bold))
        var table = Table((0..<width).map { _ in Table.Column("") })
        for row in rows { table.add(row.enumerated().map { .init(($0.offset == 0 ? "  " : "") + $0.element) }) }
        for line in table.lines(width: terminal.tableWidth).dropFirst() { terminal.line(line) }
    }

    static func bits(_ bits: ClosedRange<UInt8>) -> String {
        bits.count == 1 ? "\(bits.lowerBound)" : "\(bits.lowerBound)–\(bits.upperBound)"
    }

    static func access(_ attribute: AttributeDefinition) -> String {
        var parts: [String] = []
        if let read = attribute.readPrivilege { parts.append("read \(read)") }
        if let write = attribute.writePrivilege {
            parts.append("write \(write)" + (attribute.writeIsOptional ? " (optional)" : ""))
        }
        if attribute.isTimed { parts.append("timed") }
        if attribute.isFabricScoped { parts.append("fabric-scoped") }
        return parts.joined(separator: ", ")
    }

    static func constraint(_ constraint: Constraint) -> String { constraint.text }

    static func qualities(_ quality: Quality) -> String { names(of: quality).joined(separator: ", ") }

    static func names(of quality: Quality) -> [String] {
        let all: [(Quality, String)] = [
            (.nullable, "nullable"), (.nonVolatile, "nonVolatile"), (.fixed, "fixed"), (.scene, "scene"),
            (.changesOmitted, "changesOmitted"), (.quieter, "quieter"), (.reportable, "reportable"), (.atomic, "atomic"),
            (.largeMessage, "largeMessage"), (.diagnostics, "diagnostics"), (.singleton, "singleton"),
        ]
        return all.filter { quality.contains($0.0) }.map(\.1)
    }
}
