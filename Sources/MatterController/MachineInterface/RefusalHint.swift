import MatterModel
import MatterTLV

/// What the data model knows about why a device may have refused: added to its status, which is all that it says itself.
enum RefusalHint {
    /// For a write of `value`. Empty when there is nothing to add; else it begins with a space.
    static func write(_ path: AttributePath, _ value: TLVValue, _ status: StatusCode) -> String {
        guard let cluster = DataModel.cluster(id: path.cluster), let attribute = cluster.attribute(id: path.attribute) else { return "" }
        switch status {
        case .unsupportedWrite:
            return " (it can only be read" + (cluster.commands.isEmpty ? ")" : "; commands change it: hearth model \(cluster.name))")
        case .constraintError:
            return parenthesised([sent(ValueText(attribute, in: cluster.id), value, attribute.constraint, name: nil)])
        case .invalidDataType:
            return " (\(ValueText(attribute, in: cluster.id).format(value)) was sent, and the type is \(attribute.type.name))"
        default: return ""
        }
    }

    /// For a command with `fields`.
    static func invoke(_ path: CommandPath, _ fields: TLVValue, _ status: StatusCode) -> String {
        guard status == .constraintError || status == .invalidCommand, case .structure(let members) = fields,
            let cluster = DataModel.cluster(id: path.cluster), let command = cluster.command(id: path.command)
        else { return "" }
        func member(_ field: FieldDefinition) -> TLVElement? { members.first { $0.tag == .context(field.id.rawValue) } }
        // What a command must have whatever the device is; it may be what the device misses.
        let missing = command.fields.filter { $0.conformance == .mandatory && member($0) == nil }.map { "\($0.name) is missing" }
        if status == .invalidCommand, !missing.isEmpty { return parenthesised(missing) }
        return parenthesised(
            command.fields.map { field in
                guard let member = member(field), !isRight(member.value, field) else { return nil }
                return sent(ValueText(field, in: cluster.id), member.value, field.constraint, name: field.name)
            })
    }

    /// The model allows it, whatever the device's own limits are: it is not what the device has refused.
    private static func isRight(_ value: TLVValue, _ field: FieldDefinition) -> Bool {
        guard let number = value.signed, !field.constraint.text.isEmpty, field.constraint.names.isEmpty else { return false }
        let isDescribed = field.constraint.requirements.joined().contains { if case .described = $0 { true } else { false } }
        return !isDescribed && field.constraint.check(number, decimals: field.type.unit?.decimals ?? 0)
    }

    /// What was sent, as people read it, and what is allowed; nil when neither says more than the number itself.
    private static func sent(_ text: ValueText, _ value: TLVValue, _ constraint: Constraint, name: String?) -> String? {
        let shown = text.format(value)
        // Null, and nothing of whatever unit, are what they look like.
        let isPlain =
            value == .null || value == .unsigned(0) || value == .signed(0)
            || value.unsigned.map { String($0) } == shown || value.signed.map { String($0) } == shown
        // "desc": the specification says it in words.
        let allowed = constraint.text == "desc" ? "" : constraint.text
        if allowed.isEmpty, isPlain { return nil }
        return (name.map { "\($0) " } ?? "") + "\(shown) was sent" + (allowed.isEmpty ? "" : ", allowed is \(allowed)")
    }

    private static func parenthesised(_ parts: [String?]) -> String {
        let said = parts.compactMap { $0 }
        return said.isEmpty ? "" : " (\(said.joined(separator: "; ")))"
    }
}
