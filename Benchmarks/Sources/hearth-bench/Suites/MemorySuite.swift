import Glibc
import MatterDiscovery

/// What an idle device takes: of the five kinds, commissioned into one fabric, store open, advertised. The whole process is counted, less
/// what it takes without any device; pages that it shares with others are divided among them (PSS).
enum MemorySuite {
    static func run(_ report: inout Report, _ options: Options) async throws {
        let folder = try TemporaryFolder()
        let count = options.devices
        var baseline = 0.0
        report.note("\(count) devices of five kinds are being paired.")
        let home = try await MeasuredHome.start(
            Server.fiveKinds, count: count, folder: folder.path, mdns: .builtin, interface: "lo"
        ) { baseline = kilobytes("Pss", of: $0) ?? 0 }
        let unpaired = kilobytes("Pss", of: home.server.pid) ?? 0
        try await home.pairAll()
        home.server.send("")
        guard home.server.line() == "advertised" else { throw BenchmarkError("the devices were not advertised") }
        let connected = settled(home.server.pid)
        await home.disconnect()
        let unconnected = settled(home.server.pid)
        let perDevice = { (total: Double) in (total - baseline) / Double(count) }
        report.add(
            "memory", "idle device, unconnected", perDevice(unconnected), "KB", limit: 60,
            [("whole process MB", unconnected / 1024), ("without devices MB", baseline / 1024)])
        report.add(
            "memory", "idle device, connected", perDevice(connected), "KB", limit: 90, [("whole process MB", connected / 1024)])
        report.add("memory", "device before it is paired", perDevice(unpaired), "KB")
        await home.close()
    }

    /// The size once it does not change any more.
    private static func settled(_ process: pid_t) -> Double {
        var last = -1.0
        for _ in 0..<20 {
            usleep(250_000)
            let size = kilobytes("Pss", of: process) ?? 0
            if abs(size - last) < 8 { return size }
            last = size
        }
        return last
    }
}
