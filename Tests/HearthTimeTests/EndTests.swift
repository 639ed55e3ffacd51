import Glibc
import HearthTime
import Testing

/// What the end of a timeline is.
@Suite struct EndTests {
    private static let isGone = Locked(false)
    private static let key = {
        var key = pthread_key_t()
        // As C libraries do that keep something for each thread.
        pthread_key_create(&key) { _ in
            // The subject: a clean-up that takes its time. However long it takes, who waits for the end comes after it.
            usleep(20_000)
            EndTests.isGone.withLock { $0 = true }
        }
        return key
    }()

    /// A process that ends while a thread of it still cleans up takes the libraries' memory from under it.
    @Test func whoWaitsForTheEndFindsTheThreadGone() async throws {
        let timeline = Timeline(mode: .manual)
        try await timeline.call("mark") { _ = pthread_setspecific(Self.key, UnsafeRawPointer(bitPattern: 1)) }
        timeline.shutdown()
        await timeline.ended()
        #expect(Self.isGone.withLock { $0 })
        // Once more, and by several.
        await timeline.ended()
    }
}
