import HearthTime

/// A number that moves evenly from one value to another. It is computed from the time that has passed, so that a late look neither
/// stretches it nor makes it miss its end.
struct Transition: Hashable {
    var start: Int
    var target: Int
    var began: ModelInstant
    /// Zero or more.
    var duration: Duration

    var end: ModelInstant { began + duration }

    func isOver(at now: ModelInstant) -> Bool { now >= end }

    /// The value at an instant; rounded towards the start, so that the target is reached at the end and not before.
    func value(at now: ModelInstant) -> Int {
        guard !isOver(at: now) else { return target }
        guard now > began else { return start }
        let share = Double((now - began).wholeNanoseconds) / Double(duration.wholeNanoseconds)
        return start + Int((Double(target - start) * share + (target > start ? 1e-6 : -1e-6)).rounded(.towardZero))
    }

    /// What is left, in tenths of a second, rounded up: zero only when it is over.
    func remaining(at now: ModelInstant) -> UInt16 { tenths(until: end, from: now) }
}

/// Tenths of a second until an instant, rounded up; at most 65534.
func tenths(until end: ModelInstant, from now: ModelInstant) -> UInt16 {
    guard end > now else { return 0 }
    return UInt16(clamping: min(((end - now).wholeNanoseconds - 1) / 100_000_000 + 1, 0xFFFE))
}

extension Duration {
    /// The unit of transition times.
    static func tenths(_ count: UInt16) -> Duration { .milliseconds(Int64(count) * 100) }
}
