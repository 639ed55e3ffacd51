import MatterCredentials

/// What may be wrong with the clocks when a device refuses certificates that begin to be valid at a certain time.
enum ClockDoubt {
    /// - Parameters:
    ///   - begin: when the certificates begin to be valid, in seconds since 1970.
    ///   - wall: what this machine's clock says, in seconds since 1970.
    /// - Returns: nil when no clock can be the reason.
    static func text(begin: Int64, wall: Int64) -> String? {
        if begin > wall {
            return "This home was made when this machine's clock was ahead, and its certificates are valid only in \(span(begin - wall)): "
                + "set the clock right, or make a new home with another --home"
        }
        guard begin > MatterTime.epochStart.unix else { return nil }
        return "Its clock may be wrong: this home's certificates are valid since \(span(wall - begin)) only"
    }

    /// In the largest unit that says something.
    static func span(_ seconds: Int64) -> String {
        let (count, unit): (Int64, String) =
            switch seconds {
            case (2 * 365 * 86_400)...: (seconds / (365 * 86_400), "year")
            case (2 * 86_400)...: (seconds / 86_400, "day")
            case (2 * 3600)...: (seconds / 3600, "hour")
            default: (max(1, (seconds + 59) / 60), "minute")
            }
        return "\(count) \(unit)\(count == 1 ? "" : "s")"
    }
}
