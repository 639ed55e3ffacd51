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

    /// A link that only counts.
    private final class CountingLink: MessageLink {
        var onMessage: ((UnsafeRawBufferPointer) -> Void)?
        var onClose: ((LinkError?) -> Void)?
        var maximumMessageSize: Int { 1024 }
        var expected = 0
        func send(_ message: UnsafeRawBufferPointer) {}
        func close() {}
        func abort(_ error: LinkError) {}
        func pauseReading() {}
        func resumeReading() {}
        func expectAnswer() { expected += 1 }
        func answerArrived() { expected -= 1 }
    }

    @Test func timeStandsStillOnlyForAnswersThatCanCome() async throws {
        try await withLink { timeline in
            let inner = CountingLink()
            let link = InterceptedLink(inner, timeline: timeline, origin: timeline.origin("test"))
            var outgoing = NodeInterceptions.FrameVerdict.pass
            var incoming = NodeInterceptions.FrameVerdict.pass
            link.verdict = { isOutgoing, _, _ in isOutgoing ? outgoing : incoming }
            link.send(Self.message(1))
            link.expectAnswer()
            #expect(inner.expected == 1)
            link.answerArrived()
            #expect(inner.expected == 0)
            // What a fault has taken is answered by nobody.
            for verdict in [NodeInterceptions.FrameVerdict.drop, .delay(.seconds(1))] {
                outgoing = verdict
                link.send(Self.message(2))
                link.expectAnswer()
                #expect(inner.expected == 0)
                link.answerArrived()
                #expect(inner.expected == 0)
            }
            try await timeline.advance(by: .seconds(2))
            // An answer that a fault keeps back has come all the same.
            outgoing = .pass
            incoming = .delay(.seconds(1))
            link.send(Self.message(3))
            link.expectAnswer()
            #expect(inner.expected == 1)
            Self.message(4).withUnsafeBytes { inner.onMessage?($0) }
            #expect(inner.expected == 0)
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
