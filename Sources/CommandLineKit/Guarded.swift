import Glibc

/// A value behind a pthread mutex, which ThreadSanitizer understands.
///
/// Why `@unchecked Sendable` is sound: `value` is only reached between lock and unlock of a mutex that lives as long as the
/// object, and what leaves `withLock` is Sendable.
final class Guarded<Value>: @unchecked Sendable {
    private var value: Value
    private let mutex: UnsafeMutablePointer<pthread_mutex_t>

    init(_ value: sending Value) {
        self.value = value
        mutex = .allocate(capacity: 1)
        pthread_mutex_init(mutex, nil)
    }

    deinit {
        pthread_mutex_destroy(mutex)
        mutex.deallocate()
    }

    func withLock<R: Sendable>(_ body: (inout Value) -> R) -> R {
        pthread_mutex_lock(mutex)
        defer { pthread_mutex_unlock(mutex) }
        return body(&value)
    }
}
