import MatterTLV

/// Why a value that somebody wrote cannot be understood.
public struct ValueError: Error, Hashable, Sendable, CustomStringConvertible {
    /// What is wrong and, where possible, what would be right.
    public let message: String
    public init(_ message: String) { self.message = message }
    public var description: String { message }
}

/// Values in the notation of the machine interface.
///
/// Integers, bitmaps and enumerations are integers, octet strings `{"hex": "0a0b"}`, structures objects by field name, lists
/// arrays. A field without a known name is keyed by its tag as a decimal string, or `vendor:profile:tag` as in `0xFFF1:0x0001:7`.
/// Without a type (nil) that is all there is: an integer is taken as unsigned when it is not negative.
///
/// Reading does not validate: a number that is too large or a string in place of a number is sent as it stands, so that the
/// device's answer can be seen.
public enum ValueJSON {
    // MARK: From TLV

    /// The value in the notation of the machine interface.
    public static func json(_ value: TLVValue, type: TypeReference? = nil) -> JSONValue {
        switch value {
        case .signed(let number): return JSONValue(number)
        case .unsigned(let number): return JSONValue(number)
        case .boolean(let value): return .boolean(value)
        case .float(let number): return .number(Double(number))
        case .double(let number): return .number(number)
        case .utf8(let text): return .string(text)
        case .octets(let bytes): return .object(["hex": .string(Hexadecimal.text(bytes))])
        case .null: return .null
        case .structure(let members):
            if case .structure(let definition)? = type?.base { return json(fields: members, definition.fields) }
            return json(fields: members, [])
        case .array(let entries): return .array(entries.map { json($0, type: type?.entry) })
        case .list(let members): return .array(members.map { json($0.value, type: type?.entry) })
        }
    }

    /// The fields of a structure, command or event as an object. Of a tag that stands twice, the first counts.
    public static func json(fields members: [TLVElement], _ definitions: [FieldDefinition]) -> JSONValue {
        var object: [String: JSONValue] = [:]
        for member in members {
            let field = definitions.first { member.tag == .context($0.id.rawValue) }
            let name = field?.name ?? self.name(of: member.tag)
            if object[name] == nil { object[name] = json(member.value, type: field?.type) }
        }
        return .object(object)
    }

    /// The fields of a command or event as an object; what is no structure is shown as it is.
    public static func json(fields value: TLVValue, of definitions: [FieldDefinition]) -> JSONValue {
        if case .structure(let members) = value { return json(fields: members, definitions) }
        return json(value)
    }

    private static func name(of tag: TLVTag) -> String {
        switch tag {
        case .anonymous: return ""
        case .context(let number): return String(number)
        case .commonProfile(let number): return "0x0000:0x0000:\(number)"
        case .implicitProfile(let number): return "::\(number)"
        case .fullyQualified(let vendor, let profile, let number):
            return "0x\(Hexadecimal.text(vendor)):0x\(Hexadecimal.text(profile)):\(number)"
        }
    }

    // MARK: To TLV

    /// - Throws: `ValueError` when the JSON cannot be a value of the type.
    public static func value(_ json: JSONValue, type: TypeReference? = nil) throws(ValueError) -> TLVValue {
        switch json {
        case .null: return .null
        case .boolean(let value): return .boolean(value)
        case .integer(let number): return try integer(number, type)
        case .unsigned(let number): return .unsigned(number)
        case .number(let number): return try self.number(number, type)
        case .string(let text): return try string(text, type)
        case .array(let values):
            var entries: [TLVValue] = []
            for value in values { entries.append(try self.value(value, type: type?.entry)) }
            return .array(entries)
        case .object(let members):
            if members.count == 1, let hex = members["hex"], case .string(let digits) = hex {
                if case .structure? = type?.base {} else { return .octets(try Hexadecimal.bytes(digits)) }
            }
            if case .structure(let definition)? = type?.base {
                return try fields(json, of: definition.fields, in: definition.name)
            }
            return try fields(json, of: [], in: type?.name ?? "the structure")
        }
    }

