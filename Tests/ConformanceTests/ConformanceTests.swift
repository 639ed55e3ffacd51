import HearthTime
import HomeTestKit
import MatterModel
import MatterSimulator
import Testing

/// Devices against cases that are kept as data, in virtual time.
@Suite struct ConformanceTests {
    static let files = Result { try CaseFile.all() }
    static let cases: [CaseFile.Case] = ((try? files.get()) ?? []).flatMap(\.cases)
    /// The package's own profiles.
    static let library: ProfileLibrary = {
        var path = #filePath
        for _ in 0..<3 { path = String(path[..<(path.lastIndex(of: "/") ?? path.startIndex)]) }
        return ProfileLibrary(folders: [path + "/device-profiles"])
    }()

    @Test func everyFileIsUnderstood() throws {
        let files = try Self.files.get()
        #expect(files.count >= 10)
        let names = files.flatMap(\.cases).map(\.description)
        #expect(Set(names).count == names.count, "two cases have the same name")
    }

    /// Waiting and switching the power are means, not checks, and do not count.
    @Test func thereAreEnoughSteps() {
        let steps = Self.cases.flatMap(\.steps).filter { !["wait", "power", "fault", "clearFaults", "set", "trigger"].contains($0.verb) }
        #expect(steps.count >= 600, "\(steps.count) steps")
    }

    @Test(arguments: cases) func theDeviceBehaves(_ test: CaseFile.Case) async throws {
        var profile = try Self.library.profile(test.profile)
        profile.name = "device"
        try await VirtualHome.run(profile) { home in
            try await home.pair("device")
            try await CaseRunner(test, home: home, device: "device").run()
        }
    }
}
