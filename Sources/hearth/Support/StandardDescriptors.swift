import Glibc

/// The descriptors 0, 1 and 2 of a process that was started without some of them (`hearth devices >&-`).
enum StandardDescriptors {
    /// Gives each that is closed to `/dev/null`. Otherwise the first socket or lock file that is opened would get its number, and
    /// would be sent what is meant for the user.
    static func open() {
        for descriptor in STDIN_FILENO...STDERR_FILENO where fcntl(descriptor, F_GETFD) < 0 {
            // The lowest free number is this one: those below are open.
            _ = Glibc.open("/dev/null", O_RDWR)
        }
    }
}
