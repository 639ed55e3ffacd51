import COpenSSL
import MatterCredentials
import MatterMessage
import MatterModel

/// What an acceptor does with a ClientHello.
public enum TLSChoice: Sendable {
    /// Takes the session as this member of a fabric, if the peer proves to be another.
    case operational(OperationalIdentity)
    /// Lets the peer try the passcode.
    case pairing(PairingIdentity)
    /// Tells the peer that somebody else is pairing, and how long to wait, and closes.
    case busy(PairingIdentity, retryAfter: Duration)
    case refuse(TLSAlert)
}

// Credentials and peer checks.
extension TLSConnection {
    /// Acceptor, inside the ClientHello: takes the credentials for what was asked. - Returns: the alert to refuse with.
    func choose(_ hello: ClientHello) -> TLSAlert? {
        guard case .acceptor(let acceptor) = role else { return .internalError }
        switch acceptor.choose(hello) {
        case .refuse(let alert): return alert
        case .operational(let identity): return use(identity) ? nil : .internalError
        case .pairing(let identity): return use(identity)
        case .busy(let identity, let retryAfter):
            busyDelay = retryAfter
            return use(identity)
        }
    }

    /// Acceptor, with a whole ClientHello: whether the handshake may go on now. Links in memory are not limited.
    func mayBegin() -> Bool {
        guard let stream, !stream.isOrdered else { return true }
        hasGreeted = true
        return transport.admission.takeSlot(self)
    }

    private func use(_ identity: PairingIdentity) -> TLSAlert? {
        mode = .pairing
        SSL_set_verify(ssl, SSL_VERIFY_NONE, nil)
        SSL_set_num_tickets(ssl, 0)
        return identity.apply(to: ssl) ? nil : .internalError
    }

    /// Either end: shows this membership and accepts only peers of its fabric, at the node's own time.
    func use(_ identity: OperationalIdentity) -> Bool {
        mode = .operational
        self.identity = identity
        SSL_set_verify(ssl, SSL_VERIFY_PEER | SSL_VERIFY_FAIL_IF_NO_PEER_CERT, verifyCallback)
        X509_VERIFY_PARAM_set_time(SSL_get0_param(ssl), Int(wallTime()))
        // Root, intermediate, node: nothing longer.
        SSL_set_verify_depth(ssl, 1)
        SSL_set_num_tickets(ssl, 1)
        return identity.apply(to: ssl)
    }

    /// Full handshake, inside the verify callback: `chain` is good by OpenSSL's rules, leaf first.
    func judge(chain: [[UInt8]]) -> Bool {
        do {
            guard let identity, let leaf = chain.first, chain.count == 2 || chain.count == 3 else {
                throw TLSError(.wrongPeer, "unexpected certificate chain")
            }
            guard chain.last == identity.trust.rootDER else {
                throw TLSError(.wrongPeer, "the chain does not end at the fabric's root")
            }
            let node = try MatterCertificate(x509: leaf)
            var window = ValidityWindow()
            window.narrow(to: node)
            window.narrow(to: identity.trust.root)
            if chain.count == 3 {
                let issuer = try MatterCertificate(x509: chain[1])
                try CertificateChain.check(issuer, .intermediate, at: nil)
                let fabrics = issuer.subject.identifiers(.fabricID)
                guard fabrics.isEmpty || fabrics == [identity.fabric.fabricID.rawValue] else {
                    throw TLSError(.wrongPeer, "the issuer belongs to another fabric")
                }
                window.narrow(to: issuer)
            }
            peer = try judge(node, identity)
            self.window = window
            return true
        } catch {
            refusal = error as? TLSError ?? TLSError(.wrongPeer, "\(error)")
            return false
        }
    }

    private func judge(_ leaf: MatterCertificate, _ identity: OperationalIdentity) throws(TLSError) -> PeerIdentity {
        let dialled: NodeID? = if case .dialler(_, let node, _) = role { node } else { nil }
        return try PeerIdentity(leaf, in: identity.fabric, dialled: dialled)
    }

    /// After the handshake. A resumed session skipped the verify callback, so everything that can be checked without the
    /// issuers' certificates is checked here; the issuers stand in the session id context (root) and the window (validity).
    func checkPeer() throws(TLSError) {
        guard let identity else { throw TLSError(.wrongPeer, "no identity") }
        if isResumed {
            guard let offeredWindow, offeredWindow.contains(wallTime()), let x509 = SSL_get1_peer_certificate(ssl) else {
                throw TLSError(.wrongPeer, "the resumed session's certificate is not valid now")
            }
            defer { X509_free(x509) }
            do { peer = try judge(MatterCertificate(x509: derBytes { i2d_X509(x509, $0) }), identity) } catch {
                throw error as? TLSError ?? TLSError(.wrongPeer, "\(error)")
            }
            window = offeredWindow
        }
        guard peer != nil, window?.contains(wallTime()) == true, SSL_get_verify_result(ssl) == X509_V_OK else {
            throw TLSError(.wrongPeer, "the peer was not verified")
        }
    }

