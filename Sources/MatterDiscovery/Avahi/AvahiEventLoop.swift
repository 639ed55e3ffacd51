import CAvahi
import Glibc
import HearthIO

/// The library's event loop, made of ours: `AvahiPoll` with watches and timeouts (avahi-common/watch.h).
///
/// All of it is used on the loop's thread: the library calls from within calls of ours, or from callbacks of the loop.
final class AvahiEventLoop {
    let loop: EventLoop
    let poll: UnsafeMutablePointer<AvahiPoll>
    fileprivate var descriptors: [Int32: AvahiDescriptor] = [:]

    init(loop: EventLoop) {
        self.loop = loop
        poll = .allocate(capacity: 1)
        poll.initialize(
            to: AvahiPoll(
                userdata: nil, watch_new: watchNew, watch_update: watchUpdate, watch_get_events: watchEvents,
                watch_free: watchFree,
                timeout_new: timeoutNew, timeout_update: timeoutUpdate, timeout_free: timeoutFree))
        poll.pointee.userdata = Unmanaged.passUnretained(self).toOpaque()
    }

    deinit { poll.deallocate() }

    fileprivate func descriptor(_ fd: Int32) -> AvahiDescriptor {
        if let known = descriptors[fd] { return known }
        let new = AvahiDescriptor(self, fd)
        descriptors[fd] = new
        return new
    }
}

/// One descriptor. D-Bus makes several watches for the same one, and epoll takes each only once.
private final class AvahiDescriptor: LoopHandler {
    let owner: AvahiEventLoop
    let fd: Int32
    var watches: [AvahiWatchObject] = []
    private var registered: UInt32 = 0

    init(_ owner: AvahiEventLoop, _ fd: Int32) {
        self.owner = owner
        self.fd = fd
    }

    /// Watches for what all watches together want; for nothing at all it must not stay registered, since epoll would go on to
    /// report a hang-up.
    func update() {
        let wanted = watches.reduce(0) { $0 | $1.wanted }
        if wanted != registered {
            if registered == 0 {
                _ = try? owner.loop.register(fd, ReadyEvents(rawValue: wanted), self)
            } else if wanted == 0 {
                owner.loop.unregister(fd)
            } else {
                owner.loop.watch(fd, ReadyEvents(rawValue: wanted))
            }
            registered = wanted
        }
        if watches.isEmpty { owner.descriptors[fd] = nil }
    }

    func ready(_ events: ReadyEvents) {
        // Bits of epoll and of poll, which Avahi uses, are the same for these four.
        for watch in watches where !watch.isFreed {
            let happened = events.rawValue & (watch.wanted | ReadyEvents.failed.rawValue)
            guard happened != 0, watch.wanted != 0 else { continue }
            watch.happened = happened
            watch.callback(watch.handle, fd, AvahiWatchEvent(rawValue: happened), watch.userdata)
            watch.happened = 0
        }
    }

    func loopStops() { registered = 0 }
}

private final class AvahiWatchObject {
    let descriptor: AvahiDescriptor
    let callback: AvahiWatchCallback
    let userdata: UnsafeMutableRawPointer?
    let handle: UnsafeMutablePointer<AvahiWatch>
    var wanted: UInt32
    var happened: UInt32 = 0
    var isFreed = false

    init(
        _ descriptor: AvahiDescriptor, _ wanted: UInt32, _ callback: @escaping AvahiWatchCallback,
        _ userdata: UnsafeMutableRawPointer?
    ) {
        self.descriptor = descriptor
        self.wanted = wanted
        self.callback = callback
        self.userdata = userdata
        handle = .allocate(capacity: 1)
        handle.initialize(to: AvahiWatch(object: nil))
    }

    deinit { handle.deallocate() }

    static func of(_ handle: UnsafeMutablePointer<AvahiWatch>?) -> AvahiWatchObject? {
        handle?.pointee.object.map { Unmanaged<AvahiWatchObject>.fromOpaque($0).takeUnretainedValue() }
    }
}

private final class AvahiTimeoutObject {
    let loop: EventLoop
    let callback: AvahiTimeoutCallback
    let userdata: UnsafeMutableRawPointer?
    let handle: UnsafeMutablePointer<AvahiTimeout>
    private var timer: TimerID?

