import HearthTime
import MatterModel
import Testing

@testable import MatterSimulator

@Suite struct ScenarioReaderTests {
    private func errors(_ text: String) -> [String] {
        do {
            _ = try ScenarioReader.read(Array(text.utf8), file: "s.yaml")
            return []
        } catch {
            return error.errors.map(\.description)
        }
    }

    @Test func everyKindOfStepIsRead() throws {
        let scenario = try ScenarioReader.read(
            Array(
                """
                name: all
                steps:
                  - set: {device: lamp, cluster: OnOff, attribute: OnOff, value: on}
                  - at: 5s
                    trigger: {device: lock, cluster: DoorLock, event: DoorLockAlarm, fields: {AlarmCode: LockJammed}}
                  - fault: {device: lamp, kind: delay, delayMs: 20, probability: 0.5, as: slow}
                  - clear-fault: slow
                  - clear-fault: all
                  - expect: {device: lamp, endpoint: 2, cluster: on-off, attribute: onOff, value: off, within: 1.5s}
                  - expect: {device: lamp, cluster: LevelControl, attribute: CurrentLevel, atLeast: 3}
                  - advance: 2h
                  - wait: 250ms
                  - kill: lamp
                  - start: lamp
                """.utf8), file: "s.yaml")
        #expect(scenario.name == "all")
        #expect(scenario.steps.count == 11)
        #expect(scenario.steps[1].start == .seconds(5))
        #expect(scenario.steps[1].place == "s.yaml:4")
        guard case .expect("lamp", .equals(let path, .boolean(false)), .milliseconds(1500)) = scenario.steps[5].action else {
            Issue.record("\(scenario.steps[5])")
            return
        }
        #expect(path.endpoint == 2)
        guard case .fault("lamp", let members, "slow") = scenario.steps[2].action else {
            Issue.record("\(scenario.steps[2])")
            return
        }
        #expect(members == ["kind": "delay", "delayMs": 20, "probability": .number(0.5)])
    }

    @Test(arguments: [
        (
            "steps:\n  - set: {device: lamp, cluster: OnOf, attribute: OnOff, value: on}",
            "s.yaml:2:34: steps[0].set.cluster: there is no cluster 'OnOf'"
        ),
        ("steps:\n  - set: {device: lamp, cluster: OnOff, attribute: OnOff, value: blue}", "s.yaml:2:"),
        ("steps:\n  - dance: lamp", "there is no 'dance' here"),
        ("steps:\n  - advance: 5 parsecs", "steps[0].advance: '5 parsecs' is no span of time"),
        ("steps:\n  - clear-fault: jam", "no step before sets a fault 'as: jam'"),
        ("steps:\n  - fault: {device: lock, kind: jamed-lock}", "jammed-lock"),
        ("steps:\n  - fault: {device: lock, kind: delay}", "needs 'delayMs'"),
        ("steps: []", "at least one step"),
        ("name: x", "'steps' is missing"),
    ]) func aMistakeIsToldWithItsPlace(_ text: String, _ expected: String) {
        #expect(errors(text).contains { $0.contains(expected) }, "\(errors(text))")
    }

    @Test func oneMistakeIsToldOnce() {
        let text = "steps:\n  - set: {device: lamp, cluster: OnOff, attribut: OnOff, value: on}"
        #expect(errors(text).filter { $0.contains("'value'") }.isEmpty, "\(errors(text))")
    }

    @Test func stepsAreToldInWordsOfPeople() throws {
        let text = """
            steps:
              - set: {device: door, cluster: DoorLock, attribute: LockState, value: Unlocked}
              - wait: 20min
            """
        let titles = try ScenarioReader.read(Array(text.utf8), file: "s.yaml").steps.map(\.action.title)
        #expect(titles[0] == "set door/1 DoorLock.LockState to Unlocked")
        #expect(titles[1] == "wait 20 min")
    }

    @Test func theScenarioOfThePageIsOne() throws {
        let root = #filePath.split(separator: "/").dropLast(3).map { "/" + $0 }.joined()
        let page = String(decoding: try ProfileLibrary.contents(of: root + "/docs/scenarios.md"), as: UTF8.self)
        let blocks = page.split(separator: "```yaml\n").dropFirst().map { $0.split(separator: "```", omittingEmptySubsequences: false)[0] }
        #expect(!blocks.isEmpty)
        for block in blocks { #expect(try ScenarioReader.read(Array(block.utf8), file: "page.yaml").steps.count > 3) }
        // Every step has its row.
        for verb in ["set", "trigger", "fault", "clear-fault", "expect", "advance", "wait"] + Scenario.Power.allCases.map(\.rawValue) {
            #expect(page.contains("`\(verb)`"), "\(verb)")
        }
    }
}
