import Glibc
import HearthIO

/// Options of TCP sockets that carry sessions.
enum TCPSocket {
    /// Notices a peer that is gone: after 45 s of silence three probes 10 s apart, and after 60 s in which nothing that was sent was
    /// taken (RFC 5482).
    static func tune(_ fd: Int32) {
        let tcp = Int32(IPPROTO_TCP)
        set(fd, SOL_SOCKET, SO_KEEPALIVE, 1)
        set(fd, tcp, TCP_KEEPIDLE, 45)
        set(fd, tcp, TCP_KEEPINTVL, 10)
        set(fd, tcp, TCP_KEEPCNT, 3)
        set(fd, tcp, TCP_USER_TIMEOUT, 60_000)
    }

    /// Closing then resets the connection instead of ending it in order.
    static func resetOnClose(_ fd: Int32) {
        var value = linger(l_onoff: 1, l_linger: 0)
        setsockopt(fd, SOL_SOCKET, SO_LINGER, &value, socklen_t(MemoryLayout<linger>.size))
    }

    private static func set(_ fd: Int32, _ level: Int32, _ option: Int32, _ value: Int32) {
        var value = value
        setsockopt(fd, level, option, &value, 4)
    }
}
