import HearthTime
import HomeTestKit
import MatterController
import MatterModel
import MatterSimulator
import MatterTLV
import Testing

// The examples of docs/testing.md, which are compared with this file line by line.

@Suite struct DocumentationExamples {
    let lamp = DeviceProfile(name: "lamp", endpoints: [.init(1, deviceTypes: [DeviceTypeDefinition.dimmableLight.id])])

    @Test func pairSwitchExpect() async throws {
        try await VirtualHome.run(lamp) { home in
            try await home.pair("lamp")
            try await home.invoke("lamp", OnOff.On())
            try await home.expect("lamp", OnOff.id, OnOff.Attributes.onOff, equals: .boolean(true))
        }
    }

    @Test func letTimePass() async throws {
        try await VirtualHome.run(lamp) { home in
            try await home.pair("lamp")
            try await home.invoke("lamp", OnOff.On())
            try await home.invoke(
                "lamp",
                LevelControl.MoveToLevel(level: 54, transitionTime: 30, optionsMask: .init(), optionsOverride: .init()))
            try await home.advance(by: .milliseconds(1500))
            let half = try await home.device("lamp").value(LevelControl.id, LevelControl.Attributes.currentLevel)
            #expect(half == .unsigned(154))
            try await home.expect(
                "lamp", LevelControl.id, LevelControl.Attributes.currentLevel, equals: .unsigned(54), within: .seconds(2))
        }
    }

    @Test func actAtTheDevice() async throws {
        try await VirtualHome.run(lamp) { home in
            try await home.pair("lamp")
            try await home.device("lamp").set(OnOff.id, OnOff.Attributes.onOff, to: .boolean(true))
            try await home.expect("lamp", OnOff.id, OnOff.Attributes.onOff, equals: .boolean(true))
        }
    }

    @Test func useAReadyProfile() async throws {
        let lock = try ProfileLibrary.standard().profile("door-lock")
        try await VirtualHome.run(lock) { home in
            try await home.pair("door-lock")
            try await home.invoke("door-lock", DoorLock.UnlockDoor(pinCode: Array("1234".utf8)))
            try await home.expect("door-lock", DoorLock.id, DoorLock.Attributes.lockState, equals: .unsigned(2))
        }
    }

    @Test func makeItSlow() async throws {
        try await VirtualHome.run(lamp) { home in
            try await home.pair("lamp")
            let delay = try await home.device("lamp").fault("slow-answer", ["delayMs": 750, "count": 1])
            let before = home.timeline.now
            try await home.invoke("lamp", OnOff.On())
            #expect(home.timeline.now - before == .milliseconds(750))
            try await home.device("lamp").clearFault(delay)
        }
    }

    @Test func makeItRefuse() async throws {
        try await VirtualHome.run(lamp) { home in
            try await home.pair("lamp")
            try await home.device("lamp").fault("wrong-status", ["status": "BUSY", "cluster": "OnOff", "count": 1])
            await #expect(throws: Status(.busy)) { try await home.invoke("lamp", OnOff.On()) }
            try await home.invoke("lamp", OnOff.On())
        }
    }

    @Test func cutThePower() async throws {
        try await VirtualHome.run(lamp) { home in
            try await home.pair("lamp")
            try await home.invoke("lamp", OnOff.On())
            try await home.device("lamp").kill()
            try await home.advance(by: .seconds(60))
            try await home.device("lamp").start()
            try await home.expect("lamp", OnOff.id, OnOff.Attributes.onOff, equals: .boolean(true))
        }
    }

    @Test func severalControllers() async throws {
        try await VirtualHome.run(lamp) { home in
            try await home.pair("lamp")
            let other = try await home.addController("other")
            let window = try await home.controller.openWindow("lamp", timeout: 180)
            try await other.pair(window.qrCode, name: "their lamp")
            try await home.expect(
                "lamp", OperationalCredentials.id, OperationalCredentials.Attributes.commissionedFabrics, endpoint: 0,
                equals: .unsigned(2))
            await other.close()
        }
    }

    @Test func readWhatHappened() async throws {
        try await VirtualHome.run(lamp) { home in
            try await home.pair("lamp")
            try await home.invoke("lamp", OnOff.On())
            let last = try await home.device("lamp").journal().last { $0.kind == .invoke }
            #expect(last?.command == OnOff.Commands.on)
            #expect(last?.status == .success)
        }
    }

    @Test func overRealSocketsByHand() async throws {
        var options = VirtualHome.Options()
        options.link = .loopback
        options.mode = .manual
        try await VirtualHome.run(lamp, options: options) { home in
            try await home.pair("lamp")
            #expect(home.timeline.now == .zero)
            try await home.advance(by: .seconds(3600))
            #expect(home.timeline.now == .zero + .seconds(3600))
        }
    }
}
