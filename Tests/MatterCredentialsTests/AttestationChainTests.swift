import MatterModel
import Testing

@testable import MatterCredentials

/// The rules between device certificate, intermediate and authority (Matter Core, 6.2.2), each broken once.
@Suite struct AttestationChainTests {
    static let start = MatterTime(seconds: 700_000_000)

    /// How the three certificates are made; the defaults are right.
    struct Recipe {
        var (authorityVendor, intermediateVendor, deviceVendor): (VendorID?, VendorID?, VendorID?) = (nil, 0xFFF1, 0xFFF1)
        var (intermediateProduct, deviceProduct): (UInt16?, UInt16?) = (nil, 0x8001)
        var (authorityPath, intermediatePath, devicePath): (UInt8?, UInt8?, UInt8?) = (1, 0, nil)
        var (intermediateSigner, deviceSigner): (PrivateKey?, PrivateKey?)
        var (intermediateStart, deviceStart) = (start, start)
        var deviceIssuer: [UInt8]?
    }

    private func judge(_ change: (inout Recipe) -> Void) throws -> CredentialsError.Code? {
        var recipe = Recipe()
        change(&recipe)
        let keys = try (0..<3).map { _ in try PrivateKey.generate() }
        let authorityName = AttestationCertificate.name("Authority", recipe.authorityVendor, nil)
        let authority = try AttestationCertificate.signed(
            subject: authorityName, publicKey: keys[0].publicKey, pathLength: recipe.authorityPath, issuer: authorityName,
            by: keys[0],
            notBefore: Self.start)
        let intermediate = try Self.forged(
            .signed(
                subject: AttestationCertificate.name("Intermediate", recipe.intermediateVendor, recipe.intermediateProduct),
                publicKey: keys[1].publicKey, pathLength: recipe.intermediatePath, issuer: authorityName, by: keys[0],
                notBefore: recipe.intermediateStart), by: recipe.intermediateSigner)
        let device = try Self.forged(
            .signed(
                subject: AttestationCertificate.name("Device", recipe.deviceVendor, recipe.deviceProduct),
                publicKey: keys[2].publicKey,
                pathLength: recipe.devicePath, issuer: recipe.deviceIssuer ?? intermediate.subject, by: keys[1],
                notBefore: recipe.deviceStart), by: recipe.deviceSigner)
        let trust = AttestationTrust(authorities: [authority], declarationKeys: [])
        do throws(CredentialsError) {
            _ = try trust.verifyChain(device: device, intermediate: intermediate)
            return nil
        } catch { return error.code }
    }

    /// The same certificate with somebody else's signature.
    private static func forged(
        _ certificate: AttestationCertificate, by key: PrivateKey?
    ) throws(CredentialsError) -> AttestationCertificate {
        guard let key else { return certificate }
        var outer = DERReader(certificate.der)
        var fields = try outer.enter(DER.sequence)
        let body = Array(try fields.readAny().whole)
        return try AttestationCertificate(der: X509.signed(body, key.sign(body)))
    }

    @Test func aRightChainIsTaken() throws {
        #expect(try judge { _ in } == nil)
        #expect(try judge { $0.authorityVendor = 0xFFF1 } == nil)
        #expect(try judge { $0.intermediateProduct = 0x8001 } == nil)
    }

    @Test func eachBrokenRuleIsFound() throws {
        #expect(try judge { $0.devicePath = 0 } == .invalidChain, "a device's certificate that is an authority's")
        #expect(try judge { $0.intermediatePath = nil } == .invalidChain, "an intermediate that is no authority")
        #expect(try judge { $0.intermediatePath = 1 } == .invalidChain, "an intermediate that allows another")
        #expect(try judge { $0.authorityPath = 0 } == .invalidChain, "an authority that allows no intermediate")
        #expect(try judge { $0.authorityPath = nil } == .invalidChain, "an authority that is none")
        #expect(try judge { $0.deviceVendor = 0xFFF2 } == .invalidChain)
        #expect(try judge { ($0.deviceVendor, $0.intermediateVendor) = (nil, nil) } == .invalidChain)
        #expect(try judge { $0.deviceProduct = nil } == .invalidChain)
        #expect(try judge { $0.intermediateProduct = 0x8002 } == .invalidChain)
        #expect(try judge { $0.authorityVendor = 0xFFF2 } == .invalidChain)
        #expect(try judge { $0.deviceIssuer = AttestationCertificate.name("Somebody", 0xFFF1, nil) } == .invalidChain)
        #expect(try judge { $0.deviceStart = MatterTime(seconds: Self.start.seconds - 1) } == .invalidChain, "before its issuers")
        #expect(try judge { $0.intermediateStart = MatterTime(seconds: Self.start.seconds + 1) } == .invalidChain)
        let stranger = try PrivateKey.generate()
        #expect(try judge { $0.deviceSigner = stranger } == .invalidSignature)
        #expect(try judge { $0.intermediateSigner = stranger } == .invalidSignature)
    }

    @Test func aForgedDeclarationIsRefused() throws {
        let trust = try DevelopmentAttestation.trust()
        var bytes = DevelopmentCertificates.declaration
        bytes[bytes.count - 1] ^= 1
        do throws(CredentialsError) {
            _ = try trust.verifyDeclaration(bytes)
            Issue.record("a declaration with a wrong signature was taken")
        } catch { #expect(error.code == .invalidSignature) }
    }
}
