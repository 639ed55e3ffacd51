import COpenSSL

/// A P-256 public key as an object: making one costs several times what a verification does, so keep those that are used again.
///
/// Why `@unchecked Sendable` is sound: the EVP_PKEY is never changed after `init`; its reference count is atomic; OpenSSL
/// documents verifying with one EVP_PKEY from several threads as safe (the EVP_MD_CTX is ours, one a call).
public final class PublicKey: @unchecked Sendable {
    package let handle: OpaquePointer
    /// The uncompressed point, 65 bytes.
    public let point: [UInt8]

    /// - Throws: `invalidPoint` unless `point` is an uncompressed point of P-256.
    public init(point: [UInt8]) throws(CredentialsError) {
        let info = X509.publicKeyInfo(point)
        let key = info.withUnsafeBufferPointer { buffer -> OpaquePointer? in
            var pointer = buffer.baseAddress
            return d2i_PUBKEY(nil, &pointer, buffer.count)
        }
        guard point.count == 65, point.first == 4, let key else {
            EVP_PKEY_free(key)
            ERR_clear_error()
            throw CredentialsError(.invalidPoint, "not a public key on P-256")
        }
        handle = key
        self.point = point
    }

    deinit { EVP_PKEY_free(handle) }

    /// Whether `signature` (r and s, 32 bytes each) is this key's over `message`, with ECDSA and SHA-256.
    public func isValid(signature: [UInt8], of message: [UInt8]) -> Bool {
        guard signature.count == 64, let context = EVP_MD_CTX_new() else { return false }
        defer {
            EVP_MD_CTX_free(context)
            ERR_clear_error()
        }
        let encoded = ECDSA.der(signature)
        return EVP_DigestVerifyInit(context, nil, EVP_sha256(), nil, handle) == 1
            && EVP_DigestVerify(context, encoded, encoded.count, message, message.count) == 1
    }
}

/// Signatures in their two encodings.
enum ECDSA {
    static func der(_ raw: [UInt8]) -> [UInt8] {
        DER.sequence(DER.integer(unsigned: raw.prefix(32)), DER.integer(unsigned: raw.suffix(32)))
    }

    static func raw(_ der: ArraySlice<UInt8>) throws(CredentialsError) -> [UInt8] {
        var outer = DERReader(der)
        var pair = try outer.enter(DER.sequence)
        try outer.expectEnd()
        var raw: [UInt8] = []
        for _ in 0..<2 {
            let digits = try pair.read(DER.integer).drop { $0 == 0 }
            guard digits.count <= 32 else { throw CredentialsError(.malformed, "a signature's number is longer than 32 bytes") }
            raw += [UInt8](repeating: 0, count: 32 - digits.count) + digits
        }
        try pair.expectEnd()
        return raw
    }

    static func verify(signature: [UInt8], of message: [UInt8], publicKey: [UInt8]) -> Bool {
        guard let key = try? PublicKey(point: publicKey) else { return false }
        return key.isValid(signature: signature, of: message)
    }
}
