import Glibc
import MatterDiscovery

/// What an idle device takes: of the five kinds, commissioned into one fabric, store open, advertised. The whole process is counted, less
/// what it takes without any device; pages that it shares with others are divided among them (PSS).
enum MemorySuite {
    static func run(_ report: inout Report, _ options: Options) async throws {
        let folder = try TemporaryFolder()
        let count = options.devices
        report.note("\(count) devices of five kinds are being paired.")
        let home = try await MeasuredHome.start(Server.fiveKinds, count: count, folder: folder.path, mdns: .builtin, interface: "lo")
        report.add("memory", "device before it is paired", perDevice(settled(home.server.pid) - home.baseline, count), "KB")
        try await home.pairAll()
        // In a fresh process, so that what pairing once needed is not counted as theirs.
        try await home.restart()
        let unconnected = settled(home.server.pid)
        report.add(
            "memory", "idle device, unconnected", perDevice(unconnected - home.baseline, count), "KB", limit: 60,
            [("whole process MB", unconnected / 1024), ("without devices MB", home.baseline / 1024)])
        let before = home.server.descriptors
        try await home.connectAll()
        let connections = home.server.descriptors - before
        guard connections >= count else { throw BenchmarkError("only \(connections) of \(count) devices are connected") }
        let connected = settled(home.server.pid)
        report.add(
            "memory", "idle device, connected", perDevice(connected - home.baseline, count), "KB", limit: 90,
            [("whole process MB", connected / 1024), ("connections", Double(connections))])
        await home.close()
    }

    private static func perDevice(_ total: Double, _ count: Int) -> Double { total / Double(count) }

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
