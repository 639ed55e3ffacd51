import MatterModel

/// What a valid chain of operational certificates says (Matter Core, 6.5).
public struct ValidatedChain: Hashable, Sendable {
    public var nodeID: NodeID
    public var fabricID: FabricID
    /// The node's CASE Authenticated Tags, at most three, in the order of the certificate.
    public var cats: [UInt32]
    /// The root's uncompressed P-256 point, 65 bytes.
    public var rootPublicKey: [UInt8]
    /// The node's uncompressed P-256 point, 65 bytes.
    public var nodePublicKey: [UInt8]

    /// The fabric as it is known on the network.
    public var fabric: FabricIdentity { FabricIdentity(fabricID: fabricID, rootPublicKey: rootPublicKey) }
}

/// The rules for operational certificates and their chains (Matter Core, 6.5.5 to 6.5.11).
public enum CertificateChain {
    /// A certificate's place in a chain.
    public enum Role: String, Sendable {
        case node = "node certificate"
        case intermediate = "intermediate certificate"
        case root = "root certificate"
    }

    /// Bytes of a certificate in its compact form, at most (Matter Core, 6.5.2).
    public static let maximumSize = 400
    /// Attributes of a name, at most (Matter Core, 6.5.6).
    public static let maximumNameAttributes = 5

    /// Checks a node's chain up to `root`, which the caller trusts or is about to trust.
    /// - Parameter time: seconds since 1970 (the later of wall time and last known good time); nil checks no validity.
    /// - Throws: an error that names the certificate and the rule.
    public static func validate(
        noc: MatterCertificate, icac: MatterCertificate?, root: MatterCertificate, at time: Int64?
    ) throws(CredentialsError) -> ValidatedChain {
        try validateRoot(root, at: time)
        var issuer = root
        if let icac {
            try check(icac, .intermediate, at: time)
            try checkIssued(icac, .intermediate, by: root, .root)
            issuer = icac
        }
        try check(noc, .node, at: time)
        try checkIssued(noc, .node, by: issuer, icac == nil ? .root : .intermediate)
        if let pathLength = root.pathLength, pathLength < (icac == nil ? 0 : 1) {
            throw broken(.root, "allows no intermediate below it (path length \(pathLength))")
        }

        let (nodes, fabrics) = (noc.subject.identifiers(.nodeID), noc.subject.identifiers(.fabricID))
        guard let node = nodes.first, let fabric = fabrics.first else { throw broken(.node, "has no node id or fabric id") }
        for (certificate, role) in [(icac, Role.intermediate), (root, .root)] {
            guard let other = certificate?.subject.identifiers(.fabricID).first, other != fabric else { continue }
            throw broken(role, "belongs to another fabric than the node certificate")
        }
        return ValidatedChain(
            nodeID: NodeID(node), fabricID: FabricID(fabric),
            cats: noc.subject.identifiers(.nocCAT).map { UInt32(truncatingIfNeeded: $0) }, rootPublicKey: root.publicKey,
            nodePublicKey: noc.publicKey)
    }

    /// Checks a root alone, as AddTrustedRootCertificate must.
    public static func validateRoot(_ root: MatterCertificate, at time: Int64?) throws(CredentialsError) {
        try check(root, .root, at: time)
        try checkIssued(root, .root, by: root, .root)
    }

    /// Checks one certificate for its place in a chain: everything but its signature and its issuer.
    public static func check(_ certificate: MatterCertificate, _ role: Role, at time: Int64?) throws(CredentialsError) {
        guard certificate.tlv.count <= maximumSize else {
            throw broken(role, "is larger than \(maximumSize) bytes in its compact form")
        }
        guard certificate.subject.attributes.count <= maximumNameAttributes,
            certificate.issuer.attributes.count <= maximumNameAttributes
        else { throw broken(role, "has a name of more than \(maximumNameAttributes) attributes") }
        _ = try P256().point(certificate.publicKey)
        try checkSubject(certificate.subject, role)
        try checkExtensions(certificate, role)
        guard let time else { return }
        guard certificate.notBefore.unix <= time else {
            throw CredentialsError(
                .notYetValid, "the \(role.rawValue) is not valid yet: check the clock of this machine and of the device")
        }
        guard certificate.isValid(at: time) else { throw CredentialsError(.expired, "the \(role.rawValue) has expired") }
    }

    // MARK: Names

