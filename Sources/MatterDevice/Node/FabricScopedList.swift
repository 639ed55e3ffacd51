import MatterInteraction
import MatterModel
import MatterTLV

/// What a write does to a list of which each fabric owns its entries (Matter Core, 7.13.6).
enum FabricScopedList {
    static let fabricIndexTag: UInt8 = 254

    /// The attribute's whole new value after `change` by the peer of `context`.
    static func apply(
        _ change: AttributeChange, to old: TLVValue, of attribute: AttributeDefinition, _ context: InteractionContext
    ) throws(Status) -> TLVValue {
        guard attribute.isFabricScoped else {
            switch change {
            case .replace(let value): return value
            case .append(let entry): return .array((old.array ?? []) + [entry])
            }
        }
        let fabric = context.fabricIndex
        let others = (old.array ?? []).filter { $0[fabricIndexTag]?.unsigned != UInt64(fabric.rawValue) }
        let own = (old.array ?? []).filter { $0[fabricIndexTag]?.unsigned == UInt64(fabric.rawValue) }
        switch change {
        case .replace(let value):
            guard let entries = value.array else { throw Status(.invalidDataType) }
            return .array(others + entries.map { stamped($0, fabric) })
        case .append(let entry): return .array(others + own + [stamped(entry, fabric)])
        }
    }

    /// The entry with the fabric of its writer, whatever the writer put there.
    static func stamped(_ entry: TLVValue, _ fabric: FabricIndex) -> TLVValue {
        guard case .structure(let members) = entry else { return entry }
        let rest = members.filter { $0.tag != .context(fabricIndexTag) }
        return .structure(rest + [TLVElement(.context(fabricIndexTag), .unsigned(UInt64(fabric.rawValue)))])
    }

    /// The list without the entries of a fabric that was removed.
    static func without(_ fabric: FabricIndex, _ value: TLVValue) -> TLVValue {
        guard let entries = value.array else { return value }
        return .array(entries.filter { $0[fabricIndexTag]?.unsigned != UInt64(fabric.rawValue) })
    }
}
