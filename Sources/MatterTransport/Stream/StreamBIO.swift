import COpenSSL

/// OpenSSL's way to a `ByteStream`. OpenSSL's own socket BIO writes with write(2), which raises SIGPIPE in the host process when
/// the peer has gone; and it knows sockets only.
enum StreamBIO {
    /// BIO_METHOD is only read after it has been made; a raw address is Sendable, a pointer is not.
    private static let method: UInt = {
        let method = BIO_meth_new(BIO_get_new_index() | BIO_TYPE_SOURCE_SINK, "hearth stream")
        BIO_meth_set_write(method, bioWrite)
        BIO_meth_set_read(method, bioRead)
        BIO_meth_set_ctrl(method, bioControl)
        return UInt(bitPattern: method)
    }()

    /// A BIO that reaches no stream yet.
    static func make() -> OpaquePointer? {
        guard let method = OpaquePointer(bitPattern: method), let bio = BIO_new(method) else { return nil }
        BIO_set_init(bio, 1)
        return bio
    }

    /// Lets `bio` read and write `stream`, which the caller keeps alive until it attaches nil.
    static func attach(_ stream: ByteStream?, to bio: OpaquePointer?) {
        BIO_set_data(bio, stream.map { Unmanaged.passUnretained($0).toOpaque() })
    }
}

@inline(__always)
private func stream(_ bio: OpaquePointer?) -> ByteStream? {
    BIO_get_data(bio).map { Unmanaged<ByteStream>.fromOpaque($0).takeUnretainedValue() }
}

private func bioWrite(_ bio: OpaquePointer?, _ bytes: UnsafePointer<CChar>?, _ count: Int32) -> Int32 {
    ossl_bio_clear_retry(bio)
    guard count > 0, let bytes, let stream = stream(bio) else { return count == 0 ? 0 : -1 }
    switch stream.write(UnsafeRawBufferPointer(start: bytes, count: Int(count))) {
    case .bytes(let sent): return Int32(sent)
    case .wouldBlock:
        ossl_bio_retry_write(bio)
        return -1
    case .end, .failed: return -1
    }
}

private func bioRead(_ bio: OpaquePointer?, _ bytes: UnsafeMutablePointer<CChar>?, _ count: Int32) -> Int32 {
    ossl_bio_clear_retry(bio)
    guard count > 0, let bytes, let stream = stream(bio) else { return count == 0 ? 0 : -1 }
    switch stream.read(into: UnsafeMutableRawBufferPointer(start: bytes, count: Int(count))) {
    case .bytes(let received): return Int32(received)
    case .wouldBlock:
        ossl_bio_retry_read(bio)
        return -1
    case .end:
        // Without this flag OpenSSL cannot tell a truncated connection from a failed read.
        BIO_set_flags(bio, BIO_FLAGS_IN_EOF)
        return 0
    case .failed: return -1
    }
}

private func bioControl(_ bio: OpaquePointer?, _ command: Int32, _: Int, _: UnsafeMutableRawPointer?) -> Int {
    switch command {
    case BIO_CTRL_FLUSH: 1
    case BIO_CTRL_EOF: BIO_test_flags(bio, BIO_FLAGS_IN_EOF) != 0 ? 1 : 0
    default: 0
    }
}
