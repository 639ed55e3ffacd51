import Foundation
import HearthIO
import MatterModel
import Testing

@testable import MatterDiscovery

/// The device's side of `scripts/test-discovery`, which runs it in a network namespace of its own and looks at it from another one
/// with browsers that are not ours.
private enum Order {
    private static func value(_ name: String) -> String? { ProcessInfo.processInfo.environment[name] }
    static let services = value("HEARTH_ADVERTISE").flatMap(Int.init)
    /// The process ends when this file is there.
    static let stop = value("HEARTH_ADVERTISE_UNTIL") ?? ""
    static let backEnd = Discovery.BackEnd(rawValue: value("HEARTH_ADVERTISE_WITH") ?? "builtin") ?? .builtin
    static let interface = value("HEARTH_ADVERTISE_ON")
    /// How many devices the browsing process is to find.
    static let browsed = value("HEARTH_BROWSE").flatMap(Int.init)
}

/// A line that is there at once, also when standard output is a file.
private func say(_ line: String) { FileHandle.standardOutput.write(Data((line + "\n").utf8)) }

@Suite("Discovery seen by others")
struct AdvertisingProcess {
    @Test(
        "advertises what the script asks for",
        .enabled(if: Order.services != nil, "scripts/test-discovery runs this with HEARTH_ADVERTISE set, as root"))
    func advertise() async throws {
        let count = try #require(Order.services)
        let process = try Process(0)
        try await process.start(Order.backEnd, interface: Order.interface)
        try await process.on { process in
            for i in 0..<count {
                let service = CommissionableService(
                    discriminator: UInt16(i % 4096), vendor: 0xfff1, product: UInt16(i), deviceType: 0x0100,
                    deviceName: "Lamp \(i)")
                let digits = String(i, radix: 16, uppercase: true)
                let instance = String(repeating: "0", count: 16 - digits.count) + digits
                let record = try service.record(instance: instance, port: UInt16(20000 + i % 40000))
                _ = try process.discovery?.advertiser.advertise(record, onConflict: .fail) {
                    if case .established = $0 { process.state += 1 } else { say("hearth-advertise: \(instance) \($0)") }
                }
            }
        }
        let start = EventLoop.now()
        #expect(try await process.wait { $0.state >= count })
        say("hearth-advertise: established \(count) in \((EventLoop.now() - start) / 1_000_000) ms")
        while access(Order.stop, F_OK) != 0 {
            _ = try await process.wait(upTo: .milliseconds(100)) { _ in false }
        }
        var usage = rusage()
        getrusage(__rusage_who_t(RUSAGE_SELF.rawValue), &usage)
        let cpu =
            usage.ru_utime.tv_sec * 1000 + usage.ru_utime.tv_usec / 1000 + usage.ru_stime.tv_sec * 1000 + usage.ru_stime.tv_usec
            / 1000
        say("hearth-advertise: \(cpu) ms of CPU in all")
        try await process.end()
    }

    @Test(
        "finds what another host advertises",
        .enabled(if: Order.browsed != nil, "scripts/test-discovery runs this with HEARTH_BROWSE set, as root"))
    func browse() async throws {
        let count = try #require(Order.browsed)
        let process = try Process(Set<ServiceName>())
        try await process.start(Order.backEnd, interface: Order.interface)
        let start = EventLoop.now()
        try await process.on { process in
            _ = process.discovery?.browser.browse(.commissionable) { event in
                switch event {
                case .found(let service) where (try? CommissionableService(text: service.text)) != nil:
                    process.state.insert(service.name)
                case .lost(let name): process.state.remove(name)
                case .failed(let error): say("hearth-browse: \(error)")
                default: break
                }
            }
        }
        #expect(try await process.wait { $0.state.count == count })
        say("hearth-browse: \(Order.backEnd.rawValue) found \(count) in \((EventLoop.now() - start) / 1_000_000) ms")
        let name = try #require(try await process.on { $0.state.first })
        try await process.on { process in
            process.state = []
            _ = process.discovery?.browser.resolve(name, timeout: .seconds(20)) {
                if case .found(let service) = $0 { process.state.insert(service.name) }
            }
        }
        #expect(try await process.wait { $0.state == [name] })
        say("hearth-browse: resolved")
        try await process.end()
    }
}
