import HearthTime
import HomeTestKit
import MatterController
import MatterInteraction
import MatterModel
import MatterSimulator
import MatterTLV
import Testing

/// Subscriptions survive the device's restarts; a short outage makes no noise, a long one is told once.
@Suite struct SubscriptionTests {
    private static let light = DeviceProfile(name: "lamp", endpoints: [.init(1, deviceTypes: [0x0100])])
    private static let request = SubscribeRequest(
        ReadSelection(attributes: [AttributePathPattern(1, OnOff.id, OnOff.Attributes.onOff)]), minimumInterval: 0, maximumInterval: 30)

    /// What a subscriber heard, in words.
    private final class Ears: Sendable {
        private let stored = Locked<[String]>([])
        var heard: [String] { stored.withLock { $0 } }
        func hear(_ update: SubscriptionUpdate) {
            let word =
                switch update {
                case .report(let attributes, _):
                    if case .value(_, let value)? = attributes.first?.outcome { value.boolean == true ? "on" : "off" } else { "nothing" }
                case .lost: "lost"
                case .restored: "restored"
                case .ended: "ended"
                }
            stored.withLock { $0.append(word) }
        }
    }

    private static func subscribe(_ home: VirtualHome) async throws -> Ears {
        try await home.pair("lamp")
        let ears = Ears()
        _ = try await home.controller.subscribe("lamp", request) { ears.hear($0) }
        return ears
    }

    @Test func changesAreHeard() async throws {
        try await VirtualHome.run(Self.light) { home in
            let ears = try await Self.subscribe(home)
            try await home.invoke("lamp", OnOff.On())
            try await home.advance(by: .seconds(1))
            try await home.device("lamp").set(OnOff.id, OnOff.Attributes.onOff, to: .boolean(false))
            try await home.advance(by: .seconds(1))
            #expect(ears.heard == ["on", "off"])
        }
    }

    /// An orderly stop says goodbye, whatever the minimum interval says; a power failure does not.
    @Test(arguments: VirtualHome.Link.allCases, [true, false])
    func aStopIsHeardBeforeTheSessionEnds(_ link: VirtualHome.Link, isUrgent: Bool) async throws {
        var options = VirtualHome.Options()
        options.link = link
        let path = EventPathPattern(0, BasicInformation.id, BasicInformation.Events.shutDown, isUrgent: isUrgent)
        let request = SubscribeRequest(ReadSelection(events: [path]), minimumInterval: 20, maximumInterval: 60)
        try await VirtualHome.run(Self.light, options: options) { home in
            try await home.pair("lamp")
            let words = Locked<[String]>([])
            _ = try await home.controller.subscribe("lamp", request) { update in
                switch update {
                case .report(_, let events): words.withLock { $0.append("\(events.count) events") }
                case .lost: words.withLock { $0.append("lost") }
                default: break
                }
            }
            try await home.advance(by: .seconds(1))
            let primed = words.withLock { $0 }
            try await home.device("lamp").stop()
            try await home.advance(by: .seconds(30))
            #expect(words.withLock { $0 } == primed + ["1 events", "lost"])
            try await home.device("lamp").start()
            try await home.advance(by: .seconds(30))
            words.withLock { $0 = [] }
            try await home.device("lamp").kill()
            try await home.advance(by: .seconds(30))
            #expect(words.withLock { $0 } == ["lost"])
        }
    }

    @Test(arguments: VirtualHome.Link.allCases) func aShortOutageMakesNoNoise(_ link: VirtualHome.Link) async throws {
        var options = VirtualHome.Options()
        options.link = link
        try await VirtualHome.run(Self.light, options: options) { home in
            let ears = try await Self.subscribe(home)
            try await home.device("lamp").kill()
            try await home.advance(by: .seconds(2))
            try await home.device("lamp").start()
            try await home.advance(by: .seconds(2))
            // The values come again with the new subscription, and no word of the outage.
            #expect(!ears.heard.contains("lost"))
            #expect(ears.heard == ["off"])
            try await home.invoke("lamp", OnOff.On())
            try await home.advance(by: .seconds(1))
            #expect(ears.heard.last == "on")
        }
    }

    @Test func aLongOutageIsToldOnce() async throws {
        try await VirtualHome.run(Self.light) { home in
            let ears = try await Self.subscribe(home)
            try await home.device("lamp").kill()
            try await home.advance(by: .seconds(300))
            #expect(ears.heard == ["lost"])
            try await home.device("lamp").start()
            try await home.advance(by: .seconds(2))
            #expect(ears.heard == ["lost", "off", "restored"])
        }
    }

    /// It answers, and knows nothing of the home: waiting for it would be in vain.
    @Test func aDeviceThatWasResetEndsIt() async throws {
        try await VirtualHome.run(Self.light) { home in
            let ears = try await Self.subscribe(home)
            try await home.device("lamp").factoryReset()
            try await home.advance(by: .seconds(60))
            #expect(ears.heard.last == "ended")
            #expect(ears.heard.count { $0 == "ended" } == 1)
            let count = ears.heard.count
            try await home.advance(by: .seconds(300))
            #expect(ears.heard.count == count)
        }
    }

    @Test func aDeviceThatFallsSilentIsNoticed() async throws {
        try await VirtualHome.run(Self.light) { home in
            let ears = try await Self.subscribe(home)
            try await home.device("lamp").fault("offline")
            try await home.advance(by: .seconds(60))
            #expect(ears.heard == ["lost"])
        }
    }

    @Test func unsubscribingEndsIt() async throws {
        try await VirtualHome.run(Self.light) { home in
            try await home.pair("lamp")
            let ears = Ears()
            let (number, _) = try await home.controller.subscribe("lamp", Self.request) { ears.hear($0) }
            try await home.controller.unsubscribe(number)
            try await home.invoke("lamp", OnOff.On())
            try await home.advance(by: .seconds(5))
            #expect(ears.heard.isEmpty)
        }
    }

    /// A peer whose end of the session is gone without a word is dialled anew after the first time-out.
    @Test func aHalfOpenSessionIsLeft() async throws {
        try await VirtualHome.run(Self.light) { home in
            let ears = try await Self.subscribe(home)
            try await home.device("lamp").fault("half-open", ["count": .integer(1)])
            await #expect(throws: ControllerError.self) { try await home.invoke("lamp", OnOff.On()) }
            // The next call gets through, and so does the subscription.
            try await home.invoke("lamp", OnOff.On())
            try await home.advance(by: .seconds(5))
            #expect(ears.heard.last == "on")
        }
    }
}
