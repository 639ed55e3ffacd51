/// What the generated definitions are made with.
extension [TypeReference] {
    var enums: [EnumDefinition] { compactMap { if case .enumeration(let definition) = $0.base { definition } else { nil } } }
    var bitmaps: [BitmapDefinition] { compactMap { if case .bitmap(let definition) = $0.base { definition } else { nil } } }
    var structs: [StructDefinition] { compactMap { if case .structure(let definition) = $0.base { definition } else { nil } } }
}

extension FieldDefinition {
    /// The field of every fabric-scoped structure and fabric-sensitive event. A node fills it in; a client leaves it out, and what
    /// it sends is ignored (Matter Core, 7.13.5).
    public static let fabricIndex = FieldDefinition(
        254, "FabricIndex", TypeReference("fabric-idx", .unsigned(bytes: 1)), conformance: .optional)
}
