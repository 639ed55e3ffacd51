import HomeTestKit
import MatterModel
import MatterSimulator
import Testing

@Test func theLampDims() async throws {
    let lamp = DeviceProfile(name: "lamp", endpoints: [.init(1, deviceTypes: [DeviceTypeDefinition.dimmableLight.id])])
    try await VirtualHome.run(lamp) { home in
        try await home.pair("lamp")
        try await home.invoke("lamp", OnOff.On())
        try await home.device("lamp").fault("delay", ["delayMs": 300])
        try await home.expect("lamp", OnOff.id, OnOff.Attributes.onOff, equals: .boolean(true), within: .seconds(1))
    }
}
