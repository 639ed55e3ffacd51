import HearthTime
import HomeTestKit
import MatterModel
import MatterSimulator
import Testing

@Suite struct ScenarioTests {
    private static let library = ProfileLibrary(folders: [Probe.profiles])
    private static let light = DeviceProfile(name: "lamp", endpoints: [.init(1, deviceTypes: [0x0101])])

    @Test(arguments: ["evening", "power-cut", "flaky-lock"]) func aReadyScenarioGoesWell(_ name: String) async throws {
        let scenario = try ScenarioReader.read(name, library: Self.library)
        try await VirtualHome.run(fleet: Self.library.fleet("apartment")) { home in
            let outcomes = try await home.simulator.play(scenario)
            #expect(outcomes.count == scenario.steps.count)
            for outcome in outcomes where !outcome.isOK { Issue.record("\(outcome.title): \(outcome.message ?? "")") }
            #expect(try await home.simulator.allFaults().isEmpty)
        }
    }

    @Test func aStepThatFailsIsToldAndTheOthersArePlayed() async throws {
        let text = """
            steps:
              - set: {device: lamp, cluster: OnOff, attribute: OnOff, value: on}
              - expect: {device: lamp, cluster: OnOff, attribute: OnOff, value: off, within: 2s}
              - set: {device: lamp, endpoint: 9, cluster: OnOff, attribute: OnOff, value: on}
              - at: 10s
                expect: {device: lamp, cluster: OnOff, attribute: OnOff, value: on}
              - fault: {device: lamp, kind: offline}
            """
        let scenario = try ScenarioReader.read(Array(text.utf8), file: "bad.yaml")
        try await VirtualHome.run(Self.light) { home in
            let begin = home.timeline.now
            let outcomes = try await home.simulator.play(scenario)
            #expect(outcomes.map(\.isOK) == [true, false, false, true, true])
            #expect(outcomes[1].message == "bad.yaml:3: lamp/1 OnOff.OnOff is on, not off, after 2 s")
            #expect(outcomes[2].message?.contains("UNSUPPORTED_ENDPOINT") == true)
            #expect(outcomes.map { $0.time - begin } == [.zero, .seconds(2), .seconds(2), .seconds(10), .seconds(10)])
            // Its faults do not outlive it.
            #expect(try await home.simulator.allFaults().isEmpty)
        }
    }

    @Test func devicesThatAreNotThereAreToldBeforeAnythingIsPlayed() async throws {
        let text = """
            steps:
              - set: {device: lamp, cluster: OnOff, attribute: OnOff, value: on}
              - set: {device: tree, cluster: OnOff, attribute: OnOff, value: on}
              - fault: {kind: offline}
              - reboot: lmap
            """
        let scenario = try ScenarioReader.read(Array(text.utf8), file: "bad.yaml")
        try await VirtualHome.run(Self.light) { home in
            let failure = await #expect(throws: SimulatorError.self) { _ = try await home.simulator.play(scenario) }
            #expect(failure?.code == .unknownDevice)
            #expect(
                failure?.message == "nothing was played: bad.yaml:3: there is no device 'tree': there are lamp\n"
                    + "bad.yaml:5: there is no device 'lmap'; did you mean lamp?")
            let onOff = try await home.device("lamp").value(OnOff.id, OnOff.Attributes.onOff)
            #expect(onOff == .boolean(false))
        }
    }

    @Test func anEventIsExpectedWithItsFields() async throws {
        let lock = DeviceProfile(name: "lock", endpoints: [.init(1, deviceTypes: [0x000A])])
        let text = """
            steps:
              - trigger: {device: lock, cluster: DoorLock, event: DoorLockAlarm, fields: {AlarmCode: LockJammed}}
              - expect: {device: lock, cluster: DoorLock, event: DoorLockAlarm, fields: {AlarmCode: LockJammed}}
              - expect: {device: lock, cluster: DoorLock, event: DoorLockAlarm, fields: {AlarmCode: DoorForcedOpen}}
            """
        let scenario = try ScenarioReader.read(Array(text.utf8), file: "event.yaml")
        try await VirtualHome.run(lock) { home in
            let outcomes = try await home.simulator.play(scenario)
            #expect(outcomes.map(\.isOK) == [true, true, false])
        }
    }

    @Test func theVerbAnswersWithEveryStep() async throws {
        try await VirtualHome.run(fleet: Self.library.fleet("apartment")) { home in
            let verbs = SimulatorVerbs(home.simulator, library: Self.library)
            let answer = try await verbs.perform(["do": "play", "file": "evening"])
            let steps = try #require(answer["steps"]?.array)
            #expect(steps.count > 20)
            #expect(steps.allSatisfy { $0["ok"] == true })
            #expect(steps.first?["step"] == 1)
            await #expect(throws: (any Error).self) { _ = try await verbs.perform(["do": "play", "file": "morning"]) }
        }
    }
}
