import CommandLineKit
import Glibc
import MatterController
import MatterModel

/// Arguments that name devices and what is on them, with their completion.
enum DeviceArguments {
    static let device = Argument.positional(
        "device", "DEVICE", help: "The device: its name or node id",
        completion: .dynamic { context in devices(context.arguments) })
    static let target = Argument.positional(
        "device", "DEVICE[/EP]", help: "The device: its name or node id, and an endpoint where several have the cluster",
        completion: .dynamic { context in devices(context.arguments) })

    /// `CLUSTER[.ELEMENT]` of the device that stands before it.
    static func element(_ kinds: Set<Kind>) -> Completion {
        .dynamic { context in elements(context, kinds) }
    }

    enum Kind { case attribute, writable, command, event }

    /// The devices of the home, without making one.
    private static func known(_ arguments: ParsedArguments) -> [PairedDevice] {
        guard let folder = try? HomeOptions.folder(arguments), access(folder + "/controller.sqlite", R_OK) == 0,
            let home = try? ControllerHome(folder: folder, wall: .seconds(1_767_225_600))
        else { return [] }
        defer { home.close() }
        return (try? home.devices()) ?? []
    }

    private static func devices(_ arguments: ParsedArguments) -> [Candidate] {
        known(arguments).map { device in
            let types = device.endpoints.flatMap(\.deviceTypes).filter { $0 != 0x16 }
            return Candidate(device.name, types.compactMap { DataModel.deviceType(id: $0)?.title }.joined(separator: ", "))
        }
    }

    private static func elements(_ context: CompletionContext, _ kinds: Set<Kind>) -> [Candidate] {
        let name = RequestWords.target(context.arguments.text("device") ?? "").device
        let device = known(context.arguments).first { $0.name.lowercased() == name.lowercased() }
        let here = device.map { Set($0.endpoints.flatMap(\.clusters)) }
        if let dot = context.word.firstIndex(of: "."),
            let cluster = DataModel.cluster(named: String(context.word[..<dot]))
        {
            let start = context.word[...dot]
            if kinds.contains(.writable), let equals = context.word.firstIndex(of: "="), dot < equals,
                let attribute = cluster.attribute(named: String(context.word[context.word.index(after: dot)..<equals]))
            {
                return ValueText(attribute, in: cluster.id).words.map { Candidate(context.word[...equals] + $0) }
            }
            return names(cluster, kinds).map {
                Candidate(start + $0.text + (kinds.contains(.writable) ? "=" : ""), $0.explanation)
            }
        }
        return DataModel.index.filter { here?.contains($0.id) ?? true }.map { entry in
            Candidate(kinds == [.command] || kinds == [.writable] ? entry.name + "." : entry.name, entry.title)
        }
    }

    private static func names(_ cluster: ClusterDefinition, _ kinds: Set<Kind>) -> [Candidate] {
        var found: [Candidate] = []
        for attribute in cluster.attributes
        where kinds.contains(.attribute) || (kinds.contains(.writable) && attribute.writePrivilege != nil) {
            found.append(Candidate(attribute.name, attribute.type.name))
        }
        if kinds.contains(.command) {
            for command in cluster.commands where command.direction == .request {
                found.append(Candidate(command.name, command.fields.map(\.name).joined(separator: ", ")))
            }
        }
        if kinds.contains(.event) { found += cluster.events.map { Candidate($0.name, "event") } }
        return found
    }

    /// Completion of `FIELD=VALUE` of the command that stands before it.
    static let fields = Completion.dynamic { context in
        guard let word = context.arguments.text("command"), let dot = word.firstIndex(of: "."),
            let cluster = DataModel.cluster(named: String(word[..<dot])),
            let command = cluster.command(named: String(word[word.index(after: dot)...]))
        else { return [] }
        if let equals = context.word.firstIndex(of: "="),
            let field = command.fields.field(named: String(context.word[..<equals]))
        {
            let start = context.word[...equals]
            return ValueText(field, in: cluster.id).words.map { Candidate(start + $0) }
        }
        return command.fields.map { Candidate($0.name + "=", $0.type.name) }
    }
}

extension DeviceTypeID {
    /// The name that people read.
    var title: String { DataModel.deviceType(id: self)?.title ?? description }

    /// Each type once, with how many of it when there are several.
    static func summary(_ types: [DeviceTypeID]) -> String {
        var counted: [(title: String, count: Int)] = []
        for title in types.map(\.title) {
            if let index = counted.firstIndex(where: { $0.title == title }) {
                counted[index].count += 1
            } else {
                counted.append((title, 1))
            }
        }
        return counted.map { $0.count == 1 ? $0.title : "\($0.count) × \($0.title)" }.joined(separator: ", ")
    }
}
