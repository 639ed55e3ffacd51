import Foundation
import MatterModel
import MatterTLV
import Testing

/// Facts of the data model as others hold them, where somebody has laid them beside the package or named their folder.
enum Facts {
    static let folder: URL? = {
        let package = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
        let shared =
            ProcessInfo.processInfo.environment["HEARTH_SHARED"].map { URL(filePath: $0) } ?? package.appending(path: "../shared")
        let folder = shared.appending(path: "matter-model").standardizedFileURL
        return FileManager.default.fileExists(atPath: folder.appending(path: "index.json").path) ? folder : nil
    }()

    static func read(_ name: String) throws -> JSONValue {
        let folder = try #require(folder)
        return try JSONValue(parsing: Array(Data(contentsOf: folder.appending(path: name))))
    }
}

/// Compares `Model/` with those facts, member by member. What is left out on purpose is listed here.
@Suite(.enabled(if: Facts.folder != nil, "there are no facts to compare with: set HEARTH_SHARED to the folder that has them"))
struct FactsTests {
    /// Without a type, disallowed, or never sent.
    static let leftOut: Set<String> = [
        "GeneralDiagnostics.DoNotUse", "BridgedDeviceBasicInformation.DataModelRevision",
        "BridgedDeviceBasicInformation.Location",
        "BridgedDeviceBasicInformation.LocalConfigDisabled", "BridgedDeviceBasicInformation.CapabilityMinima",
        "BridgedDeviceBasicInformation.SpecificationVersion", "BridgedDeviceBasicInformation.MaxPathsPerInvoke",
        "BridgedDeviceBasicInformation.Leave.FabricIndex", "GroupKeyManagement.KeySetReadAllIndices.DoNotUse",
        "ScenesManagement.LogicalSceneTable", "DoorLock.SecurityLevel", "DoorLock.Toggle", "WindowCovering.VelocityLift",
        "WindowCovering.AccelerationTimeLift", "WindowCovering.DecelerationTimeLift", "WindowCovering.IntermediateSetpointsLift",
        "WindowCovering.IntermediateSetpointsTilt", "WindowCovering.GoToLiftPercentage.Ignored",
        "WindowCovering.GoToTiltPercentage.Ignored",
        "Thermostat.GetRelayStatusLogResponse",
    ]
    /// Global commands that Thermostat takes part in; the facts do not list them there.
    static let added: Set<String> = ["AtomicRequest", "AtomicResponse"]

    private static func same(_ left: String, _ right: String) -> Bool {
        DataModel.normalizedName(left) == DataModel.normalizedName(right)
    }
    private static func squeezed(_ text: String?) -> String { (text ?? "").lowercased().filter { !$0.isWhitespace } }

