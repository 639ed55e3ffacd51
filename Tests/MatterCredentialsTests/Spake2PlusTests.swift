import Testing

@testable import MatterCredentials

/// Values computed with CircuitMatter 0.4.1 (MIT), an independent implementation, both sides; the first w0 and L are also
/// what the CHIP SDK prints for passcode 20202021.
struct Vector: Sendable, CustomTestStringConvertible {
    var passcode: UInt32, salt: String, iterations: Int, x: String, y: String, context: String
    var w0: String, l: String, pA: String, pB: String, cA: String, cB: String, ke: String
    var testDescription: String { "passcode \(passcode)" }

    static let all = [
        Vector(
            passcode: 20_202_021, salt: "5350414b453250204b65792053616c74", iterations: 1000,
            x: "1234567890abcdef1234567890abcdef1234567890abcdef1234567890abcdef",
            y: "0fedcba987654321fedcba987654321fedcba987654321fedcba987654321fed",
            context: "b1cb3bdeeac03532d544953bbda595f981ff23d273fd7159960a88124dde8657",
            w0: "b96170aae803346884724fe9a3b287c30330c2a660375d17bb205a8cf1aecb35",
            l:
                "0457f8ab79ee253ab6a8e46bb09e543ae422736de501e3db37d441fe344920d09548e4c18240630c4ff4913c53513839b7c07fcc0627a1b8573a149fcd1fa466cf",
            pA:
                "04db709504559895f709290e9c32b2e0a81dc34fccc9cdf3b410a3e6872bc7e17629dd510bb78c13a78932d792a247bb2bac9352263d685ffdecfb619de936963e",
            pB:
                "0474c6a55650d91856b54b66de9e309cca2cbe8eee42497d308ddea762075b313b743d31b9bd7c30de8632c96e86ee37bc8e9d5d0e90d2eb25b96102bf680d651e",
            cA: "11bc9f1e30a6ef28a1e51253e059ed6058afc4ef7ac10bdfecf9a2e2b7c7ec04",
            cB: "1955f3f6640b5eb58ce38cf12eaa49883f272c6d35123f7ffcf21d4bc35868fd", ke: "91d639e6fb73d101fe5aabb409ed435b"),
        Vector(
            passcode: 34_567_890, salt: "000102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f", iterations: 10_000,
            x: "d1232c8e8693d02368976c174e2088851b8365d0d79a9eee709c6a05a2fad539",
            y: "717a72348a182085109c8d3917d6c43d59b224dc6a7fc4f0483232fa6516d8b3",
            context: "ab2280f2bd763d1764b1e8e8827a20cfbbb4dc0aad1cae64ae3b43c7732528ee",
            w0: "620bd88b3297c6d94ace67cf7215c828a449bde94f7102024a0077889f4e603f",
            l:
                "04ddaceb8dbed16e19d4c08533ae90e35613a5410b0dee0945acab0813d71e5b971d4bdeaa198342c6c03d12eee0555f5f6d0acba1be01c3c65c50eee2725beca9",
            pA:
                "045e864a9aa9590c017d93cbafbf2f8df6a952ec6f8d26953078757e40fa0859ca70901e91b3a40310fab28c7da4f36ebf2b43d47a3a67bcb53eed6d0d200b2ef4",
            pB:
                "0464229d419292f2b9db9e810f34b5b244f594dc87e1fb33a3c7a1534d4ebd4737449433fad97cee0feeaefa76b06b3e876047bdd8556c85bf683713f8119886ac",
            cA: "788f4399fbe3acceb5cf00146c4c8b679121231f0b9703b4306ddd4d92d8ac34",
            cB: "38aacd3a19793d83070d4cad14025626ced79b3a2cda94de112acf0d3f6e75c3", ke: "ed1d123171fee2729d63469fca08b803"),
        Vector(
            passcode: 1, salt: "a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5", iterations: 1234,
            x: "0000000000000000000000000000000000000000000000000000000000000007",
            y: "000000000000000000000000000000000000000000000000000000000000000b",
            context: "c7f5394dd62ce6b7370aee9ca7995ad7178315bdad008370a6fad71ea6b4efc3",
            w0: "0b249f0de9f0c8593538a8f7da2a82bf94b7b1b0d77e13195bc3fb8bd8efaecd",
            l:
                "04ef4129a31f66cd801dacca2efeea4fcd79b757a100d0f675bee3ed6a101c2eb543a76782cb7ddbee101bf4a824bf9f13623c34e54d2f690c4c3535e8fb615867",
            pA:
                "04b2dda43fc5924cee29dcd0fbc226272a2467d2a9b5616cb50eb14b2dcf458ac9c52372a9a1e9c41b3594b9f632f8ca67b99305ce7e9db0727af7c7925fdc41de",
            pB:
                "04de6bfc0fc57b18b82c0ac4df112f5335ed9ee2cb1e267493714f26c5e8301d007e09a87582c794c40ba38546206cc31ad7a73634b8dad8215c1d37b9785dbbb6",
            cA: "54943de2a90c3bcb7db14603dfc52c03ab84e7f837a25c2bd5094aa010fc3653",
            cB: "ef5b20105df4d5ca1e009f63cb862bda3aefc66ee696787e47cf456828ae15ae", ke: "b02f0e54d93403635dcb2fd884145ab6"),
    ]
}

