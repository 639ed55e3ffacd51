import MatterModel

/// Whom a controller believes when a device says what it is (Matter Core, 6.2.3 and 6.3).
public struct AttestationTrust: Sendable {
    /// Product attestation authorities.
    public var authorities: [AttestationCertificate]
    /// Keys that sign certification declarations.
    public var declarationKeys: [PublicKey]

    public init(authorities: [AttestationCertificate], declarationKeys: [PublicKey]) {
        (self.authorities, self.declarationKeys) = (authorities, declarationKeys)
    }

    /// What a device proved.
    public struct Verdict: Sendable {
        /// The device's attestation key, which also signs its certificate signing request.
        public let deviceKey: PublicKey
        public let vendorID: VendorID
        public let productID: UInt16
        public let declaration: CertificationDeclaration
    }

    /// Judges a device's attestation (Matter Core, 6.2.3.1).
    /// - Parameters:
    ///   - elements: what AttestationResponse carried, and `signature` over it: r and s, 64 bytes.
    ///   - challenge: the session's attestation challenge.
    ///   - nonce: what AttestationRequest carried.
    ///   - vendorID: what Basic Information says, and `productID` likewise.
    /// - Throws: `invalidAttestation`, `invalidSignature`, `invalidChain` or `malformed`, saying what does not hold.
    public func verify(
        dac: [UInt8], pai: [UInt8], elements: [UInt8], signature: [UInt8], challenge: [UInt8], nonce: [UInt8], vendorID: VendorID,
        productID: UInt16
    ) throws(CredentialsError) -> Verdict {
        let device = try AttestationCertificate(der: dac)
        let authority = try verifyChain(device: device, intermediate: try AttestationCertificate(der: pai))
        guard let attestedVendor = device.vendorID, let attestedProduct = device.productID else {
            throw CredentialsError(.invalidAttestation, "the device's attestation certificate names no vendor or product")
        }
        let key = try PublicKey(point: device.publicKey)
        guard key.isValid(signature: signature, of: elements + challenge) else {
            throw CredentialsError(
                .invalidSignature, "the device does not hold its attestation key, or the answer was made for another session")
        }
        let read = try AttestationElements(tlv: elements)
        guard Crypto.equal(read.attestationNonce, nonce) else {
            throw CredentialsError(
                .invalidAttestation, "the device answered another attestation request than the one it was sent")
        }
        let declaration = try verifyDeclaration(read.certificationDeclaration)
        try check(
            declaration, vendorID, productID, attested: .init(vendorID: attestedVendor, productID: attestedProduct), by: authority
        )
        return Verdict(deviceKey: key, vendorID: vendorID, productID: productID, declaration: declaration)
    }

    /// Checks an envelope's signature against the known keys.
    public func verifyDeclaration(_ bytes: [UInt8]) throws(CredentialsError) -> CertificationDeclaration {
        let signed = try SignedDeclaration(der: bytes)
        guard let key = declarationKeys.first(where: { Crypto.keyID($0.point) == signed.signerKeyID }) else {
            throw CredentialsError(
                .invalidAttestation, "the certification declaration is signed by somebody who is not known here")
        }
        guard signed.isSigned(by: key) else {
            throw CredentialsError(.invalidSignature, "the certification declaration's signature is wrong")
        }
        return signed.declaration
    }

    /// The agreement of product, certificate and declaration.
    private func check(
        _ declaration: CertificationDeclaration, _ vendor: VendorID, _ product: UInt16, attested: CertificationDeclaration.Origin,
        by authority: AttestationCertificate
    ) throws(CredentialsError) {
        guard declaration.vendorID == vendor, declaration.productIDs.contains(product) else {
            throw CredentialsError(
                .invalidAttestation, "the certification declaration is for another product than the device says it is")
        }
        if let origin = declaration.dacOrigin {
            guard origin == attested else {
                throw CredentialsError(
                    .invalidAttestation, "the attestation certificate is not of the origin that the declaration names")
            }
        } else {
            guard attested.vendorID == vendor, declaration.productIDs.contains(attested.productID) else {
                throw CredentialsError(
                    .invalidAttestation, "the attestation certificate is for another product than the declaration")
            }
        }
        if let list = declaration.authorizedPAAs, !list.contains(authority.subjectKeyID) {
            throw CredentialsError(.invalidAttestation, "the declaration does not allow the authority that attests the device")
        }
    }

    /// Checks a device's certificate up to a trusted authority (Matter Core, 6.2.2), at the time when it was issued: the clock plays no
    /// part, because a device's attestation outlives its maker's authorities.
    /// - Returns: the authority.
    public func verifyChain(
        device: AttestationCertificate, intermediate: AttestationCertificate
    ) throws(CredentialsError) -> AttestationCertificate {
        func require(_ holds: Bool, _ what: String) throws(CredentialsError) {
            guard holds else { throw CredentialsError(.invalidChain, "attestation: \(what)") }
        }
        try require(!device.isCA && device.keyUsage == .digitalSignature, "the device's certificate may do more than sign")
        try require(
            intermediate.isCA && intermediate.pathLength == 0 && intermediate.keyUsage.contains(.keyCertSign),
            "the intermediate is not an authority of path length 0")
        try require(
            !device.hasUnknownCriticalExtension && !intermediate.hasUnknownCriticalExtension, "an unknown critical extension")
        try require(device.vendorID != nil && device.productID != nil, "the device's certificate names no vendor or no product")
        try require(intermediate.vendorID == device.vendorID, "device and intermediate name different vendors")
        try require(
            intermediate.productID == nil || intermediate.productID == device.productID,
            "device and intermediate name different products")
        try require(
            !intermediate.subjectKeyID.isEmpty && device.issuer == intermediate.subject
                && device.authorityKeyID == intermediate.subjectKeyID,
            "the device's certificate was not issued by the intermediate")
        guard device.isSigned(by: intermediate) else {
            throw CredentialsError(.invalidSignature, "attestation: the device's certificate is not signed by the intermediate")
        }
        guard
            let authority = authorities.first(where: {
                $0.subject == intermediate.issuer && $0.subjectKeyID == intermediate.authorityKeyID && !$0.subjectKeyID.isEmpty
            })
        else {
            throw CredentialsError(
                .invalidAttestation,
                "the device is attested by an authority that is not trusted here: add its certificate to the trusted ones if you trust it"
            )
        }
        try require(authority.isCA && authority.keyUsage.contains(.keyCertSign), "the trusted certificate is no authority")
        try require((authority.pathLength ?? 1) >= 1, "the authority allows no intermediate")
        try require(authority.vendorID == nil || authority.vendorID == device.vendorID, "the authority is another vendor's")
        guard intermediate.isSigned(by: authority) else {
            throw CredentialsError(.invalidSignature, "attestation: the intermediate is not signed by the trusted authority")
        }
        try require(
            intermediate.isValid(at: device.notBefore) && authority.isValid(at: device.notBefore),
            "the device's certificate was issued when its issuers were not valid")
        return authority
    }
}
