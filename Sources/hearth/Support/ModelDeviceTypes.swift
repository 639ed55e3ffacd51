import CommandLineKit
import MachineInterface
import MatterModel

/// Device types, for people and for programs.
enum ModelDeviceTypes {
    /// A device type by name, title or id; nil when there is none. A name that a cluster has as well is the cluster's, unless
    /// `isOnly`.
    static func find(_ word: String, isOnly: Bool) -> DeviceTypeDefinition? {
        if !isOnly, DataModel.cluster(named: word) != nil { return nil }
        if let found = DataModel.deviceType(named: word) { return found }
        // Numbers are clusters', except where only a device type can be meant.
        guard isOnly, let number = UInt64(word) ?? (word.lowercased().hasPrefix("0x") ? Hexadecimal.number(word) : nil) else { return nil }
        return UInt32(exactly: number).flatMap { DataModel.deviceType(id: DeviceTypeID($0)) }
    }

    static func unknown(_ word: String) -> MachineError {
        let names = DataModel.deviceTypes.map(\.name)
        return .badRequest("there is no device type '\(word)'" + DataModel.didYouMean(word, among: names))
    }

    static var candidates: [Candidate] { DataModel.deviceTypes.map { Candidate($0.name, $0.title) } }

    // MARK: For people

    static func index(_ terminal: Terminal) {
        var table = Table("ID", "DEVICE TYPE", "TITLE", "CLASS", "REVISION")
        for type in DataModel.deviceTypes {
            table.add([
                .init(type.id.description), .init(type.name), .init(type.title), .init("\(type.classification)"),
                .init("\(type.revision)"),
            ])
        }
        table.write(to: terminal)
    }

    static func show(_ type: DeviceTypeDefinition, _ terminal: Terminal) {
        terminal.line(
            terminal.styled(type.name, .bold)
                + " (\(type.title)), \(type.classification) device type, id \(type.id), revision \(type.revision)")
        if let superset = type.superset { ModelText.pair("superset of", superset, terminal) }
        for (side, name) in [(ClusterRequirement.Side.server, "Servers"), (.client, "Clients")] {
            let clusters = type.clusters.filter { $0.side == side }
            for need in Need.allCases {
                let listed = clusters.filter { Need($0.conformance) == need }
                ModelText.section("\(name), \(need.rawValue)", listed.map(row), terminal)
            }
            ModelText.section("What it says of \(name.lowercased())' elements", clusters.flatMap(elements), terminal)
        }
    }

    private static func row(_ requirement: ClusterRequirement) -> [String] {
        // Some clusters that device types name have no definition here.
        [
            requirement.id.description, requirement.name, requirement.conformance.text, ModelText.qualities(requirement.quality),
        ]
    }

    private static func elements(_ requirement: ClusterRequirement) -> [[String]] {
        requirement.elements.map { element in
            [
                requirement.name + "." + element.name, "\(element.kind)", element.conformance?.text ?? "",
                element.constraint?.text ?? "", element.access ?? "",
            ]
        }
    }

    /// How a conformance reads at a glance.
    private enum Need: String, CaseIterable {
        case mandatory
        case optional
        case conditional = "under conditions"
        case disallowed = "not allowed"

        init(_ conformance: Conformance) {
            self =
                switch conformance.text {
                case "M": .mandatory
                case "O": .optional
                case "X": .disallowed
                default: .conditional
                }
        }
    }

    // MARK: For programs

    static func json() -> JSONValue {
        [
            "ok": true,
            "deviceTypes": .array(
                DataModel.deviceTypes.map {
                    [
                        "id": .integer(Int64($0.id.rawValue)), "name": .string($0.name), "title": .string($0.title),
                        "class": .string("\($0.classification)"), "revision": .integer(Int64($0.revision)),
                    ]
                }),
        ]
    }

    static func json(_ type: DeviceTypeDefinition) -> JSONValue {
        [
            "ok": true, "kind": "deviceType", "id": .integer(Int64(type.id.rawValue)), "name": .string(type.name),
            "title": .string(type.title), "class": .string("\(type.classification)"),
            "revision": .integer(Int64(type.revision)), "superset": JSONValue(type.superset),
            "clusters": .array(type.clusters.map(json)),
        ]
    }

    private static func json(_ requirement: ClusterRequirement) -> JSONValue {
        [
            "id": .integer(Int64(requirement.id.rawValue)), "name": .string(requirement.name),
            "side": .string("\(requirement.side)"), "conformance": .string(requirement.conformance.text),
            "qualities": .array(ModelText.names(of: requirement.quality).map { .string($0) }),
            "elements": .array(requirement.elements.map(json)),
        ]
    }

    private static func json(_ element: ElementRequirement) -> JSONValue {
        [
            "kind": .string("\(element.kind)"), "name": .string(element.name),
            "conformance": JSONValue(element.conformance?.text), "constraint": JSONValue(element.constraint?.text),
            "access": JSONValue(element.access),
        ]
    }
}
