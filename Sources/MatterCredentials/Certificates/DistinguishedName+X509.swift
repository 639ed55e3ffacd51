extension DistinguishedName {
    var der: [UInt8] {
        DER.element(
            DER.sequence,
            attributes.flatMap { attribute -> [UInt8] in
                let (tag, bytes): (UInt8, [UInt8]) =
                    switch attribute.value {
                    case .identifier(let id): (DER.utf8String, hexadecimal(id, digits: attribute.kind.digits ?? 16))
                    case .utf8(let text): (DER.utf8String, Array(text.utf8))
                    case .printable(let text): (DER.printableString, Array(text.utf8))
                    case .ia5(let text): (DER.ia5String, Array(text.utf8))
                    }
                return DER.element(DER.set, DER.sequence(DER.element(DER.oid, attribute.kind.oid), DER.element(tag, bytes)))
            })
    }

    init(der: inout DERReader) throws(CredentialsError) {
        attributes = []
        var list = try der.enter(DER.sequence)
        while !list.isAtEnd {
            var set = try list.enter(DER.set)
            var pair = try set.enter(DER.sequence)
            try set.expectEnd()
            let oid = try pair.read(DER.oid)
            let (tag, contents, _) = try pair.readAny()
            try pair.expectEnd()
            guard let kind = Kind.allCases.first(where: { $0.oid.elementsEqual(oid) }) else {
                throw CredentialsError(.unsupported, "a distinguished name has an attribute that Matter does not know")
            }
            attributes.append(Attribute(kind, try Self.value(kind, tag, contents)))
        }
    }

    private static func value(_ kind: Kind, _ tag: UInt8, _ contents: ArraySlice<UInt8>) throws(CredentialsError) -> Value {
        if let digits = kind.digits {
            // Exactly the specification's form, or two spellings of one id could pass for two ids.
            guard tag == DER.utf8String, contents.count == digits, let id = identifier(contents) else {
                throw CredentialsError(.malformed, "a Matter identifier is not \(digits) upper-case hexadecimal digits")
            }
            return .identifier(id)
        }
        guard let text = String(validating: contents, as: UTF8.self) else {
            throw CredentialsError(.malformed, "a distinguished name has a string that is not UTF-8")
        }
        // The compact form tells the string types apart by the tag, and by the attribute for IA5.
        switch tag {
        case DER.ia5String where kind == .domainComponent && text.utf8.allSatisfy({ $0 < 0x80 }): return .ia5(text)
        case DER.utf8String where kind != .domainComponent: return .utf8(text)
        case DER.printableString where isPrintable(text): return .printable(text)
        default:
            throw CredentialsError(
                .unsupported, "a distinguished name has a string type or a character that Matter does not allow")
        }
    }

    /// Whether a PrintableString may hold `text`.
    static func isPrintable(_ text: String) -> Bool {
        text.utf8.allSatisfy { byte in
            switch byte {
            case 0x30...0x39, 0x41...0x5A, 0x61...0x7A: true
            default: " '()+,-./:=?".utf8.contains(byte)
            }
        }
    }

    private static func identifier(_ digits: ArraySlice<UInt8>) -> UInt64? {
        var value: UInt64 = 0
        for digit in digits {
            switch digit {
            case 0x30...0x39: value = value << 4 | UInt64(digit - 0x30)
            case 0x41...0x46: value = value << 4 | UInt64(digit - 0x41 + 10)
            default: return nil
            }
        }
        return value
    }
}

/// `value` as upper-case hexadecimal of a fixed width.
func hexadecimal(_ value: UInt64, digits: Int) -> [UInt8] {
    (0..<digits).reversed().map { Array("0123456789ABCDEF".utf8)[Int(value >> (4 * $0) & 0xF)] }
}
