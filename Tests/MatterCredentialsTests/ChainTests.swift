import MatterModel
import Testing

@testable import MatterCredentials

@Suite struct ChainTests {
    static let start = MatterTime(seconds: 800_000_000)
    static let now = start.unix + 1000
    let authority: FabricAuthority
    let key: PrivateKey

    init() throws {
        authority = try FabricAuthority(fabricID: 0xFAB1, withIntermediate: true, notBefore: Self.start)
        key = try PrivateKey.generate()
    }

    private func chain(
        _ noc: MatterCertificate, icac: MatterCertificate?, root: MatterCertificate? = nil, at time: Int64? = now
    ) throws(CredentialsError) -> ValidatedChain {
        try CertificateChain.validate(noc: noc, icac: icac, root: root ?? authority.root, at: time)
    }

    private func failure(_ body: () throws(CredentialsError) -> Void) -> CredentialsError.Code? {
        do throws(CredentialsError) {
            try body()
            return nil
        } catch { return error.code }
    }

    /// A node certificate below `authority`, changed by `change` and signed again.
    private func noc(_ change: (inout MatterCertificate) -> Void) throws -> MatterCertificate {
        var certificate = try authority.issueNode(0x1234, publicKey: key.publicKey, notBefore: Self.start, notAfter: .never)
        change(&certificate)
        certificate.signature = try authority.signer.sign(certificate.tbs)
        return certificate
    }

