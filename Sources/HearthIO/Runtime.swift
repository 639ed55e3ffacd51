import Glibc
import HearthTime

/// A timeline and its event loop: what a process, or a test, needs one of.
public final class Runtime: Sendable {
    /// Clock, timers and executor.
    public let timeline: Timeline
    /// Descriptors and I/O timers, on the timeline's thread.
    public let loop: EventLoop
    /// What all random streams of this home derive from.
    public let seed: UInt64

    /// Starts the thread. `epoch` is the wall time at model time 0 since 1970-01-01 UTC; nil is the system's time in real mode and
    /// a fixed day, 2026-01-01, in virtual time. Raises the limit of open descriptors, once a process.
    /// - Throws: `IOError` when the descriptors cannot be made.
    public init(
        mode: Timeline.Mode, seed: UInt64 = 0, epoch: Duration? = nil, limits: Timeline.Limits = Timeline.Limits()
    ) throws {
        _ = Self.descriptorLimit
        loop = try EventLoop()
        self.seed = seed
        var start = epoch
        if start == nil, case .real = mode { start = Timeline.systemEpoch() }
        timeline = Timeline(mode: mode, epoch: start ?? .seconds(1_767_225_600), limits: limits, waiter: loop)
    }

    /// The random stream of `owner` for `purpose`; the same in every process with this seed.
    public func random(owner: String, purpose: String) -> RandomStream {
        RandomStream(seed: seed, owner: owner, purpose: purpose)
    }

    /// Ends both: handlers hear `loopStops()` on the thread, what is runnable then still runs, and the thread ends. Any thread.
    /// Stop actors that still expect something before: jobs that come later are dropped.
    public func shutdown() { timeline.shutdown() }

    /// Returns when the thread has ended after `shutdown`. Not from a task of the timeline.
    public func ended() async { await timeline.ended() }

    /// How many descriptors this process may have open, after raising the soft limit to the hard one.
    public static let descriptorLimit: Int = {
        let resource = __rlimit_resource_t(RLIMIT_NOFILE.rawValue)
        var limit = rlimit()
        guard getrlimit(resource, &limit) == 0 else { return 1024 }
        var raised = limit
        // Some systems say "unlimited" and mean the kernel's own maximum per process.
        raised.rlim_cur = min(limit.rlim_max, 1_048_576)
        if raised.rlim_cur > limit.rlim_cur, setrlimit(resource, &raised) == 0 { limit = raised }
        return Int(clamping: limit.rlim_cur)
    }()
}
