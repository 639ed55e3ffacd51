import MatterModel
import MatterTLV

/// Attributes, commands, events, and the fields of these and of structures.
extension FactsComparison {
    mutating func compareAttributes(_ fact: JSONValue, _ cluster: ClusterDefinition) {
        pair(
            fact.list("attributes"), with: cluster.attributes, cluster.name, "attribute", factKey: { "\($0.idNumber ?? .max)" },
            ownKey: { "\($0.id.rawValue)" }, ownName: \.name,
            isTwin: { Self.squeezed($0.conformanceText) == Self.squeezed($1.conformance.text) }
        ) { comparison, fact, attribute in
            let place = "\(cluster.name).\(attribute.name)"
            comparison.checkName(place, attribute.name, fact)
            comparison.compare(
                Element(
                    type: attribute.type, quality: attribute.quality, constraint: attribute.constraint,
                    conformance: attribute.conformance, defaultValue: attribute.defaultValue,
                    defaultAttribute: attribute.defaultAttribute),
                fact, place)
            comparison.check(place, "readable", attribute.readPrivilege != nil, fact.flag("readable"))
            comparison.check(place, "the privilege to read", Self.text(attribute.readPrivilege), fact.text("readPrivilege"))
            let writable = attribute.writePrivilege == nil ? "false" : attribute.writeIsOptional ? "optional" : "true"
            comparison.check(place, "writable", writable, fact.text("writable") ?? "\(fact.flag("writable"))")
            comparison.check(place, "the privilege to write", Self.text(attribute.writePrivilege), fact.text("writePrivilege"))
            comparison.check(place, "a timed write", attribute.isTimed, fact.flag("timed"))
            comparison.check(place, "fabric-scoped", attribute.isFabricScoped, fact.flag("fabricScoped"))
            comparison.check(place, "fabric-sensitive", attribute.isFabricSensitive, fact.flag("fabricSensitive"))
        }
    }

    private static func text(_ privilege: Privilege?) -> String? { privilege.map { "\($0)" } }

    mutating func compareCommands(_ fact: JSONValue, _ cluster: ClusterDefinition) {
        pair(
            fact.list("commands"), with: cluster.commands, cluster.name, "command",
            factKey: { "\($0.text("direction") ?? "") \($0.idNumber ?? .max)" }, ownKey: { "\($0.direction) \($0.id.rawValue)" },
            ownName: \.name
        ) { comparison, fact, command in
            let place = "\(cluster.name).\(command.name)"
            comparison.checkName(place, command.name, fact)
            comparison.checkNotation(place, "conformance", command.conformance.text, fact.conformanceText)
            comparison.check(place, "timed", command.isTimed, fact.flag("timed"))
            comparison.check(place, "fabric-scoped", command.isFabricScoped, fact.flag("fabricScoped"))
            if command.direction == .request || fact["invokePrivilege"] != nil {
                comparison.check(place, "the privilege", Self.text(command.invokePrivilege), fact.text("invokePrivilege"))
            }
            let response =
                switch command.response {
                case .none: "none"
                case .status: "status"
                case .command: cluster.response(to: command)?.name ?? "a command that is not there"
                }
            if !Self.same(response, fact.text("response") ?? "none") {
                comparison.check(place, "the response", response, fact.text("response"))
            }
            comparison.compareFields(fact, comparison.fieldsAsStated(command, fact), place)
        }
    }

    mutating func compareEvents(_ fact: JSONValue, _ cluster: ClusterDefinition) {
        pair(
            fact.list("events"), with: cluster.events, cluster.name, "event", factKey: { "\($0.idNumber ?? .max)" },
            ownKey: { "\($0.id.rawValue)" }, ownName: \.name
        ) { comparison, fact, event in
            let place = "\(cluster.name).\(event.name)"
            comparison.checkName(place, event.name, fact)
            comparison.check(place, "the priority", "\(event.priority)", fact.text("priority"))
            comparison.check(place, "the privilege to read", "\(event.readPrivilege)", fact.text("readPrivilege"))
            comparison.check(place, "fabric-sensitive", event.isFabricSensitive, fact.flag("fabricSensitive"))
            comparison.checkNotation(place, "conformance", event.conformance.text, fact.conformanceText)
            comparison.compareFields(fact, event.fields, place)
        }
    }

    /// A fabric-scoped command has no FabricIndex on the wire: the session says which fabric it is. The facts list it of some.
    private func fieldsAsStated(_ command: CommandDefinition, _ fact: JSONValue) -> [FieldDefinition] {
        let isListed = fact.list("fields").contains { $0.idNumber == UInt64(FieldDefinition.fabricIndex.id.rawValue) }
        return command.fields + (command.isFabricScoped && isListed ? [.fabricIndex] : [])
    }