    /// The fields of a structure or command, in the order of their tags. `owner` is for messages.
    public static func fields(_ json: JSONValue, of definitions: [FieldDefinition], in owner: String) throws(ValueError)
        -> TLVValue
    {
        guard case .object(let members) = json else { throw ValueError("\(owner): an object with fields is wanted") }
        var found: [(order: UInt64, element: TLVElement)] = []
        for (name, value) in members {
            let element: TLVElement
            if let field = definitions.field(named: name) {
                element = TLVElement(.context(field.id.rawValue), try field.value(from: value, owner))
            } else if let tag = tag(of: name) {
                if let field = definitions.first(where: { tag == .context($0.id.rawValue) }) {
                    element = TLVElement(tag, try field.value(from: value, owner))
                } else {
                    element = TLVElement(tag, try self.value(value))
                }
            } else {
                throw ValueError("\(owner) has no field \(name)" + DataModel.didYouMean(name, among: definitions.map(\.name)))
            }
            if found.contains(where: { $0.element.tag == element.tag }) {
                throw ValueError("\(owner): field \(name) stands twice")
            }
            found.append((order(of: element.tag), element))
        }
        return .structure(found.sorted { $0.order < $1.order }.map(\.element))
    }

    private static func order(of tag: TLVTag) -> UInt64 {
        switch tag {
        case .anonymous: 0
        case .context(let number): UInt64(number)
        case .commonProfile(let number), .implicitProfile(let number): 1 << 32 | UInt64(number)
        case .fullyQualified(_, let profile, let number): 1 << 48 | UInt64(profile) << 32 | UInt64(number)
        }
    }

    private static func tag(of name: String) -> TLVTag? {
        if let number = UInt8(name) { return .context(number) }
        let parts = name.split(separator: ":", omittingEmptySubsequences: false)
        guard parts.count == 3, let number = UInt32(parts[2]) else { return nil }
        if parts[0].isEmpty, parts[1].isEmpty { return .implicitProfile(number) }
        guard let vendor = Hexadecimal.number(parts[0]).flatMap(UInt16.init(exactly:)),
            let profile = Hexadecimal.number(parts[1]).flatMap(UInt16.init(exactly:))
        else { return nil }
        return vendor == 0 && profile == 0
            ? .commonProfile(number) : .fullyQualified(vendor: vendor, profile: profile, tag: number)
    }

    private static func integer(_ number: Int64, _ type: TypeReference?) throws(ValueError) -> TLVValue {
        switch type?.base {
        case .signed: .signed(number)
        case .single: .float(Float(number))
        case .double: .double(Double(number))
        default: UInt64(exactly: number).map(TLVValue.unsigned) ?? .signed(number)
        }
    }

    private static func number(_ number: Double, _ type: TypeReference?) throws(ValueError) -> TLVValue {
        switch type?.base {
        case .single: return .float(Float(number))
        case .unsigned, .signed, .enumeration, .bitmap:
            if let whole = Int64(exactly: number) { return try integer(whole, type) }
            throw ValueError("\(number) is no integer, which \(type?.name ?? "the type") is")
        default: return .double(number)
        }
    }

    private static func string(_ text: String, _ type: TypeReference?) throws(ValueError) -> TLVValue {
        switch type?.base {
        // Text is what people mean by the octets of a PIN code.
        case .octets: return .octets(Array(text.utf8))
        case .enumeration(let definition):
            if let item = definition.item(named: text) { return .unsigned(UInt64(item.value)) }
            return try numeral(text, type)
        case .bitmap, .unsigned, .signed: return try numeral(text, type)
        default: return .utf8(text)
        }
    }

    /// A number in quotes, also hexadecimal; other text stays text.
    private static func numeral(_ text: String, _ type: TypeReference?) throws(ValueError) -> TLVValue {
        if text.hasPrefix("0x"), let number = Hexadecimal.number(text) { return .unsigned(number) }
        if let number = Int64(text) { return try integer(number, type) }
        if let number = UInt64(text) { return .unsigned(number) }
        return .utf8(text)
    }
}

extension FieldDefinition {
    fileprivate func value(from json: JSONValue, _ owner: String) throws(ValueError) -> TLVValue {
        do throws(ValueError) {
            return try ValueJSON.value(json, type: type)
        } catch {
            throw ValueError("\(owner).\(name): \(error.message)")
        }
    }
}
