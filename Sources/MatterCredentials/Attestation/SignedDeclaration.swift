/// A certification declaration in its envelope: CMS SignedData with one signer, named by its key, and neither certificates nor signed
/// attributes (Matter Core, 6.3.1; RFC 5652).
public struct SignedDeclaration: Hashable, Sendable {
    /// The declaration as it was signed.
    public let content: [UInt8]
    public let declaration: CertificationDeclaration
    /// The subject key id of the signer, 20 bytes.
    public let signerKeyID: [UInt8]
    /// r and s, 32 bytes each.
    public let signature: [UInt8]

    private static let signedData: [UInt8] = [0x2A, 0x86, 0x48, 0x86, 0xF7, 0x0D, 0x01, 0x07, 0x02]
    private static let data: [UInt8] = [0x2A, 0x86, 0x48, 0x86, 0xF7, 0x0D, 0x01, 0x07, 0x01]
    private static let sha256 = DER.sequence(DER.element(DER.oid, [0x60, 0x86, 0x48, 0x01, 0x65, 0x03, 0x04, 0x02, 0x01]))

    /// Signs a declaration.
    public init(_ declaration: CertificationDeclaration, by key: PrivateKey) throws(CredentialsError) {
        self.declaration = declaration
        content = declaration.tlv
        signerKeyID = Crypto.keyID(key.publicKey)
        signature = try key.sign(content)
    }

    /// The whole envelope, as attestation elements carry it.
    public var der: [UInt8] {
        let version = DER.element(DER.integer, [3])
        let signer = DER.sequence(
            version, DER.element(0x80, signerKeyID), Self.sha256, X509.ecdsaWithSHA256,
            DER.element(DER.octetString, ECDSA.der(signature)))
        let body = DER.sequence(
            version, DER.element(DER.set, Self.sha256),
            DER.sequence(DER.element(DER.oid, Self.data), DER.element(0xA0, DER.element(DER.octetString, content))),
            DER.element(DER.set, signer))
        return DER.sequence(DER.element(DER.oid, Self.signedData), DER.element(0xA0, body))
    }

    /// Reads an envelope. The signature is not checked: see `isSigned`.
    public init(der bytes: [UInt8]) throws(CredentialsError) {
        func expect(_ matches: Bool, _ what: String) throws(CredentialsError) {
            guard matches else { throw CredentialsError(.unsupported, "a certification declaration's envelope: \(what)") }
        }
        var outer = DERReader(bytes)
        var info = try outer.enter(DER.sequence)
        try outer.expectEnd()
        try expect(try info.read(DER.oid).elementsEqual(Self.signedData), "not signed data")
        var wrapped = try info.enter(0xA0)
        try info.expectEnd()
        var body = try wrapped.enter(DER.sequence)
        try wrapped.expectEnd()
        try expect(try body.read(DER.integer).elementsEqual([3]), "not version 3")
        try expect(try body.read(DER.set).elementsEqual(Self.sha256), "not SHA-256")
        var inner = try body.enter(DER.sequence)
        try expect(try inner.read(DER.oid).elementsEqual(Self.data), "not plain data")
        var octets = try inner.enter(0xA0)
        try inner.expectEnd()
        content = Array(try octets.read(DER.octetString))
        try octets.expectEnd()
        var signers = try body.enter(DER.set)
        try body.expectEnd()
        var signer = try signers.enter(DER.sequence)
        try signers.expectEnd()
        try expect(try signer.read(DER.integer).elementsEqual([3]), "not a signer named by its key")
        signerKeyID = Array(try signer.read(0x80))
        try expect(try signer.readAny().whole.elementsEqual(Self.sha256), "not SHA-256")
        try expect(try signer.readAny().whole.elementsEqual(X509.ecdsaWithSHA256), "not ECDSA with SHA-256")
        signature = try ECDSA.raw(try signer.read(DER.octetString))
        try signer.expectEnd()
        declaration = try CertificationDeclaration(tlv: content)
    }

    /// Whether the signature is by `key`.
    public func isSigned(by key: PublicKey) -> Bool { key.isValid(signature: signature, of: content) }
}
