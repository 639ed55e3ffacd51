/// An issuer or subject: an ordered list of attributes (Matter Core, 6.5.6).
public struct DistinguishedName: Equatable, Sendable {
    /// The kind of an attribute; the raw value is its context tag in a Matter certificate.
    public enum Kind: UInt8, Sendable, CaseIterable {
        case commonName = 1
        case surname, serialNumber, country, locality, state, organization, organizationalUnit
        case title, name, givenName, initials, generationQualifier, dnQualifier, pseudonym, domainComponent
        case nodeID = 17
        case firmwareSigningID, icacID, rcacID, fabricID, nocCAT

        /// The contents of the OBJECT IDENTIFIER.
        var oid: [UInt8] {
            switch self {
            case .domainComponent: return [0x09, 0x92, 0x26, 0x89, 0x93, 0xF2, 0x2C, 0x64, 0x01, 0x19]
            case .nodeID, .firmwareSigningID, .icacID, .rcacID, .fabricID, .nocCAT:
                // 1.3.6.1.4.1.37244.1.n
                return [0x2B, 0x06, 0x01, 0x04, 0x01, 0x82, 0xA2, 0x7C, 0x01, rawValue - 16]
            default:
                // 2.5.4.n, in the order of the cases above.
                let arcs: [UInt8] = [3, 4, 5, 6, 7, 8, 10, 11, 12, 41, 42, 43, 44, 46, 65]
                return [0x55, 0x04, arcs[Int(rawValue) - 1]]
            }
        }

        /// The number of hexadecimal digits when the value is a Matter identifier.
        var digits: Int? {
            switch self {
            case .nocCAT: 8
            case .nodeID, .firmwareSigningID, .icacID, .rcacID, .fabricID: 16
            default: nil
            }
        }
    }

    /// One attribute of a name, in its place.
    public struct Attribute: Equatable, Sendable {
        public var kind: Kind
        public var value: Value
        public init(_ kind: Kind, _ value: Value) {
            self.kind = kind
            self.value = value
        }
    }

    /// What an attribute holds: Matter's own are numbers, the others text.
    public enum Value: Equatable, Sendable {
        case identifier(UInt64)
        case utf8(String)
        /// A PrintableString (RFC 5280): letters, digits and a few signs.
        case printable(String)
        /// An IA5String, which is ASCII; only for `domainComponent`.
        case ia5(String)

        /// By bytes: two spellings of one character are two names, as they are to everybody who compares certificates.
        public static func == (left: Value, right: Value) -> Bool {
            switch (left, right) {
            case (.identifier(let a), .identifier(let b)): a == b
            case (.utf8(let a), .utf8(let b)), (.printable(let a), .printable(let b)), (.ia5(let a), .ia5(let b)):
                a.utf8.elementsEqual(b.utf8)
            default: false
            }
        }
    }

    public var attributes: [Attribute]
    public init(_ attributes: [Attribute]) { self.attributes = attributes }

    /// The values of all identifiers of one kind.
    public func identifiers(_ kind: Kind) -> [UInt64] {
        attributes.compactMap { attribute in
            if attribute.kind == kind, case .identifier(let value) = attribute.value { value } else { nil }
        }
    }
}