@Suite struct Spake2PlusTests {
    @Test(arguments: Vector.all) func matchesAnIndependentImplementation(_ vector: Vector) throws {
        let curve = try P256()
        let verifier = try Spake2Plus.Verifier(passcode: vector.passcode, salt: hex(vector.salt), iterations: vector.iterations)
        #expect(verifier == Spake2Plus.Verifier(w0: hex(vector.w0), l: hex(vector.l)))

        let (w0, w1) = try Spake2Plus.secrets(
            passcode: vector.passcode, salt: hex(vector.salt), iterations: vector.iterations, on: curve)
        let prover = try Spake2Plus.Prover(w0: w0, w1: w1, x: P256.Scalar(hex(vector.x)), on: curve)
        #expect(prover.pA == hex(vector.pA))

        let (pB, keys) = try verifier.respond(
            to: prover.pA, context: hex(vector.context), y: P256.Scalar(hex(vector.y)), on: curve)
        #expect(pB == hex(vector.pB))
        #expect(keys == Spake2Plus.Keys(cA: hex(vector.cA), cB: hex(vector.cB), ke: hex(vector.ke)))
        #expect(try prover.finish(pB: pB, cB: keys.cB, context: hex(vector.context)) == keys)
    }

    /// RFC 9383, appendix C: checks points and transcript. Its key schedule is not Matter's, but its K_main is SHA-256(TT),
    /// which is Matter's Ka ‖ Ke.
    @Test func pointsAndTranscriptMatchRFC9383() throws {
        let curve = try P256()
        let prover = try Spake2Plus.Prover(
            w0: P256.Scalar(hex("bb8e1bbcf3c48f62c08db243652ae55d3e5586053fca77102994f23ad95491b3")),
            w1: P256.Scalar(hex("7e945f34d78785b8a3ef44d0df5a1a97d6b3b460409a345ca7830387a74b1dba")),
            x: P256.Scalar(hex("d1232c8e8693d02368976c174e2088851b8365d0d79a9eee709c6a05a2fad539")), on: curve)
        #expect(
            prover.pA
                == hex(
                    "04ef3bd051bf78a2234ec0df197f7828060fe9856503579bb1733009042c15c0c1de127727f418b5966afadfdd95a6e4591d171056b333dab97a79c7193e341727"
                ))
        let pB = hex(
            "04c0f65da0d11927bdf5d560c69e1d7d939a05b0e88291887d679fcadea75810fb5cc1ca7494db39e82ff2f50665255d76173e09986ab46742c798a9a68437b048"
        )
        let (keys, transcript) = try prover.keys(
            pB: pB, context: Array("SPAKE2+-P256-SHA256-HKDF-SHA256-HMAC-SHA256 Test Vectors".utf8),
            idProver: Array("client".utf8),
            idVerifier: Array("server".utf8))
        #expect(Crypto.sha256(transcript) == hex("4c59e1ccf2cfb961aa31bd9434478a1089b56cd11542f53d3576fb6c2a438a29"))
        #expect(keys.ke == Array(Crypto.sha256(transcript)[16...]))
    }

    @Test func wrongPasscodeOrContextIsNoticed() throws {
        let salt = [UInt8](repeating: 7, count: 16)
        let verifier = try Spake2Plus.Verifier(passcode: 1234, salt: salt, iterations: 1000)
        let wrong = try Spake2Plus.Prover(passcode: 1235, salt: salt, iterations: 1000)
        let answer = try verifier.respond(to: wrong.pA, context: [1])
        #expect(throws: CredentialsError.self) { try wrong.finish(pB: answer.pB, cB: answer.keys.cB, context: [1]) }
        let right = try Spake2Plus.Prover(passcode: 1234, salt: salt, iterations: 1000)
        let other = try verifier.respond(to: right.pA, context: [1])
        #expect(throws: CredentialsError.self) { try right.finish(pB: other.pB, cB: other.keys.cB, context: [2]) }
    }

    @Test func badPointsAndParametersAreRefused() throws {
        let verifier = try Spake2Plus.Verifier(passcode: 1234, salt: [UInt8](repeating: 7, count: 16), iterations: 1000)
        for bad in [[], [0], [UInt8](repeating: 0, count: 65), [4] + [UInt8](repeating: 1, count: 64)] as [[UInt8]] {
            #expect(throws: CredentialsError.self) { try verifier.respond(to: bad, context: []) }
        }
        // pA = w0 × M makes X the point at infinity, and Z with it: the shared secret would be known.
        let curve = try P256()
        let trap = try curve.bytes(curve.multiply(curve.point(Spake2Plus.m), P256.Scalar(verifier.w0)))
        #expect(throws: CredentialsError.self) { try verifier.respond(to: trap, context: []) }
        for iterations in [999, 100_001] {
            #expect(throws: CredentialsError.self) {
                try Spake2Plus.Prover(passcode: 1, salt: [UInt8](repeating: 7, count: 16), iterations: iterations)
            }
        }
        #expect(throws: CredentialsError.self) { try Spake2Plus.Prover(passcode: 1, salt: [], iterations: 1000) }
    }
}
