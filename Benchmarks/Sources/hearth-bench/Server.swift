import Glibc
import HearthIO
import HearthTime
import MatterDiscovery
import MatterModel
import MatterSimulator
import MatterTransport

/// Devices in a process of their own: what is measured. Says where they are, and stays until its input ends.
enum Server {
    /// The five kinds of the demo.
    static let fiveKinds = ["on-off-light", "dimmable-light", "window-covering", "door-lock", "thermostat"]

    struct Options {
        var profiles = ["on-off-light"]
        var count = 1
        var folder: String?
        var mdns = Discovery.BackEnd.off
        var interface: String?
    }

    /// Prints a line `baseline` before the devices are made, one line a device (`name port QR`), and `ready`. Each line that comes in
    /// is answered with `advertised` once everything is on the network.
    static func run(_ options: Options) async throws {
        let runtime = try Runtime(mode: .real(speed: 1), seed: 1)
        let transport = TLSTransport(runtime)
        let loop = runtime.loop
        let timeline = runtime.timeline
        let (mdns, interface, count) = (options.mdns, options.interface, options.count)
        let discovery = SharedDiscovery(timeline: timeline) {
            try Discovery.make(backEnd: mdns, interface: interface, loop: loop, timeline: timeline, expectedServices: count)
        }
        var configuration = Simulator.Configuration()
        configuration.seed = 1
        if let folder = options.folder { configuration.store = .folder(folder, durable: false) }
        let simulator = try await Simulator.open(configuration, transport: transport, discovery: discovery)
        say("baseline")
        _ = readLine()
        let library = ProfileLibrary.standard()
        let profiles = try options.profiles.map { try library.profile($0) }
        for index in 0..<count {
            let info = try await simulator.add(profiles[index % profiles.count], name: "device-\(index)")
            say("\(info.name) \(info.port) \(info.qrCode)")
        }
        say("ready")
        while readLine() != nil {
            try await simulator.advertised()
            say("advertised")
        }
        await simulator.close()
        try? await timeline.call("close discovery") { discovery.shutdown() }
        runtime.shutdown()
        await runtime.ended()
    }

    /// Whether an Avahi daemon answers.
    static var hasAvahi: Bool {
        get async {
            guard let runtime = try? Runtime(mode: .real(speed: 1)) else { return false }
            let (loop, timeline) = (runtime.loop, runtime.timeline)
            let answers = try? await timeline.call("avahi") {
                guard let discovery = try? Discovery.make(backEnd: .avahi, interface: "lo", loop: loop, timeline: timeline) else {
                    return false
                }
                discovery.shutdown()
                return true
            }
            runtime.shutdown()
            await runtime.ended()
            return answers ?? false
        }
    }
}
