import MatterModel

/// A certificate of the attestation hierarchy (Matter Core, 6.2.2): a device's (DAC), its maker's intermediate (PAI), or the root (PAA).
/// Unlike operational certificates these exist as X.509 only.
public struct AttestationCertificate: Hashable, Sendable {
    public let der: [UInt8]
    /// The subject and the issuer as they stand, for comparison.
    public let subject: [UInt8]
    public let issuer: [UInt8]
    /// Vendor and product of the subject, by their own attributes or from the common name (Matter Core, 6.2.2.2).
    public let vendorID: VendorID?
    public let productID: UInt16?
    public let notBefore: MatterTime
    public let notAfter: MatterTime
    /// The uncompressed P-256 point, 65 bytes.
    public let publicKey: [UInt8]
    public let subjectKeyID: [UInt8]
    public let authorityKeyID: [UInt8]
    let isCA: Bool
    let pathLength: UInt8?
    let keyUsage: MatterCertificate.KeyUsage
    let hasUnknownCriticalExtension: Bool
    private let tbs: [UInt8]
    private let signature: [UInt8]

    public init(der bytes: [UInt8]) throws(CredentialsError) {
        var outer = DERReader(bytes)
        var certificate = try outer.enter(DER.sequence)
        try outer.expectEnd()
        let (tag, contents, whole) = try certificate.readAny()
        guard tag == DER.sequence else { throw CredentialsError(.malformed, "a certificate's body is not a sequence") }
        guard try certificate.readAny().whole.elementsEqual(X509.ecdsaWithSHA256) else {
            throw CredentialsError(.unsupported, "an attestation certificate's signature is not ECDSA with SHA-256")
        }
        signature = try X509.signature(&certificate)
        try certificate.expectEnd()
        (der, tbs) = (bytes, Array(whole))

        var body = DERReader(contents)
        guard try body.readAny().whole.elementsEqual([0xA0, 3, 2, 1, 2]) else {
            throw CredentialsError(.unsupported, "an attestation certificate is not X.509 v3")
        }
        _ = try body.read(DER.integer)
        guard try body.readAny().whole.elementsEqual(X509.ecdsaWithSHA256) else {
            throw CredentialsError(.malformed, "an attestation certificate names two signature algorithms")
        }
        issuer = Array(try body.readAny().whole)
        var validity = try body.enter(DER.sequence)
        notBefore = try MatterTime(der: &validity)
        notAfter = try MatterTime(der: &validity)
        try validity.expectEnd()
        let name = try body.readAny()
        subject = Array(name.whole)
        (vendorID, productID) = try Self.identifiers(of: name.whole)
        publicKey = try X509.point(&body)
        var list = try body.enter(0xA3)
        try body.expectEnd()
        var each = try list.enter(DER.sequence)
        try list.expectEnd()
        var (constraints, pathLength, usage) = (false, UInt8?.none, MatterCertificate.KeyUsage())
        var (subjectKey, authorityKey, unknownCritical): ([UInt8], [UInt8], Bool) = ([], [], false)
        var known: [MatterCertificate.Extension] = []
        while !each.isAtEnd {
            let bytes = Array(try each.readAny().whole)
            let item = try MatterCertificate.Extension(der: bytes)
            known.append(item)
            switch item {
            case .basicConstraints(let isCA, let length): (constraints, pathLength) = (isCA, length)
            case .keyUsage(let value): usage = value
            case .subjectKeyID(let id): subjectKey = id
            case .authorityKeyID(let id): authorityKey = id
            case .extendedKeyUsage: break
            case .other(let bytes): if try MatterCertificate.Extension.isCritical(bytes) { unknownCritical = true }
            }
        }
        try MatterCertificate.Extension.checkOnce(known)
        (isCA, self.pathLength, keyUsage, hasUnknownCriticalExtension) = (constraints, pathLength, usage, unknownCritical)
        (subjectKeyID, authorityKeyID) = (subjectKey, authorityKey)
    }

    /// Whether `issuer`'s key made the signature. Checks nothing else.
    public func isSigned(by issuer: AttestationCertificate) -> Bool {
        ECDSA.verify(signature: signature, of: tbs, publicKey: issuer.publicKey)
    }

    public static func == (left: Self, right: Self) -> Bool { left.der == right.der }
    public func hash(into hasher: inout Hasher) { hasher.combine(der) }

