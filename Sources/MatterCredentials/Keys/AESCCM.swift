import COpenSSL

/// AES-128-CCM with a 16-byte tag and a 13-byte nonce: the cipher of Matter's messages (Matter Core, 3.6).
public enum AESCCM {
    public static let keyLength = 16
    public static let nonceLength = 13
    public static let tagLength = 16

    /// - Returns: the ciphertext and behind it the tag.
    public static func seal(
        _ plaintext: [UInt8], key: [UInt8], nonce: [UInt8], authenticating data: [UInt8]
    ) throws(CredentialsError) -> [UInt8] {
        let context = try begin(key, nonce, tag: nil, encrypt: 1)
        defer { EVP_CIPHER_CTX_free(context) }
        var (out, count, end) = ([UInt8](repeating: 0, count: plaintext.count + tagLength), Int32(0), Int32(0))
        let size = Int32(truncatingIfNeeded: plaintext.count)
        guard EVP_CipherUpdate(context, nil, &count, nil, size) == 1,
            data.isEmpty || EVP_CipherUpdate(context, nil, &count, data, Int32(truncatingIfNeeded: data.count)) == 1,
            EVP_CipherUpdate(context, &out, &count, plaintext, size) == 1
        else { throw .openSSL("AES-CCM") }
        let sealed = out.withUnsafeMutableBufferPointer { buffer -> Bool in
            guard let tag = buffer.baseAddress.map({ $0 + plaintext.count }) else { return false }
            return EVP_CipherFinal_ex(context, tag, &end) == 1
                && EVP_CIPHER_CTX_ctrl(context, EVP_CTRL_AEAD_GET_TAG, Int32(tagLength), tag) == 1
        }
        guard sealed else { throw .openSSL("AES-CCM") }
        return out
    }

    /// - Throws: `invalidSignature` when the tag does not fit: wrong key, wrong nonce, or somebody changed the bytes.
    public static func open(
        _ sealed: [UInt8], key: [UInt8], nonce: [UInt8], authenticating data: [UInt8]
    ) throws(CredentialsError) -> [UInt8] {
        guard sealed.count >= tagLength else { throw CredentialsError(.malformed, "a sealed message is shorter than its tag") }
        let size = sealed.count - tagLength
        let context = try begin(key, nonce, tag: Array(sealed[size...]), encrypt: 0)
        defer { EVP_CIPHER_CTX_free(context) }
        var (out, count) = ([UInt8](repeating: 0, count: size + tagLength), Int32(0))
        let length = Int32(truncatingIfNeeded: size)
        guard EVP_CipherUpdate(context, nil, &count, nil, length) == 1,
            data.isEmpty || EVP_CipherUpdate(context, nil, &count, data, Int32(truncatingIfNeeded: data.count)) == 1
        else { throw .openSSL("AES-CCM") }
        guard EVP_CipherUpdate(context, &out, &count, sealed, length) == 1 else {
            ERR_clear_error()
            throw CredentialsError(.invalidSignature, "a sealed message does not fit its key")
        }
        return Array(out[..<size])
    }

    private static func begin(
        _ key: [UInt8], _ nonce: [UInt8], tag: [UInt8]?, encrypt: Int32
    ) throws(CredentialsError) -> OpaquePointer {
        guard key.count == keyLength, nonce.count == nonceLength else {
            throw CredentialsError(.outOfRange, "AES-CCM takes a key of \(keyLength) bytes and a nonce of \(nonceLength)")
        }
        guard let context = EVP_CIPHER_CTX_new() else { throw .openSSL("EVP_CIPHER_CTX_new") }
        // CCM wants the tag's length before the key, and for opening its value with it.
        func setTag(_ pointer: UnsafeMutableRawPointer?) -> Bool {
            EVP_CIPHER_CTX_ctrl(context, EVP_CTRL_AEAD_SET_TAG, Int32(tagLength), pointer) == 1
        }
        var value = tag ?? []
        let ready =
            EVP_CipherInit_ex(context, EVP_aes_128_ccm(), nil, nil, nil, encrypt) == 1
            && EVP_CIPHER_CTX_ctrl(context, EVP_CTRL_AEAD_SET_IVLEN, Int32(nonceLength), nil) == 1
            && (tag == nil ? setTag(nil) : value.withUnsafeMutableBytes { setTag($0.baseAddress) })
            && EVP_CipherInit_ex(context, nil, nil, key, nonce, encrypt) == 1
        guard ready else {
            EVP_CIPHER_CTX_free(context)
            throw .openSSL("AES-CCM")
        }
        return context
    }
}
