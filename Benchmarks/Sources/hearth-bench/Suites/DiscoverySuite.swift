import Glibc
import MatterDiscovery

/// From switching a fleet on until a browser in another process has resolved port, text and address of every device. Probing takes
/// three queries a quarter of a second apart, so that nothing can be faster than 0.75 s.
enum DiscoverySuite {
    static func run(_ report: inout Report, _ options: Options) async throws {
        for count in [10, 100, 1000] where count <= max(10, options.devices) {
            try await measure(&report, .builtin, count, limit: count == 1000 ? 3 : nil)
        }
        guard await Server.hasAvahi else {
            return report.note("No Avahi daemon answers here: not measured.")
        }
        // The daemon takes no more of one client.
        for count in [10, 100] where count <= max(10, options.devices) { try await measure(&report, .avahi, count, limit: nil) }
    }

    private static func measure(_ report: inout Report, _ backEnd: Discovery.BackEnd, _ count: Int, limit: Double?) async throws {
        let folder = try TemporaryFolder()
        // The first run makes keys, passcodes and verifiers, as a factory would.
        let factory = try await start(count, folder.path, .off)
        _ = factory.finish()
        let browser = try startBrowser(count)
        guard browser.line() == "browsing" else { throw BenchmarkError("the browser did not start") }
        let server = try await start(count, folder.path, backEnd, waits: false)
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
        if words.count > 2, let probes = Double(words[2]) {
            details.append(("probes each", probes))
            // The daemon's probes are not ours to count: it leaves them out for names that it has probed before.
            if backEnd == .builtin, probes < 3 { throw BenchmarkError("a service was announced after \(rounded(probes)) probes") }
        }
        report.add("discovery", "\(count) devices, \(backEnd.rawValue)", end - begin, "s", limit: limit, details)
        _ = server.finish()
        _ = browser.finish()
    }

    private static func start(
        _ count: Int, _ folder: String, _ backEnd: Discovery.BackEnd, waits: Bool = true
    ) async throws -> ChildProcess {
        let server = try ChildProcess(
            MeasuredHome.executable(),
            [
                "serve", "--profiles", Server.fiveKinds.joined(separator: ","), "--count", String(count), "--state", folder + "/state",
                "--mdns", backEnd.rawValue, "--interface", "lo",
            ])
        guard server.line() == "baseline" else { throw BenchmarkError("the server did not start") }
        guard waits else { return server }
        server.send("")
        while let line = server.line() { if line == "ready" { return server } }
        throw BenchmarkError("the server ended before its devices were ready")
    }

    /// zeroconf where scripts/benchmark has found it; our own browser otherwise.
    private static func startBrowser(_ count: Int) throws -> ChildProcess {
        if let python = getenv("HEARTH_BENCH_PYTHON"), let script = getenv("HEARTH_BENCH_BROWSER") {
            return try ChildProcess(String(cString: python), [String(cString: script), String(count)])
        }
        return try ChildProcess(MeasuredHome.executable(), ["browse", "--count", String(count), "--interface", "lo"])
    }
}
