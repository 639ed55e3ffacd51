import MatterTLV

extension MatterCertificate {
    /// The certificate in Matter's compact form.
    public var tlv: [UInt8] {
        var writer = TLVWriter(reservingCapacity: 400)
        writer.structure(.anonymous) { w in
            w.octets(1, serialNumber)
            w.unsigned(2, 1)
            issuer.write(3, to: &w)
            w.unsigned(4, UInt64(notBefore.seconds))
            w.unsigned(5, UInt64(notAfter.seconds))
            subject.write(6, to: &w)
            w.unsigned(7, 1)
            w.unsigned(8, 1)
            w.octets(9, publicKey)
            w.list(10) { w in for item in extensions { item.write(to: &w) } }
            w.octets(11, signature)
        }
        return writer.bytes
    }

    /// Reads the compact form. Fields must come in the order of the specification, each once, and nothing else; numbers may be wider than
    /// they need to be (the signature covers the X.509 form, in which that makes no difference).
    public init(tlv bytes: [UInt8]) throws(CredentialsError) {
        let value: TLVValue
        do { value = try TLVValue(decoding: bytes, limits: TLVLimits(depth: 4, elements: 256, stringLength: 1024)) } catch {
            throw CredentialsError(.malformed, "a certificate's TLV: \(error)")
        }
        guard case .structure(let members) = value else {
            throw CredentialsError(.malformed, "a certificate's TLV is not a structure")
        }
        var fields = CertificateFields(members)
        serialNumber = try fields.octets(1, 1...20)
        try fields.algorithm(2, "signature algorithm")
        issuer = try DistinguishedName(tlv: try fields.next(3))
        notBefore = MatterTime(seconds: try fields.number(4))
        notAfter = MatterTime(seconds: try fields.number(5))
        subject = try DistinguishedName(tlv: try fields.next(6))
        try fields.algorithm(7, "public key algorithm")
        try fields.algorithm(8, "curve")
        publicKey = try fields.octets(9, 65...65)
        guard publicKey.first == 4 else { throw CredentialsError(.malformed, "a certificate's key is not an uncompressed point") }
        guard case .list(let items) = try fields.next(10) else {
            throw CredentialsError(.malformed, "a certificate's extensions are not a list")
        }
        extensions = []
        for item in items { extensions.append(try Extension(item)) }
        try Extension.checkOnce(extensions)
        signature = try fields.octets(11, 64...64)
        try fields.end()
    }
}

/// The members of a certificate, in their order.
private struct CertificateFields {
    private var rest: ArraySlice<TLVElement>
    init(_ members: [TLVElement]) { rest = members[...] }

    mutating func next(_ tag: UInt8) throws(CredentialsError) -> TLVValue {
        guard let member = rest.popFirst(), member.tag == .context(tag) else {
            throw CredentialsError(.malformed, "field \(tag) of a certificate is missing or out of order")
        }
        return member.value
    }

    mutating func octets(_ tag: UInt8, _ count: ClosedRange<Int>) throws(CredentialsError) -> [UInt8] {
        guard let bytes = try next(tag).octets, count.contains(bytes.count) else {
            throw CredentialsError(.malformed, "field \(tag) of a certificate is not a string of \(count) bytes")
        }
        return bytes
    }

    mutating func number(_ tag: UInt8) throws(CredentialsError) -> UInt32 {
        guard case .unsigned(let value) = try next(tag), let value = UInt32(exactly: value) else {
            throw CredentialsError(.malformed, "field \(tag) of a certificate is not a 32-bit number")
        }
        return value
    }

    mutating func algorithm(_ tag: UInt8, _ what: String) throws(CredentialsError) {
        guard try number(tag) == 1 else {
            throw CredentialsError(.unsupported, "a certificate's \(what) is not the one that Matter uses")
        }
    }

    func end() throws(CredentialsError) {
        guard rest.isEmpty else { throw CredentialsError(.malformed, "a certificate has fields beyond its signature") }
    }
}

extension MatterCertificate.Extension {
    func write(to writer: inout TLVWriter) {
        switch self {
        case .basicConstraints(let isCA, let pathLength):
            writer.structure(1) { w in
                w.boolean(1, isCA)
                if let pathLength { w.unsigned(2, UInt64(pathLength)) }
            }
        case .keyUsage(let usage): writer.unsigned(2, UInt64(usage.rawValue))
        case .extendedKeyUsage(let purposes):
            writer.array(3) { w in for purpose in purposes { w.unsigned(.anonymous, UInt64(purpose.rawValue)) } }
        case .subjectKeyID(let id): writer.octets(4, id)
        case .authorityKeyID(let id): writer.octets(5, id)
        case .other(let bytes): writer.octets(6, bytes)
        }
    }

    init(_ element: TLVElement) throws(CredentialsError) {
        switch (element.tag, element.value) {
        case (1, .structure(let members)): self = try Self.basicConstraints(members)
        case (2, .unsigned(let bits)) where bits < 0x200:
            self = .keyUsage(.init(rawValue: UInt16(truncatingIfNeeded: bits)))
        case (3, .array(let numbers)):
            var purposes: [MatterCertificate.Purpose] = []
            for case let number in numbers {
                guard case .unsigned(let number) = number,
                    let purpose = UInt8(exactly: number).flatMap(MatterCertificate.Purpose.init)
                else {
                    throw CredentialsError(.unsupported, "a certificate has an unknown extended key usage")
                }
                purposes.append(purpose)
            }
            self = .extendedKeyUsage(purposes)
        case (4, .octets(let id)) where id.count == 20: self = .subjectKeyID(id)
        case (5, .octets(let id)) where id.count == 20: self = .authorityKeyID(id)
        case (6, .octets(let bytes)):
            // Anything else would make an X.509 form that cannot be read, or a second spelling of a known extension.
            guard case .other = try Self(der: bytes) else {
                throw CredentialsError(.malformed, "a certificate has a known extension in its foreign form")
            }
            self = .other(bytes)
        default: throw CredentialsError(.malformed, "a certificate has an extension that is unknown or of the wrong form")
        }
    }

    private static func basicConstraints(_ members: [TLVElement]) throws(CredentialsError) -> Self {
        guard let first = members.first, first.tag == 1, let isCA = first.value.boolean, members.count <= 2 else {
            throw CredentialsError(.malformed, "a certificate's basic constraints do not say whether it is an authority")
        }
        guard members.count == 2 else { return .basicConstraints(isCA: isCA, pathLength: nil) }
        guard members[1].tag == 2, case .unsigned(let length) = members[1].value, let length = UInt8(exactly: length) else {
            throw CredentialsError(.malformed, "a certificate's path length is not a number up to 255")
        }
        return .basicConstraints(isCA: isCA, pathLength: length)
    }

    /// RFC 5280, 4.2: an extension occurs once. Two of a kind would let two readers see two different certificates.
    static func checkOnce(_ extensions: [Self]) throws(CredentialsError) {
        var kinds: Set<Int> = []
        for item in extensions {
            let kind: Int
            switch item {
            case .basicConstraints: kind = 1
            case .keyUsage: kind = 2
            case .extendedKeyUsage: kind = 3
            case .subjectKeyID: kind = 4
            case .authorityKeyID: kind = 5
            case .other: continue
            }
            guard kinds.insert(kind).inserted else { throw CredentialsError(.malformed, "a certificate has one extension twice") }
        }
    }
}
