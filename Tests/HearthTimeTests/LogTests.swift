import Foundation
import HearthTime
import Testing

@Suite(.serialized, .timeLimit(.minutes(10))) struct LogTests {
    @Test func linesGoToStandardErrorAtTheLevelOfTheEnvironment() async throws {
        let result = try #require(
            await #expect(processExitsWith: .success, observing: [\.standardErrorContent, \.standardOutputContent]) {
                setenv("HEARTH_LOG", "Info", 1)
                let log = HearthTime.Log("tls")
                log.error("broken")
                log.info("a peer sent \u{1b}[31m\nerror tls: forged")
                log.debug("not shown")
                #expect(HearthTime.Log.level == .info)
                exit(0)
            })
        let text = String(decoding: result.standardErrorContent, as: UTF8.self)
        let lines = text.split(separator: "\n").filter { $0.contains(" tls: ") }
        try #require(lines.count == 2)
        #expect(lines[0].hasSuffix("Z error tls: broken"))
        #expect(lines[1].hasSuffix("Z info tls: a peer sent \\u{1b}[31m\\u{a}error tls: forged"))
        let stamp = try Regex(#"^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z error"#)
        #expect(try stamp.firstMatch(in: lines[0]) != nil)
        #expect(!String(decoding: result.standardOutputContent, as: UTF8.self).contains("tls:"))
    }

    @Test func aSinkGetsWhatIsShownAndMessagesThatAreNotAreNotMade() async throws {
        await #expect(processExitsWith: .success) {
            let lines = Lines()
            HearthTime.Log.setSink { level, line in lines.add("\(level)|\(line)") }
            HearthTime.Log.level = .warning
            func dear(_ text: String) -> String {
                lines.add("made \(text)")
                return text
            }
            let log = HearthTime.Log("store")
            log.warning(dear("one"))
            log.info(dear("two"))
            HearthTime.Log.level = .debug
            log.debug(dear("three"))
            HearthTime.Log.setSink(nil)
            precondition(lines.lines == ["made one", "warning|warning store: one", "made three", "debug|debug store: three"])
            exit(0)
        }
    }

    @Test func levelsHaveNames() {
        #expect(HearthTime.Log.Level(name: "WARNING") == .warning)
        #expect(HearthTime.Log.Level(name: "verbose") == nil)
        #expect(HearthTime.Log.Level.error < .debug)
    }

    @Test func aVoidedHoldIsLogged() async throws {
        let result = try #require(
            await #expect(processExitsWith: .success, observing: [\.standardErrorContent]) {
                var limits = Timeline.Limits()
                limits.hold = .milliseconds(1)
                let timeline = Timeline(mode: .manual, limits: limits)
                _ = timeline.hold("a commit")
                try? await timeline.advance(by: .seconds(1))
                exit(0)
            })
        #expect(String(decoding: result.standardErrorContent, as: UTF8.self).contains("warning time: 'a commit' held time"))
    }
}
