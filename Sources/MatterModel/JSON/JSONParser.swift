/// Why text is not JSON.
public struct JSONError: Error, Hashable, Sendable, CustomStringConvertible {
    public let message: String
    /// From 1.
    public let line: Int
    /// In bytes, from 1.
    public let column: Int

    public var description: String { "line \(line), column \(column): \(message)" }
}

extension JSONValue {
    /// Reads one value that fills `text`. Of a name that stands twice in an object, the last counts, and an integer beyond 64 bits
    /// becomes a float; both are mistakes where `losesNothing`.
    public init(parsing text: String, losesNothing: Bool = false) throws(JSONError) {
        self = try JSONParser.parse(Array(text.utf8), losesNothing: losesNothing)
    }

    /// Reads one value that fills `bytes`, which must be UTF-8.
    public init(parsing bytes: [UInt8]) throws(JSONError) { self = try JSONParser.parse(bytes) }
}

/// Reads JSON as RFC 8259 has it, and nothing beyond.
struct JSONParser {
    /// Containers within each other.
    static let depthLimit = 64

    private let bytes: [UInt8]
    private let losesNothing: Bool
    private var position = 0

    static func parse(_ bytes: [UInt8], losesNothing: Bool = false) throws(JSONError) -> JSONValue {
        var parser = JSONParser(bytes, losesNothing)
        let value = try parser.value(depth: 0)
        parser.skipSpace()
        if parser.position < bytes.count { throw parser.failure("something follows the value") }
        return value
    }

    private init(_ bytes: [UInt8], _ losesNothing: Bool) { (self.bytes, self.losesNothing) = (bytes, losesNothing) }

    private func failure(_ message: String) -> JSONError {
        let before = bytes[..<min(position, bytes.count)]
        let lineStart = before.lastIndex(of: UInt8(ascii: "\n")).map { $0 + 1 } ?? 0
        return JSONError(
            message: message, line: before.count { $0 == UInt8(ascii: "\n") } + 1, column: before.count - lineStart + 1)
    }

    private var next: UInt8? { position < bytes.count ? bytes[position] : nil }

    private mutating func skipSpace() {
        while let byte = next, byte == 0x20 || byte == 0x09 || byte == 0x0A || byte == 0x0D { position += 1 }
    }

    private mutating func take(_ character: Unicode.Scalar) -> Bool {
        guard next == UInt8(ascii: character) else { return false }
        position += 1
        return true
    }

    private mutating func expect(_ character: Unicode.Scalar) throws(JSONError) {
        if !take(character) { throw failure("\(character) is wanted") }
    }

    private mutating func value(depth: Int) throws(JSONError) -> JSONValue {
        skipSpace()
        if depth > Self.depthLimit { throw failure("nested too deep") }
        switch next {
        case UInt8(ascii: "{"): return try object(depth)
        case UInt8(ascii: "["): return try array(depth)
        case UInt8(ascii: "\""): return .string(try string())
        case UInt8(ascii: "t"): return try word("true", .boolean(true))
        case UInt8(ascii: "f"): return try word("false", .boolean(false))
        case UInt8(ascii: "n"): return try word("null", .null)
        case nil: throw failure("a value is wanted, and nothing is there")
        default: return try number()
        }
    }

    private mutating func word(_ word: String, _ value: JSONValue) throws(JSONError) -> JSONValue {
        guard bytes[position...].starts(with: word.utf8) else { throw failure("a value is wanted") }
        position += word.utf8.count
        return value
    }

    private mutating func object(_ depth: Int) throws(JSONError) -> JSONValue {
        position += 1
        var members: [String: JSONValue] = [:]
        skipSpace()
        if take("}") { return .object(members) }
        repeat {
            skipSpace()
            guard next == UInt8(ascii: "\"") else { throw failure("a name in quotes is wanted") }
            let name = try string()
            skipSpace()
            try expect(":")
            let isKnown = members.updateValue(try value(depth: depth + 1), forKey: name) != nil
            if isKnown, losesNothing { throw failure("the member '\(name)' stands twice") }
            skipSpace()
        } while take(",")
        try expect("}")
        return .object(members)
    }

