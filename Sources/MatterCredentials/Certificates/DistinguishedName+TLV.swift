import MatterTLV

extension DistinguishedName {
    /// The name as a list under `tag`; a PrintableString has bit 7 of its tag set (Matter Core, 6.5.6.3).
    func write(_ tag: TLVTag, to writer: inout TLVWriter) {
        writer.list(tag) { writer in
            for attribute in attributes {
                let number = attribute.kind.rawValue
                switch attribute.value {
                case .identifier(let id): writer.unsigned(.context(number), id)
                case .utf8(let text), .ia5(let text): writer.utf8(.context(number), text)
                case .printable(let text): writer.utf8(.context(number | 0x80), text)
                }
            }
        }
    }

    init(tlv value: TLVValue) throws(CredentialsError) {
        guard case .list(let members) = value else { throw CredentialsError(.malformed, "a certificate's name is not a list") }
        attributes = []
        for member in members {
            guard case .context(let tag) = member.tag, let kind = Kind(rawValue: tag & 0x7F) else {
                throw CredentialsError(.unsupported, "a certificate's name has an attribute that Matter does not know")
            }
            attributes.append(Attribute(kind, try Self.value(kind, isPrintable: tag & 0x80 != 0, member.value)))
        }
    }

    private static func value(_ kind: Kind, isPrintable flag: Bool, _ value: TLVValue) throws(CredentialsError) -> Value {
        switch value {
        case .unsigned(let id) where kind.digits != nil && !flag && (kind != .nocCAT || id <= 0xFFFF_FFFF): return .identifier(id)
        case .utf8(let text) where kind.digits == nil:
            if flag, isPrintable(text) { return .printable(text) }
            if !flag, kind != .domainComponent { return .utf8(text) }
            if !flag, text.utf8.allSatisfy({ $0 < 0x80 }) { return .ia5(text) }
            fallthrough
        default: throw CredentialsError(.malformed, "an attribute of a certificate's name has the wrong type")
        }
    }
}
