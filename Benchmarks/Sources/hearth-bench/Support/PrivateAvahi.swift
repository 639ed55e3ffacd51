import Glibc

/// An Avahi daemon of its own for one measurement, in a network namespace that has nothing but loopback (scripts/with-avahi), so that
/// neither what it knows from before nor who else is on the network counts. Programs of the measurement are started there.
final class PrivateAvahi {
    private let shell: ChildProcess
    /// The daemon's process.
    let pid: pid_t
    /// What goes before the words of a program to run it there.
    let prefix: [String]

    /// - Throws: when no daemon can be had here, with what scripts/with-avahi says about it on standard error.
    init() throws {
        guard let script = getenv("HEARTH_BENCH_AVAHI") else { throw BenchmarkError("scripts/benchmark names no scripts/with-avahi") }
        shell = try ChildProcess(
            String(cString: script), ["sh", "-c", "echo $$ $HEARTH_AVAHI_PID $DBUS_SYSTEM_BUS_ADDRESS; read -r end"])
        let words = (shell.line() ?? "").split(separator: " ")
        guard words.count == 3, let inside = pid_t(words[0]), let daemon = pid_t(words[1]) else {
            throw BenchmarkError("no Avahi daemon of its own can be started here")
        }
        pid = daemon
        prefix =
            ["nsenter", "-t", String(inside), "--net", "--mount"] + (geteuid() == 0 ? [] : ["--user", "--preserve-credentials"])
            + ["env", "DBUS_SYSTEM_BUS_ADDRESS=\(words[2])"]
    }

    /// Ends the daemon.
    func finish() { _ = shell.finish() }
}