    private mutating func array(_ depth: Int) throws(JSONError) -> JSONValue {
        position += 1
        var values: [JSONValue] = []
        skipSpace()
        if take("]") { return .array(values) }
        repeat {
            values.append(try value(depth: depth + 1))
            skipSpace()
        } while take(",")
        try expect("]")
        return .array(values)
    }

    private mutating func number() throws(JSONError) -> JSONValue {
        let start = position
        _ = take("-")
        let whole = digits()
        guard !whole.isEmpty else { throw failure("a value is wanted") }
        if whole.count > 1, whole.first == UInt8(ascii: "0") { throw failure("a number starts with 0") }
        var isWhole = true
        if take(".") {
            isWhole = false
            if digits().isEmpty { throw failure("digits are wanted after the point") }
        }
        if take("e") || take("E") {
            isWhole = false
            if !take("+") { _ = take("-") }
            if digits().isEmpty { throw failure("digits are wanted in the exponent") }
        }
        let text = String(decoding: bytes[start..<position], as: UTF8.self)
        if isWhole {
            if let integer = Int64(text) { return .integer(integer) }
            if let unsigned = UInt64(text) { return .unsigned(unsigned) }
            if losesNothing { throw failure("the integer does not fit into 64 bits") }
        }
        guard let number = Double(text), number.isFinite else { throw failure("the number is too large") }
        return .number(number)
    }

    private mutating func digits() -> ArraySlice<UInt8> {
        let start = position
        while let byte = next, (0x30...0x39).contains(byte) { position += 1 }
        return bytes[start..<position]
    }

    private mutating func string() throws(JSONError) -> String {
        position += 1
        var content: [UInt8] = []
        while true {
            guard let byte = next else { throw failure("the string does not end") }
            if byte < 0x20 { throw failure("a control character in a string") }
            position += 1
            if byte == UInt8(ascii: "\"") { break }
            if byte == UInt8(ascii: "\\") {
                content.append(contentsOf: try escaped())
            } else {
                content.append(byte)
            }
        }
        guard let string = String(validating: content, as: UTF8.self) else { throw failure("the string is not UTF-8") }
        return string
    }

    private mutating func escaped() throws(JSONError) -> [UInt8] {
        guard let byte = next else { throw failure("the string does not end") }
        position += 1
        switch byte {
        case UInt8(ascii: "\""), UInt8(ascii: "\\"), UInt8(ascii: "/"): return [byte]
        case UInt8(ascii: "b"): return [0x08]
        case UInt8(ascii: "f"): return [0x0C]
        case UInt8(ascii: "n"): return [0x0A]
        case UInt8(ascii: "r"): return [0x0D]
        case UInt8(ascii: "t"): return [0x09]
        case UInt8(ascii: "u"):
            var code = try hexadecimal()
            if (0xD800...0xDBFF).contains(code) {
                guard take("\\"), take("u") else { throw failure("half of a surrogate pair") }
                let low = try hexadecimal()
                guard (0xDC00...0xDFFF).contains(low) else { throw failure("half of a surrogate pair") }
                code = 0x10000 + (code - 0xD800) << 10 + (low - 0xDC00)
            }
            guard let scalar = Unicode.Scalar(code) else { throw failure("half of a surrogate pair") }
            return Array(String(Character(scalar)).utf8)
        default: throw failure("an escape that JSON does not have")
        }
    }

    private mutating func hexadecimal() throws(JSONError) -> UInt32 {
        guard position + 4 <= bytes.count,
            bytes[position..<(position + 4)].allSatisfy({ Character(Unicode.Scalar($0)).isHexDigit }),
            let code = UInt32(String(decoding: bytes[position..<(position + 4)], as: UTF8.self), radix: 16)
        else { throw failure("four hexadecimal digits are wanted") }
        position += 4
        return code
    }
}
