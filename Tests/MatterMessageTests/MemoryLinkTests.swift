import HearthTime
import MatterMessage
import Testing

@Suite struct MemoryLinkTests {
    @Test func aStreamKeepsItsOrderWhateverTheLatency() async throws {
        try await onTimeline { timeline in
            let (near, far) = MemoryLink.pair(timeline: timeline, name: "link")
            var random = RandomStream(seed: 3, owner: "link", purpose: "latency")
            var latencies: [Duration] = []
            near.latency = {
                latencies.append(random.duration(in: .zero ... .milliseconds(50)))
                return latencies[latencies.count - 1]
            }
            var arrived: [(UInt8, ModelInstant)] = []
            far.onMessage = { arrived.append(($0[0], timeline.now)) }
            var sent: [ModelInstant] = []
            for number in 0..<100 {
                sent.append(timeline.now)
                near.send([UInt8(number)])
                try await timeline.advance(by: .milliseconds(3))
            }
            try await timeline.advance(by: .seconds(1))
            #expect(arrived.map(\.0) == Array(0..<100))
            var earliest = ModelInstant.zero
            for number in 0..<100 {
                earliest = max(earliest, sent[number] + latencies[number])
                #expect(arrived[number].1 == earliest)
            }
        }
    }

    @Test func anOrderlyEndComesAfterWhatWasSentAndABrokenOneDoesNotWait() async throws {
        try await onTimeline { timeline in
            for isOrderly in [true, false] {
                let (near, far) = MemoryLink.pair(timeline: timeline, name: "link")
                near.latency = { .milliseconds(5) }
                var log: [String] = []
                far.onMessage = { log.append("message \($0[0])") }
                far.onClose = { log.append($0.map { "\($0.code)" } ?? "end") }
                near.onClose = { log.append("near \($0.map { "\($0.code)" } ?? "end")") }
                near.send([1])
                if isOrderly { near.close() } else { near.abort(LinkError(.closedHere, "test")) }
                near.send([2])
                #expect(log.isEmpty)
                try await timeline.advance(by: .milliseconds(5))
                #expect(log == (isOrderly ? ["near end", "message 1", "end"] : ["near closedHere", "message 1", "broken"]))
            }
        }
    }

    @Test func aPausedEndHoldsMessagesAndTheOrderlyEnd() async throws {
        try await onTimeline { timeline in
            let (near, far) = MemoryLink.pair(timeline: timeline, name: "link")
            var log: [String] = []
            far.onMessage = {
                log.append("\($0[0])")
                if $0[0] == 2 { far.pauseReading() }
            }
            far.onClose = { log.append($0 == nil ? "end" : "broken") }
            far.pauseReading()
            for number in 1...4 { near.send([UInt8(number)]) }
            near.close()
            try await timeline.advance(by: .zero)
            #expect(log.isEmpty)
            far.resumeReading()
            #expect(log.isEmpty)  // not from within the call
            try await timeline.advance(by: .zero)
            #expect(log == ["1", "2"])
            far.resumeReading()
            try await timeline.advance(by: .zero)
            #expect(log == ["1", "2", "3", "4", "end"])
        }
    }

    @Test func anEndThatIsLetGoIsABrokenConnection() async throws {
        try await onTimeline { timeline in
            var ended: [LinkError.Code?] = []
            func half() -> MemoryLink { MemoryLink.pair(timeline: timeline, name: "link").1 }
            let far = half()
            far.onClose = { ended.append($0?.code) }
            try await timeline.advance(by: .zero)
            #expect(ended == [.broken])
            far.send([1])
            try await timeline.advance(by: .zero)
        }
    }
}
