import HearthTime
import MatterModel

/// One movement of a covering, lift or tilt: where it is, computed from the time that has passed, and where it goes.
/// Positions are hundredths of a percent, 0 (open) to 10000 (closed).
struct CoveringAxis {
    enum Kind: Sendable { case lift, tilt }

    /// A position behind which something lies.
    struct Obstacle: Hashable, Sendable {
        var position: UInt16
        /// Whether it is in the way of closing or of opening.
        var blocksClosing: Bool
    }

    struct Motion {
        var start: UInt16
        /// Where it ends, which lies before the target when something is in the way.
        var end: UInt16
        var began: ModelInstant
        var duration: Duration
        var timer: Token?
    }

    static let closed: UInt16 = 10000

    let kind: Kind
    /// From end to end.
    let travel: Duration
    private(set) var rest: UInt16
    var target: UInt16
    var obstacle: Obstacle?
    var motion: Motion?

    init(_ kind: Kind, travel: Duration, position: UInt16) {
        (self.kind, self.travel) = (kind, travel)
        rest = min(position, Self.closed)
        target = rest
    }

    var isMoving: Bool { motion != nil }

    /// 0 stopped, 1 opening, 2 closing.
    var movement: UInt8 {
        guard let motion else { return 0 }
        return motion.end < motion.start ? 1 : 2
    }

    func position(at now: ModelInstant) -> UInt16 {
        guard let motion else { return rest }
        let whole = motion.duration.wholeNanoseconds
        let elapsed = (now - motion.began).wholeNanoseconds
        guard whole > 0, elapsed < whole else { return motion.end }
        let way = Int64(motion.end) - Int64(motion.start)
        // At most 10⁴ · 10¹⁴, as travel is limited to a day.
        return UInt16(clamping: Int64(motion.start) + way * max(0, elapsed) / whole)
    }

    /// Where a way to `target` really ends.
    private func end(from start: UInt16, to target: UInt16) -> UInt16 {
        guard let obstacle else { return target }
        if obstacle.blocksClosing, target > obstacle.position, start <= obstacle.position { return obstacle.position }
        if !obstacle.blocksClosing, target < obstacle.position, start >= obstacle.position { return obstacle.position }
        return target
    }

    /// Whether the present motion ends at the obstacle and not at the target.
    var runsIntoObstacle: Bool { motion.map { $0.end != target } ?? false }

    /// Turns towards `target` from wherever it is. Gives the time until the end; nil when there is no way to go, and then the target
    /// is where it stands.
    mutating func go(to target: UInt16, at now: ModelInstant) -> Duration? {
        let start = position(at: now)
        rest = start
        motion = nil
        self.target = min(target, Self.closed)
        let end = end(from: start, to: self.target)
        guard end != start else { return nil }
        let share = Int64(end > start ? end - start : start - end)
        let duration = Duration.nanoseconds(travel.wholeNanoseconds / Int64(Self.closed) * share)
        motion = Motion(start: start, end: end, began: now, duration: duration)
        return duration
    }

    /// Stops where it is; the target follows.
    mutating func stop(at now: ModelInstant) {
        rest = position(at: now)
        motion = nil
        target = rest
    }

    /// A hand has put it somewhere else.
    mutating func put(at position: UInt16) {
        motion = nil
        rest = min(position, Self.closed)
        target = rest
    }
}
