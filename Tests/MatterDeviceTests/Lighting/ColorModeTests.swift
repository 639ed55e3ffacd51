import HearthTime
import MatterInteraction
import MatterModel
import MatterTLV
import Testing

@testable import MatterDevice

/// What Color Control does when commands of several kinds meet (Matter Application Clusters, 3.2.5 and 3.2.8), in virtual time.
@Suite struct ColorModeTests {
    typealias Attributes = ColorControl.Attributes

    /// While a loop runs, whoever would change the hue is not heard, and whoever would stop it neither.
    private static let unheard: [any CommandRequest & Sendable] = [
        ColorControl.MoveToHue(hue: 9, direction: .shortest, transitionTime: 0, optionsMask: [], optionsOverride: []),
        ColorControl.MoveHue(moveMode: .up, rate: 9, optionsMask: [], optionsOverride: []),
        ColorControl.MoveHue(moveMode: .stop, rate: 0, optionsMask: [], optionsOverride: []),
        ColorControl.StepHue(stepMode: .up, stepSize: 9, transitionTime: 0, optionsMask: [], optionsOverride: []),
        ColorControl.MoveToHueAndSaturation(hue: 9, saturation: 9, transitionTime: 0, optionsMask: [], optionsOverride: []),
        ColorControl.EnhancedMoveToHue(enhancedHue: 9, direction: .up, transitionTime: 0, optionsMask: [], optionsOverride: []),
        ColorControl.EnhancedMoveHue(moveMode: .stop, rate: 0, optionsMask: [], optionsOverride: []),
        ColorControl.EnhancedStepHue(stepMode: .up, stepSize: 9, transitionTime: 0, optionsMask: [], optionsOverride: []),
        ColorControl.EnhancedMoveToHueAndSaturation(
            enhancedHue: 9, saturation: 9, transitionTime: 0, optionsMask: [], optionsOverride: []),
        ColorControl.MoveToColor(colorX: 9000, colorY: 9000, transitionTime: 0, optionsMask: [], optionsOverride: []),
        ColorControl.MoveColor(rateX: 1, rateY: 1, optionsMask: [], optionsOverride: []),
        ColorControl.MoveColor(rateX: 0, rateY: 0, optionsMask: [], optionsOverride: []),
        ColorControl.StepColor(stepX: 1, stepY: 1, transitionTime: 0, optionsMask: [], optionsOverride: []),
        ColorControl.MoveToColorTemperature(colorTemperatureMireds: 200, transitionTime: 0, optionsMask: [], optionsOverride: []),
        ColorControl.MoveColorTemperature(
            moveMode: .up, rate: 9, colorTemperatureMinimumMireds: 0, colorTemperatureMaximumMireds: 0, optionsMask: [],
            optionsOverride: []),
        ColorControl.StopMoveStep(optionsMask: [], optionsOverride: []),
    ]

    /// 3.2.8.1.
    @Test func nothingButColorLoopSetEndsTheLoop() async throws {
        try await Bench.run { bench in
            try bench.makeColorLight()
            try bench.invoke(
                ColorControl.EnhancedMoveToHueAndSaturation(
                    enhancedHue: 5000, saturation: 200, transitionTime: 0, optionsMask: [], optionsOverride: []))
            try bench.setLoop(
                [.updateAction, .updateTime, .updateDirection], .activateFromEnhancedCurrentHue, direction: .increment, time: 64)
            for (index, request) in Self.unheard.enumerated() {
                try bench.invoke(request)
                try await bench.advance(.seconds(1))
                #expect(try bench.color(Attributes.colorLoopActive) == 1, "\(request)")
                #expect(try bench.enhancedHue == 5000 + UInt64(index + 1) * 1024, "\(request)")
                #expect(try [bench.saturation] + bench.colorModes == [200, 0, 3], "\(request)")
            }
            try bench.setLoop(.updateAction, .deactivate)
            #expect(try [bench.color(Attributes.colorLoopActive), bench.enhancedHue] == [0, 5000])
            #expect(bench.timeline.pendingEntries == 0)
        }
    }

    /// A hand on the device is no command.
    @Test func aHandEndsTheLoop() async throws {
        try await Bench.run { bench in
            try bench.makeColorLight()
            try bench.setLoop(.updateAction, .activateFromEnhancedCurrentHue)
            try bench.setLocally(ColorControl.id, Attributes.currentSaturation, .unsigned(99))
            #expect(try [bench.color(Attributes.colorLoopActive), bench.saturation] == [1, 99])
            try bench.setLocally(ColorControl.id, Attributes.colorTemperatureMireds, .unsigned(200))
            #expect(try [bench.color(Attributes.colorLoopActive), bench.temperature] == [0, 200])
            #expect(bench.timeline.pendingEntries == 0)
        }
    }

