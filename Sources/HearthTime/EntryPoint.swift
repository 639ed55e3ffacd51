import Glibc

/// How a program's synchronous `main` runs asynchronous work.
///
/// An `async` main is of no use to a program that handles signals: the main thread then sits in Dispatch's `sigsuspend`, with every
/// signal let through, and SIGTERM ends the process whatever the other threads have blocked.
public enum EntryPoint {
    /// Runs `body` on the concurrent executor while this thread waits, then ends the process with what it returns. Signals that
    /// this thread has blocked stay blocked in all threads.
    public static func run(_ body: @escaping @Sendable () async -> Int32) -> Never {
        let result = Locked<Int32>(0)
        let finished = UnsafeMutablePointer<sem_t>.allocate(capacity: 1)
        sem_init(finished, 0, 0)
        let address = UInt(bitPattern: finished)
        Task.detached {
            let code = await body()
            result.withLock { $0 = code }
            if let finished = UnsafeMutablePointer<sem_t>(bitPattern: address) { sem_post(finished) }
        }
        while sem_wait(finished) != 0 {}
        exit(result.withLock { $0 })
    }
}
