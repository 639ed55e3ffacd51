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
        let toHalf = LevelControl.MoveToLevel(level: 127, transitionTime: 20, optionsMask: [], optionsOverride: [])
        try await home.invoke("lamp", toHalf)
        let level = LevelControl.Attributes.currentLevel
        try await home.expect("lamp", LevelControl.id, level, equals: .unsigned(127), within: .seconds(3))
    }
}