    func isValid(at time: MatterTime) -> Bool { notBefore <= time && (notAfter == .never || time <= notAfter) }
}

// MARK: Vendor and product

extension AttestationCertificate {
    /// 1.3.6.1.4.1.37244.2, below which 1 is the vendor's id and 2 the product's.
    private static let matterArc: [UInt8] = [0x2B, 0x06, 0x01, 0x04, 0x01, 0x82, 0xA2, 0x7C, 0x02]
    private static let commonName: [UInt8] = [0x55, 0x04, 0x03]

    private static func identifiers(of name: ArraySlice<UInt8>) throws(CredentialsError) -> (VendorID?, UInt16?) {
        var (vendors, products): ([UInt16], [UInt16]) = ([], [])
        var text = ""
        var reader = DERReader(name)
        var list = try reader.enter(DER.sequence)
        while !list.isAtEnd {
            var set = try list.enter(DER.set)
            while !set.isAtEnd {
                var pair = try set.enter(DER.sequence)
                let oid = Array(try pair.read(DER.oid))
                let value = String(decoding: try pair.readAny().contents, as: UTF8.self)
                try pair.expectEnd()
                if oid == commonName { text += value }
                guard oid.dropLast() == matterArc[...] else { continue }
                guard let id = number(value) else {
                    throw CredentialsError(
                        .malformed, "an attestation certificate's vendor or product is not 4 hexadecimal digits")
                }
                if oid.last == 1 { vendors.append(id) }
                if oid.last == 2 { products.append(id) }
            }
        }
        guard vendors.count <= 1, products.count <= 1 else {
            throw CredentialsError(.malformed, "an attestation certificate names two vendors or two products")
        }
        // The fallback for authorities that cannot write the attributes; never both forms in one name.
        if vendors.isEmpty, products.isEmpty {
            vendors = labelled("Mvid:", in: text).map { [$0] } ?? []
            products = labelled("Mpid:", in: text).map { [$0] } ?? []
        }
        return (vendors.first.map { VendorID($0) }, products.first)
    }

    private static func number(_ text: some StringProtocol) -> UInt16? {
        guard text.utf8.count == 4, text.utf8.allSatisfy({ (0x30...0x39).contains($0) || (0x41...0x46).contains($0) }) else {
            return nil
        }
        return UInt16(text, radix: 16)
    }

    private static func labelled(_ label: String, in text: String) -> UInt16? {
        var rest = text[...]
        while !rest.isEmpty {
            if rest.hasPrefix(label) { return number(rest.dropFirst(label.count).prefix(4)) }
            rest = rest.dropFirst()
        }
        return nil
    }

    /// A subject with a common name and, when given, vendor and product.
    static func name(_ common: String, _ vendor: VendorID?, _ product: UInt16?) -> [UInt8] {
        func attribute(_ oid: [UInt8], _ text: [UInt8]) -> [UInt8] {
            DER.element(DER.set, DER.sequence(DER.element(DER.oid, oid), DER.element(DER.utf8String, text)))
        }
        return DER.sequence(
            attribute(commonName, Array(common.utf8)),
            vendor.map { attribute(matterArc + [1], hexadecimal(UInt64($0.rawValue), digits: 4)) } ?? [],
            product.map { attribute(matterArc + [2], hexadecimal(UInt64($0), digits: 4)) } ?? [])
    }

    /// Makes and signs a certificate. - Parameter pathLength: of an authority; nil for a device's certificate.
    static func signed(
        subject: [UInt8], publicKey: [UInt8], pathLength: UInt8?, issuer: [UInt8], by key: PrivateKey, notBefore: MatterTime
    ) throws(CredentialsError) -> AttestationCertificate {
        let extensions: [MatterCertificate.Extension] = [
            .basicConstraints(isCA: pathLength != nil, pathLength: pathLength),
            .keyUsage(pathLength == nil ? .digitalSignature : [.keyCertSign, .crlSign]),
            .subjectKeyID(Crypto.keyID(publicKey)), .authorityKeyID(Crypto.keyID(key.publicKey)),
        ]
        let tbs = X509.tbs(
            serialNumber: Crypto.serialNumber(), issuer: issuer, notBefore: notBefore, notAfter: .never, subject: subject,
            publicKey: publicKey, extensions: extensions.flatMap(\.der))
        return try AttestationCertificate(der: X509.signed(tbs, try key.sign(tbs)))
    }
}
