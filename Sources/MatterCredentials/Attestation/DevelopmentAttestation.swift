import MatterModel

/// Attestation for virtual devices and those who pair them: everything here is test data.
///
/// The product 0x8000 of vendor 0xFFF1 has ready credentials, whose authority's key is not kept. For every other product of the test
/// vendors, intermediate and device certificate are made when they are asked for, below an authority of our own whose key is published
/// here: a controller in another process must be able to trust the authority without having met the device. That is as safe as test
/// vendors can be, which is not at all; a controller for real devices leaves `trust` out.
public enum DevelopmentAttestation {
    /// The vendors that Matter sets aside for tests (Matter Core, 2.5.2).
    public static let vendors: ClosedRange<UInt16> = 0xFFF1...0xFFF4

    /// The authorities and the key that development devices are attested with.
    public static func trust() throws(CredentialsError) -> AttestationTrust {
        AttestationTrust(
            authorities: [
                try AttestationCertificate(der: DevelopmentCertificates.paa),
                try AttestationCertificate(der: DevelopmentCertificates.ownPAA),
            ],
            declarationKeys: [try PublicKey(point: PrivateKey(scalar: DevelopmentCertificates.declarationKey).publicKey)])
    }

    /// Credentials for a product. Makes two keys and three signatures (about 1 ms) unless the product has ready ones.
    /// - Throws: `outOfRange` unless the vendor is a test vendor.
    public static func credentials(
        vendorID: VendorID, productID: UInt16, deviceTypeID: DeviceTypeID = 0x0016
    ) throws(CredentialsError) -> DeviceAttestation {
        guard vendors.contains(vendorID.rawValue) else {
            throw CredentialsError(
                .outOfRange,
                "development credentials exist for the test vendors 0xFFF1 to 0xFFF4 only, not for vendor \(vendorID)")
        }
        if vendorID == 0xFFF1, productID == 0x8000 {
            return try DeviceAttestation(
                dac: DevelopmentCertificates.dac, pai: DevelopmentCertificates.pai,
                certificationDeclaration: DevelopmentCertificates.declaration,
                key: PrivateKey(scalar: DevelopmentCertificates.dacKey))
        }
        let authority = try AttestationCertificate(der: DevelopmentCertificates.ownPAA)
        let authorityKey = try PrivateKey(scalar: DevelopmentCertificates.ownPAAKey)
        let (intermediateKey, deviceKey) = (try PrivateKey.generate(), try PrivateKey.generate())
        let intermediate = try AttestationCertificate.signed(
            subject: AttestationCertificate.name("Hearth Development PAI", vendorID, nil), publicKey: intermediateKey.publicKey,
            pathLength: 0, issuer: authority.subject, by: authorityKey, notBefore: authority.notBefore)
        let device = try AttestationCertificate.signed(
            subject: AttestationCertificate.name("Hearth Development DAC", vendorID, productID), publicKey: deviceKey.publicKey,
            pathLength: nil, issuer: intermediate.subject, by: intermediateKey, notBefore: authority.notBefore)
        let declaration = CertificationDeclaration(vendorID: vendorID, productIDs: [productID], deviceTypeID: deviceTypeID)
        return try DeviceAttestation(
            dac: device.der, pai: intermediate.der,
            certificationDeclaration: SignedDeclaration(
                declaration, by: PrivateKey(scalar: DevelopmentCertificates.declarationKey)
            ).der,
            key: deviceKey)
    }
}
