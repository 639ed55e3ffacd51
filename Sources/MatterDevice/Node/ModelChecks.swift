// Stand-in until MatterModel's own conformance evaluation and value checker land; this file then goes.
import MatterModel
import MatterTLV

enum Presence { case mandatory, optional, disallowed }

extension Conformance {
    func presence(_ isTrue: @escaping (String) -> Bool) -> Presence {
        for part in text.split(separator: ",").map({ $0.trimmingPrefix { $0 == " " } }) {
            let word = String(part)
            if word == "M" { return .mandatory }
            if word == "O" || word.hasPrefix("O.") || word == "desc" { return .optional }
            if word == "P" { continue }
            if word == "D" || word == "X" { return .disallowed }
            if word.hasPrefix("[") {
                let inner = word.dropFirst().prefix { $0 != "]" }
                var parser = Parser(String(inner), isTrue)
                if parser.or() { return .optional }
                continue
            }
            var parser = Parser(word, isTrue)
            if parser.or() { return .mandatory }
        }
        return .disallowed
    }

    private struct Parser {
        var tokens: [String]
        let isTrue: (String) -> Bool
        init(_ text: String, _ isTrue: @escaping (String) -> Bool) {
            self.isTrue = isTrue
            tokens = []
            var word = ""
            for character in text {
                if "&|!()".contains(character) || character == " " {
                    if !word.isEmpty { tokens.append(word) }
                    word = ""
                    if character != " " { tokens.append(String(character)) }
                } else {
                    word.append(character)
                }
            }
            if !word.isEmpty { tokens.append(word) }
            tokens.reverse()
        }
        mutating func or() -> Bool {
            var value = and()
            while tokens.last == "|" {
                tokens.removeLast()
                let right = and()
                value = value || right
            }
            return value
        }
        mutating func and() -> Bool {
            var value = not()
            while tokens.last == "&" {
                tokens.removeLast()
                let right = not()
                value = value && right
            }
            return value
        }
        mutating func not() -> Bool {
            if tokens.last == "!" {
                tokens.removeLast()
                return !not()
            }
            if tokens.last == "(" {
                tokens.removeLast()
                let value = or()
                if tokens.last == ")" { tokens.removeLast() }
                return value
            }
            guard let word = tokens.popLast() else { return false }
            return isTrue(word)
        }
    }
}

struct ValueChecker {
    init(features: UInt32, resolve: @escaping (String) -> Int64?) {}
    func check(_ attribute: AttributeDefinition, _ value: TLVValue) throws(Status) {
        if value.isNull, !attribute.isNullable { throw Status(.constraintError) }
    }
    func check(fields: [FieldDefinition], in value: TLVValue) throws(Status) {}
}
