/// A JSON value (RFC 8259) that keeps 64-bit integers exact.
public enum JSONValue: Sendable, Hashable {
    case null
    case boolean(Bool)
    /// Every integer that fits.
    case integer(Int64)
    /// Only integers above `Int64.max`.
    case unsigned(UInt64)
    /// Other numbers. One that is not finite is written as null, since JSON has no word for it.
    case number(Double)
    case string(String)
    case array([JSONValue])
    case object([String: JSONValue])

    /// An integer in its one form.
    public init(_ value: some BinaryInteger) {
        if let small = Int64(exactly: value) {
            self = .integer(small)
        } else if let large = UInt64(exactly: value) {
            self = .unsigned(large)
        } else {
            self = .number(Double(value))
        }
    }
    public init(_ value: Bool) { self = .boolean(value) }
    public init(_ value: String) { self = .string(value) }
    /// Nil becomes null.
    public init(_ value: String?) { self = value.map(JSONValue.string) ?? .null }
    public init(_ values: [JSONValue]) { self = .array(values) }
    public init(_ members: [String: JSONValue]) { self = .object(members) }
}

extension JSONValue {
    public var isNull: Bool { self == .null }
    public var boolean: Bool? { if case .boolean(let value) = self { value } else { nil } }
    public var string: String? { if case .string(let value) = self { value } else { nil } }
    public var array: [JSONValue]? { if case .array(let value) = self { value } else { nil } }
    public var object: [String: JSONValue]? { if case .object(let value) = self { value } else { nil } }
    /// The integer when it fits; a number without a fraction counts.
    public var integer: Int64? {
        switch self {
        case .integer(let value): value
        case .number(let value): Int64(exactly: value)
        default: nil
        }
    }
    /// The integer when it is not negative and fits.
    public var unsigned: UInt64? {
        switch self {
        case .integer(let value): UInt64(exactly: value)
        case .unsigned(let value): value
        case .number(let value): UInt64(exactly: value)
        default: nil
        }
    }
    /// Any number, rounded when it must be.
    public var number: Double? {
        switch self {
        case .integer(let value): Double(value)
        case .unsigned(let value): Double(value)
        case .number(let value): value
        default: nil
        }
    }

    /// A member of an object; nil when there is none, or this is no object.
    public subscript(name: String) -> JSONValue? { object?[name] }
    /// An element of an array; nil when there is none, or this is no array.
    public subscript(index: Int) -> JSONValue? {
        guard let array, array.indices.contains(index) else { return nil }
        return array[index]
    }
}

extension JSONValue: ExpressibleByNilLiteral, ExpressibleByBooleanLiteral, ExpressibleByIntegerLiteral, ExpressibleByFloatLiteral,
    ExpressibleByStringLiteral, ExpressibleByArrayLiteral, ExpressibleByDictionaryLiteral
{
    public init(nilLiteral: ()) { self = .null }
    public init(booleanLiteral value: Bool) { self = .boolean(value) }
    public init(integerLiteral value: Int64) { self = .integer(value) }
    public init(floatLiteral value: Double) { self = .number(value) }
    public init(stringLiteral value: String) { self = .string(value) }
    public init(arrayLiteral elements: JSONValue...) { self = .array(elements) }
    /// Of a name that stands twice, the last.
    public init(dictionaryLiteral elements: (String, JSONValue)...) {
        self = .object(Dictionary(elements, uniquingKeysWith: { _, last in last }))
    }
}

extension JSONValue: CustomStringConvertible {
    /// On one line, keys sorted.
    public var description: String { text() }

    /// The JSON text, keys sorted by their UTF-8: on one line, or indented by two spaces.
    public func text(indented: Bool = false) -> String {
        var text = ""
        write(into: &text, indentation: indented ? 0 : nil)
        return text
    }

    private func write(into text: inout String, indentation: Int?) {
        switch self {
        case .null: text += "null"
        case .boolean(let value): text += value ? "true" : "false"
        case .integer(let value): text += String(value)
        case .unsigned(let value): text += String(value)
        case .number(let value): text += value.isFinite ? value.description : "null"
        case .string(let value): Self.quote(value, into: &text)
        case .array(let values):
            Self.container("[", "]", values.count, indentation, into: &text) { index, inner, text in
                values[index].write(into: &text, indentation: inner)
            }
        case .object(let members):
            let names = members.keys.sorted { $0.utf8.lexicographicallyPrecedes($1.utf8) }
            Self.container("{", "}", names.count, indentation, into: &text) { index, inner, text in
                Self.quote(names[index], into: &text)
                text += inner == nil ? ":" : ": "
                (members[names[index]] ?? .null).write(into: &text, indentation: inner)
            }
        }
    }

    private static func container(
        _ opening: String, _ closing: String, _ count: Int, _ indentation: Int?, into text: inout String,
        _ element: (Int, Int?, inout String) -> Void
    ) {
        text += opening
        for index in 0..<count {
            if index > 0 { text += "," }
            if let indentation { text += "\n" + String(repeating: "  ", count: indentation + 1) }
            element(index, indentation.map { $0 + 1 }, &text)
        }
        if let indentation, count > 0 { text += "\n" + String(repeating: "  ", count: indentation) }
        text += closing
    }

    private static func quote(_ string: String, into text: inout String) {
        text += "\""
        for scalar in string.unicodeScalars {
            switch scalar {
            case "\"": text += "\\\""
            case "\\": text += "\\\\"
            case "\n": text += "\\n"
            case "\r": text += "\\r"
            case "\t": text += "\\t"
            // Line separators too: what is written must stay one line for every reader.
            case _ where scalar.value < 0x20 || scalar.value == 0x7F || scalar.value == 0x2028 || scalar.value == 0x2029:
                let digits = String(scalar.value, radix: 16)
                text += "\\u" + String(repeating: "0", count: 4 - digits.count) + digits
            default: text.unicodeScalars.append(scalar)
            }
        }
        text += "\""
    }
}
