import COpenSSL

/// The two SSL_CTX of the process. They hold only what is the same for every connection; certificates, keys, trust and
/// session contexts are set on each connection, because an SSL_CTX a device costs 24 KB.
///
/// Why `@unchecked Sendable` is sound: an SSL_CTX is complete when `make` returns and is then only given to SSL_new, which
/// OpenSSL documents as safe from several threads.
final class TLSContext: @unchecked Sendable {
    let pointer: OpaquePointer

    static let server = made(server: true)
    static let client = made(server: false)
    /// Where an SSL keeps its `TLSConnection`.
    static let connectionIndex = ossl_ssl_new_index()

    private static func made(server: Bool) -> Result<TLSContext, TLSError> {
        do throws(TLSError) { return .success(try TLSContext(server: server)) } catch { return .failure(error) }
    }

    private init(server: Bool) throws(TLSError) {
        guard let context = SSL_CTX_new(server ? TLS_server_method() : TLS_client_method()) else {
            throw .openSSL(.system, "SSL_CTX_new")
        }
        pointer = context
        // One suite and one curve: everything else would only be ways to differ. `openssl.cnf` cannot widen it.
        guard ossl_ctx_set_tls13_only(context) == 1, SSL_CTX_set_ciphersuites(context, "TLS_AES_128_GCM_SHA256") == 1,
            ossl_ctx_set_groups(context, "X25519:P-256") == 1, ossl_ctx_set_sigalgs(context, "ECDSA+SHA256") == 1
        else { throw .openSSL(.system, "SSL_CTX") }
        ossl_ctx_set_mode(
            context, Int(SSL_MODE_RELEASE_BUFFERS) | Int(SSL_MODE_ENABLE_PARTIAL_WRITE) | Int(SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER)
        )
        // One recv a record instead of two (header, body): 5 to 9 % of the CPU of a small request. In exchange SSL_read must be
        // called until it wants more, since epoll does not see what OpenSSL has already read.
        ossl_ctx_set_read_ahead(context, 1)
        if server {
            SSL_CTX_set_client_hello_cb(context, clientHelloCallback, nil)
            SSL_CTX_set_alpn_select_cb(context, selectProtocolCallback, nil)
            SSL_CTX_set_session_ticket_cb(context, ticketMadeCallback, ticketReadCallback, nil)
            // Tickets carry the session; nothing is kept here.
            ossl_ctx_set_cache_mode(context, Int(SSL_SESS_CACHE_OFF))
            SSL_CTX_set_max_early_data(context, 0)
        } else {
            ossl_ctx_set_cache_mode(context, Int(SSL_SESS_CACHE_CLIENT) | Int(SSL_SESS_CACHE_NO_INTERNAL_STORE))
            SSL_CTX_sess_set_new_cb(context, ticketReceivedCallback)
        }
    }

    func makeSSL() throws(TLSError) -> OpaquePointer {
        guard let ssl = SSL_new(pointer) else { throw .openSSL(.system, "SSL_new") }
        return ssl
    }
}
