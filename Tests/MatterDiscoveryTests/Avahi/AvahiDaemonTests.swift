import Foundation
import Glibc
import Testing

@testable import MatterDiscovery

/// Runs the suite below beside a daemon of its own (`scripts/with-avahi`), since a process speaks with one D-Bus all its life.
@Suite("The Avahi back end with a daemon") struct AvahiDaemonTests {
    /// The daemon's ordinary limits are out of reach of a test that takes seconds; what happens at low ones is the same.
    @Test(
        .enabled(if: PrivateDaemon.isPossible, "\(PrivateDaemon.skipReason)"),
        arguments: [["objects-per-client-max=16"], ["objects-per-client-max=16", "clients-max=3"]])
    func beside(_ limits: [String]) throws {
        let settings = limits.map { "--set \($0)" }.joined(separator: " ")
        let filter = limits.count == 1 ? "FewObjects" : "FewClients"
        // Another test of this process names a D-Bus that does not exist.
        let result = PrivateDaemon.run(
            "env -u DBUS_SYSTEM_BUS_ADDRESS HEARTH_AVAHI_LIMITS=\(filter) '\(PrivateDaemon.script)' \(settings) "
                + "'\(PrivateDaemon.bundle)' --testing-library swift-testing --filter \(filter)")
        #expect(result.status == 0, "\(result.text)")
        // A filter that fits nothing passes too.
        #expect(result.text.contains("hearth-avahi: done"), "\(result.text)")
    }
}

