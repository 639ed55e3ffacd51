import COpenSSL
import MatterCredentials

// What OpenSSL calls back. All of these run inside SSL_do_handshake or SSL_read of one connection, on its loop's thread, and
// must not close that connection. They are top-level functions: a closure would inherit an actor's isolation and trap.

private func connection(_ ssl: OpaquePointer?) -> TLSConnection? {
    SSL_get_ex_data(ssl, TLSContext.connectionIndex).map { Unmanaged<TLSConnection>.fromOpaque($0).takeUnretainedValue() }
}

/// Runs before resumption is looked at, which the servername callback does not: session id contexts must be set here.
func clientHelloCallback(
    _ ssl: OpaquePointer?, _ alert: UnsafeMutablePointer<Int32>?, _: UnsafeMutableRawPointer?
) -> Int32 {
    guard let ssl, let connection = connection(ssl) else { return SSL_CLIENT_HELLO_ERROR }
    guard connection.mayBegin() else { return SSL_CLIENT_HELLO_RETRY }
    if let refusal = connection.choose(ClientHello(ssl)) {
        alert?.pointee = refusal.rawValue
        return SSL_CLIENT_HELLO_ERROR
    }
    return SSL_CLIENT_HELLO_SUCCESS
}

/// Confirms the protocol that the ClientHello decided on.
func selectProtocolCallback(
    _ ssl: OpaquePointer?, _ out: UnsafeMutablePointer<UnsafePointer<UInt8>?>?, _ outCount: UnsafeMutablePointer<UInt8>?,
    _ offered: UnsafePointer<UInt8>?, _ offeredCount: UInt32, _: UnsafeMutableRawPointer?
) -> Int32 {
    guard let wanted = connection(ssl)?.mode?.rawValue.utf8, var cursor = offered else { return SSL_TLSEXT_ERR_ALERT_FATAL }
    // `out` must point into memory that outlives the call: the client's own list does.
    let end = cursor + Int(offeredCount)
    while cursor < end {
        let name = UnsafeBufferPointer(start: cursor + 1, count: Int(cursor.pointee))
        if name.elementsEqual(wanted) {
            out?.pointee = name.baseAddress
            outCount?.pointee = cursor.pointee
            return SSL_TLSEXT_ERR_OK
        }
        cursor += 1 + Int(cursor.pointee)
    }
    return SSL_TLSEXT_ERR_ALERT_FATAL
}

/// Judges a peer's chain once OpenSSL has found it good (depth 0 comes last), so that a wrong peer gets a TLS alert and no
/// ticket. Does not run when a session is resumed.
func verifyCallback(_ ok: Int32, _ store: OpaquePointer?) -> Int32 {
    guard ok == 1, X509_STORE_CTX_get_error_depth(store) == 0 else { return ok }
    let ssl = X509_STORE_CTX_get_ex_data(store, SSL_get_ex_data_X509_STORE_CTX_idx())
    guard let connection = connection(ssl.map { OpaquePointer($0) }) else { return 0 }
    let chain = X509_STORE_CTX_get0_chain(store)
    let certificates = (0..<ossl_chain_count(chain)).map { i in
        let x509 = ossl_chain_at(chain, i)
        return derBytes { i2d_X509(x509, $0) }
    }
    if connection.judge(chain: certificates) { return 1 }
    X509_STORE_CTX_set_error(store, X509_V_ERR_CERT_REJECTED)
    return 0
}

/// Acceptor: stores the chain's validity in the ticket that is about to be sent. This happens inside SSL_do_handshake, so on
/// a resumed session before `checkPeer`: the window is then the one of the ticket that was taken.
func ticketMadeCallback(_ ssl: OpaquePointer?, _: UnsafeMutableRawPointer?) -> Int32 {
    guard let connection = connection(ssl), let window = connection.window ?? connection.offeredWindow else { return 0 }
    let bytes = window.bytes
    return SSL_SESSION_set1_ticket_appdata(SSL_get_session(ssl), bytes, bytes.count)
}

/// Acceptor: a ticket whose chain is not valid now (model time) is ignored; the full handshake that follows will say why.
func ticketReadCallback(
    _ ssl: OpaquePointer?, _ session: OpaquePointer?, _: UnsafePointer<UInt8>?, _: Int, _ status: SSL_TICKET_STATUS,
    _: UnsafeMutableRawPointer?
) -> SSL_TICKET_RETURN {
    guard status == SSL_TICKET_SUCCESS || status == SSL_TICKET_SUCCESS_RENEW, let connection = connection(ssl), let session else {
        return SSL_TICKET_RETURN_IGNORE_RENEW
    }
    var bytes: UnsafeMutableRawPointer?
    var count = 0
    guard SSL_SESSION_get0_ticket_appdata(session, &bytes, &count) == 1,
        let window = ValidityWindow(UnsafeRawBufferPointer(start: bytes, count: count)), window.contains(connection.wallTime())
    else { return SSL_TICKET_RETURN_IGNORE_RENEW }
    connection.offeredWindow = window
    return SSL_TICKET_RETURN_USE_RENEW
}

/// Dialler: keeps a ticket for the next connection to the same node.
func ticketReceivedCallback(_ ssl: OpaquePointer?, _ session: OpaquePointer?) -> Int32 {
    connection(ssl)?.keep(ticket: derBytes { i2d_SSL_SESSION(session, $0) })
    return 0
}