    init(_ loop: EventLoop, _ callback: @escaping AvahiTimeoutCallback, _ userdata: UnsafeMutableRawPointer?) {
        self.loop = loop
        self.callback = callback
        self.userdata = userdata
        handle = .allocate(capacity: 1)
        handle.initialize(to: AvahiTimeout(object: nil))
    }

    deinit { handle.deallocate() }

    static func of(_ handle: UnsafeMutablePointer<AvahiTimeout>?) -> AvahiTimeoutObject? {
        handle?.pointee.object.map { Unmanaged<AvahiTimeoutObject>.fromOpaque($0).takeUnretainedValue() }
    }

    /// `time` is an instant of the system's wall clock; nil turns the timer off.
    func set(_ time: UnsafePointer<timeval>?) {
        if let timer { loop.cancel(timer) }
        timer = nil
        guard let time else { return }
        var now = timeval()
        gettimeofday(&now, nil)
        let seconds = min(max(time.pointee.tv_sec - now.tv_sec, -1), 1 << 30)
        let delay = Duration.seconds(seconds) + .microseconds(time.pointee.tv_usec - now.tv_usec)
        timer = loop.schedule(after: delay) { [self] in
            timer = nil
            callback(handle, userdata)
        }
    }
}

// The library calls these. The pointers that it holds own one reference of the object, which the free functions give back.

private func watchNew(
    _ api: UnsafePointer<AvahiPoll>?, _ fd: Int32, _ events: AvahiWatchEvent, _ callback: AvahiWatchCallback?,
    _ userdata: UnsafeMutableRawPointer?
) -> UnsafeMutablePointer<AvahiWatch>? {
    guard let owner = api?.pointee.userdata, let callback else { return nil }
    let descriptor = Unmanaged<AvahiEventLoop>.fromOpaque(owner).takeUnretainedValue().descriptor(fd)
    let watch = AvahiWatchObject(descriptor, events.rawValue, callback, userdata)
    watch.handle.pointee.object = Unmanaged.passRetained(watch).toOpaque()
    descriptor.watches.append(watch)
    descriptor.update()
    return watch.handle
}

private func watchUpdate(_ handle: UnsafeMutablePointer<AvahiWatch>?, _ events: AvahiWatchEvent) {
    guard let watch = AvahiWatchObject.of(handle) else { return }
    watch.wanted = events.rawValue
    watch.descriptor.update()
}

private func watchEvents(_ handle: UnsafeMutablePointer<AvahiWatch>?) -> AvahiWatchEvent {
    AvahiWatchEvent(rawValue: AvahiWatchObject.of(handle)?.happened ?? 0)
}

private func watchFree(_ handle: UnsafeMutablePointer<AvahiWatch>?) {
    guard let object = handle?.pointee.object else { return }
    let watch = Unmanaged<AvahiWatchObject>.fromOpaque(object).takeRetainedValue()
    watch.isFreed = true
    watch.wanted = 0
    watch.descriptor.watches.removeAll { $0 === watch }
    watch.descriptor.update()
}

private func timeoutNew(
    _ api: UnsafePointer<AvahiPoll>?, _ time: UnsafePointer<timeval>?, _ callback: AvahiTimeoutCallback?,
    _ userdata: UnsafeMutableRawPointer?
) -> UnsafeMutablePointer<AvahiTimeout>? {
    guard let owner = api?.pointee.userdata, let callback else { return nil }
    let loop = Unmanaged<AvahiEventLoop>.fromOpaque(owner).takeUnretainedValue().loop
    let timeout = AvahiTimeoutObject(loop, callback, userdata)
    timeout.handle.pointee.object = Unmanaged.passRetained(timeout).toOpaque()
    timeout.set(time)
    return timeout.handle
}

private func timeoutUpdate(_ handle: UnsafeMutablePointer<AvahiTimeout>?, _ time: UnsafePointer<timeval>?) {
    AvahiTimeoutObject.of(handle)?.set(time)
}

private func timeoutFree(_ handle: UnsafeMutablePointer<AvahiTimeout>?) {
    guard let object = handle?.pointee.object else { return }
    Unmanaged<AvahiTimeoutObject>.fromOpaque(object).takeRetainedValue().set(nil)
}