    /// Both ends must have agreed on the protocol: a server without ALPN is none of ours.
    func checkProtocol() throws(TLSError) {
        var name: UnsafePointer<UInt8>?
        var count: UInt32 = 0
        SSL_get0_alpn_selected(ssl, &name, &count)
        guard let mode, UnsafeBufferPointer(start: name, count: Int(count)).elementsEqual(mode.rawValue.utf8) else {
            throw TLSError(.handshake, "the peer does not speak Hearth's protocol")
        }
    }

    /// Dialler: sets name, protocol, credentials and, if there is one, a ticket.
    func prepareDial() throws(TLSError) {
        func offer(_ mode: TLSMode) -> Bool {
            self.mode = mode
            let name = Array(mode.rawValue.utf8)
            return SSL_set_alpn_protos(ssl, [UInt8(name.count)] + name, UInt32(name.count + 1)) == 0
        }
        switch role {
        case .acceptor, .none: break
        case .pairingDialler:
            SSL_set_verify(ssl, SSL_VERIFY_NONE, nil)
            guard offer(.pairing) else { throw .openSSL(.system, "SSL") }
        case .dialler(let identity, let node, let tickets):
            guard offer(.operational), use(identity), ossl_ssl_set_host(ssl, identity.fabric.instanceName(node: node)) == 1 else {
                throw .openSSL(.system, "SSL")
            }
            guard let ticket = tickets?.take(ticketKey(identity, node)), ticket.window.contains(wallTime()) else { return }
            let session = ticket.session.withUnsafeBufferPointer { buffer -> OpaquePointer? in
                var bytes = buffer.baseAddress
                return d2i_SSL_SESSION(nil, &bytes, buffer.count)
            }
            guard let session else { return }
            SSL_set_session(ssl, session)
            SSL_SESSION_free(session)
            offeredWindow = ticket.window
        }
    }

    /// Dialler: a ticket came. It is kept only when the peer has been judged.
    func keep(ticket session: [UInt8]) {
        guard case .dialler(let identity, let node, let tickets?) = role, let window, peer != nil else { return }
        tickets.put(TicketStore.Ticket(session: session, window: window), for: ticketKey(identity, node))
    }

    private func ticketKey(_ identity: OperationalIdentity, _ node: NodeID) -> TicketStore.Key {
        TicketStore.Key(fabric: identity.fabric, node: node, generation: identity.generation)
    }
}

// What the layers above learn of a session.
extension TLSConnection {
    /// The context of the session on this connection. While pairing the peer has proven nothing: auth mode nil, fabric 0.
    /// - Throws: `TLSError` once the connection is over.
    public func sessionContext() throws(TLSError) -> SessionContext {
        let challenge = try exporter(label: "EXPORTER-hearth-attestation", count: 16)
        guard mode == .operational, let identity, let peer else {
            return SessionContext(attestationChallenge: challenge, maximumMessageSize: maximumMessageSize)
        }
        return SessionContext(
            authMode: .case, fabricIndex: identity.fabricIndex.rawValue, peerNodeID: peer.nodeID.rawValue,
            authenticatedTags: peer.tags,
            attestationChallenge: challenge, maximumMessageSize: maximumMessageSize)
    }

    /// What SPAKE2+ binds its context to, 32 bytes: both ends of this very TLS session have the same, and nobody in the middle has.
    /// - Throws: `TLSError` once the connection is over.
    public func pairingBinding() throws(TLSError) -> [UInt8] { try exporter(label: "EXPORTER-hearth-pairing", count: 32) }

    /// Key material of this very TLS session (RFC 8446, 7.5).
    func exporter(label: String, count: Int) throws(TLSError) -> [UInt8] {
        guard phase == .open || phase == .closing else {
            throw closeReason ?? TLSError(.closedByPeer, "the other side has ended the connection")
        }
        var out = [UInt8](repeating: 0, count: count)
        guard SSL_export_keying_material(ssl, &out, count, label, label.utf8.count, nil, 0, 0) == 1 else {
            throw .openSSL(.broken, "SSL_export_keying_material")
        }
        return out
    }

    /// Acceptor: the passcode has been proven, so that the limits for strangers no longer apply.
    public func pairingCompleted() {
        guard isAcceptorEnd, mode == .pairing, phase != .closed else { return }
        if let pairingTimer { transport.timeline.cancel(pairingTimer) }
        pairingTimer = nil
        transport.admission.leave(self)
    }

    func limitPairing() {
        pairingTimer = transport.timeline.after(transport.limits.pairing, origin: origin) { [weak self] in
            guard let self else { return }
            self.pairingTimer = nil
            self.finish(TLSError(.timedOut, "pairing took too long"))
        }
    }
}
