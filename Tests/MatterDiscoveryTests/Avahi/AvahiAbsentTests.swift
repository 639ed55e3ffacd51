import CAvahi
import Glibc
import HearthIO
import Testing

@testable import MatterDiscovery

@Suite("The Avahi back end without a daemon")
struct AvahiAbsentTests {
    /// No other test of this process talks to D-Bus, so that the variable disturbs none.
    private func withoutBus() { setenv("DBUS_SYSTEM_BUS_ADDRESS", "unix:path=/nonexistent/bus", 1) }

    @Test("says so")
    func absent() async throws {
        withoutBus()
        let process = try Process(0)
        await #expect {
            try await process.start(.avahi)
        } throws: {
            ($0 as? DiscoveryError)?.code == .daemonUnavailable
        }
        try await process.end()
    }

    @Test(
        "auto takes the builtin back end instead", .enabled(if: LoopbackMulticast.isPossible, "\(LoopbackMulticast.skipReason)"))
    func auto() async throws {
        withoutBus()
        let process = try Process(0)
        try await process.start(.auto)
        #expect(try await process.on { $0.discovery?.backEnd } == .builtin)
        try await process.end()
    }

    @Test("limits of the daemon are named as such")
    func limits() {
        for code in [-16, -17, -18] {
            let error = AvahiFailure.error(code, "Lamp")
            #expect(error.code == .tooManyServices && error.message.contains("objects-per-client-max"))
        }
        #expect(AvahiFailure.error(-26, "Lamp").code == .daemonUnavailable)
        #expect(AvahiFailure.error(-10, "Lamp").code == .invalidName)
        #expect(AvahiFailure.error(-1, "Lamp").code == .backEnd)
    }

    @Test("TXT records go through the library's lists unchanged")
    func text() {
        var text = TextRecord([("D", "1"), ("CM", "")])
        text.append("flag", nil)
        text.append("raw", [0, 255, 61])
        for text in [text, TextRecord()] {
            let list = AvahiText.list(text)
            #expect(AvahiText.record(list) == text)
            avahi_string_list_free(list)
        }
    }
}
