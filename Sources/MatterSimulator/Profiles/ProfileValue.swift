import MatterDevice
import MatterModel
import MatterTLV

/// Turns what stands in a profile into values of the data model, by the type that the schema gives.
extension ProfileContext {
    /// A value of an attribute or field.
    func value(_ node: YAMLNode, _ path: String, _ type: TypeReference, name: String, isNullable: Bool, in cluster: ClusterID) -> TLVValue?
    {
        switch (node.content, type.base) {
        case (.scalar(let text, let isQuoted), let base):
            if !isQuoted, isNullable, text == "null" || text == "~" || text.isEmpty { return .null }
            // A quoted text, and a text where a text is wanted, is what it is.
            if case .utf8 = base { return .utf8(text) }
            do throws(ValueError) { return try ValueText(name, type, in: cluster).parse(text) } catch {
                report(node, path, error.message)
                return nil
            }
        case (.sequence(let items), .list(let entry)):
            var values: [TLVValue] = []
            for (index, item) in items.enumerated() {
                guard let value = value(item, "\(path)[\(index)]", entry, name: name, isNullable: false, in: cluster) else { return nil }
                values.append(value)
            }
            return .array(values)
        case (.sequence(let items), .bitmap):
            // Flags by name: [Lift, Tilt].
            var bits: UInt64 = 0
            for (index, item) in items.enumerated() {
                let flag = value(item, "\(path)[\(index)]", type, name: name, isNullable: false, in: cluster)
                guard let flag = flag?.unsigned else { return nil }
                bits |= flag
            }
            return .unsigned(bits)
        case (.mapping, .structure(let definition)):
            guard let mapping = mapping(node, path) else { return nil }
            var members: [TLVElement] = []
            for member in mapping.takeAll() {
                guard let field = definition.fields.field(named: member.key) else {
                    let names = definition.fields.map(\.name)
                    report(
                        member.keyNode, path,
                        "\(definition.name) has no field '\(member.key)'\(DataModel.didYouMean(member.key, among: names))")
                    continue
                }
                let value = value(
                    member.node, member.path, field.type, name: field.name, isNullable: field.isNullable, in: cluster)
                if let value { members.append(TLVElement(.context(field.id.rawValue), value)) }
            }
            return .structure(members.sorted { $0.tag.order < $1.tag.order })
        default:
            report(node, path, "\(type.name) is expected, and this is \(node.kind)")
            return nil
        }
    }

    /// A parameter of a cluster's behaviour.
    func parameter(_ node: YAMLNode, _ path: String, _ kind: ClusterParameter.Kind) -> TLVValue? {
        switch kind {
        case .boolean:
            guard let text = text((node, path)) else { return nil }
            switch text.lowercased() {
            case "true", "yes", "on": return .boolean(true)
            case "false", "no", "off": return .boolean(false)
            default:
                report(node, path, "'\(text)' is neither true nor false")
                return nil
            }
        case .unsigned(let range): return number((node, path), in: range, "right here").map { .unsigned($0) }
        case .signed(let range): return number((node, path), in: range, "right here").map { .signed($0) }
        case .number(let range): return fraction(node, path, range, "a number").map { .double($0) }
        case .seconds(let range): return fraction(node, path, range, "a number of seconds").map { .unsigned(UInt64(($0 * 1000).rounded())) }
        case .text: return text((node, path)).map { .utf8($0) }
        case .octets:
            guard let text = text((node, path)) else { return nil }
            do throws(ValueError) { return .octets(try Hexadecimal.bytes(text)) } catch {
                report(node, path, error.message)
                return nil
            }
        case .list(let entry):
            guard let items = sequence(node, path) else { return nil }
            return .array(items.compactMap { parameter($0.node, $0.path, entry) })
        case .structure(let members):
            guard let mapping = mapping(node, path) else { return nil }
            var fields: [TLVElement] = []
            for (index, member) in members.enumerated() {
                guard let found = mapping.take(member.name), let tag = UInt8(exactly: index),
                    let value = parameter(found.node, found.path, member.kind)
                else { continue }
                fields.append(TLVElement(.context(tag), value))
            }
            mapping.finish()
            return .structure(fields)
        }
    }

    private func fraction(_ node: YAMLNode, _ path: String, _ range: ClosedRange<Double>, _ what: String) -> Double? {
        guard let text = text((node, path)) else { return nil }
        guard let number = Double(text), number.isFinite, range.contains(number) else {
            report(node, path, "'\(text)' is not \(what) from \(range.lowerBound) to \(range.upperBound)")
            return nil
        }
        return number
    }
}

extension TLVTag {
    /// Context tags by their number.
    fileprivate var order: UInt64 { if case .context(let number) = self { UInt64(number) } else { .max } }
}