    private func expectRefused(
        _ comment: Comment, _ code: CredentialsError.Code = .invalidChain, _ change: (inout MatterCertificate) -> Void,
        location: SourceLocation = #_sourceLocation
    ) throws {
        let certificate = try noc(change)
        #expect(
            failure { () throws(CredentialsError) in _ = try chain(certificate, icac: authority.intermediate) } == code, comment,
            sourceLocation: location)
    }

    @Test(arguments: [false, true]) func aGoodChainGivesItsIdentity(withIntermediate: Bool) throws {
        let authority = try FabricAuthority(fabricID: 0xFAB1_0000_0001, withIntermediate: withIntermediate, notBefore: Self.start)
        let noc = try authority.issueNode(
            0x1122_3344_5566_7788, publicKey: key.publicKey, cats: [0x0001_0002, 0xABCD_0001],
            now: MatterTime(seconds: 800_100_000))
        let valid = try CertificateChain.validate(
            noc: noc, icac: authority.intermediate, root: authority.root, at: Self.now + 90_000)
        #expect(valid.nodeID == 0x1122_3344_5566_7788 && valid.fabricID == 0xFAB1_0000_0001)
        #expect(valid.cats == [0x0001_0002, 0xABCD_0001])
        #expect(valid.rootPublicKey == authority.root.publicKey && valid.nodePublicKey == key.publicKey)
        #expect(valid.fabric == authority.fabric)
        #expect(noc.notBefore.seconds == 800_100_000 - 86_400, "back-dated by a day")
    }

    @Test func chainOfTheCHIPSDKIsValid() throws {
        let certificates = try CertificateTests.chainOfTheSDK.map { try MatterCertificate(tlv: hex($0)) }
        let valid = try CertificateChain.validate(
            noc: certificates[0], icac: certificates[1], root: certificates[2], at: certificates[0].notBefore.unix)
        #expect(valid.nodeID == 112_233 && valid.fabricID == 1 && valid.cats == [])
    }

    @Test func aNodeCertificateThatBreaksARuleIsRefused() throws {
        #expect(try chain(noc { _ in }, icac: authority.intermediate).nodeID == 0x1234)
        let fabric = DistinguishedName.Attribute(.fabricID, .identifier(0xFAB1))
        let node = DistinguishedName.Attribute(.nodeID, .identifier(1))
        try expectRefused("no node id") { $0.subject = DistinguishedName([fabric]) }
        try expectRefused("no fabric id") { $0.subject = DistinguishedName([node]) }
        try expectRefused("two node ids") { $0.subject = DistinguishedName([node, node, fabric]) }
        try expectRefused("two fabric ids") { $0.subject = DistinguishedName([node, fabric, fabric]) }
        try expectRefused("an intermediate's id") { $0.subject.attributes.append(.init(.icacID, .identifier(1))) }
        try expectRefused("a root's id") { $0.subject.attributes.append(.init(.rcacID, .identifier(1))) }
        try expectRefused("node id 0") { $0.subject.attributes[0].value = .identifier(0) }
        try expectRefused("a group's node id") { $0.subject.attributes[0].value = .identifier(0xFFFF_FFFF_FFFF_0001) }
        try expectRefused("fabric id 0") { $0.subject.attributes[1].value = .identifier(0) }
        try expectRefused("another fabric than the intermediate's") { $0.subject.attributes[1].value = .identifier(2) }
        let tag = { DistinguishedName.Attribute(.nocCAT, .identifier($0)) }
        try expectRefused("tag of version 0") { $0.subject.attributes.append(tag(0x0001_0000)) }
        try expectRefused("one tag in two versions") { $0.subject.attributes += [tag(0x0001_0001), tag(0x0001_0002)] }
        try expectRefused("four tags") { $0.subject.attributes += (1...4).map { tag($0 << 16 | 1) } }
        try expectRefused("six attributes") {
            for i in 0..<4 { $0.subject.attributes.append(.init(.organization, .utf8("\(i)"))) }
        }
        try expectRefused("an authority") { $0.extensions[0] = .basicConstraints(isCA: true, pathLength: nil) }
        try expectRefused("a path length") { $0.extensions[0] = .basicConstraints(isCA: false, pathLength: 0) }
        try expectRefused("no basic constraints") { $0.extensions.remove(at: 0) }
        try expectRefused("may sign certificates") { $0.extensions[1] = .keyUsage([.digitalSignature, .keyCertSign]) }
        try expectRefused("no key usage") { $0.extensions.remove(at: 1) }
        try expectRefused("client only") { $0.extensions[2] = .extendedKeyUsage([.clientAuth]) }
        try expectRefused("one purpose more") { $0.extensions[2] = .extendedKeyUsage([.clientAuth, .serverAuth, .codeSigning]) }
        try expectRefused("no subject key id") { $0.extensions.remove(at: 3) }
        try expectRefused("another issuer's key") { $0.extensions[4] = .authorityKeyID([UInt8](repeating: 7, count: 20)) }
        try expectRefused("another issuer") { $0.issuer.attributes[0].value = .identifier(99) }
        let critical = DER.sequence(
            DER.element(DER.oid, [0x2A, 0x03]), DER.element(DER.boolean, [0xFF]), DER.element(DER.octetString, [1]))
        try expectRefused("an unknown critical extension") { $0.extensions.append(.other(critical)) }
        try expectRefused("too large") {
            $0.subject.attributes.append(.init(.organization, .utf8(String(repeating: "x", count: 200))))
        }
        try expectRefused("a key that is no point", .invalidPoint) { $0.publicKey[10] ^= 1 }
        try expectRefused("tomorrow's", .notYetValid) { $0.notBefore = MatterTime(seconds: Self.start.seconds + 2000) }
        try expectRefused("yesterday's", .expired) { $0.notAfter = MatterTime(seconds: Self.start.seconds + 500) }
    }

    @Test func signaturesAreChecked() throws {
        var forged = try noc { _ in }
        forged.signature[40] ^= 1
        #expect(
            failure { () throws(CredentialsError) in _ = try chain(forged, icac: authority.intermediate) } == .invalidSignature)
        let good = try noc { _ in }
        var intermediate = try #require(authority.intermediate)
        intermediate.signature[0] ^= 1
        #expect(failure { () throws(CredentialsError) in _ = try chain(good, icac: intermediate) } == .invalidSignature)
        var root = authority.root
        root.signature[0] ^= 1
        #expect(failure { () throws(CredentialsError) in try CertificateChain.validateRoot(root, at: nil) } == .invalidSignature)
        let stranger = try FabricAuthority(fabricID: 0xFAB1, withIntermediate: true, notBefore: Self.start)
        #expect(
            failure { () throws(CredentialsError) in _ = try chain(good, icac: authority.intermediate, root: stranger.root) }
                == .invalidChain)
        #expect(
            failure { () throws(CredentialsError) in _ = try chain(good, icac: nil) } == .invalidChain,
            "the intermediate is missing")
        #expect(
            failure { () throws(CredentialsError) in _ = try chain(authority.root, icac: nil) } == .invalidChain,
            "a root is no node")
    }

    @Test func rootsAndIntermediatesAreChecked() throws {
        func root(_ change: (inout MatterCertificate) -> Void) throws -> MatterCertificate {
            var root = authority.root
            change(&root)
            root.signature = try authority.rootKey.sign(root.tbs)
            return root
        }
        func refused(_ certificate: MatterCertificate) -> Bool {
            failure { () throws(CredentialsError) in try CertificateChain.validateRoot(certificate, at: Self.now) }
                == .invalidChain
        }
        #expect(try !refused(root { _ in }))
        #expect(try refused(root { $0.subject.attributes.append(.init(.nodeID, .identifier(1))) }))
        #expect(try refused(root { $0.extensions[0] = .basicConstraints(isCA: false, pathLength: nil) }))
        #expect(try refused(root { $0.extensions[1] = .keyUsage(.digitalSignature) }))
        #expect(try refused(root { $0.issuer.attributes[0].value = .identifier(1) }), "not its own issuer")
        func named(_ extra: [DistinguishedName.Attribute]) throws -> MatterCertificate {
            try root {
                $0.subject.attributes += extra
                $0.issuer = $0.subject
            }
        }
        #expect(try !refused(named([.init(.fabricID, .identifier(7))])), "a root may be for one fabric")
        #expect(try refused(named([.init(.fabricID, .identifier(7)), .init(.fabricID, .identifier(7))])), "but not for two")
        #expect(try refused(named([.init(.fabricID, .identifier(0))])), "nor for the reserved one")
        #expect(try refused(named([.init(.nocCAT, .identifier(0x0001_0001))])), "tags are for nodes")
        // A root that allows no intermediate, and a chain with one.
        let strict = try root { $0.extensions[0] = .basicConstraints(isCA: true, pathLength: 0) }
        let certificate = try noc { _ in }
        #expect(
            failure { () throws(CredentialsError) in _ = try chain(certificate, icac: authority.intermediate, root: strict) }
                == .invalidChain)
        // Without a clock no validity is checked.
        let late = try noc { $0.notAfter = MatterTime(seconds: 1) }
        #expect(failure { () throws(CredentialsError) in _ = try chain(late, icac: authority.intermediate, at: nil) } == nil)
    }

    @Test(arguments: [false, true]) func anAuthoritySurvivesTheStore(withIntermediate: Bool) throws {
        let before = try FabricAuthority(fabricID: 0xFAB1, withIntermediate: withIntermediate, notBefore: Self.start)
        let bytes = try before.serialized
        let after = try FabricAuthority(serialized: bytes)
        #expect(after.fabric == before.fabric && after.root == before.root && after.intermediate == before.intermediate)
        let certificate = try after.issueNode(1, publicKey: key.publicKey, now: Self.start)
        #expect(
            try CertificateChain.validate(noc: certificate, icac: before.intermediate, root: before.root, at: Self.now).nodeID
                == 1)
        for count in 0..<bytes.count {
            #expect(throws: CredentialsError.self) { try FabricAuthority(serialized: Array(bytes[..<count])) }
        }
    }

    @Test func anAuthorityIssuesNothingForbidden() throws {
        #expect(throws: CredentialsError.self) { try FabricAuthority(fabricID: 0, notBefore: Self.start) }
        for node: NodeID in [0, 0xFFFF_FFFF_FFFF_FFFF, 0xFFFF_FFFB_0000_0000] {
            #expect(throws: CredentialsError.self) { try authority.issueNode(node, publicKey: key.publicKey, now: Self.start) }
        }
        for cats: [UInt32] in [[0x1_0000], [0x1_0001, 0x1_0002], [0x1_0001, 0x2_0001, 0x3_0001, 0x4_0001]] {
            #expect(throws: CredentialsError.self) {
                try authority.issueNode(1, publicKey: key.publicKey, cats: cats, now: Self.start)
            }
        }
    }
}
