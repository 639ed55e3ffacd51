import Testing

@testable import MatterCredentials

@Suite struct CertificateTests {
    let start = MatterTime(seconds: 800_000_000)
    let end = MatterTime(seconds: 900_000_000)

    @Test(arguments: [false, true]) func bothFormsHoldTheSameFactsAndSignature(withIntermediate: Bool) throws {
        let authority = try FabricAuthority(fabricID: 0xFAB1_0000_0000_0001, withIntermediate: withIntermediate, notBefore: start)
        let key = try PrivateKey.generate()
        let node = try authority.issueNode(
            0x1122_3344_5566_7788, publicKey: key.publicKey, notBefore: start, notAfter: end,
            extra: [.init(.nocCAT, .identifier(0x0001_0002)), .init(.commonName, .printable("A lamp"))])
        let chain = [node, authority.intermediate, authority.root].compactMap { $0 }
        for (i, certificate) in chain.enumerated() {
            let again = try MatterCertificate(tlv: certificate.tlv)
            #expect(again == certificate)
            #expect(try MatterCertificate(x509: again.x509) == certificate)
            #expect(again.isSigned(by: chain[min(i + 1, chain.count - 1)]))
            #expect(certificate.tlv.count <= 400, "Matter's limit")
            _ = try X509Handle(der: again.x509)
        }
        var forged = node
        forged.subject.attributes[0].value = .identifier(1)
        #expect(!forged.isSigned(by: chain[1]))
    }

    /// A chain that the CHIP SDK issued (home-assistant-chip-core 2025.7.0, a test fabric): node, intermediate, root.
    static let chainOfTheSDK: [String] = [
        ("1530010101240201370324130218260480228127260580254d3a3706241501261169b60100182407012408013009410404846789c49740c92bb504a6bd7261a5"
            + "b2ec45f08bc96e2ad9a10789ee8a0985d3d5569b500771ea87860e11ef81b7cfc352d98f22779eac1d98473249a7de34370a3501280118240201360304020401"
            + "183004147305a0dffb02bda8a386044cc964e62087deea5f3005146b89d0fe5d5a6f5b49d93d053fc3e4d2d82a49b018300b408fe4feef2d2e9aadfd659da945"
            + "258a1392a52270acdc916392cf7f6b8407454021df705b9ebc6a1650c6c065da46782d9544627f733fadf0593f479b30283cd018"),
        ("1530010101240201370324140118260480228127260580254d3a370624130218240701240801300941041216cd2ad99e0e40be97c90049fc4e93fe0ba0be498b"
            + "60ee120e452463fce4230db93ac4538e015371e3698a5bbc5fd45c592186cd63f6fd5e95125615a901cc370a35012901182402603004146b89d0fe5d5a6f5b49"
            + "d93d053fc3e4d2d82a49b0300514a9854f41181f1b3514f71203d6ebbea3808452e018300b4058ac7c39abf64dd3a99d1c276f2bd60356b3c6bed8d46ead21a5"
            + "3f481e40b8e568f514bbddbca1ce32fbeffda6b7c256cd3c389f49dda1194041c18e5d463c7418"),
        ("1530010101240201370324140118260480228127260580254d3a37062414011824070124080130094104a1e8595d32731766623d32f5aeca6e581d6ac5bd9a24"
            + "b6c8fa5987ee0bd15aca07b690d138ec0d9348b89e229ce5db45c73a1ca0f0f25c9fc25664094bce90b7370a3501290118240260300414a9854f41181f1b3514"
            + "f71203d6ebbea3808452e0300514a9854f41181f1b3514f71203d6ebbea3808452e018300b40874abda0da00676352528c05875815907ca386d2fb0a4378c1c8"
            + "f62baaad5e66d90ec5c86f3154b3bdd88e47a84ada261ae398655f995844c61d6a0015c0c09818"),
    ]

    @Test func readsAndVerifiesAChainOfTheCHIPSDK() throws {
        let chain = try Self.chainOfTheSDK.map { text in
            let bytes = hex(text)
            let certificate = try MatterCertificate(tlv: bytes)
            #expect(certificate.tlv == bytes)
            #expect(try MatterCertificate(x509: certificate.x509) == certificate)
            return certificate
        }
        #expect(chain[0].isSigned(by: chain[1]) && chain[1].isSigned(by: chain[2]) && chain[2].isSigned(by: chain[2]))
        #expect(chain[0].subject.identifiers(.nodeID) == [112_233] && chain[0].subject.identifiers(.fabricID) == [1])
        #expect(chain[0].purposes == [.clientAuth, .serverAuth] && !chain[0].isCA && chain[2].isCA)
    }

    @Test func timesRoundTrip() throws {
        for seconds: UInt32 in [1, 86_399, 86_400, 5_184_000, 1_577_923_199, 1_577_923_200, 4_102_444_799, .max] {
            var reader = DERReader(MatterTime(seconds: seconds).der)
            #expect(try MatterTime(der: &reader).seconds == seconds)
        }
        #expect(String(decoding: MatterTime(seconds: 800_000_000).der.dropFirst(2), as: UTF8.self) == "250508061320Z")
    }

    @Test func compressedFabricIDMatchesTheSpecification() {
        // Matter Core, 4.3.2.2, the worked example.
        let key = hex(
            "044a9f42b1ca4840d37292bbc7f6a7e11e22200c976fc900dbc98a7a383a641cb8254a2e56d4e295a847943b4e3897c4a773e930277b4d9fbede8a052686bfacfa"
        )
        let fabric = FabricIdentity(fabricID: 0x2906_C908_D115_D362, rootPublicKey: key)
        #expect(fabric.compressedID == 0x87E1_B004_E235_A130)
        #expect(fabric.instanceName(node: 0x8FC7_7724_01CD_0696) == "87E1B004E235A130-8FC7772401CD0696")
    }

    @Test func damagedBytesAreRefusedAndNeverTrap() throws {
        let authority = try FabricAuthority(fabricID: 1, notBefore: start)
        let (x509, tlv) = (authority.root.x509, authority.root.tlv)
        for i in 0..<x509.count {
            var bytes = x509
            bytes[i] ^= 0x55
            if let read = try? MatterCertificate(x509: bytes) { #expect(read.x509 == bytes) }
            _ = try? MatterCertificate(x509: Array(x509[..<i]))
        }
        for i in 0..<tlv.count {
            for flip: UInt8 in [0x01, 0x10, 0xFF] {
                var bytes = tlv
                bytes[i] ^= flip
                _ = try? MatterCertificate(tlv: bytes)
            }
            #expect(throws: (any Error).self) { try MatterCertificate(tlv: Array(tlv[..<i])) }
        }
    }
}
