import Foundation
import Glibc
import HearthIO
import HearthTime
import MatterController
import MatterDiscovery
import MatterModel
import MatterTransport

/// A process with devices, and a controller in this one that takes them into its home.
final class MeasuredHome {
    struct Device {
        var name: String
        var port: UInt16
        var code: String
        /// Once it is paired.
        var node: NodeID?
    }

    let server: ChildProcess
    private(set) var devices: [Device] = []
    let controller: Controller
    private let runtime: Runtime

    /// The core of what is measured, and that of everything else; nil on a machine with one.
    static let cores: (server: Int, load: Int)? = sysconf(Int32(_SC_NPROCESSORS_ONLN)) >= 2 ? (0, 1) : nil

    private init(server: ChildProcess, controller: Controller, runtime: Runtime) {
        (self.server, self.controller, self.runtime) = (server, controller, runtime)
    }

    /// Starts `count` devices of `profiles`, none of them paired. `atBaseline` is called when the process is up and has none yet.
    static func start(
        _ profiles: [String], count: Int, folder: String, mdns: Discovery.BackEnd = .off, interface: String? = nil,
        atBaseline: (pid_t) -> Void = { _ in }
    ) async throws -> MeasuredHome {
        let program = try executable()
        let state = folder + "/state-\(count)-\(getpid())-\(UInt32.random(in: 0...UInt32.max))"
        var words = ["serve", "--profiles", profiles.joined(separator: ","), "--count", String(count), "--state", state]
        words += ["--mdns", mdns.rawValue]
        if let interface { words += ["--interface", interface] }
        let server = try ChildProcess(program, words, core: cores?.server)
        guard server.line() == "baseline" else { throw BenchmarkError("the server did not start") }
        atBaseline(server.pid)
        server.send("")
        let runtime = try Runtime(mode: .real(speed: 1))
        let timeline = runtime.timeline
        let controller = try await Controller.open(
            store: .memory, transport: TLSTransport(runtime),
            discovery: SharedDiscovery(timeline: timeline) { Discovery.off(timeline: timeline) })
        let home = MeasuredHome(server: server, controller: controller, runtime: runtime)
        while true {
            guard let line = server.line() else { throw BenchmarkError("the server ended before its devices were ready") }
            if line == "ready" { return home }
            let words = line.split(separator: " ")
            guard words.count == 3, let port = UInt16(words[1]) else { throw BenchmarkError("the server said: \(line)") }
            home.devices.append(Device(name: String(words[0]), port: port, code: String(words[2])))
        }
    }

    /// Pairs every device, one after the other.
    func pairAll() async throws {
        for index in devices.indices { try await pair(index) }
    }

    func pair(_ index: Int) async throws {
        let device = devices[index]
        let paired = try await controller.pair(device.code, name: device.name, address: .loopback(device.port))
        devices[index].node = paired.nodeID
    }

    /// Ends the sessions that pairing has left open.
    func disconnect() async { await controller.close() }

    func close() async {
        await controller.close()
        runtime.shutdown()
        await runtime.ended()
        server.end()
    }

    static func executable() throws -> String {
        var bytes = [UInt8](repeating: 0, count: 4096)
        let count = bytes.withUnsafeMutableBytes { $0.baseAddress.map { readlink("/proc/self/exe", $0, 4096) } ?? -1 }
        guard count > 0 else { throw BenchmarkError("this program does not know where it is") }
        return String(decoding: bytes[..<count], as: UTF8.self)
    }
}

/// A folder that is gone when this is.
final class TemporaryFolder {
    let path: String

    init() throws {
        var template = Array("/tmp/hearth-bench-XXXXXX".utf8CString)
        guard mkdtemp(&template) != nil else { throw BenchmarkError("no temporary folder: \(String(cString: strerror(errno)))") }
        path = String(decoding: template.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }

    deinit { try? FileManager.default.removeItem(atPath: path) }
}
