/// Seconds since 2000-01-01 00:00:00 UTC, Matter's epoch.
public struct MatterTime: Equatable, Comparable, Sendable {
    public var seconds: UInt32
    public init(seconds: UInt32) { self.seconds = seconds }
    /// Stands for 9999-12-31 23:59:59 in `notAfter` (Matter Core, 6.5.7).
    public static let never = MatterTime(seconds: 0)
    /// As `notBefore`: valid whatever a clock says, which for a device is never before Matter's epoch (Matter Core, 3.5.6).
    public static let epochStart = MatterTime(seconds: 0)
    public static let unixOffset: Int64 = 946_684_800
    /// - Returns: nil before 2000 or after 2136.
    public init?(unix: Int64) {
        guard let seconds = UInt32(exactly: unix.subtractingReportingOverflow(Self.unixOffset).partialValue) else { return nil }
        self.seconds = seconds
    }
    /// A day earlier, so that a peer whose clock is behind accepts a certificate at once; not before Matter's epoch.
    public var backdated: MatterTime { MatterTime(seconds: max(1, seconds > 86_400 ? seconds - 86_400 : 1)) }
    public var unix: Int64 { Int64(seconds) + Self.unixOffset }
    public static func < (a: MatterTime, b: MatterTime) -> Bool { a.seconds < b.seconds }
}
