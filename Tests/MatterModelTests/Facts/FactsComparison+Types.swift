import MatterModel

/// Types: what an element's is called and encoded as, enumerations, bitmaps, structures, derived types.
extension FactsComparison {
    /// Global types that the facts call another way than the specification's tables of structures do.
    private static let otherNames = [
        "semtag": "SemanticTagStruct", "locationdesc": "LocationDescriptorStruct", "FabricIndex": "fabric-idx",
    ]

    mutating func compareType(_ type: TypeReference, _ fact: JSONValue, _ place: String) {
        check(place, "encoding", Self.encoding(type), fact.text("resolvedType"))
        check(place, "encoding of an entry", type.entry.map(Self.encoding), fact.text("resolvedEntryType"))
        let name = fact.text("type") ?? ""
        if let entry = type.entry {
            check(place, "a list", "list", name)
            checkTypeName(place, "the type of an entry", entry.name, fact.text("entryType") ?? "")
        } else {
            checkTypeName(place, "the type", type.name, name)
        }
    }

    private mutating func checkTypeName(_ place: String, _ what: String, _ own: String, _ fact: String) {
        if !Self.same(own, Self.otherNames[fact] ?? fact) { check(place, what, own, fact) }
    }

    /// The primitive in the facts' words.
    static func encoding(_ type: TypeReference) -> String {
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

    // MARK: - The types of a cluster

    mutating func compareTypes(_ fact: JSONValue, _ cluster: ClusterDefinition) {
        let name: (JSONValue) -> String = { DataModel.normalizedName($0.name) }
        pair(
            fact.list("enums"), with: cluster.enums, cluster.name, "enum", factKey: name,
            ownKey: { DataModel.normalizedName($0.name) }, ownName: \.name
        ) { $0.compare($2, $1, "\(cluster.name).\($2.name)") }
        pair(
            fact.list("bitmaps"), with: cluster.bitmaps, cluster.name, "bitmap", factKey: name,
            ownKey: { DataModel.normalizedName($0.name) }, ownName: \.name
        ) { $0.compare($2, $1, bits: $1.list("fields"), "\(cluster.name).\($2.name)") }
        pair(
            fact.list("structs"), with: cluster.structs, cluster.name, "struct", factKey: name,
            ownKey: { DataModel.normalizedName($0.name) }, ownName: \.name
        ) { $0.compare($2, $1, "\(cluster.name).\($2.name)") }
        let used = cluster.derivedTypes
        for typedef in fact.list("typedefs") {
            let place = "\(cluster.name).\(typedef.name)"
            guard let own = used.first(where: { Self.same($0.name, typedef.name) }) else {
                differ(place, "the derived type is missing")
                continue
            }
            check(place, "encoding", Self.encoding(own), typedef.text("base"))
        }
        let names = Set((fact.list("typedefs") + facts.globalTypes).map { DataModel.normalizedName($0.name) })
        for type in used where !names.contains(DataModel.normalizedName(type.name)) {
            differ(cluster.name, "type \(type.name) is not in the facts")
        }
    }

    private mutating func compare(_ definition: EnumDefinition, _ fact: JSONValue, _ place: String) {
        check(place, "encoding", "enum\(definition.bytes * 8)", fact.text("base"))
        pair(
            fact.list("items"), with: definition.items, place, "value", factKey: { "\($0["value"]?.integer ?? -1)" },
            ownKey: { "\($0.value)" }, ownName: { "\($0.value) \($0.name)" }, isTwin: { Self.same($0.name, $1.name) }
        ) { comparison, fact, item in
            let place = "\(place).\(item.name)"
            comparison.checkName(place, item.name, fact)
            comparison.checkNotation(place, "conformance", item.conformance.text, fact.text("conformance") ?? "M")
        }
    }

    private mutating func compare(_ definition: BitmapDefinition, _ fact: JSONValue, bits: [JSONValue], _ place: String) {
        check(place, "encoding", "map\(definition.bytes * 8)", fact.text("base"))
        pair(
            bits, with: definition.fields, place, "bit", factKey: { "\(Self.bit($0["from"] ?? $0["bit"]) ?? -1)" },
            ownKey: { "\($0.bits.lowerBound)" }, ownName: { "\($0.bits.lowerBound) \($0.name)" }
        ) { comparison, fact, field in
            let place = "\(place).\(field.name)"
            comparison.checkName(place, field.name, fact)
            comparison.check(place, "the last bit", Int64(field.bits.upperBound), Self.bit(fact["to"] ?? fact["bit"]))
            comparison.checkNotation(place, "conformance", field.conformance.text, fact.text("conformance") ?? "M")
        }
    }

    /// A number, or a number in quotes.
    private static func bit(_ fact: JSONValue?) -> Int64? { fact?.integer ?? fact?.string.flatMap { Int64($0) } }

    private mutating func compare(_ definition: StructDefinition, _ fact: JSONValue, _ place: String) {
        let fabricIndex = FieldDefinition.fabricIndex.id
        check(
            place, "fabric-scoped", definition.isFabricScoped, fact.list("fields").contains { $0.idNumber == UInt64(fabricIndex.rawValue) })
        compareFields(fact, definition.fields, place)
    }

    // MARK: - Types that belong to no cluster

    mutating func compareGlobalTypes(_ model: OwnModel) {
        // Those that are derived from nothing are the notation's own words: the encodings of every element name them.
        let stated = facts.globalTypes.filter { $0.text("base") != nil }
        let isDefinition: (JSONValue) -> Bool = { $0["items"] != nil || $0["bits"] != nil || $0["fields"] != nil }
        pair(
            stated.filter(isDefinition), with: model.globalTypes, "every cluster", "type",
            factKey: { DataModel.normalizedName(Self.otherNames[$0.name] ?? $0.name) },
            ownKey: { DataModel.normalizedName($0.name) }, ownName: \.name
        ) { comparison, fact, type in
            comparison.check(type.name, "encoding", Self.encoding(type), fact.text("resolved"))
            switch type.base {
            case .enumeration(let definition): comparison.compare(definition, fact, type.name)
            case .bitmap(let definition): comparison.compare(definition, fact, bits: fact.list("bits"), type.name)
            case .structure(let definition):
                comparison.check(type.name, "encoding", "struct", fact.text("base"))
                comparison.compare(definition, fact, type.name)
            default: comparison.differ(type.name, "neither enumeration, bitmap nor structure")
            }
        }
        let derived = stated.filter { !isDefinition($0) && !Self.primitives.contains($0.name) }
        pair(
            derived, with: model.derivedTypes.sorted { $0.key < $1.key }, "every cluster", "type",
            factKey: { DataModel.normalizedName($0.name) }, ownKey: { DataModel.normalizedName($0.key) }, ownName: \.key
        ) { comparison, fact, type in
            comparison.check(type.key, "derived from", type.value, fact.text("base"))
            comparison.check(type.key, "derived, in the end, from", type.value, fact.text("resolved"))
        }
        for type in model.clusters.flatMap(\.derivedTypes) {
            guard let fact = derived.first(where: { Self.same($0.name, type.name) }) else { continue }
            check(type.name, "encoding", Self.encoding(type), fact.text("resolved"))
        }
    }
    /// The facts derive these from others, the notation of `Model/` does not.
    static let primitives: Set = ["string", "enum8", "enum16"]
}

extension ClusterDefinition {
    /// The primitive and derived types of all its elements, the entries of lists included, each name once.
    var derivedTypes: [TypeReference] {
        var found: [String: TypeReference] = [:]
        func note(_ type: TypeReference) {
            switch type.base {
            case .list(let entry): note(entry)
            case .enumeration, .bitmap, .structure: break
            default: found[type.name] = type
            }
        }
        attributes.forEach { note($0.type) }
        for fields in commands.map(\.fields) + events.map(\.fields) + structs.map(\.fields) { fields.forEach { note($0.type) } }
        return found.values.sorted { $0.name < $1.name }
    }
}
