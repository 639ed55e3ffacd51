import Glibc
import Testing

@testable import HearthTime

@Suite struct SystemThreadTests {
    @Test func itRunsBesideItsMakerAndIsWaitedFor() throws {
        let seen = Locked<pthread_t?>(nil)
        let gate = Locked(false)
        let thread = try SystemThread {
            gate.wait { $0 ? () : nil }
            seen.withLock { $0 = pthread_self() }
        }
        // It would never come past the gate on this thread.
        gate.withLock { $0 = true }
        thread.join()
        let other = try #require(seen.withLock { $0 })
        #expect(pthread_equal(other, pthread_self()) == 0)
    }

    @Test func whatItRanIsLetGo() throws {
        final class Held: Sendable {}
        weak var left: Held?
        do {
            let held = Held()
            left = held
            try SystemThread { _ = held }.join()
        }
        #expect(left == nil)
    }

    @Test(arguments: [false, true]) func signalsGoToItOnlyIfItWantsThem(_ blocks: Bool) throws {
        // The maker's own mask is a thread's: it must be the same afterwards.
        @Sendable func isBlocked(_ number: Int32) -> Bool {
            var mask = sigset_t()
            pthread_sigmask(SIG_BLOCK, nil, &mask)
            return sigismember(&mask, number) == 1
        }
        let before = [SIGUSR1, SIGTERM, SIGHUP].map(isBlocked)
        let inside = Locked<[Bool]>([])
        try SystemThread(blocksSignals: blocks) { inside.withLock { $0 = [SIGUSR1, SIGTERM, SIGHUP].map(isBlocked) } }.join()
        #expect(inside.withLock { $0 } == (blocks ? [true, true, true] : before))
        #expect([SIGUSR1, SIGTERM, SIGHUP].map(isBlocked) == before)
    }

    @Test func aSignalReachesTheThreadThatWaitsForIt() throws {
        // Blocked here for the thread to inherit. It is sent to the thread alone.
        let number = SIGUSR2
        var set = sigset_t()
        var before = sigset_t()
        sigemptyset(&set)
        sigaddset(&set, number)
        pthread_sigmask(SIG_BLOCK, &set, &before)
        let heard = Locked<Int32>(0)
        let thread = Result { () throws(SystemThread.Failure) in
            try SystemThread {
                var set = sigset_t()
                sigemptyset(&set)
                sigaddset(&set, number)
                var got: Int32 = 0
                sigwait(&set, &got)
                heard.withLock { [got] in $0 = got }
            }
        }
        pthread_sigmask(SIG_SETMASK, &before, nil)
        try thread.get().send(signal: number)
        try thread.get().join()
        #expect(heard.withLock { $0 } == number)
    }
}
