import HearthTime
import HomeTestKit
import MatterModel
import MatterSimulator
import MatterTLV
import Testing

/// A lamp in a home of its own, as a test of an app or an automation would use it. Nothing here waits in real time.
@Suite struct LampTests {
    /// A dimmable light, named so that failures read well.
    let lamp = DeviceProfile(name: "lamp", endpoints: [.init(1, deviceTypes: [DeviceTypeDefinition.dimmableLight.id])])

    @Test func theLampIsPairedAndSwitched() async throws {
        try await VirtualHome.run(lamp) { home in
            try await home.pair("lamp")
            try await home.invoke("lamp", OnOff.On())
            try await home.expect("lamp", OnOff.id, OnOff.Attributes.onOff, equals: .boolean(true))
            // A hand on the switch; the controller sees it too.
            try await home.device("lamp").set(OnOff.id, OnOff.Attributes.onOff, to: .boolean(false))
            try await home.expect("lamp", OnOff.id, OnOff.Attributes.onOff, equals: .boolean(false))
        }
    }

    @Test func aSlowLampAnswersLateAndStillAnswers() async throws {
        try await VirtualHome.run(lamp) { home in
            try await home.pair("lamp")
            let device = home.device("lamp")
            let delay = try await device.fault("delay", ["delayMs": 750, "direction": "out"])
            let before = home.timeline.now
            try await home.invoke("lamp", OnOff.On())
            #expect(home.timeline.now - before == .milliseconds(750))
            try await device.clearFault(delay)
            let after = home.timeline.now
            try await home.invoke("lamp", OnOff.Off())
            #expect(home.timeline.now == after)
        }
    }
}