    @Test func hueAndSaturationMoveEachForItself() async throws {
        try await Bench.run { bench in
            try bench.makeColorLight()
            try bench.moveToHue(0)
            try bench.saturate(0)
            try bench.moveToHue(100, tenths: 100)
            try await bench.advance(.seconds(2))
            try bench.saturate(200, tenths: 40)
            #expect(try bench.color(Attributes.remainingTime) == 80)
            let reports = bench.watch(ColorControl.id, Attributes.currentSaturation)
            let remaining = bench.watch(ColorControl.id, Attributes.remainingTime)
            try await bench.advance(.seconds(2.5))
            #expect(try [bench.hue, bench.saturation] == [45, 125])
            try await bench.advance(.seconds(2.5))
            #expect(try [bench.hue, bench.saturation] == [70, 200])
            // The end of one is told when it is there, and is no end of the other.
            #expect(reports.numbers.last == 200)
            #expect(reports.seconds.last == 4)
            #expect(remaining.values.isEmpty)
            #expect(try bench.color(Attributes.remainingTime) == 30)
            try await bench.advance(.seconds(3))
            #expect(try [bench.hue, bench.saturation] == [100, 200])
            #expect(remaining.numbers == [0])
            #expect(bench.timeline.pendingEntries == 0)
        }
    }

    @Test func movementsWithoutEndMoveEachForItselfToo() async throws {
        try await Bench.run { bench in
            try bench.makeColorLight()
            try bench.invoke(
                ColorControl.MoveToHueAndSaturation(hue: 100, saturation: 200, transitionTime: 0, optionsMask: [], optionsOverride: []))
            try bench.invoke(ColorControl.MoveHue(moveMode: .up, rate: 10, optionsMask: [], optionsOverride: []))
            try bench.invoke(ColorControl.MoveSaturation(moveMode: .down, rate: 20, optionsMask: [], optionsOverride: []))
            try await bench.advance(.seconds(5))
            #expect(try [bench.hue, bench.saturation] == [150, 100])
            // Another movement of the hue takes the place of the first one only, be it enhanced.
            try bench.invoke(ColorControl.EnhancedMoveHue(moveMode: .down, rate: 2560, optionsMask: [], optionsOverride: []))
            try await bench.advance(.seconds(2))
            #expect(try [bench.hue, bench.saturation, bench.enhancedHue] == [130, 60, 130 << 8])
            // What stops one stops both (3.2.8.5.4).
            try bench.invoke(ColorControl.MoveHue(moveMode: .stop, rate: 0, optionsMask: [], optionsOverride: []))
            try await bench.advance(.seconds(2))
            #expect(try [bench.hue, bench.saturation] == [130, 60])
            #expect(bench.timeline.pendingEntries == 0)
        }
    }

    /// 3.2.8.2, to and from hue and saturation.
    @Test func huesAndPointsGoOnFromEachOther() async throws {
        try await Bench.run { bench in
            try bench.makeColorLight()
            // Pure red is a primary of the diagram; from there one step.
            try bench.invoke(
                ColorControl.MoveToHueAndSaturation(hue: 0, saturation: 254, transitionTime: 0, optionsMask: [], optionsOverride: []))
            try bench.invoke(ColorControl.StepColor(stepX: 1000, stepY: 0, transitionTime: 0, optionsMask: [], optionsOverride: []))
            #expect(try bench.colorModes == [1, 1])
            #expect(try bench.isNear(0.64 + 1000.0 / 65536, 0.33))
            // Pure green is 120 degrees, 84.67 of 254: from there one step.
            try bench.moveToPoint(0.3, 0.6)
            try bench.invoke(ColorControl.StepHue(stepMode: .up, stepSize: 10, transitionTime: 0, optionsMask: [], optionsOverride: []))
            #expect(try bench.colorModes == [0, 0])
            #expect(try [bench.hue, bench.saturation, bench.enhancedHue] == [95, 254, 95 << 8])
            // Enhanced, more exactly.
            try bench.moveToPoint(0.3, 0.6)
            try bench.invoke(
                ColorControl.EnhancedStepHue(stepMode: .up, stepSize: 256, transitionTime: 0, optionsMask: [], optionsOverride: []))
            #expect(try bench.colorModes == [0, 3])
            #expect(try bench.enhancedHue.map { abs(Int($0) - (65024 / 3 + 256)) < 20 } == true)
            #expect(try bench.hue == bench.enhancedHue.map { $0 >> 8 })
        }
    }