    mutating func compareFields(_ fact: JSONValue, _ fields: [FieldDefinition], _ place: String) {
        pair(
            fact.list("fields"), with: fields, place, "field", factKey: { "\($0.idNumber ?? .max)" }, ownKey: { "\($0.id.rawValue)" },
            ownName: \.name
        ) { comparison, fact, field in
            let place = "\(place).\(field.name)"
            comparison.checkName(place, field.name, fact)
            comparison.check(place, "fabric-sensitive", field.isFabricSensitive, fact.flag("fabricSensitive"))
            // The facts state no conformance of FabricIndex.
            let conformance = fact.conformanceText == nil && field.id == FieldDefinition.fabricIndex.id
            comparison.compare(
                Element(
                    type: field.type, quality: field.quality, constraint: field.constraint,
                    conformance: conformance ? nil : field.conformance, defaultValue: field.defaultValue, defaultAttribute: nil),
                fact, place)
        }
    }

    // MARK: - What attributes and fields have in common

    private struct Element {
        var type: TypeReference
        var quality: Quality
        var constraint: Constraint
        var conformance: Conformance?
        var defaultValue: TLVValue?
        var defaultAttribute: String?
    }

    private static let qualities: [(letter: String, quality: Quality)] = [
        ("X", .nullable), ("N", .nonVolatile), ("F", .fixed), ("S", .scene), ("C", .changesOmitted), ("Q", .quieter),
        ("P", .reportable), ("T", .atomic), ("L", .largeMessage), ("K", .diagnostics), ("I", .singleton),
    ]

    /// The letters of the facts' order.
    static func letters(_ quality: Quality) -> [String] { qualities.filter { quality.contains($0.quality) }.map(\.letter).sorted() }

    private mutating func compare(_ element: Element, _ fact: JSONValue, _ place: String) {
        compareType(element.type, fact, place)
        check(place, "nullable", element.quality.contains(.nullable), fact.flag("nullable"))
        let letters = (fact.text("qualityCode") ?? "").split(separator: " ").map(String.init).sorted()
        check(place, "quality", Self.letters(element.quality).joined(separator: " "), letters.joined(separator: " "))
        compareQualities(element.quality, fact["quality"], place)
        checkNotation(place, "conformance", element.conformance?.text, fact.conformanceText)
        compareConstraint(element.constraint, fact["constraint"], element.type, place)
        compareDefault(element, fact["default"], place)
    }

    /// The facts state qualities twice: in letters, and in words.
    private mutating func compareQualities(_ quality: Quality, _ fact: JSONValue?, _ place: String) {
        let persistence = quality.contains(.fixed) ? "fixed" : quality.contains(.nonVolatile) ? "nonVolatile" : nil
        check(place, "persistence", persistence, fact?.text("persistence"))
        for (word, flag) in [
            ("scene", Quality.scene), ("changeOmitted", .changesOmitted), ("quieterReporting", .quieter),
            ("reportable", .reportable), ("atomicWrite", .atomic),
        ] {
            check(place, word, quality.contains(flag), fact?.flag(word) ?? false)
        }
    }

    /// Both the text and what the facts took out of it.
    private mutating func compareConstraint(_ constraint: Constraint, _ fact: JSONValue?, _ type: TypeReference, _ place: String) {
        checkNotation(place, "constraint", constraint.text, fact?.text("text"))
        check(place, "described by the text", constraint.requirements.joined().contains(.described), fact?.flag("desc") ?? false)
        let limits = constraint.limits(decimals: type.unit?.decimals ?? 0)
        for name in ["min", "minLength", "minCount"] {
            if let bound = fact?[name]?.integer { check(place, "at least", limits.minimum, bound) }
        }
        for name in ["max", "maxLength", "maxCount"] {
            if let bound = fact?[name]?.integer { check(place, "at most", limits.maximum, bound) }
        }
    }

    private mutating func compareDefault(_ element: Element, _ fact: JSONValue?, _ place: String) {
        check(place, "the attribute that is the default", element.defaultAttribute, fact?["attribute"]?.string)
        let own = element.defaultValue.map { Self.plain(ValueJSON.json($0, type: element.type)) }
        check(place, "default", own, fact.flatMap { Self.stated($0, element.type) })
    }

    /// A default as the facts write it, in the notation of the machine interface. Nil when it is another attribute's value.
    private static func stated(_ fact: JSONValue, _ type: TypeReference) -> JSONValue? {
        guard let members = fact.object else {
            return fact.array.map { .array($0.map { stated($0, type.entry ?? type) ?? .null }) } ?? plain(fact)
        }
        if members["attribute"] != nil { return nil }
        if members["null"]?.boolean == true { return .null }
        if let degrees = members["celsius"]?.number {
            var steps = degrees
            for _ in 0..<(type.unit?.decimals ?? 0) { steps *= 10 }
            return Int64(exactly: steps).map { JSONValue($0) } ?? fact
        }
        return plain(members["properties"] ?? fact)
    }

    /// With names as they are compared.
    private static func plain(_ value: JSONValue) -> JSONValue {
        if let members = value.object {
            return .object(Dictionary(members.map { (DataModel.normalizedName($0), plain($1)) }, uniquingKeysWith: { _, last in last }))
        }
        return value.array.map { .array($0.map(plain)) } ?? value
    }
}
