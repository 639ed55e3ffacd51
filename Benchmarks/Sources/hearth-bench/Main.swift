import Glibc
import MatterDiscovery

@main
struct HearthBench {
    static let usage = """
        Usage: hearth-bench [SUITE…] [--json] [--rounds N] [--seconds S] [--devices N]

        Measures what Hearth costs. Without a suite: all of them.

          codec      encode and decode one message
          round-trips  Toggle (stored) and read of OnOff over loopback TLS, at 1, 16, 100 and 1000 connections: server CPU as a
                     ratio to a C program (epoll, OpenSSL) that echoes 64 bytes, in the same run
          pairings   pairings a second
          memory     an idle device: unconnected and connected
          discovery  until another process has resolved 10, 100 and 1000 devices, with the built-in responder and with Avahi
          virtual-time  ten hours of the dozen devices of apartment.yaml in virtual time
          start-up   of the command line

          --json        one JSON document at the end instead of lines
          --rounds N    measurements of round-trips and virtual-time, of which the median is taken (default 5)
          --seconds S   length of one of them (default 1)
          --devices N   devices of memory, and the most connections of round-trips (default 1000)

        Exit status: 0 when every expectation is met, 1 when one is not, 2 when something could not be measured.
        """

    static func main() async {
        var arguments = Array(CommandLine.arguments.dropFirst())
        do {
            if arguments.first == "serve" {
                arguments.removeFirst()
                return try await Server.run(serverOptions(arguments))
            }
            if arguments.first == "browse" {
                arguments.removeFirst()
                let options = try serverOptions(arguments)
                return try await Browser.run(count: options.count, interface: options.interface)
            }
            let options = try Options(arguments)
            if options.wantsHelp { return print(usage) }
            var report = Report(isJSON: options.isJSON)
            for suite in options.suites {
                switch suite {
                case .codec: try CodecSuite.run(&report)
                case .roundTrips: try await RoundTripSuite.run(&report, options)
                case .pairings: try await PairingSuite.run(&report, options)
                case .memory: try await MemorySuite.run(&report, options)
                case .discovery: try await DiscoverySuite.run(&report, options)
                case .virtualTime: try await VirtualTimeSuite.run(&report, options)
                case .startUp: try StartUpSuite.run(&report)
                }
            }
            if options.isJSON { print(report.json.text(indented: true)) }
            exit(!report.missing.isEmpty ? 2 : report.lines.allSatisfy(\.isMet) ? 0 : 1)
        } catch {
            say("hearth-bench: \(error)", to: 2)
            exit(2)
        }
    }

    private static func serverOptions(_ arguments: [String]) throws -> Server.Options {
        var options = Server.Options()
        var rest = arguments[...]
        while let name = rest.popFirst() {
            guard let value = rest.popFirst() else { throw BenchmarkError("\(name) needs a value") }
            switch name {
            case "--profiles": options.profiles = value.split(separator: ",").map(String.init)
            case "--count": options.count = Int(value) ?? 1
            case "--state": options.folder = value
            case "--mdns": options.mdns = Discovery.BackEnd(rawValue: value) ?? .off
            case "--interface": options.interface = value
            default: throw BenchmarkError("unknown option \(name)")
            }
        }
        return options
    }
}

struct Options {
    enum Suite: String, CaseIterable {
        case codec
        case roundTrips = "round-trips"
        case pairings
        case memory
        case discovery
        case virtualTime = "virtual-time"
        case startUp = "start-up"
    }

    var suites: [Suite] = []
    var isJSON = false
    var wantsHelp = false
    var rounds = 5
    var seconds = 1.0
    var devices = 1000

    init(_ arguments: [String]) throws {
        var rest = arguments[...]
        func number(_ name: String) throws -> Double {
            guard let text = rest.popFirst(), let number = Double(text), number > 0 else { throw BenchmarkError("\(name) needs a number") }
            return number
        }
        while let word = rest.popFirst() {
            switch word {
            case "--json": isJSON = true
            case "--help", "-h": wantsHelp = true
            case "--rounds": rounds = Int(try number(word))
            case "--seconds": seconds = try number(word)
            case "--devices": devices = Int(try number(word))
            default:
                guard let suite = Suite(rawValue: word) else {
                    throw BenchmarkError("there is no suite or option '\(word)'. See: hearth-bench --help")
                }
                suites.append(suite)
            }
        }
        if suites.isEmpty { suites = Suite.allCases }
    }
}
