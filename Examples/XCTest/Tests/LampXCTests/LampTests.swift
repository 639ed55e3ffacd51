import HearthTime
import HomeTestKit
import MatterModel
import MatterSimulator
import MatterTLV
import XCTest

/// The same with XCTest: HomeTestKit throws errors and knows no test framework.
final class LampTests: XCTestCase {
    /// A dimmable light, named so that failures read well.
    private let lamp = DeviceProfile(name: "lamp", endpoints: [.init(1, deviceTypes: [DeviceTypeDefinition.dimmableLight.id])])

    func testTheLampIsPairedAndSwitched() async throws {
        try await VirtualHome.run(lamp) { home in
            try await home.pair("lamp")
            try await home.invoke("lamp", OnOff.On())
            try await home.expect("lamp", OnOff.id, OnOff.Attributes.onOff, equals: .boolean(true))
        }
    }

    func testASlowLampAnswersLateAndStillAnswers() async throws {
        try await VirtualHome.run(lamp) { home in
            try await home.pair("lamp")
            try await home.device("lamp").fault("delay", ["delayMs": 750, "direction": "out"])
            let before = home.timeline.now
            try await home.invoke("lamp", OnOff.On())
            XCTAssertEqual(home.timeline.now - before, .milliseconds(750))
        }
    }
}
