/// A PKCS #10 certification request (RFC 2986) for an operational key: the device's "certify this key, which I hold".
public struct CertificateSigningRequest: Hashable, Sendable {
    public let der: [UInt8]
    /// The key to certify: an uncompressed P-256 point, 65 bytes.
    public let publicKey: [UInt8]

    /// Makes the request in the form of Matter's example (Core, appendix F.3): subject O=CSA, an empty extension request.
    public init(for key: PrivateKey) throws(CredentialsError) {
        let info = Self.info(publicKey: key.publicKey)
        publicKey = key.publicKey
        der = X509.signed(info, try key.sign(info))
    }

    /// The part that is signed.
    static func info(publicKey: [UInt8]) -> [UInt8] {
        let organization = DistinguishedName([.init(.organization, .utf8("CSA"))])
        let extensionRequest = DER.sequence(
            DER.element(DER.oid, [0x2A, 0x86, 0x48, 0x86, 0xF7, 0x0D, 0x01, 0x09, 0x0E]), DER.element(DER.set, DER.sequence([])))
        return DER.sequence(
            DER.element(DER.integer, [0]), organization.der, X509.publicKeyInfo(publicKey), DER.element(0xA0, extensionRequest))
    }

    /// Reads a request and checks its proof of possession. Subject and attributes may be anything: the issuer chooses the subject.
    /// - Throws: `invalidSignature` when the request is not signed with the key that it carries.
    public init(der bytes: [UInt8]) throws(CredentialsError) {
        var outer = DERReader(bytes)
        var request = try outer.enter(DER.sequence)
        try outer.expectEnd()
        let (tag, contents, info) = try request.readAny()
        guard tag == DER.sequence else { throw CredentialsError(.malformed, "a signing request's body is not a sequence") }
        guard try request.readAny().whole.elementsEqual(X509.ecdsaWithSHA256) else {
            throw CredentialsError(.unsupported, "a signing request's signature is not ECDSA with SHA-256")
        }
        let signature = try X509.signature(&request)
        try request.expectEnd()

        var body = DERReader(contents)
        guard try body.read(DER.integer).elementsEqual([0]) else {
            throw CredentialsError(.unsupported, "a signing request of an unknown version")
        }
        _ = try body.read(DER.sequence)
        publicKey = try X509.point(&body)
        _ = try body.read(0xA0)
        try body.expectEnd()
        der = bytes
        guard ECDSA.verify(signature: signature, of: Array(info), publicKey: publicKey) else {
            throw CredentialsError(.invalidSignature, "the signing request is not signed with its own key")
        }
    }
}
