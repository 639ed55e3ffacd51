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

    private(set) var server: ChildProcess
    private(set) var devices: [Device] = []
    /// What the process took before it had a device: PSS in kilobytes.
    private(set) var baseline = 0.0
    let controller: Controller
    private let runtime: Runtime
    private let words: [String]

    /// The core of what is measured, and that of everything else; nil on a machine with one.
    static let cores: (server: Int, load: Int)? = sysconf(Int32(_SC_NPROCESSORS_ONLN)) >= 2 ? (0, 1) : nil

    private init(_ server: ChildProcess, _ words: [String], _ controller: Controller, _ runtime: Runtime) {
        (self.server, self.words, self.controller, self.runtime) = (server, words, controller, runtime)
    }

    /// Starts `count` devices of `profiles`, none of them paired.
    static func start(
        _ profiles: [String], count: Int, folder: String, mdns: Discovery.BackEnd = .off, interface: String? = nil
    ) async throws -> MeasuredHome {
        var words = ["serve", "--profiles", profiles.joined(separator: ","), "--count", String(count), "--state", folder + "/state"]
        words += ["--mdns", mdns.rawValue]
        if let interface { words += ["--interface", interface] }
        let runtime = try Runtime(mode: .real(speed: 1))
        let (timeline, loop) = (runtime.timeline, runtime.loop)
        let controller = try await Controller.open(
            store: .memory, transport: TLSTransport(runtime),
            discovery: SharedDiscovery(timeline: timeline) {
                try Discovery.make(backEnd: mdns, interface: interface, loop: loop, timeline: timeline)
            })
        let home = MeasuredHome(try ChildProcess(executable(), words, core: cores?.server), words, controller, runtime)
        try home.readDevices()
        return home
    }

    private func readDevices() throws {
        guard server.line() == "baseline" else { throw BenchmarkError("the server did not start") }
        baseline = kilobytes("Pss", of: server.pid) ?? 0
        server.send("")
        let paired = devices.map(\.node)
        devices = []
        while let line = server.line() {
            if line == "ready" { return }
            let words = line.split(separator: " ")
            guard words.count == 3, let port = UInt16(words[1]) else { throw BenchmarkError("the server said: \(line)") }
            let node = devices.count < paired.count ? paired[devices.count] : nil
            devices.append(Device(name: String(words[0]), port: port, code: String(words[2]), node: node))
        }
        throw BenchmarkError("the server ended before its devices were ready")
    }

    /// Ends the devices and starts them again, in a process of its own, from what they have stored.
    func restart() async throws {
        _ = server.finish()
        server = try ChildProcess(Self.executable(), words, core: Self.cores?.server)
        try readDevices()
        server.send("")
        guard server.line() == "advertised" else { throw BenchmarkError("the devices were not advertised") }
    }

    /// Opens a session to every device, and leaves it open.
    func connectAll() async throws {
        for device in devices {
            guard await controller.isReachable(device.name) else { throw BenchmarkError("\(device.name) cannot be reached") }
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
