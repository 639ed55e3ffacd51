import MatterCredentials

/// The time in which a whole certificate chain is valid, in seconds since 1970. Kept with session tickets, since a resumed
/// session has only the peer's own certificate.
struct ValidityWindow: Equatable, Sendable {
    var notBefore = Int64.min
    var notAfter = Int64.max

    mutating func narrow(to certificate: MatterCertificate) {
        notBefore = max(notBefore, certificate.notBefore.unix)
        if certificate.notAfter != .never { notAfter = min(notAfter, certificate.notAfter.unix) }
    }
    func contains(_ time: Int64) -> Bool { notBefore <= time && time <= notAfter }

    var bytes: [UInt8] {
        [notBefore, notAfter].flatMap { value in (0..<8).map { UInt8(truncatingIfNeeded: value >> (8 * $0)) } }
    }
    init() {}
    init?(_ bytes: UnsafeRawBufferPointer) {
        guard bytes.count == 16 else { return nil }
        notBefore = Int64(littleEndian: bytes.loadUnaligned(fromByteOffset: 0, as: Int64.self))
        notAfter = Int64(littleEndian: bytes.loadUnaligned(fromByteOffset: 8, as: Int64.self))
    }
}