    @Test func aSlowMovementStartsAtThePresentColour() async throws {
        try await Bench.run { bench in
            try bench.makeColorLight()
            try bench.moveToHue(40)
            try bench.moveToPoint(0.3127, 0.3290)
            try bench.saturate(254, tenths: 20)
            // White has no hue: it stays as it was.
            #expect(try [bench.hue, bench.saturation] == [40, 0])
            try await bench.advance(.seconds(1))
            #expect(try [bench.hue, bench.saturation] == [40, 127])
            // Half way to another point from where this is.
            try bench.moveToPoint(0.3127, 0.3290)
            try bench.invoke(
                ColorControl.MoveToHueAndSaturation(hue: 0, saturation: 254, transitionTime: 0, optionsMask: [], optionsOverride: []))
            try bench.moveToPoint(0.3, 0.6, tenths: 20)
            try await bench.advance(.seconds(1))
            #expect(try bench.isNear(0.47, 0.465))
            // What was under way in the old mode has ended.
            try bench.saturate(100)
            #expect(bench.timeline.pendingEntries == 0)
        }
    }

    @Test func temperaturesGoOnFromTheOthers() async throws {
        try await Bench.run { bench in
            try bench.makeColorLight()
            func step(_ size: UInt16) throws {
                try bench.invoke(
                    ColorControl.StepColorTemperature(
                        stepMode: .up, stepSize: size, transitionTime: 0, colorTemperatureMinimumMireds: 0,
                        colorTemperatureMaximumMireds: 0, optionsMask: [], optionsOverride: []))
            }
            try bench.moveToTemperature(370)
            try bench.invoke(ColorControl.StepColor(stepX: 0, stepY: 1, transitionTime: 0, optionsMask: [], optionsOverride: []))
            #expect(try bench.isNear(0.4599, 0.4106))
            try step(10)
            #expect(try bench.temperature == 380)
            #expect(try bench.colorModes == [2, 2])
            // By hue and saturation and back.
            try bench.invoke(
                ColorControl.StepSaturation(stepMode: .down, stepSize: 1, transitionTime: 0, optionsMask: [], optionsOverride: []))
            #expect(try bench.hue.map { (10...30).contains($0) } == true)
            try step(1)
            #expect(try bench.temperature.map { (370...390).contains($0) } == true)
            // No temperature is blue: the coldest that the device has is the nearest.
            try bench.moveToPoint(0.15, 0.06)
            try step(7)
            #expect(try bench.temperature == 153 + 7)
        }
    }

    /// A light without the other mode has nothing to go on from.
    @Test(arguments: [ColorControl.Feature.hueSaturation, .colorTemperature, .xy])
    func oneModeOnlyStaysAsItIs(_ features: ColorControl.Feature) async throws {
        try await Bench.run { bench in
            try bench.makeColorLight(features: features)
            let mode = try bench.colorModes
            if features == .hueSaturation {
                try bench.moveToHue(50)
                try bench.saturate(60)
                #expect(try [bench.hue, bench.saturation] == [50, 60])
            } else if features == .xy {
                try bench.moveToPoint(0.25, 0.25)
                #expect(try bench.isNear(0.25, 0.25))
            } else {
                try bench.moveToTemperature(300)
                #expect(try bench.temperature == 300)
            }
            #expect(try bench.colorModes == mode)
        }
    }
}

extension Bench {
    func saturate(_ saturation: UInt8, tenths: UInt16 = 0) throws {
        try invoke(
            ColorControl.MoveToSaturation(saturation: saturation, transitionTime: tenths, optionsMask: [], optionsOverride: []))
    }
    func moveToPoint(_ x: Double, _ y: Double, tenths: UInt16 = 0) throws {
        try invoke(
            ColorControl.MoveToColor(
                colorX: UInt16((x * 65536).rounded()), colorY: UInt16((y * 65536).rounded()), transitionTime: tenths, optionsMask: [],
                optionsOverride: []))
    }
    /// Whether CurrentX and CurrentY are there, a thousandth more or less.
    func isNear(_ x: Double, _ y: Double) throws -> Bool {
        let found = try [ColorControl.Attributes.currentX, ColorControl.Attributes.currentY].map { Double(try color($0) ?? 0) / 65536 }
        return abs(found[0] - x) < 0.001 && abs(found[1] - y) < 0.001
    }
}