    @Test(arguments: DataModel.index.map(\.name)) func aClusterHasTheFacts(name: String) throws {
        let cluster = try #require(DataModel.cluster(named: name))
        let index = try #require(try Facts.read("index.json")["clusters"]?.array)
        let entry = try #require(index.first { $0["id"]?.string == "0x" + Hexadecimal.text(UInt16(cluster.id.rawValue)) })
        let facts = try Facts.read(try #require(entry["file"]?.string))
        #expect(facts["name"]?.string.map { Self.same($0, cluster.name) } == true)
        if let revision = facts["revision"]?.integer { #expect(revision == Int64(cluster.revision)) }
        #expect(facts["picsCode"]?.string == cluster.picsCode)
        try compareFeatures(facts, cluster)
        try compareAttributes(facts, cluster)
        try compareCommands(facts, cluster)
        try compareEvents(facts, cluster)
        try compareTypes(facts, cluster)
    }

    private func list(_ facts: JSONValue, _ part: String, _ owner: String) throws -> [JSONValue] {
        try #require(facts[part]?.array).filter { !Self.leftOut.contains("\(owner).\($0["name"]?.string ?? "")") }
    }

    private func compareFeatures(_ facts: JSONValue, _ cluster: ClusterDefinition) throws {
        let features = try list(facts, "features", cluster.name)
        #expect(features.map { $0["code"]?.string } == cluster.features.map(\.code))
        for (fact, feature) in zip(features, cluster.features) {
            #expect(fact["bit"]?.integer == Int64(feature.bit))
            let text = fact["conformance"]?["text"]?.string
            #expect(Self.squeezed(text ?? "O") == Self.squeezed(feature.conformance.text), "\(cluster.name).\(feature.code)")
        }
    }

    private func compareAttributes(_ facts: JSONValue, _ cluster: ClusterDefinition) throws {
        let attributes = try list(facts, "attributes", cluster.name)
        #expect(attributes.count == cluster.attributes.count)
        for fact in attributes {
            let place = "\(cluster.name).\(fact["name"]?.string ?? "")"
            let id = try #require(fact["id"]?.string.flatMap { Hexadecimal.number($0) })
            let conformance = Self.squeezed(fact["conformance"]?["text"]?.string)
            let attribute = try #require(
                cluster.attributes.first { UInt64($0.id.rawValue) == id && Self.squeezed($0.conformance.text) == conformance },
                "\(place)")
            #expect(fact["name"]?.string.map { Self.same($0, attribute.name) } == true, "\(place)")
            // A derived cluster's facts leave out what its base says.
            guard fact["type"] != nil else {
                let base = try #require(DataModel.cluster(named: "BasicInformation")?.attribute(id: attribute.id))
                #expect(base.type.name == attribute.type.name && base.constraint == attribute.constraint, "\(place)")
                continue
            }
            compare(
                fact, attribute.type, attribute.quality, attribute.constraint, attribute.conformance, attribute.defaultValue,
                place)
            #expect(privilege(fact["readPrivilege"]) == attribute.readPrivilege, "\(place)")
            #expect(privilege(fact["writePrivilege"]) == attribute.writePrivilege, "\(place)")
            #expect((fact["writable"]?.string == "optional") == attribute.writeIsOptional, "\(place)")
            #expect((fact["fabricScoped"]?.boolean ?? false) == attribute.isFabricScoped, "\(place)")
        }
    }

    private func privilege(_ fact: JSONValue?) -> Privilege? {
        switch fact?.string {
        case "view": .view
        case "operate": .operate
        case "manage": .manage
        case "administer": .administer
        default: nil
        }
    }

    private func compareCommands(_ facts: JSONValue, _ cluster: ClusterDefinition) throws {
        let commands = try list(facts, "commands", cluster.name)
        #expect(commands.count == cluster.commands.count { !Self.added.contains($0.name) })
        for fact in commands {
            let place = "\(cluster.name).\(fact["name"]?.string ?? "")"
            let id = try #require(fact["id"]?.string.flatMap { Hexadecimal.number($0) })
            let direction: CommandDefinition.Direction = fact["direction"]?.string == "response" ? .response : .request
            let command = try #require(cluster.command(id: CommandID(UInt32(id)), direction: direction), "\(place)")
            #expect(fact["name"]?.string.map { Self.same($0, command.name) } == true, "\(place)")
            #expect(Self.squeezed(fact["conformance"]?["text"]?.string) == Self.squeezed(command.conformance.text), "\(place)")
            if direction == .request {
                #expect(fact["timed"]?.boolean == command.isTimed, "\(place)")
                #expect(privilege(fact["invokePrivilege"]) == command.invokePrivilege, "\(place)")
                #expect(fact["fabricScoped"]?.boolean == command.isFabricScoped, "\(place)")
                let answer = cluster.response(to: command)?.name ?? "status"
                #expect(fact["response"]?.string.map { Self.same($0, answer) } == true, "\(place)")
            }
            try compareFields(fact, command.fields, place, isCommand: true)
        }
    }

    private func compareEvents(_ facts: JSONValue, _ cluster: ClusterDefinition) throws {
        let events = try list(facts, "events", cluster.name)
        #expect(events.count == cluster.events.count)
        for (fact, event) in zip(events, cluster.events) {
            let place = "\(cluster.name).\(event.name)"
            #expect(fact["id"]?.string.flatMap { Hexadecimal.number($0) } == UInt64(event.id.rawValue), "\(place)")
            #expect(fact["name"]?.string.map { Self.same($0, event.name) } == true, "\(place)")
            #expect(fact["priority"]?.string == "\(event.priority)", "\(place)")
            #expect(Self.squeezed(fact["conformance"]?["text"]?.string) == Self.squeezed(event.conformance.text), "\(place)")
            #expect(fact["fabricSensitive"]?.boolean == event.isFabricSensitive, "\(place)")
            if fact["fields"]?.array?.isEmpty == false { try compareFields(fact, event.fields, place) }
        }
    }

    private func compareFields(_ fact: JSONValue, _ fields: [FieldDefinition], _ place: String, isCommand: Bool = false) throws {
        // A fabric-scoped command has no FabricIndex on the wire: the session says which it is.
        let facts = try list(fact, "fields", place).filter { !isCommand || $0["id"]?.integer != 254 }
        #expect(facts.compactMap { $0["id"]?.integer }.sorted() == fields.map { Int64($0.id.rawValue) }, "\(place)")
        for fact in facts {
            let place = "\(place).\(fact["name"]?.string ?? "")"
            let field = try #require(fields.first { Int64($0.id.rawValue) == fact["id"]?.integer }, "\(place)")
            #expect(fact["name"]?.string.map { Self.same($0, field.name) } == true, "\(place)")
            if field.id == FieldDefinition.fabricIndex.id { continue }
            #expect((fact["fabricSensitive"]?.boolean ?? false) == field.isFabricSensitive, "\(place)")
            compare(fact, field.type, field.quality, field.constraint, field.conformance, field.defaultValue, place)
        }
    }

    private func compare(
        _ fact: JSONValue, _ type: TypeReference, _ quality: Quality, _ constraint: Constraint, _ conformance: Conformance,
        _ defaultValue: TLVValue?, _ place: String
    ) {
        if let resolved = fact["resolvedType"]?.string { #expect(encoding(type) == resolved, "\(place)") }
        if let resolved = fact["resolvedEntryType"]?.string { #expect(type.entry.map(encoding) == resolved, "\(place)") }
        #expect(fact["nullable"]?.boolean == quality.contains(.nullable), "\(place)")
        #expect(Self.squeezed(fact["conformance"]?["text"]?.string) == Self.squeezed(conformance.text), "\(place)")
        for (letter, flag) in [
            ("X", Quality.nullable), ("N", .nonVolatile), ("F", .fixed), ("S", .scene), ("C", .changesOmitted), ("Q", .quieter),
            ("P", .reportable), ("T", .atomic),
        ] {
            let letters = fact["qualityCode"]?.string?.split(separator: " ").map(String.init) ?? []
            #expect(letters.contains(letter) == quality.contains(flag), "\(place) \(letter)")
        }
        compare(fact["constraint"] ?? nil, constraint, type, place)
        compareDefault(fact["default"], defaultValue, place)
    }

    /// Both the text and what the facts took out of it.
    private func compare(_ fact: JSONValue, _ constraint: Constraint, _ type: TypeReference, _ place: String) {
        // The facts' notation has no word for "both".
        if fact["text"]?.string == "min holdTimeMin, min 10" { return #expect(constraint.text == "min HoldTimeMin & min 10") }
        #expect(Self.squeezed(fact["text"]?.string) == Self.squeezed(constraint.text), "\(place)")
        let limits = constraint.limits(decimals: type.unit?.decimals ?? 0)
        for name in ["min", "minLength", "minCount"] {
            if let bound = fact[name]?.integer { #expect(limits.minimum == bound, "\(place)") }
        }
        for name in ["max", "maxLength", "maxCount"] {
            if let bound = fact[name]?.integer { #expect(limits.maximum == bound, "\(place)") }
        }
    }

    private func compareDefault(_ fact: JSONValue?, _ value: TLVValue?, _ place: String) {
        switch fact {
        case nil: #expect(value == nil, "\(place)")
        case .object(let members)?:
            if members["null"] != nil { #expect(value == .null, "\(place)") }
            if let degrees = members["celsius"]?.number {
                let steps = [
                    "Thermostat.MinSetpointDeadBand", "Thermostat.LocalTemperatureCalibration", "Thermostat.EmergencyHeatDelta",
                ]
                #expect(value?.signed == Int64(degrees * (steps.contains(place) ? 10 : 100)), "\(place)")
            }
        case .array(let entries)?: #expect(value?.array?.count == entries.count, "\(place)")
        case .some(let simple): #expect(value.map { ValueJSON.json($0) } == simple, "\(place)")
        }
    }

    private func encoding(_ type: TypeReference) -> String {
        switch type.base {
        case .boolean: "bool"
        case .unsigned(let bytes):
            if type.name.hasPrefix("enum") || type.name.hasPrefix("map") { type.name } else { "uint\(bytes * 8)" }
        case .signed(let bytes): "int\(bytes * 8)"
        case .single: "single"
        case .double: "double"
        case .utf8: "string"
        case .octets: "octstr"
        case .enumeration(let definition): "enum\(definition.bytes * 8)"
        case .bitmap(let definition): "map\(definition.bytes * 8)"
        case .structure: "struct"
        case .list: "list"
        case .any: "any"
        }
    }

    private func compareTypes(_ facts: JSONValue, _ cluster: ClusterDefinition) throws {
        for fact in try list(facts, "enums", cluster.name) {
            let definition = try #require(cluster.enums.first { $0.name == fact["name"]?.string })
            let items = try #require(fact["items"]?.array)
            #expect(items.map { $0["value"]?.integer } == definition.items.map { Int64($0.value) }, "\(definition.name)")
            for (fact, item) in zip(items, definition.items) {
                #expect(
                    fact["name"]?.string.map { Self.same($0, item.name) } == true,
                    "\(cluster.name).\(definition.name).\(item.name)")
                #expect(Self.squeezed(fact["conformance"]?.string ?? "M") == Self.squeezed(item.conformance.text))
            }
        }
        for fact in try list(facts, "bitmaps", cluster.name) {
            let definition = try #require(cluster.bitmaps.first { $0.name == fact["name"]?.string })
            let fields = try #require(fact["fields"]?.array)
            #expect(fields.count == definition.fields.count)
            for (fact, field) in zip(fields, definition.fields) {
                #expect(
                    fact["from"]?.integer == Int64(field.bits.lowerBound) && fact["to"]?.integer == Int64(field.bits.upperBound))
                #expect(
                    fact["name"]?.string.map { Self.same($0, field.name) } == true,
                    "\(cluster.name).\(definition.name).\(field.name)")
            }
        }
        for fact in try list(facts, "structs", cluster.name) {
            let definition = try #require(cluster.structs.first { $0.name == fact["name"]?.string })
            try compareFields(fact, definition.fields, "\(cluster.name).\(definition.name)")
            #expect(definition.isFabricScoped == definition.fields.contains { $0.id == FieldDefinition.fabricIndex.id })
        }
    }

    /// A second source: names with the specification's spelling, and what needs a timed interaction.
    @Test func spellingIsTheSpecifications() throws {
        let clusters = try #require(try Facts.read("sdk-definitions.json")["clusters"]?.array)
        // The SDK lower-cases a letter here that the specification does not.
        let exceptions: Set<String> = ["ACCapacityFormat"]
        var compared = 0
        for cluster in DataModel.index.map(\.definition) {
            guard let facts = clusters.first(where: { $0["id"]?.string == "0x" + Hexadecimal.text(UInt16(cluster.id.rawValue)) })
            else { continue }
            for fact in facts["attributes"]?.array ?? [] {
                guard let name = fact["name"]?.string, let id = fact["id"]?.integer,
                    let own = cluster.attributes.first(where: { Int64($0.id.rawValue) == id }), Self.same(own.name, name),
                    !exceptions.contains(own.name)
                else { continue }
                #expect(own.name == name, "\(cluster.name)")
                compared += 1
            }
            for fact in facts["commands"]?.array ?? [] {
                guard let name = fact["name"]?.string, let own = cluster.command(named: name) else { continue }
                #expect(own.name == name && own.isTimed == fact["timed"]?.boolean, "\(cluster.name).\(name)")
                compared += 1
            }
        }
        #expect(compared > 500)
    }

    @Test func deviceTypesHaveTheFacts() throws {
        let facts = try #require(try Facts.read("device-types.json")["deviceTypes"]?.array)
        for device in DataModel.deviceTypes {
            let fact = try #require(facts.first { $0["id"]?.string == "0x" + Hexadecimal.text(UInt16(device.id.rawValue)) })
            #expect(fact["name"]?.string == device.name)
            #expect(fact["revision"]?.integer == Int64(device.revision))
            for requirement in try #require(fact["requirements"]?.array) {
                guard let id = requirement["id"]?.string.flatMap({ Hexadecimal.number($0) }) else { continue }
                let cluster = ClusterID(UInt32(id))
                let isServer = requirement["element"]?.string == "serverCluster"
                let own = try #require(isServer ? device.server(cluster) : device.client(cluster), "\(device.name) \(cluster)")
                if let text = requirement["conformance"]?.string, text != "[Wi, Fi]" {
                    #expect(Self.squeezed(text) == Self.squeezed(own.conformance.text), "\(device.name).\(own.name)")
                }
            }
        }
    }
}
