import Glibc
import MatterInteraction
import MatterModel

/// Requests and answers over TLS on the loopback interface, one open at a time on each connection: an On/Off Toggle that is stored
/// before it is answered, and a read of OnOff. What counts is the server's CPU time for one, as a ratio to the C program's, measured
/// next to each other.
enum RoundTripSuite {
    /// How much more than the C program a request may cost.
    private static func limit(_ connections: Int) -> Double { connections == 1 ? 2.5 : 2 }

    static func run(_ report: inout Report, _ options: Options) async throws {
        let folder = try TemporaryFolder()
        let tools = try ReferenceTools()
        let most = options.devices
        report.note("One light for each connection; \(most) are being paired.")
        let home = try await MeasuredHome.start(["on-off-light"], count: most, folder: folder.path)
        let start = seconds()
        try await home.pairAll()
        report.note("Paired in \(rounded(seconds() - start)) s.")
        let endpoints = try await suitable(home)
        let plan = try await makePlan(home, endpoints, folder.path, tools)
        await home.disconnect()
        defer { withExtendedLifetime(plan.echo) { plan.echo.end() } }
        for connections in [1, 16, 100, 1000] where connections <= most {
            let load = try ChildProcess(
                tools.load, [plan.path, String(connections), String(options.seconds), String(options.rounds)],
                core: MeasuredHome.cores?.load)
            let (lines, status) = load.finish()
            guard status == 0 else { throw BenchmarkError("the load generator failed at \(connections) connections") }
            add(lines, connections, &report)
        }
        await home.close()
    }

    /// Lights whose data version takes four bytes for as long as this runs: the load generator expects answers of one length.
    private static func suitable(_ home: MeasuredHome) async throws -> [MeasuredHome.Device] {
        let path = AttributePath(1, OnOff.id, OnOff.Attributes.onOff)
        var suitable: [MeasuredHome.Device] = []
        for device in home.devices {
            let report = try await home.controller.read(
                device.name, ReadSelection(attributes: [AttributePathPattern(path)]))
            guard case .value(let version, .boolean)? = report.attributes.first?.outcome else {
                throw BenchmarkError("\(device.name) does not tell whether it is on")
            }
            if (0x0100_0000..<0xFF00_0000).contains(version.rawValue) { suitable.append(device) }
        }
        return suitable
    }

    private static func makePlan(
        _ home: MeasuredHome, _ devices: [MeasuredHome.Device], _ folder: String, _ tools: ReferenceTools
    ) async throws -> (path: String, echo: ChildProcess) {
        let credentials = try await home.controller.exportCredentials()
        let files = (certificate: folder + "/certificate.pem", key: folder + "/key.pem", root: folder + "/root.pem")
        try write(credentials.certificate + (credentials.intermediate ?? ""), to: files.certificate)
        try write(credentials.privateKey, to: files.key)
        try write(credentials.root, to: files.root)
        let echo = try ChildProcess(
            tools.echoServer, [files.certificate, files.key, files.root], core: MeasuredHome.cores?.server)
        guard let port = echo.line() else { throw BenchmarkError("the C program did not start") }
        let message = (0..<64).map { Messages.hexadecimal(UInt8($0)) }
        let echoed = (["lo", "hi"] + message[2...]).joined(separator: " ")
        var plan = """
            credentials \(files.certificate) \(files.key) \(files.root)
            target echo \(echo.pid) -
            endpoint \(port) -
            operation echo \(echoed) = \(echoed)
            target hearth \(home.server.pid) hearth/1
            greeting \(Messages.greeting)
            operation toggle \(Messages.toggle.request) = \(Messages.toggle.answer)
            operation read \(Messages.read.request) = \(Messages.read.answer)

            """
        for device in devices {
            guard let node = device.node else { continue }
            let name = digits(credentials.identity.compressedFabricID) + "-" + digits(node.rawValue)
            plan += "endpoint \(device.port) \(name)\n"
        }
        let path = folder + "/plan"
        try write(plan, to: path)
        return (path, echo)
    }

    private static func digits(_ number: UInt64) -> String {
        let text = String(number, radix: 16, uppercase: true)
        return String(repeating: "0", count: 16 - text.count) + text
    }

    private struct Measurement {
        var microseconds: Double
        var rate: Double
        var median: Double
        var percentile99: Double
    }

    private static func add(_ lines: [String], _ connections: Int, _ report: inout Report) {
        var rounds: [String: [Measurement]] = [:]
        for line in lines {
            let words = line.split(separator: " ")
            let numbers = words.dropFirst().compactMap { Double($0) }
            // Round 0 is for warming up.
            guard numbers.count == 6, numbers[0] > 0 else { continue }
            let measurement = Measurement(
                microseconds: numbers[3] / numbers[1] * 1e6, rate: numbers[1] / numbers[2], median: numbers[4], percentile99: numbers[5])
            rounds[String(words[0]), default: []].append(measurement)
        }
        guard let echo = rounds["echo"] else { return }
        for (operation, title) in [("toggle", "Toggle, stored"), ("read", "read OnOff")] {
            guard let ours = rounds[operation] else { continue }
            let ratios = zip(ours, echo).map { $0.microseconds / $1.microseconds }
            report.add(
                "round-trips", "\(title), \(connections) connection\(connections == 1 ? "" : "s")", median(ratios), "× C",
                limit: limit(connections),
                [
                    ("least", ratios.min() ?? 0), ("most", ratios.max() ?? 0), ("µs", median(ours.map(\.microseconds))),
                    ("µs of C", median(echo.map(\.microseconds))), ("a second", median(ours.map(\.rate))),
                    ("median latency µs", median(ours.map(\.median))), ("99 % µs", median(ours.map(\.percentile99))),
                ])
        }
    }
}

/// The C programs, which scripts/benchmark builds.
struct ReferenceTools {
    let echoServer: String
    let load: String

    init() throws {
        guard let folder = getenv("HEARTH_BENCH_REFERENCE").map({ String(cString: $0) }) else {
            throw BenchmarkError("HEARTH_BENCH_REFERENCE does not say where echo-server and load are: run scripts/benchmark")
        }
        (echoServer, load) = (folder + "/echo-server", folder + "/load")
        for program in [echoServer, load] where access(program, X_OK) != 0 {
            throw BenchmarkError("\(program) is missing: run scripts/benchmark")
        }
    }
}
