import MatterModel
import Testing

@testable import MatterCredentials

@Suite struct KeyTests {
    /// Matter Core, 4.17 and 4.14.2.4.1: the worked examples, as public implementations repeat them.
    @Test func groupKeysMatchTheSpecification() throws {
        let key = try GroupKey(epochKey: hex("235bf7e62823d358dca4ba50b1535f4b"), compressedFabricID: 0x87E1_B004_E235_A130)
        #expect(key.operationalKey == hex("a6f5306baf6d050af23ba4bd6b9dd960"))
        #expect(key.sessionID == 0xB9F7)
        #expect(throws: CredentialsError.self) { try GroupKey(epochKey: [1], compressedFabricID: 1) }
        #expect(!"\(key)".contains("a6") && GroupKey.randomEpochKey().count == 16)
    }

    @Test func destinationIDMatchesTheSpecification() {
        let root = hex(
            "044a9f42b1ca4840d37292bbc7f6a7e11e22200c976fc900dbc98a7a383a641cb8254a2e56d4e295a847943b4e3897c4a773e930277b4d9fbede8a052686bfacfa"
        )
        let fabric = FabricIdentity(fabricID: 0x2906_C908_D115_D362, rootPublicKey: root)
        let id = fabric.destinationID(
            of: 0xCD55_44AA_7B13_EF14, initiatorRandom: hex("7e171231568dfa17206b3accf8faec2f4d21b580113196f47c7c4deb810a73dc"),
            identityProtectionKey: hex("9bc61cd9c62a2df6d64dfcaa9dc472d4"))
        #expect(id == hex("dc35dd5fc9134cc5544538c9c3fc4297c1ec3370c839136a80e10796451d4c53"))
    }

    /// RFC 5869, A.1; RFC 4231, 4.3; FIPS 180-2, B.1; RFC 7914, 11.
    @Test func digestsMatchTheirStandards() throws {
        #expect(
            Crypto.hkdf(
                [UInt8](repeating: 0x0B, count: 22), salt: hex("000102030405060708090a0b0c"), info: hex("f0f1f2f3f4f5f6f7f8f9"),
                count: 42)
                == hex("3cb25f25faacd57a90434f64d0362f2a2d2d0a90cf1a5a4c5db02d56ecc4c5bf34007208d5b887185865"))
        #expect(
            Crypto.hmac(key: Array("Jefe".utf8), Array("what do ya want for nothing?".utf8))
                == hex("5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843"))
        #expect(Crypto.sha256(Array("abc".utf8)) == hex("ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"))
        #expect(Crypto.sha256([]) == hex("e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"))
        #expect(
            try Crypto.pbkdf2(Array("passwd".utf8), salt: Array("salt".utf8), iterations: 1, count: 64)
                == hex(
                    "55ac046e56e3089fec1691c22544b605f94185216dde0465e68b9d57c20dacbc"
                        + "49ca9cccf179b645991664b39d77ef317c71b845b1e30bd509112041d3a19783"))
        for iterations in [0, -1, .max] {
            #expect(throws: CredentialsError.self) { try Crypto.pbkdf2([1], salt: [2], iterations: iterations, count: 16) }
        }
    }

    /// Computed from RFC 3610's definition over AES-ECB; the published vectors have other lengths of nonce and tag.
    @Test func ccmMatchesItsDefinition() throws {
        let sealed = try AESCCM.seal(
            Array(0x20...0x37), key: Array(0x40...0x4F), nonce: Array(0x10...0x1C), authenticating: Array(0...19))
        #expect(sealed == hex("69915dad1e84c6376a68c2967e4dab615ae0fd1faec44cc4098631cb0cd1e03153fb69a906e2f13c"))
    }

    /// The inverse, and that every bit counts.
    @Test(arguments: [0, 1, 15, 16, 17, 200]) func ccmSealsAndOpens(size: Int) throws {
        let (key, nonce, data, plain) = (Crypto.random(16), Crypto.random(13), Crypto.random(21), Crypto.random(size))
        let sealed = try AESCCM.seal(plain, key: key, nonce: nonce, authenticating: data)
        #expect(sealed.count == size + 16)
        #expect(try AESCCM.open(sealed, key: key, nonce: nonce, authenticating: data) == plain)
        for i in sealed.indices {
            var wrong = sealed
            wrong[i] ^= 0x80
            #expect(throws: CredentialsError.self) { try AESCCM.open(wrong, key: key, nonce: nonce, authenticating: data) }
        }
        #expect(throws: CredentialsError.self) { try AESCCM.open(sealed, key: key, nonce: nonce, authenticating: data + [0]) }
        #expect(throws: CredentialsError.self) { try AESCCM.open(sealed, key: key, nonce: nonce, authenticating: []) }
        #expect(throws: CredentialsError.self) {
            try AESCCM.open(sealed, key: Crypto.random(16), nonce: nonce, authenticating: data)
        }
        #expect(throws: CredentialsError.self) { try AESCCM.open([1], key: key, nonce: nonce, authenticating: data) }
        #expect(throws: CredentialsError.self) { try AESCCM.seal([1], key: [1], nonce: nonce, authenticating: data) }
    }

    @Test func keysSurviveTheStoreAsTheirScalar() throws {
        for _ in 0..<20 {
            let key = try PrivateKey.generate()
            let scalar = try key.scalar
            let again = try PrivateKey(scalar: scalar)
            #expect(scalar.count == 32 && again.publicKey == key.publicKey)
            let signature = try again.sign([1, 2, 3])
            #expect(try PublicKey(point: key.publicKey).isValid(signature: signature, of: [1, 2, 3]))
            #expect(try !PublicKey(point: key.publicKey).isValid(signature: signature, of: [1, 2, 4]))
            #expect(!"\(key)".contains("04"))
        }
        let one = [UInt8](repeating: 0, count: 31) + [1]
        #expect(
            try PrivateKey(scalar: one).publicKey.dropFirst().prefix(4).elementsEqual(hex("6b17d1f2")), "1 gives the generator")
        let order = hex("ffffffff00000000ffffffffffffffffbce6faada7179e84f3b9cac2fc632551")
        for bad in [[], [1], [UInt8](repeating: 0, count: 32), order, [UInt8](repeating: 0xFF, count: 32), one + [1]] {
            #expect(throws: CredentialsError.self) { try PrivateKey(scalar: bad) }
        }
    }

    @Test func badPublicKeysAndSignaturesAreRefused() throws {
        let key = try PrivateKey.generate()
        let signature = try key.sign([1])
        var off = key.publicKey
        off[64] ^= 1
        for bad in [[], [4], off, [UInt8](repeating: 0, count: 65), key.publicKey + [0], [2] + key.publicKey[1..<33]] as [[UInt8]] {
            #expect(throws: CredentialsError.self) { try PublicKey(point: bad) }
        }
        let verifier = try PublicKey(point: key.publicKey)
        for bad in [[], [1], [UInt8](repeating: 0, count: 64), [UInt8](repeating: 0xFF, count: 64), signature + [0]] {
            #expect(!verifier.isValid(signature: bad, of: [1]))
        }
        for i in signature.indices {
            var wrong = signature
            wrong[i] ^= 1
            #expect(!verifier.isValid(signature: wrong, of: [1]))
        }
        #expect(
            Crypto.equal([1, 2], [1, 2]) && !Crypto.equal([1, 2], [1, 3]) && !Crypto.equal([1], [1, 2]) && Crypto.equal([], []))
    }
}
