import HearthTime
import MatterMessage
import Testing

@testable import MatterNode

@Suite struct InterceptedLinkTests {
    private final class Notes { var lines: [String] = [] }

    /// Two ends, one of them intercepted; `send` numbers messages from the intercepted end.
    private func withLink(_ body: @Sendable @concurrent (Timeline) async throws -> Void) async throws {
        let timeline = Timeline(mode: .manual)
        defer { timeline.shutdown() }
        try await timeline.run { try await body(timeline) }
    }

    private static func message(_ number: UInt8) -> [UInt8] { [1, number, 0, 0, 1, 0] }

    @Test func delayedMessagesStayInOrder() async throws {
        try await withLink { timeline in
            let (near, far) = MemoryLink.pair(timeline: timeline, name: "link")
            let link = InterceptedLink(near, timeline: timeline, origin: timeline.origin("test"))
            let notes = Notes()
            far.onMessage = { notes.lines.append("\($0[1]) at \(timeline.now.nanoseconds / 1_000_000)") }
            var delays: [Duration] = [.milliseconds(100), .milliseconds(10), .zero]
            link.verdict = { isOutgoing, _, _ in
                guard isOutgoing, !delays.isEmpty else { return .pass }
                let delay = delays.removeFirst()
                return delay > .zero ? .delay(delay) : .pass
            }
            for number in 1...3 { link.send(Self.message(UInt8(number))) }
            try await timeline.advance(by: .seconds(1))
            #expect(notes.lines == ["1 at 100", "2 at 100", "3 at 100"])
            link.send(Self.message(4))
            try await timeline.advance(by: .seconds(1))
            #expect(notes.lines.last == "4 at 1000")
            withExtendedLifetime(far) {}
        }
    }

    @Test func aDroppedMessageIsGoneAndAResetBreaksTheLink() async throws {
        try await withLink { timeline in
            let (near, far) = MemoryLink.pair(timeline: timeline, name: "link")
            let link = InterceptedLink(near, timeline: timeline, origin: timeline.origin("test"))
            let notes = Notes()
            link.onMessage = { notes.lines.append("in \($0[1])") }
            link.onClose = { notes.lines.append($0 == nil ? "closed" : "broken") }
            link.verdict = { isOutgoing, header, _ in
                if isOutgoing { return .pass }
                return header.opcode == 2 ? .drop : header.opcode == 3 ? .reset : .pass
            }
            for number in 1...3 { far.send(Self.message(UInt8(number))) }
            try await timeline.advance(by: .seconds(1))
            #expect(notes.lines == ["in 1", "broken"])
        }
    }

    @Test func closingWaitsForWhatIsDelayed() async throws {
        try await withLink { timeline in
            let (near, far) = MemoryLink.pair(timeline: timeline, name: "link")
            let link = InterceptedLink(near, timeline: timeline, origin: timeline.origin("test"))
            let notes = Notes()
            far.onMessage = { notes.lines.append("got \($0[1])") }
            far.onClose = { _ in notes.lines.append("end") }
            link.verdict = { _, _, _ in .delay(.milliseconds(500)) }
            link.send(Self.message(1))
            link.close()
            try await timeline.advance(by: .seconds(1))
            #expect(notes.lines == ["got 1", "end"])
            withExtendedLifetime(link) {}
        }
    }
}
