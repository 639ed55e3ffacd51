import HearthTime
import MatterMessage
import Testing

/// Runs `body` on the thread of a timeline whose time moves by `advance` only.
func onTimeline(_ body: @Sendable @concurrent (Timeline) async throws -> Void) async throws {
    let timeline = Timeline(mode: .manual)
    defer { timeline.shutdown() }
    try await timeline.run { try await body(timeline) }
    #expect(timeline.failures.isEmpty)
}

/// Two sessions over a link in memory.
final class Pair {
    let timeline: Timeline
    let (near, far): (MemoryLink, MemoryLink)
    let client: Session
    let server: Session

    init(_ timeline: Timeline) {
        self.timeline = timeline
        (near, far) = MemoryLink.pair(timeline: timeline, name: "link")
        client = Session(link: near, context: SessionContext(authMode: .case, fabricIndex: 1, peerNodeID: 2))
        server = Session(link: far, context: SessionContext(authMode: .case, fabricIndex: 1, peerNodeID: 1), firstExchangeID: 100)
    }

    func settle() async throws { try await timeline.advance(by: .zero) }
}

extension Array where Element == UInt8 {
    /// The bytes split into a header and what follows it.
    func split() -> (ProtocolHeader, [UInt8])? {
        withUnsafeBytes { bytes in ProtocolHeader.split(bytes).map { ($0.header, Array($0.payload)) } }
    }
}
