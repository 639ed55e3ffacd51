import HearthTime
import MatterNode
import MatterTransport

/// The device finds the certificate of whoever connects expired, and says so in a TLS alert. Pairing is not affected, since it has no
/// operational certificates yet; sessions that are open go on.
final class ExpiredCertificateFault: Fault {
    override class var kind: String { "expired-certificate" }

    override func refusesConnection(isPairing: Bool) -> TLSAlert? {
        !isPairing && fires("a certificate has expired") ? .certificateExpired : nil
    }
}
