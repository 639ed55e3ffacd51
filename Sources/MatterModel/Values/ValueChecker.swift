import MatterTLV

/// Checks values that come from outside against their definitions, before a cluster sees them.
///
/// In the value of an attribute, TLV of a wrong kind and a structure without a mandatory field are INVALID_DATA_TYPE; in the fields
/// of a command they are INVALID_COMMAND (Matter Core, 8.4.3.3, 8.8.3.3). What has the right type but not a right value is
/// CONSTRAINT_ERROR in both. Types are strict about signs: `TLVConvertible` says why. What the specification leaves to its text
/// (`desc`) is the cluster's business, and unknown fields of structures are ignored.
///
/// Reserved bits of a bitmap are no right value for an attribute that can be written: the device would keep what it does not know, and
/// read as one that does. Bits that the attribute's default has, as AlarmMask of Door Lock has all, are none of these. In commands
/// reserved bits are ignored, so that a client of a later revision is understood, unless a constraint says otherwise.
public struct ValueChecker {
    /// How strict to be, where clusters differ.
    public struct Options: Sendable, Hashable {
        /// Whether constraints count at all. Door Lock and Groups answer commands that break them in their own ways.
        public var checksConstraints = true
        /// The status of what breaks a constraint.
        public var constraintFailure = StatusCode.constraintError
        /// Whether an enumeration's item whose conformance disallows it breaks a constraint.
        public var refusesDisallowedItems = false

        public init() {}
    }

    private enum Use {
        /// An attribute that clients cannot write, a value for one that they can, the fields of a command.
        case attribute, write, command
    }

    public var cluster: ClusterDefinition
    public var features: UInt32
    public var options: Options
    /// The value of an attribute of the same cluster instance by its name; nil for one that it does not have.
    private let value: (String) -> TLVValue?

    public init(
        cluster: ClusterDefinition, features: UInt32, options: Options = Options(),
        value: @escaping (String) -> TLVValue? = { _ in nil }
    ) {
        (self.cluster, self.features, self.options, self.value) = (cluster, features, options, value)
    }

    /// A whole new value of an attribute. `constraint` stands in place of the definition's, as when a device type narrows it.
    public func check(_ value: TLVValue, of attribute: AttributeDefinition, constraint: Constraint? = nil) throws(Status) {
        var element = Element(attribute.name, attribute.type, attribute.isNullable, constraint ?? attribute.constraint)
        element.defaultBits = attribute.defaultValue?.unsigned ?? 0
        try check(value, element, siblings: nil, Self.use(attribute))
    }

    /// A new entry of a list attribute.
    public func check(entry: TLVValue, of attribute: AttributeDefinition) throws(Status) {
        guard case .list(let type) = attribute.type.base else { throw Status(.invalidDataType, "\(attribute.name) is no list") }
        let element = Element("an entry of \(attribute.name)", type, false, attribute.constraint.entry ?? .none)
        try check(entry, element, siblings: nil, Self.use(attribute))
    }

    private static func use(_ attribute: AttributeDefinition) -> Use { attribute.writePrivilege == nil ? .attribute : .write }

    /// The fields of a command. None at all is the same as an empty structure.
    public func check(fields: TLVValue?, of command: CommandDefinition) throws(Status) {
        let fields = fields ?? .structure([])
        guard case .structure(let members) = fields else { throw Status(.invalidCommand, "the fields are no structure") }
        try check(members, command.fields, of: command.name, .command)
    }
}

extension ValueChecker {
    /// What is being checked.
    private struct Element {
        var name: String
        var type: TypeReference
        var isNullable: Bool
        var constraint: Constraint
        /// Bits that the default of an attribute has.
        var defaultBits: UInt64 = 0

        init(_ name: String, _ type: TypeReference, _ isNullable: Bool, _ constraint: Constraint) {
            (self.name, self.type, self.isNullable, self.constraint) = (name, type, isNullable, constraint)
        }
    }

    private struct Siblings {
        var members: [TLVElement]
        var fields: [FieldDefinition]

        func value(_ name: String) -> TLVValue? {
            guard let field = fields.first(where: { $0.name == name }) else { return nil }
            return members.first { $0.tag == .context(field.id.rawValue) }?.value
        }
    }

    private func malformed(_ element: String, _ wanted: String, _ found: TLVValue, _ use: Use) -> Status {
        Status(use == .command ? .invalidCommand : .invalidDataType, "\(element): \(wanted) is wanted, not \(found.kindName)")
    }

    private func broken(_ element: Element, _ what: String) -> Status {
        Status(
            options.constraintFailure,
            "\(element.name) \(what)" + (element.constraint.text.isEmpty ? "" : " (\(element.constraint.text))"))
    }

    private func check(_ value: TLVValue, _ element: Element, siblings: Siblings?, _ use: Use) throws(Status) {
        if case .null = value, case .any = element.type.base { return }
        if value.isNull {
            if element.isNullable { return }
            throw malformed(element.name, "a value", value, use)
        }
        switch (element.type.base, value) {
        case (.boolean, .boolean), (.single, .float), (.double, .double), (.double, .float), (.any, _): break
        case (.unsigned, .unsigned(let number)): try check(number, element, siblings)
        case (.signed, .signed(let number)): try check(number, element, siblings)
        case (.enumeration(let definition), .unsigned(let number)): try check(number, definition, element, siblings)
        case (.bitmap(let definition), .unsigned(let number)): try check(number, definition, element, siblings, use)
        case (.utf8, .utf8(let text)): try check(text, element, siblings)
        case (.octets, .octets(let bytes)): try check(count: bytes.count, "bytes", element, siblings)
        case (.structure(let definition), .structure(let members)): try check(members, definition.fields, of: element.name, use)
        case (.list(let type), .array(let entries)):
            try check(count: entries.count, "entries", element, siblings)
            let entryElement = Element("an entry of \(element.name)", type, false, element.constraint.entry ?? .none)
            for entry in entries { try check(entry, entryElement, siblings: siblings, use) }
        default: throw malformed(element.name, element.type.base.kindName, value, use)
        }
    }

