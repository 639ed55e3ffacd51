import HearthTime
import HomeTestKit
import MatterController
import MatterInteraction
import MatterModel
import MatterSimulator
import Testing

/// A device goes on with its subscriptions after a restart: it connects to the subscriber by itself.
@Suite struct ResumptionTests {
    private static let light = DeviceProfile(name: "lamp", endpoints: [.init(1, deviceTypes: [0x0101])])
    private static let request = SubscribeRequest(
        ReadSelection(attributes: [AttributePathPattern(AttributePath(1, OnOff.id, OnOff.Attributes.onOff))]), minimumInterval: 0,
        maximumInterval: 60)

    private static func subscribe(_ home: VirtualHome) async throws -> (number: Int, values: Locked<[Bool?]>) {
        let values = Locked<[Bool?]>([])
        let (number, _) = try await home.controller.subscribe("lamp", request) { update in
            guard case .report(let attributes, _) = update else { return }
            for case .value(_, let value) in attributes.map(\.outcome) { values.withLock { $0.append(value.boolean) } }
        }
        return (number, values)
    }

    /// Sessions of the lamp that have begun since it last started.
    private static func sessions(_ home: VirtualHome) async throws -> Int {
        let journal = try await home.device("lamp").journal(last: 1000)
        let start = journal.lastIndex { $0.kind == .start } ?? 0
        return journal[start...].count { $0.kind == .session }
    }

    @Test(arguments: [true, false]) func theDeviceComesBackByItself(isAbrupt: Bool) async throws {
        try await VirtualHome.run(Self.light) { home in
            try await home.pair("lamp")
            let (_, values) = try await Self.subscribe(home)
            let device = home.device("lamp")
            if isAbrupt { try await device.kill() } else { try await device.stop() }
            try await home.advance(by: .seconds(120))
            values.withLock { $0 = [] }
            try await device.start()
            try await home.advance(by: .milliseconds(300))
            #expect(values.withLock { $0 } == [false], "before the controller has tried anything")
            #expect(try await Self.sessions(home) == 1)
            try await home.invoke("lamp", OnOff.On())
            try await home.advance(by: .seconds(130))
            #expect(values.withLock { $0 } == [false, true], "one subscription, and not two")
            #expect(try await Self.sessions(home) == 1, "commands take the device's connection")
        }
    }

    @Test func whoUnsubscribedIsNotSought() async throws {
        try await VirtualHome.run(Self.light) { home in
            try await home.pair("lamp")
            let (number, values) = try await Self.subscribe(home)
            try await home.controller.unsubscribe(number)
            // The device learns of it with its next report.
            try await home.advance(by: .seconds(70))
            try await home.device("lamp").reboot()
            values.withLock { $0 = [] }
            try await home.advance(by: .seconds(60))
            #expect(try await Self.sessions(home) == 0)
            #expect(values.withLock { $0 }.isEmpty)
        }
    }

    @Test func aControllerThatIsGoneIsForgotten() async throws {
        try await VirtualHome.run(Self.light) { home in
            try await home.pair("lamp")
            let guest = try await home.addController("guest")
            let code = try await home.controller.openWindow("lamp", timeout: 180)
            try await guest.pair(code.manualCode, name: "their lamp")
            _ = try await guest.subscribe("their lamp", Self.request) { _ in }
            try await home.device("lamp").kill()
            await guest.close()
            try await home.device("lamp").start()
            // It tries for half an hour, and then never again.
            try await home.advance(by: .seconds(3600))
            let before = home.timeline.now
            #expect(try await Self.sessions(home) == 0)
            try await home.device("lamp").reboot()
            try await home.advance(by: .seconds(60))
            #expect(try await Self.sessions(home) == 0 && home.timeline.now > before)
        }
    }

    @Test func aFabricThatIsRemovedTakesItsSubscriptions() async throws {
        try await VirtualHome.run(Self.light) { home in
            try await home.pair("lamp")
            let guest = try await home.addController("guest")
            let code = try await home.controller.openWindow("lamp", timeout: 180)
            try await guest.pair(code.manualCode, name: "their lamp")
            _ = try await guest.subscribe("their lamp", Self.request) { _ in }
            let (_, values) = try await Self.subscribe(home)
            try await guest.unpair("their lamp")
            try await home.device("lamp").reboot()
            values.withLock { $0 = [] }
            try await home.advance(by: .seconds(60))
            #expect(try await Self.sessions(home) == 1, "the other fabric's alone")
            #expect(values.withLock { $0 } == [false])
        }
    }
}