private enum PrivateDaemon {
    static let script = URL(fileURLWithPath: #filePath).deletingLastPathComponent().appendingPathComponent("../../../scripts/with-avahi")
        .standardizedFileURL.path
    static let bundle = (try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe")) ?? ""
    static let isPossible = run("'\(script)' true").status == 0
    static let skipReason = "no Avahi daemon can be started in a network namespace here: see scripts/with-avahi --help"

    /// Runs a command of the shell. What it prints, and its exit status.
    static func run(_ command: String) -> (status: Int32, text: String) {
        guard let stream = popen("{ \(command); } 2>&1", "re") else { return (127, "the shell cannot be started") }
        var bytes: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 4096)
        while true {
            let count = fread(&buffer, 1, buffer.count, stream)
            if count == 0 { break }
            bytes += buffer[..<count]
        }
        let status = pclose(stream)
        return (status >> 8 & 0xFF | status & 0x7F, String(decoding: bytes, as: UTF8.self))
    }
}

private let limits = ProcessInfo.processInfo.environment["HEARTH_AVAHI_LIMITS"]

private struct Seen {
    var handles: [any Advertisement] = []
    var established = 0
    var failures: [DiscoveryError] = []
    var found: Set<String> = []
}

private func lamp(_ number: Int, _ text: String = "1") throws -> ServiceRecord {
    ServiceRecord(
        name: ServiceName("Lamp \(number)", try ServiceType("_hearth._tcp")), subtypes: ["_L\(number)", "_CM"], port: 5540,
        text: TextRecord([("D", text)]))
}

private func advertise(_ numbers: [Int], _ process: Process<Seen>) async throws {
    try await process.on { process in
        for number in numbers {
            let handle = try process.discovery?.advertiser.advertise(lamp(number), onConflict: .fail) {
                switch $0 {
                case .established: process.state.established += 1
                case .failed(let error): process.state.failures.append(error)
                case .renamed: break
                }
            }
            if let handle { process.state.handles.append(handle) }
        }
    }
}

/// What went wrong is said, not only that something did.
private func expectNoFailure(_ process: Process<Seen>) async throws {
    let failures = try await process.on { $0.state.failures.map(\.description) }
    #expect(failures.isEmpty, "\(failures)")
}

/// Objects that the daemon has for all its clients: what D-Bus lists below the paths of the clients.
private func daemonObjects() -> Int {
    let paths = (0..<40).map(String.init).joined(separator: " ")
    let answer = PrivateDaemon.run(
        "for n in \(paths); do dbus-send --bus=$DBUS_SYSTEM_BUS_ADDRESS --print-reply=literal --dest=org.freedesktop.Avahi /Client$n "
            + "org.freedesktop.DBus.Introspectable.Introspect; done")
    return answer.text.components(separatedBy: "<node name=").count - 1
}

@Suite(.serialized, .enabled(if: limits == "FewObjects", "AvahiDaemonTests runs this, with a daemon"))
struct FewObjects {
    @Test("a fleet has as many clients as it needs, and so has one who looks for it; all is well again after the daemon has restarted")
    func fleet() async throws {
        let (device, controller) = (try Process(Seen()), try Process(Seen()))
        try await device.start(.avahi)
        try await controller.start(.avahi)
        try await advertise(Array(0..<60), device)
        #expect(try await device.wait { $0.state.established == 60 })
        try await expectNoFailure(device)
        #expect(daemonObjects() == 60)
        try await controller.on { process in
            _ = process.discovery?.browser.browse(try ServiceType("_hearth._tcp")) {
                switch $0 {
                case .found(let service): process.state.found.insert(service.name.instance)
                case .lost(let name): process.state.found.remove(name.instance)
                case .failed(let error): process.state.failures.append(error)
                case .updated: break
                }
            }
        }
        #expect(try await controller.wait { $0.state.found.count == 60 })
        try await expectNoFailure(controller)

        let pid = try #require(ProcessInfo.processInfo.environment["HEARTH_AVAHI_PID"].flatMap(pid_t.init))
        kill(pid, SIGTERM)
        #expect(try await controller.wait { $0.state.found.isEmpty && access("/run/avahi-daemon/pid", F_OK) != 0 })
        let start = PrivateDaemon.run("PATH=$PATH:/usr/sbin avahi-daemon -D -f $HEARTH_AVAHI_CONF --no-drop-root --no-chroot")
        #expect(start.status == 0, "\(start.text)")
        #expect(try await device.wait { $0.state.established == 120 })
        #expect(try await controller.wait { $0.state.found.count == 60 })
        try await expectNoFailure(controller)

        // With the search ended nothing is left of it; re-announcing adds nothing to what the daemon has.
        try await controller.end()
        #expect(daemonObjects() == 60)
        for round in 0..<40 {
            try await device.on { process in
                for (number, handle) in process.state.handles.enumerated() {
                    var record = try lamp(number, "\(round)")
                    if round % 2 == 1 { record.port = UInt16(6000 + round) }
                    try handle.update(record)
                }
            }
        }
        #expect(daemonObjects() == 60)
        for round in 0..<2 {
            try await device.on { process in
                for handle in process.state.handles { handle.withdraw() }
                process.state.handles = []
                process.state.established = 0
            }
            try await advertise(Array(0..<60), device)
            #expect(try await device.wait { $0.state.established == 60 }, "round \(round)")
        }
        try await expectNoFailure(device)
        #expect(daemonObjects() == 60)
        try await device.end()
        #expect(daemonObjects() == 0)
        print("hearth-avahi: done")
    }
}

@Suite(.serialized, .enabled(if: limits == "FewClients", "AvahiDaemonTests runs this, with a daemon"))
struct FewClients {
    @Test("what the daemon does not take is said, and the rest of the fleet is advertised")
    func refused() async throws {
        let device = try Process(Seen())
        try await device.start(.avahi)
        try await advertise(Array(0..<60), device)
        #expect(try await device.wait { $0.state.established + $0.state.failures.count == 60 })
        let (established, failures) = try await device.on { ($0.state.established, $0.state.failures) }
        #expect(established == 48)
        #expect(failures.count == 12)
        for failure in failures {
            #expect(failure.code == .tooManyServices)
            #expect(failure.message.contains("clients-max") && failure.message.contains("--mdns builtin"), "\(failure)")
        }
        // Room that becomes free is used.
        try await device.on { process in
            process.state.handles[3].withdraw()
            process.state.failures = []
        }
        try await advertise([99], device)
        #expect(try await device.wait { $0.state.established == 49 || !$0.state.failures.isEmpty })
        try await expectNoFailure(device)
        #expect(daemonObjects() == 48)
        try await device.end()
        print("hearth-avahi: done")
    }
}