    private func check(_ number: UInt64, _ element: Element, _ siblings: Siblings?) throws(Status) {
        guard let range = element.type.integerRange(isNullable: element.isNullable), number <= range.maximum else {
            throw broken(element, "does not fit its type")
        }
        try check(measure: Int64(clamping: number), "has a value that is not allowed", element, siblings)
    }

    private func check(_ number: Int64, _ element: Element, _ siblings: Siblings?) throws(Status) {
        guard let range = element.type.integerRange(isNullable: element.isNullable), number >= range.minimum,
            number < 0 || UInt64(number) <= range.maximum
        else { throw broken(element, "does not fit its type") }
        try check(measure: number, "has a value that is not allowed", element, siblings)
    }

    private func check(_ number: UInt64, _ definition: EnumDefinition, _ element: Element, _ siblings: Siblings?) throws(Status) {
        guard options.checksConstraints else { return }
        guard let item = definition.item(value: number) else { throw broken(element, "is no value of \(definition.name)") }
        if options.refusesDisallowedItems {
            let outcome = item.conformance.evaluate(features: features, of: cluster, has: { value($0) != nil })
            if !outcome.allowsPresence { throw broken(element, "may not be \(item.name) here") }
        }
        try check(measure: Int64(clamping: number), "may not be \(item.name)", element, siblings)
    }

    private func check(
        _ number: UInt64, _ definition: BitmapDefinition, _ element: Element, _ siblings: Siblings?, _ use: Use
    ) throws(Status) {
        if definition.bytes < 8, number >> (UInt64(definition.bytes) * 8) != 0 { throw broken(element, "does not fit its type") }
        if use == .write, options.checksConstraints, number & ~(definition.definedBits | element.defaultBits) != 0 {
            throw broken(element, "has bits that \(definition.name) does not define")
        }
        try check(measure: Int64(clamping: number), "has a value that is not allowed", element, siblings)
    }

    private func check(_ text: String, _ element: Element, _ siblings: Siblings?) throws(Status) {
        try check(count: text.utf8.count, "bytes", element, siblings)
        if let most = element.constraint.maximumCharacters, options.checksConstraints, text.unicodeScalars.count > most {
            throw broken(element, "has more than \(most) characters")
        }
    }

    private func check(count: Int, _ what: String, _ element: Element, _ siblings: Siblings?) throws(Status) {
        try check(measure: Int64(count), "has \(count) \(what), which is not allowed", element, siblings)
    }

    private func check(measure: Int64, _ complaint: String, _ element: Element, _ siblings: Siblings?) throws(Status) {
        guard options.checksConstraints, !element.constraint.requirements.isEmpty else { return }
        let isAllowed = element.constraint.check(measure, decimals: element.type.unit?.decimals ?? 0) { name in
            if let sibling = siblings?.value(name) { return sibling.signed }
            if case .enumeration(let definition) = element.type.base,
                let item = definition.items.first(where: { $0.name == name })
            {
                return Int64(item.value)
            }
            return value(name)?.signed
        }
        if !isAllowed { throw broken(element, complaint) }
    }

    private func check(_ members: [TLVElement], _ fields: [FieldDefinition], of owner: String, _ use: Use) throws(Status) {
        let siblings = Siblings(members: members, fields: fields)
        for field in fields where field.id != FieldDefinition.fabricIndex.id {
            let name = "\(owner).\(field.name)"
            if let member = members.first(where: { $0.tag == .context(field.id.rawValue) }) {
                try check(member.value, Element(name, field.type, field.isNullable, field.constraint), siblings: siblings, use)
            } else if isMandatory(field, siblings) {
                throw Status(use == .command ? .invalidCommand : .invalidDataType, "\(name) is missing")
            }
        }
    }

    private func isMandatory(_ field: FieldDefinition, _ siblings: Siblings) -> Bool {
        if field.conformance == .mandatory { return true }
        if field.conformance == .optional { return false }
        let outcome = field.conformance.evaluate(
            features: features, of: cluster, has: { siblings.value($0) != nil || value($0) != nil },
            value: { name in siblings.value(name)?.signed ?? value(name)?.signed ?? StatusCode.number(named: name) })
        return outcome == .mandatory
    }
}

extension StatusCode {
    /// `Success` as conditions name it.
    fileprivate static func number(named name: String) -> Int64? { name == "Success" ? 0 : nil }
}

extension BitmapDefinition {
    /// Every bit that has a meaning.
    public var definedBits: UInt64 {
        fields.reduce(0) { bits, field in field.bits.reduce(bits) { $0 | UInt64(1) << UInt64($1) } }
    }
}

extension DataType {
    /// What the type is, for messages.
    var kindName: String {
        switch self {
        case .boolean: "a boolean"
        case .unsigned, .enumeration, .bitmap: "an unsigned integer"
        case .signed: "a signed integer"
        case .single: "a single"
        case .double: "a double"
        case .utf8: "a string"
        case .octets: "an octet string"
        case .structure: "a structure"
        case .list: "a list"
        case .any: "anything"
        }
    }
}
