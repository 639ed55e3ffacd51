/// The life of one record in the cache (RFC 6762, 5.2 and 10).
struct CachedRecord<Value: Equatable> {
    var value: Value
    private(set) var received: Milliseconds
    private(set) var expires: Milliseconds
    private var lifetime: UInt32
    /// How often it has been asked for again: at 80, 85, 90 and 95 % of its lifetime.
    private var refreshes: Milliseconds = 0
    /// Up to 2 % of the lifetime, so that not all hosts ask at once.
    private var jitter: Milliseconds

    init(_ value: Value, lifetime: UInt32, at now: Milliseconds, _ random: RandomDelay) {
        self.value = value
        // Longer is of no use to anybody, and the bound keeps sums small.
        self.lifetime = min(lifetime, 2 * MulticastDNS.lifetime)
        received = now
        // A goodbye takes effect after a second, in case another host still has the record.
        expires = now + (lifetime == 0 ? 1000 : Milliseconds(self.lifetime) * 1000)
        jitter = lifetime == 0 ? 0 : random(0...(Milliseconds(self.lifetime) * 20))
    }

    /// Somebody else has the right to the name: the record goes in a second unless it is heard again.
    mutating func flush(at now: Milliseconds) {
        guard now - received > 1000 else { return }
        lifetime = 0
        expires = min(expires, now + 1000)
    }

    func isLive(at now: Milliseconds) -> Bool { expires > now }

    /// Seconds that are left, when that is more than half: then it is listed among the known answers.
    func known(at now: Milliseconds) -> UInt32? {
        let left = (expires - now) / 1000
        return lifetime > 0 && left * 2 > Milliseconds(lifetime) ? UInt32(left) : nil
    }

    /// When to ask again, or when it expires.
    var nextEvent: Milliseconds {
        guard lifetime > 0, refreshes < 4 else { return expires }
        return min(expires, received + Milliseconds(lifetime) * (800 + refreshes * 50) + jitter)
    }

    /// True once for each time that it is to be asked for again.
    mutating func takeRefresh(at now: Milliseconds) -> Bool {
        guard isLive(at: now), nextEvent <= now, lifetime > 0, refreshes < 4 else { return false }
        refreshes += 1
        return true
    }
}
