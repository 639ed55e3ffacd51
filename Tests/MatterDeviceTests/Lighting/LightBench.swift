import HearthTime
import MatterInteraction
import MatterModel
import MatterTLV
import Testing

@testable import MatterDevice

extension Bench {
    /// A light of On/Off and Level Control with the features that lights have, on endpoint 1.
    func makeLight(
        onOff: OnOff.Feature = .lighting, level: LevelControl.Feature? = [.onOff, .lighting],
        levelAttributes: [AttributeID: TLVValue] = [:], start: Bool = true
    ) throws {
        try add(OnOff.id, ClusterConfiguration(features: onOff.rawValue))
        if let level {
            try add(LevelControl.id, ClusterConfiguration(features: level.rawValue, attributes: levelAttributes))
        }
        if start { node.start() }
    }

    /// A light of all colours that is on.
    func makeColorLight(features: ColorControl.Feature = .all, attributes: [AttributeID: TLVValue] = [:], start: Bool = true) throws {
        try makeLight(start: false)
        try add(ColorControl.id, ClusterConfiguration(features: features.rawValue, attributes: attributes))
        guard start else { return }
        node.start()
        try invoke(OnOff.On())
    }

    func color(_ attribute: AttributeID) throws -> UInt64? { try number(ColorControl.id, attribute) }
    var hue: UInt64? { get throws { try color(ColorControl.Attributes.currentHue) } }
    var enhancedHue: UInt64? { get throws { try color(ColorControl.Attributes.enhancedCurrentHue) } }
    var saturation: UInt64? { get throws { try color(ColorControl.Attributes.currentSaturation) } }
    var temperature: UInt64? { get throws { try color(ColorControl.Attributes.colorTemperatureMireds) } }
    /// ColorMode and EnhancedColorMode.
    var colorModes: [UInt64?] {
        get throws { [try color(ColorControl.Attributes.colorMode), try color(ColorControl.Attributes.enhancedColorMode)] }
    }

    func moveToHue(_ hue: UInt8, _ direction: ColorControl.DirectionEnum = .shortest, tenths: UInt16 = 0) throws {
        try invoke(
            ColorControl.MoveToHue(hue: hue, direction: direction, transitionTime: tenths, optionsMask: [], optionsOverride: []))
    }
    func moveToTemperature(_ mireds: UInt16, tenths: UInt16 = 0, mask: UInt8 = 0, override: UInt8 = 0) throws {
        try invoke(
            ColorControl.MoveToColorTemperature(
                colorTemperatureMireds: mireds, transitionTime: tenths, optionsMask: .init(rawValue: mask),
                optionsOverride: .init(rawValue: override)))
    }
    func setLoop(
        _ flags: ColorControl.UpdateFlagsBitmap, _ action: ColorControl.ColorLoopActionEnum = .deactivate,
        direction: ColorControl.ColorLoopDirectionEnum = .decrement, time: UInt16 = 0, startHue: UInt16 = 0
    ) throws {
        try invoke(
            ColorControl.ColorLoopSet(
                updateFlags: flags, action: action, direction: direction, time: time, startHue: startHue, optionsMask: [],
                optionsOverride: []))
    }

    func add(_ cluster: ClusterID, _ configuration: ClusterConfiguration) throws {
        try add(cluster, at: 1, deviceTypes: [], configuration)
    }

    func number(_ cluster: ClusterID, _ attribute: AttributeID) throws -> UInt64? { try read(cluster, attribute).unsigned }

    var isOn: Bool { get throws { try read(OnOff.id, OnOff.Attributes.onOff) == .boolean(true) } }
    var onTime: UInt64? { get throws { try number(OnOff.id, OnOff.Attributes.onTime) } }
    var offWaitTime: UInt64? { get throws { try number(OnOff.id, OnOff.Attributes.offWaitTime) } }
    var level: UInt64? { get throws { try number(LevelControl.id, LevelControl.Attributes.currentLevel) } }
    var remainingTime: UInt64? { get throws { try number(LevelControl.id, LevelControl.Attributes.remainingTime) } }

    func moveToLevel(_ level: UInt8, tenths: Nullable<UInt16> = 0, mask: UInt8 = 0, override: UInt8 = 0) throws {
        try invoke(
            LevelControl.MoveToLevel(
                level: level, transitionTime: tenths, optionsMask: .init(rawValue: mask), optionsOverride: .init(rawValue: override)))
    }
    func moveToLevelWithOnOff(_ level: UInt8, tenths: Nullable<UInt16> = 0) throws {
        try invoke(LevelControl.MoveToLevelWithOnOff(level: level, transitionTime: tenths, optionsMask: [], optionsOverride: []))
    }
    func move(_ mode: LevelControl.MoveModeEnum, _ rate: Nullable<UInt8>) throws {
        try invoke(LevelControl.Move(moveMode: mode, rate: rate, optionsMask: [], optionsOverride: []))
    }
    func moveWithOnOff(_ mode: LevelControl.MoveModeEnum, _ rate: Nullable<UInt8>) throws {
        try invoke(LevelControl.MoveWithOnOff(moveMode: mode, rate: rate, optionsMask: [], optionsOverride: []))
    }
    func step(_ mode: LevelControl.StepModeEnum, _ size: UInt8, tenths: Nullable<UInt16> = 0) throws {
        try invoke(LevelControl.Step(stepMode: mode, stepSize: size, transitionTime: tenths, optionsMask: [], optionsOverride: []))
    }
    func timedOff(_ onTime: UInt16, _ offWaitTime: UInt16, onlyWhenOn: Bool = false) throws {
        try invoke(
            OnOff.OnWithTimedOff(onOffControl: onlyWhenOn ? .acceptOnlyWhenOn : [], onTime: onTime, offWaitTime: offWaitTime))
    }

    /// The values that subscribers of an attribute hear of, from now on, each with the seconds since.
    func watch(_ cluster: ClusterID, _ attribute: AttributeID) -> Reports {
        let reports = Reports()
        let path = AttributePath(1, cluster, attribute)
        let (began, earlier) = (timeline.now, node.onAttributeChanged)
        node.onAttributeChanged = { [weak self] changed in
            earlier?(changed)
            guard let self, changed == path, let value = try? read(cluster, attribute) else { return }
            reports.values.append(value)
            reports.seconds.append(Double((timeline.now - began).wholeNanoseconds) / 1e9)
        }
        return reports
    }
}

/// What subscribers heard.
final class Reports {
    var values: [TLVValue] = []
    var seconds: [Double] = []
    var numbers: [UInt64?] { values.map(\.unsigned) }
}

extension ColorControl.Feature {
    static let all: Self = [.hueSaturation, .enhancedHue, .colorLoop, .xy, .colorTemperature]
}
