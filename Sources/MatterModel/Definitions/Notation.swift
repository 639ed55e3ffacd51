/// Why a conformance or constraint cannot be parsed.
struct NotationError: Error {
    var message: String
}

/// A word, number or sign of the notations for conformance and constraint.
enum NotationToken: Hashable {
    case word(String)
    /// With its digits after the point, and its unit (`°C`, `%`) or nothing.
    case number(hundredths: Int64, unit: String)
    case sign(String)

    /// Signs of two characters are tried first.
    private static let signs = [
        "==", "!=", "<=", ">=", "<", ">", "!", "&", "|", "(", ")", "[", "]", "{", "}", ",", ".", "+", "-",
    ]

    static func tokens(of text: String) throws(NotationError) -> [NotationToken] {
        var tokens: [NotationToken] = []
        var rest = text[...]
        while let character = rest.first {
            if character == " " {
                rest.removeFirst()
            } else if character.isLetter || character == "_" {
                let word = rest.prefix { $0.isLetter || $0.isNumber || $0 == "_" }
                tokens.append(.word(String(word)))
                rest = rest.dropFirst(word.count)
            } else if character.isNumber {
                tokens.append(try number(&rest))
            } else if let sign = signs.first(where: { rest.hasPrefix($0) }) {
                tokens.append(.sign(sign))
                rest = rest.dropFirst(sign.count)
            } else {
                throw NotationError(message: "\(character) is no sign of the notation")
            }
        }
        return tokens
    }

    private static func number(_ rest: inout Substring) throws(NotationError) -> NotationToken {
        if rest.hasPrefix("0x") {
            let digits = rest.dropFirst(2).prefix { $0.isHexDigit }
            guard let value = Int64(digits, radix: 16), value < Int64.max / 100 else {
                throw NotationError(message: "number \(digits)")
            }
            rest = rest.dropFirst(2 + digits.count)
            return .number(hundredths: value * 100, unit: "")
        }
        let whole = rest.prefix { $0.isNumber }
        rest = rest.dropFirst(whole.count)
        var fraction = ""
        // A point followed by a letter is a choice, as in `O.a`.
        if rest.first == ".", let next = rest.dropFirst().first, next.isNumber {
            fraction = String(rest.dropFirst().prefix { $0.isNumber })
            rest = rest.dropFirst(1 + fraction.count)
        }
        guard fraction.count <= 2, let value = Int64(whole + fraction + String(repeating: "0", count: 2 - fraction.count)) else {
            throw NotationError(message: "number \(whole).\(fraction)")
        }
        for unit in ["°C", "%"] where rest.hasPrefix(unit) {
            rest = rest.dropFirst(unit.count)
            return .number(hundredths: value, unit: unit)
        }
        return .number(hundredths: value, unit: "")
    }
}

/// Goes through tokens.
struct NotationCursor {
    private let tokens: [NotationToken]
    private var position = 0

    init(_ text: String) throws(NotationError) { tokens = try NotationToken.tokens(of: text) }

    var isAtEnd: Bool { position >= tokens.count }
    var next: NotationToken? { isAtEnd ? nil : tokens[position] }

    mutating func take() -> NotationToken? {
        guard let token = next else { return nil }
        position += 1
        return token
    }

    /// Takes the sign if it is next.
    mutating func take(_ sign: String) -> Bool {
        guard next == .sign(sign) else { return false }
        position += 1
        return true
    }

    /// Takes the word if it is next.
    mutating func take(word: String) -> Bool {
        guard next == .word(word) else { return false }
        position += 1
        return true
    }

    mutating func expect(_ sign: String) throws(NotationError) {
        if !take(sign) { throw NotationError(message: "\(sign) is wanted" + (next.map { ", not \($0)" } ?? " at the end")) }
    }

    mutating func expectEnd() throws(NotationError) {
        if let next { throw NotationError(message: "\(next) is too much") }
    }

    /// Takes a whole number, without a sign or a unit.
    mutating func takeCount() -> Int? {
        guard case .number(let hundredths, "")? = next, hundredths % 100 == 0 else { return nil }
        position += 1
        return Int(hundredths / 100)
    }
}
