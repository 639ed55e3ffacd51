import Glibc
import MatterDiscovery

/// From switching a fleet on until a browser in another process has resolved port, text and address of every device. Probing takes
/// three queries a quarter of a second apart, so that nothing can be faster than 0.75 s.
enum DiscoverySuite {
    static func run(_ report: inout Report, _ options: Options) async throws {
        for count in [10, 100, 1000] where count <= max(10, options.devices) {
            try await measure(&report, .builtin, count, limit: count == 1000 ? 3 : nil)
        }
        let counts = [10, 100, 1000].filter { $0 <= max(10, options.devices) }
        for count in counts {
            // A daemon for each, as it is after its start and with the limits that it has of itself.
            if let daemon = try? PrivateAvahi() {
                try await measure(&report, .avahi, count, limit: nil, daemon)
                daemon.finish()
            } else if await Server.hasAvahi {
                report.note("No Avahi daemon of its own can be started here: measured with the system's.")
                try await measure(&report, .avahi, count, limit: nil)
            } else {
                report.miss("discovery with avahi: no Avahi daemon answers here, and none can be started (scripts/with-avahi --help)")
                break
            }
        }
    }

    private static func measure(
        _ report: inout Report, _ backEnd: Discovery.BackEnd, _ count: Int, limit: Double?, _ daemon: PrivateAvahi? = nil
    ) async throws {
        let prefix = daemon?.prefix ?? []
        let folder = try TemporaryFolder()
        // The first run makes keys, passcodes and verifiers, as a factory would.
        let factory = try await start(count, folder.path, .off)
        _ = factory.finish()
        let browser = try startBrowser(count, prefix)
        guard browser.line() == "browsing" else { throw BenchmarkError("the browser did not start") }
        let server = try await start(count, folder.path, backEnd, waits: false, prefix)
        let begin = seconds()
        let cpu = cpuSeconds(of: server.pid) ?? 0
        server.send("")
        var ready = begin
        while let line = server.line() {
            guard line == "ready" else { continue }
            ready = seconds()
            break
        }
        let words = (browser.line() ?? "").split(separator: " ")
        guard words.first == "resolved", words.count >= 2, let end = Double(words[1]) else {
            throw BenchmarkError("\(count) devices with \(backEnd.rawValue): the browser says '\(words.joined(separator: " "))'")
        }
        var details = [("devices up after s", ready - begin), ("server CPU s", (cpuSeconds(of: server.pid) ?? 0) - cpu)]
        if let daemon, let used = cpuSeconds(of: daemon.pid) { details.append(("daemon CPU s", used)) }
        if words.count > 2, let probes = Double(words[2]) {
            details.append(("probes each", probes))
            // The daemon's probes are not ours to count: it leaves them out for names that it has probed before.
            if backEnd == .builtin, probes < 3 {
                throw BenchmarkError(
                    "a service was announced after \(rounded(probes)) probes; or another simulator advertises here, whose services the "
                        + "browser counts too: end it, or run this in a network namespace of its own")
            }
        }
        report.add("discovery", "\(count) devices, \(backEnd.rawValue)", end - begin, "s", limit: limit, details)
        _ = server.finish()
        _ = browser.finish()
    }

    private static func start(
        _ count: Int, _ folder: String, _ backEnd: Discovery.BackEnd, waits: Bool = true, _ prefix: [String] = []
    ) async throws -> ChildProcess {
        let server = try ChildProcess(
            MeasuredHome.executable(),
            [
                "serve", "--profiles", Server.fiveKinds.joined(separator: ","), "--count", String(count), "--state", folder + "/state",
                "--mdns", backEnd.rawValue, "--interface", "lo",
            ], after: prefix)
        guard server.line() == "baseline" else { throw BenchmarkError("the server did not start") }
        guard waits else { return server }
        server.send("")
        while let line = server.line() { if line == "ready" { return server } }
        throw BenchmarkError("the server ended before its devices were ready")
    }

    /// zeroconf where scripts/benchmark has found it; our own browser otherwise.
    private static func startBrowser(_ count: Int, _ prefix: [String]) throws -> ChildProcess {
        if let python = getenv("HEARTH_BENCH_PYTHON"), let script = getenv("HEARTH_BENCH_BROWSER") {
            return try ChildProcess(String(cString: python), [String(cString: script), String(count)], after: prefix)
        }
        return try ChildProcess(MeasuredHome.executable(), ["browse", "--count", String(count), "--interface", "lo"], after: prefix)
    }
}