    /// Which Matter identifiers a subject must and may have (Matter Core, 6.5.6.3).
    private static func checkSubject(_ subject: DistinguishedName, _ role: Role) throws(CredentialsError) {
        let required: [DistinguishedName.Kind]
        let optional: [DistinguishedName.Kind]
        switch role {
        case .node: (required, optional) = ([.nodeID, .fabricID], [])
        case .intermediate: (required, optional) = ([.icacID], [.fabricID])
        case .root: (required, optional) = ([.rcacID], [.fabricID])
        }
        for kind in [DistinguishedName.Kind.nodeID, .firmwareSigningID, .icacID, .rcacID, .fabricID] {
            let count = subject.identifiers(kind).count
            if required.contains(kind) {
                guard count == 1 else { throw broken(role, "must have exactly one \(kind) in its subject and has \(count)") }
            } else if optional.contains(kind) {
                guard count <= 1 else { throw broken(role, "has \(count) times \(kind) in its subject") }
            } else {
                guard count == 0 else { throw broken(role, "must not have \(kind) in its subject") }
            }
        }
        guard !subject.identifiers(.fabricID).contains(0) else { throw broken(role, "has the reserved fabric id 0") }
        for node in subject.identifiers(.nodeID) where !operationalNodeIDs.contains(node) {
            throw broken(role, "has a node id outside the operational range")
        }
        let cats = subject.identifiers(.nocCAT)
        guard role == .node || cats.isEmpty else { throw broken(role, "must not have CASE Authenticated Tags") }
        try checkTags(cats.map { UInt32(truncatingIfNeeded: $0) })
    }

    /// The node ids that a node may have (Matter Core, 2.5.5.1).
    static let operationalNodeIDs: ClosedRange<UInt64> = 1...0xFFFF_FFEF_FFFF_FFFF

    /// At most three tags, no version 0, no identifier twice (Matter Core, 6.6.2.1.2).
    static func checkTags(_ tags: [UInt32]) throws(CredentialsError) {
        guard tags.count <= 3, tags.allSatisfy({ $0 & 0xFFFF != 0 }), Set(tags.map { $0 >> 16 }).count == tags.count else {
            throw CredentialsError(
                .invalidChain, "CASE Authenticated Tags: at most three, each with another identifier and a version above 0")
        }
    }

    // MARK: Extensions

    private static func checkExtensions(_ certificate: MatterCertificate, _ role: Role) throws(CredentialsError) {
        let isAuthority = role != .node
        guard certificate.hasBasicConstraints, certificate.isCA == isAuthority else {
            throw broken(role, isAuthority ? "is not marked as an authority" : "must say that it is no authority")
        }
        guard isAuthority || certificate.pathLength == nil else { throw broken(role, "must not have a path length") }
        let usage = certificate.keyUsage
        if isAuthority {
            guard usage.subtracting(.digitalSignature) == [.keyCertSign, .crlSign] else {
                throw broken(role, "must have the key usages keyCertSign and cRLSign")
            }
        } else {
            guard usage == .digitalSignature else { throw broken(role, "must have the key usage digitalSignature and no other") }
            guard certificate.purposes.count == 2, Set(certificate.purposes) == [.clientAuth, .serverAuth] else {
                throw broken(role, "must have the extended key usages clientAuth and serverAuth")
            }
        }
        guard !certificate.subjectKeyID.isEmpty, !certificate.authorityKeyID.isEmpty else {
            throw broken(role, "must name its own key and its issuer's")
        }
        for case .other(let bytes) in certificate.extensions where try MatterCertificate.Extension.isCritical(bytes) {
            throw broken(role, "has a critical extension that is not known here")
        }
    }

    private static func checkIssued(
        _ certificate: MatterCertificate, _ role: Role, by issuer: MatterCertificate, _ issuerRole: Role
    ) throws(CredentialsError) {
        guard certificate.issuer == issuer.subject else {
            throw broken(role, role == .root ? "is not its own issuer" : "names another issuer than the \(issuerRole.rawValue)")
        }
        guard certificate.authorityKeyID == issuer.subjectKeyID else {
            throw broken(role, "was issued with another key than that of the \(issuerRole.rawValue)")
        }
        guard certificate.isSigned(by: issuer) else {
            throw CredentialsError(.invalidSignature, "the \(role.rawValue) is not signed by the \(issuerRole.rawValue)")
        }
    }

    private static func broken(_ role: Role, _ what: String) -> CredentialsError {
        CredentialsError(.invalidChain, "the \(role.rawValue) \(what)")
    }
}
