import MatterModel
import MatterTLV

/// How fabric-scoped data looks to one fabric (Matter Core, 7.5.3 and 7.13.6).
enum FabricScope {
    /// The tag of FabricIndex in every fabric-scoped structure.
    static let fabricIndexTag: UInt8 = 254

    /// The value of an attribute as the reader of `context` may see it.
    static func view(_ value: TLVValue, of attribute: AttributeDefinition, _ context: InteractionContext) -> TLVValue {
        guard attribute.isFabricScoped, case .array(let entries) = value, case .list(let entry) = attribute.type.base,
            case .structure(let definition) = entry.base
        else { return value }
        let own = UInt64(context.peer.fabricIndex)
        var visible: [TLVValue] = []
        visible.reserveCapacity(entries.count)
        for entry in entries {
            let isOwn = entry[fabricIndexTag]?.unsigned == own
            if isOwn {
                visible.append(entry)
            } else if !context.isFabricFiltered {
                visible.append(withoutSensitiveFields(entry, definition))
            }
        }
        return .array(visible)
    }

    private static func withoutSensitiveFields(_ entry: TLVValue, _ definition: StructDefinition) -> TLVValue {
        guard case .structure(let members) = entry else { return entry }
        let sensitive = Set(definition.fields.filter(\.isFabricSensitive).map { TLVTag.context($0.id.rawValue) })
        return .structure(members.filter { !sensitive.contains($0.tag) })
    }
}
