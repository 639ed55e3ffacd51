import CAvahi
import HearthIO
import Testing

@testable import MatterDiscovery

/// A connection with a daemon that is not there, which gives so many objects.
private final class StandIn: AvahiConnection {
    var isRunning = true
    var hasFailed = false
    private(set) var objects = 0
    let error = 0
    var changed: (() -> Void)?
    private let capacity: Int

    init(capacity: Int) { self.capacity = capacity }

    var hasRoom: Bool { isRunning && objects < capacity }

    /// The library is not asked: it has no client to make it on.
    func object(
        for what: @autoclosure () -> String, _ make: (OpaquePointer?) -> OpaquePointer?
    ) throws(DiscoveryError) -> OpaquePointer? {
        objects += 1
        return OpaquePointer(bitPattern: objects)
    }

    func free(_ object: OpaquePointer, _ free: (OpaquePointer) -> Int32) { objects -= 1 }
    func close() {}
}

/// What becomes of searches when the daemon refuses connections.
private struct Refusals {
    var discovery: AvahiDiscovery?
    var searches: [AvahiSearch] = []
    var failures: [DiscoveryError] = []
    /// How many connections are still refused, and why.
    var refused = 0
    var reason = DiscoveryError.Code.daemonUnavailable
    /// Connections that were asked for after the first, and those that came to be.
    var attempts = 0
    var connections: [StandIn] = []

    var served: Int { searches.count { $0.connection != nil } }
}

@Suite("An Avahi daemon that refuses a connection")
struct AvahiRefusalTests {
    /// The first connection has room for one search.
    private func begin(refusing refused: Int, _ reason: DiscoveryError.Code = .daemonUnavailable) async throws -> Process<Refusals> {
        let process = try Process(Refusals())
        try await process.on { process in
            process.state.discovery = try AvahiDiscovery(loop: process.runtime.loop, interface: nil, pause: .milliseconds(1)) {
                [unowned process] (_) throws(DiscoveryError) in
                if !process.state.connections.isEmpty {
                    process.state.attempts += 1
                    if process.state.refused > 0 {
                        process.state.refused -= 1
                        throw DiscoveryError(process.state.reason, "no connection")
                    }
                }
                let connection = StandIn(capacity: 1)
                process.state.connections.append(connection)
                return connection
            }
            (process.state.refused, process.state.reason) = (refused, reason)
            self.search(process)
        }
        #expect(try await process.wait { $0.state.served == 1 })
        return process
    }

    private func search(_ process: Process<Refusals>) {
        let search = process.state.discovery?.browse(.commissionable, subtype: nil) { [unowned process] event in
            if case .failed(let error) = event { process.state.failures.append(error) }
        }
        if let search = search as? AvahiSearch { process.state.searches.append(search) }
    }

    private func end(_ process: Process<Refusals>) async throws {
        try await process.on { process in
            process.state.discovery?.stop()
            process.state.discovery = nil
        }
        try await process.end()
    }

    @Test("is asked again, up to five times in a row, and nobody who waits hears of it", arguments: 1...5)
    func again(_ refused: Int) async throws {
        let process = try await begin(refusing: refused)
        try await process.on { self.search($0) }
        #expect(try await process.wait { $0.state.served == 2 || !$0.state.failures.isEmpty })
        #expect(try await process.on { $0.state.failures.map(\.description) } == [])
        #expect(try await process.on { $0.state.attempts } == refused + 1)

        // A success wipes them out: the next series has as many again.
        try await process.on { process in
            process.state.refused = 5
            self.search(process)
        }
        #expect(try await process.wait { $0.state.served == 3 || !$0.state.failures.isEmpty })
        #expect(try await process.on { $0.state.failures.map(\.description) } == [])
        try await end(process)
    }

    @Test("is believed the sixth time")
    func enough() async throws {
        let process = try await begin(refusing: 6)
        try await process.on { self.search($0) }
        #expect(try await process.wait { !$0.state.failures.isEmpty })
        let (attempts, failures) = try await process.on { ($0.state.attempts, $0.state.failures) }
        #expect(attempts == 6)
        #expect(failures.map(\.code) == [.tooManyServices])
        #expect(failures.first?.message.contains("1 objects to 1 D-Bus connections") == true, "\(failures)")
        try await end(process)
    }

    @Test("is believed at once when it says that it has as many clients as it may")
    func full() async throws {
        let process = try await begin(refusing: 1, .tooManyServices)
        try await process.on { self.search($0) }
        #expect(try await process.wait { !$0.state.failures.isEmpty || $0.state.served == 2 })
        let (attempts, failures) = try await process.on { ($0.state.attempts, $0.state.failures) }
        #expect(attempts == 1)
        #expect(failures.map(\.code) == [.tooManyServices])
        try await end(process)
    }

    @Test("is left alone for a while: those who come meanwhile wait with the others")
    func meanwhile() async throws {
        let process = try await begin(refusing: 1)
        // All three in one turn: the first is refused.
        try await process.on { process in for _ in 0..<3 { self.search(process) } }
        #expect(try await process.wait { $0.state.served == 4 })
        #expect(try await process.on { $0.state.attempts } == 4)
        #expect(try await process.on { $0.state.failures.map(\.description) } == [])
        try await end(process)
    }

    @Test("has what was found resolved later")
    func resolvers() async throws {
        let process = try await begin(refusing: 2)
        try await process.on { process in
            process.state.searches[0].browsed(1, 0, AVAHI_BROWSER_NEW, "lamp")
            process.state.searches[0].browsed(1, 0, AVAHI_BROWSER_NEW, "gone")
            process.state.searches[0].browsed(1, 0, AVAHI_BROWSER_REMOVE, "gone")
        }
        // The browser has the first connection's only object, so that this is the resolver's.
        #expect(try await process.wait { $0.state.connections.count == 2 && $0.state.connections[1].objects == 1 })
        #expect(try await process.on { $0.state.attempts } == 3)
        #expect(try await process.on { $0.state.failures.map(\.description) } == [])
        try await end(process)
    }
}
